/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "engine/engines.h"

#ifdef HAVE_HBASE
#include <simidx_hbase.h>
#endif
#ifdef HAVE_REDIS
#include <simidx_redis.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *engines_uri(void)
{
	static char whole[512];
	const char *given = getenv("SIMIDX_TEST_URI");
	const char *uri = given && *given ? given : "memory://test";
	int name = (int)strcspn(uri, "?");

	/* Suites run at the same time. Options of the URI stand at its end. */
	snprintf(whole, sizeof(whole), "%.*s_%s%s", name, uri, sxt_running, uri + name);
	return whole;
}

int engines_in_memory(void)
{
	return !strncmp(engines_uri(), "memory://", 9);
}

int engines_keep_times(void)
{
	return strncmp(engines_uri(), "hbase://", 8) != 0;
}

const char *engines_with_conditions(const char *uri)
{
	const char *given = getenv("SIMIDX_TEST_URI");

	return given && !strncmp(given, "redis://", 8) ? engines_uri() : uri;
}

void engines_add(void)
{
	memory_add();
#ifdef HAVE_HBASE
	sxt_must_ok(simidx_hbase_add(&sxt_err));
#endif
#ifdef HAVE_REDIS
	sxt_must_ok(simidx_redis_add(&sxt_err));
#endif
}

simidx *engines_create(const char *uri, const char *plan, unsigned bits, unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	o.plan = plan;
	o.bits = bits;
	o.flags = flags | SIMIDX_CREATE_TRUNCATE;
	sxt_must_ok(simidx_create(uri, &o, &index, &sxt_err));
	return index;
}
