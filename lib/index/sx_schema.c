/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_schema.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

uint32_t sx_schema_flags(void)
{
	return SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_NOTES | sx_columns_flags();
}

void sx_schema_set_flags(sx_schema *schema, uint32_t flags)
{
	schema->flags = flags & sx_schema_flags();
	schema->has_ids = !(flags & SIMIDX_CREATE_NO_IDS);
	schema->has_notes = (flags & SIMIDX_CREATE_NOTES) != 0;
	schema->columns = sx_columns_of_flags(flags);
	schema->has_fp2 = sx_columns_find(&schema->columns, SX_FP2) >= 0;
	schema->has_times = sx_columns_find(&schema->columns, SX_TIME) >= 0;
}

int sx_schema_new(const char *plan, unsigned bits, sx_schema **out, simidx_error *err)
{
	sx_schema *schema = sx_calloc(1, sizeof(*schema));
	int rc;

	*out = NULL;
	if (!schema)
		return sx_fail_nomem(err);
	schema->bits = bits;
	schema->has_ids = 1;
	rc = sx_plan_make(&schema->plan, plan, bits, err);
	if (!rc)
		rc = sx_plan_make(&schema->fresh_plan, "4x16", bits, err);
	schema->text_probes = schema->plan.text_probes;
	schema->fresh_plan_is_same = !strcmp(schema->plan.name, schema->fresh_plan.name);
	if (rc)
		free(schema);
	else
		*out = schema;
	return rc;
}

int sx_schema_of_header(const sx_header *h, sx_schema **out, simidx_error *err)
{
	int rc = sx_schema_new(h->plan.name, h->bits, out, err);
	sx_schema *schema = *out;

	if (rc)
		return rc;
	schema->layout = h->layout;
	schema->fill = h->fill;
	sx_schema_set_flags(schema, h->flags);
	schema->has_unknown_fp2 = (h->flags & SX_FLAG_UNKNOWN_FP2) != 0;
	schema->unknown_fp2 = h->unknown_fp2;
	schema->format_major = h->major;
	schema->format_minor = h->minor;
	schema->ro_compat = h->ro_compat;
	return SIMIDX_OK;
}

int sx_schema_need_ids(const sx_schema *schema, simidx_error *err)
{
	return schema->has_ids ? SIMIDX_OK
			       : sx_fail(err, SIMIDX_E_UNSUPPORTED,
					 "the index holds no ids and no labels");
}

int sx_schema_has_triples(const sx_schema *schema)
{
	static const char word[] = " fp2=triples";
	const char *at = schema->profile.text ? strstr(schema->profile.text, word) : NULL;

	at = at ? at + sizeof(word) - 1 : NULL;
	return schema->has_fp2 && at && (!*at || *at == ' ');
}

void sx_schema_free(const sx_schema *schema)
{
	if (!schema)
		return;
	free(schema->profile.text);
	free(schema->profile.check_fps);
	free((void *)schema);
}
