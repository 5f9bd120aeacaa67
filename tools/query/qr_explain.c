/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_explain.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_term.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- for people ---- */

static void print_choice(const char *what, const simidx_choice *choice)
{
	printf("  %-9s  %s: probes %s, candidates %s, predicted %.1f us\n", what, choice->text,
	       tl_term_count(choice->probes),
	       tl_term_count((uint64_t)(choice->candidates + 0.5)), choice->microseconds);
}

static void print_text(const struct qr_context *ctx, const struct qr_query *query,
		       const simidx_explanation *e, double microseconds)
{
	const simidx_results *r = e->results;

	tl_put_escaped(stdout, query->name, query->name_size);
	putchar(' ');
	qr_print_fingerprint(stdout, query->fp, ctx->info.bits);
	putchar('\n');
	for (size_t i = 0; i < e->n_choices; i++)
		print_choice(i ? "rejected" : "chosen", &e->choices[i]);
	printf("  %-9s  %s\n", "by",
	       e->looked_up ? "how full the ranges are"
			    : "ranges that are all equally full, as far as was read");
	printf("  %-9s  probes %s, blocks %s, candidates %s, fingerprints %s, documents %s", "took",
	       tl_term_count(r->probes), tl_term_count(r->blocks), tl_term_count(r->candidates),
	       tl_term_count(r->fingerprints), tl_term_count(r->count));
	if (r->round_trips)
		printf(", round trips %s", tl_term_count(r->round_trips));
	printf(", measured %.1f us\n", microseconds);
	if (r->complete_to < 0)
		printf("  %-9s  not even at distance 0", "complete");
	else
		printf("  %-9s  to distance %d", "complete", r->complete_to);
	puts(r->truncated ? ", but the answer was cut" : "");
	printf("  %-9s  kernel %s, tables looked up through block indexes: %u of %u\n", "with",
	       e->kernel, e->block_indexes, ctx->info.n_tables);
}

/* ---- for programs ---- */

static void put_choice(struct tl_json *json, const char *key, const simidx_choice *choice)
{
	tl_json_open(json, key, '{');
	tl_json_string(json, "access", choice->text);
	tl_json_unsigned(json, "probes", choice->probes);
	tl_json_real(json, "candidates", choice->candidates);
	tl_json_real(json, "microseconds", choice->microseconds);
	tl_json_close(json, '}');
}

static void print_json(const struct qr_context *ctx, const struct qr_query *query,
		       const simidx_explanation *e, double microseconds)
{
	struct tl_json json = tl_json_line(stdout);

	qr_json_query(&json, query, ctx->info.bits);
	put_choice(&json, "chosen", &e->choices[0]);
	tl_json_open(&json, "rejected", '[');
	for (size_t i = 1; i < e->n_choices; i++)
		put_choice(&json, NULL, &e->choices[i]);
	tl_json_close(&json, ']');
	tl_json_bool(&json, "looked_up", e->looked_up != 0);
	tl_json_unsigned(&json, "probes", e->results->probes);
	tl_json_unsigned(&json, "blocks", e->results->blocks);
	tl_json_unsigned(&json, "candidates", e->results->candidates);
	tl_json_unsigned(&json, "fingerprints", e->results->fingerprints);
	tl_json_unsigned(&json, "count", e->results->count);
	if (e->results->round_trips)
		tl_json_unsigned(&json, "round_trips", e->results->round_trips);
	qr_json_extent(&json, query, e->results);
	tl_json_real(&json, "microseconds", microseconds);
	tl_json_string(&json, "kernel", e->kernel);
	tl_json_unsigned(&json, "block_indexes", e->block_indexes);
	qr_json_end(&json);
}

/* ---- both ---- */

int qr_explain(const struct qr_context *ctx, simidx_reader *reader, const struct qr_query *query,
	       const simidx_query *ask, simidx_results *out, simidx_error *err)
{
	simidx_explanation found = SIMIDX_EXPLANATION_INIT;
	simidx_results again = SIMIDX_RESULTS_INIT;
	simidx_choice *choices;
	double start, microseconds;
	int rc = simidx_reader_explain(reader, ask, &found, err);

	if (rc)
		return rc;
	/* The reader forgets all of it when it is asked again. */
	choices = malloc(found.n_choices * sizeof(*choices));
	if (!choices) {
		*err = (simidx_error){ .code = SIMIDX_E_NOMEM, .text = "out of memory" };
		return SIMIDX_E_NOMEM;
	}
	found.choices = memcpy(choices, found.choices, found.n_choices * sizeof(*choices));
	*out = *found.results;
	found.results = out;
	start = tl_seconds();
	rc = simidx_reader_search(reader, ask, &again, err);
	microseconds = (tl_seconds() - start) * 1e6;
	if (!rc && ctx->json)
		print_json(ctx, query, &found, microseconds);
	else if (!rc)
		print_text(ctx, query, &found, microseconds);
	free(choices);
	return rc;
}
