/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_explain.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_term.h"
#include "query/qr_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail_memory(simidx_error *err)
{
	err->code = SIMIDX_E_NOMEM;
	err->sys_errno = 0;
	snprintf(err->text, sizeof(err->text), "out of memory");
}

int qr_explain(simidx_reader *reader, const simidx_query *ask, struct qr_explanation *out,
	       simidx_error *err)
{
	simidx_explanation found = SIMIDX_EXPLANATION_INIT;
	simidx_results again = SIMIDX_RESULTS_INIT;
	double start;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = simidx_reader_explain(reader, ask, &found, err);
	if (rc)
		return rc;
	/* The reader forgets all of it when it is asked again. */
	out->choices = malloc(found.n_choices * sizeof(*found.choices));
	if (!out->choices) {
		fail_memory(err);
		return SIMIDX_E_NOMEM;
	}
	memcpy(out->choices, found.choices, found.n_choices * sizeof(*found.choices));
	out->results = *found.results;
	out->found = found;
	out->found.choices = out->choices;
	out->found.results = &out->results;
	start = tl_seconds();
	rc = simidx_reader_search(reader, ask, &again, err);
	out->microseconds = (tl_seconds() - start) * 1e6;
	return rc;
}

/* ---- for people ---- */

static void print_choice(const char *what, const simidx_choice *choice)
{
	char probes[TL_NUMBER_SIZE], candidates[TL_NUMBER_SIZE];

	printf("  %-9s  %s: probes %s, candidates %s, predicted %.1f us\n", what, choice->text,
	       tl_term_count(probes, choice->probes),
	       tl_term_count(candidates, (uint64_t)(choice->candidates + 0.5)),
	       choice->microseconds);
}

static void print_count(const char *before, const char *name, uint64_t number)
{
	char text[TL_NUMBER_SIZE];

	printf("%s%s %s", before, name, tl_term_count(text, number));
}

static void print_text(const struct qr_context *ctx, const struct qr_query *query,
		       const struct qr_explanation *explanation)
{
	const simidx_explanation *e = &explanation->found;
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
	printf("  %-9s  ", "took");
	print_count("", "probes", r->probes);
	print_count(", ", "blocks", r->blocks);
	print_count(", ", "candidates", r->candidates);
	print_count(", ", "fingerprints", r->fingerprints);
	print_count(", ", "documents", r->count);
	printf(", measured %.1f us\n", explanation->microseconds);
	if (r->complete_to < 0)
		printf("  %-9s  not even at distance 0", "complete");
	else
		printf("  %-9s  to distance %d", "complete", r->complete_to);
	puts(r->truncated ? ", but the answer was cut" : "");
	printf("  %-9s  kernel %s, tables looked up through block indexes: %u of %u\n", "with",
	       e->kernel, e->block_indexes, ctx->info.n_tables);
}

int qr_print_explanation(const struct qr_context *ctx, const struct qr_query *query,
			 const struct qr_explanation *explanation)
{
	if (ctx->json)
		return qr_json_explanation(ctx, query, explanation);
	print_text(ctx, query, explanation);
	return tl_output_failed() ? TL_TROUBLE : 0;
}
