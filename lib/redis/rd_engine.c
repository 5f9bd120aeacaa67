/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <simidx_redis.h>

#include "rd_check.h"
#include "rd_open.h"
#include "rd_read.h"
#include "rd_scan.h"
#include "rd_write.h"

int simidx_redis_add(simidx_error *err)
{
	static const char *const plans[] = { SIMIDX_REDIS_PLANS, NULL };
#define ENGINE(word)                                                                             \
	{                                                                                        \
		.size = sizeof(simidx_engine), .version = SIMIDX_ENGINE_VERSION, .scheme = word, \
		.name = "Redis", .plans = plans, .keeps = SIMIDX_CREATE_TIMES, .open = rd_open,  \
		.close = rd_close, .info = rd_info, .scan = rd_scan, .find_ids = rd_find_ids,    \
		.find_labels = rd_find_labels, .walk = rd_walk, .older = rd_older,               \
		.begin = rd_begin, .resume = rd_resume, .write = rd_write,                       \
		.reserve_ids = rd_reserve_ids, .get_mark = rd_get_mark, .check = rd_check,       \
	}
	static const simidx_engine engine[] = { ENGINE("redis"), ENGINE("unix"), ENGINE("rediss") };
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < sizeof(engine) / sizeof(engine[0]); i++)
		rc = simidx_engine_add(&engine[i], err);
	return rc;
}
