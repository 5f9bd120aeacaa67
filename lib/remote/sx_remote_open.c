/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remote/sx_engine_text.h"
#include "remote/sx_remote.h"
#include "util/sx_err.h"

/* ---- plans ---- */

/* SIMIDX_E_UNSUPPORTED if the engine cannot hold a plan. */
static int check_plan(const simidx_engine *engine, const char *uri, const char *plan,
		      simidx_error *err)
{
	char names[128] = "";

	for (const char *const *one = engine->plans; *one; one++) {
		size_t n = strlen(names);

		if (!strcmp(*one, plan))
			return SIMIDX_OK;
		snprintf(names + n, sizeof(names) - n, "%s%s", n ? " " : "", *one);
	}
	return sx_fail(err, SIMIDX_E_UNSUPPORTED, "%s: plan %s; an index of %s has one of %s", uri,
		       plan, engine->name, names);
}

/* Make the plan of a new index: by its name, or the first plan of the engine. */
static int make_plan(const simidx_engine *engine, const simidx_create_options *o, const char *uri,
		     sx_plan *plan, simidx_error *err)
{
	unsigned bits = o->bits ? o->bits : SIMIDX_DEFAULT_BITS;
	int is_auto = !o->plan || !strcmp(o->plan, "auto");
	int rc = sx_plan_make(plan, is_auto ? engine->plans[0] : o->plan, bits, err);

	return rc ? rc : check_plan(engine, uri, plan->name, err);
}

/* ---- the description ---- */

/* What a new index is described by; *text is to be freed. */
static int write_description(const simidx_engine *engine, const char *uri,
			     const simidx_create_options *o, simidx_engine_open *how,
			     char **text, simidx_error *err)
{
	static const simidx_create_options defaults = SIMIDX_CREATE_OPTIONS_INIT;
	sx_engine_text t = { .format = SX_ENGINE_FORMAT };
	sx_plan plan;
	int rc = SIMIDX_OK;

	if (!o)
		o = &defaults;
	if (o->flags & SIMIDX_CREATE_NO_IDS)
		rc = sx_fail(err, SIMIDX_E_UNSUPPORTED,
			     "an index of %s has ids: it cannot hold fingerprints alone",
			     engine->name);
	if (!rc && o->flags & SIMIDX_CREATE_TIMES & ~engine->keeps)
		rc = sx_fail(err, SIMIDX_E_UNSUPPORTED, "an index of %s keeps no times",
			     engine->name);
	if (!rc && o->flags & SIMIDX_CREATE_NOTES)
		rc = sx_fail(err, SIMIDX_E_UNSUPPORTED, "an index of %s keeps no notes",
			     engine->name);
	if (!rc)
		rc = make_plan(engine, o, uri, &plan, err);
	if (rc)
		return rc;
	memcpy(t.plan, plan.name, sizeof(t.plan));
	t.bits = plan.bits;
	t.flags = o->flags & (SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES);
	t.profile = o->profile ? o->profile : "";
	t.check_fps = o->check_fps;
	t.n_check_fps = o->n_check_fps;
	rc = sx_engine_text_write(&t, text, &how->description_size, err);
	how->description = *text;
	how->n_tables = plan.n_tables;
	return rc;
}

/* A schema as the description of an index says. */
static int make_schema(const sx_engine *engine, const sx_engine_text *t, sx_schema **out,
		       simidx_error *err)
{
	int rc = sx_schema_new(t->plan, t->bits, out, err);
	sx_schema *schema = *out;

	if (rc)
		return rc;
	schema->layout = SIMIDX_LAYOUT_ROWS;
	sx_schema_set_flags(schema, t->flags);
	schema->has_unknown_fp2 = schema->has_fp2;
	schema->unknown_fp2 = schema->has_unknown_fp2 ? SX_UNKNOWN_FP2 : 0;
	schema->format_minor = t->format;
	if (engine->text_probes)
		schema->text_probes = engine->text_probes;
	rc = check_plan(engine->calls, engine->uri, schema->plan.name, err);
	if (!rc && t->flags & SIMIDX_CREATE_TIMES & ~engine->calls->keeps)
		rc = sx_fail(err, SIMIDX_E_VERSION,
			     "%s: the index has times, which its engine does not keep",
			     engine->uri);
	if (rc)
		sx_schema_free(schema);
	return rc;
}

/* What an index that is open is, by its description. */
static int read_description(simidx *index, simidx_error *err)
{
	const sx_engine *engine = index->engine;
	sx_profile profile = { 0 };
	sx_engine_text t;
	sx_schema *schema;
	int rc = sx_engine_text_read(engine->uri, engine->info.description,
				     engine->info.description_size, &t, &profile.text,
				     &profile.check_fps, err);

	if (rc)
		return rc;
	profile.n_check_fps = t.n_check_fps;
	rc = make_schema(engine, &t, &schema, err);
	if (rc) {
		sx_meta_free_profile(&profile);
		return rc;
	}
	schema->profile = profile;
	sx_index_set_schema(index, schema);
	index->costs = &engine->costs;
	return SIMIDX_OK;
}

/* ---- opening ---- */

int sx_remote_open(const simidx_engine *engine, const char *uri,
		   const simidx_open_options *options, const simidx_create_options *create,
		   unsigned flags, simidx **out, simidx_error *err)
{
	unsigned open_flags = options ? options->flags : 0;
	const char *name = options ? options->kernel : NULL;
	const sx_kernel *kernel = name ? sx_kernel_find(name) : sx_kernel_best();
	simidx_engine_open how = { .flags = flags };
	char *text = NULL;
	simidx *index;
	int rc = SIMIDX_OK;

	if (!kernel)
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "\"%.16s\" is no kernel, or not one for this CPU", name);
	if (flags & SIMIDX_OPEN_CREATE)
		rc = write_description(engine, uri, create, &how, &text, err);
	if (rc)
		return rc;
	index = sx_index_new(&sx_remote_backend, open_flags);
	if (!index)
		rc = sx_fail_nomem(err);
	if (!rc && index->read_only)
		how.flags |= SIMIDX_OPEN_READ_ONLY;
	if (!rc)
		rc = sx_engine_open(engine, uri, &how, &index->engine, err);
	if (!rc)
		rc = read_description(index, err);
	free(text);
	if (rc) {
		simidx_close(index);
		return rc;
	}
	index->kernel = index->fresh->kernel = kernel;
	*out = index;
	return SIMIDX_OK;
}
