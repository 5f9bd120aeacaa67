/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_explain.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "query/qr_json.h"

#include <stdio.h>

static void print_choice(const char *what, const simidx_choice *choice)
{
	printf("  %-9s  %s: probes %llu, candidates %.0f, predicted %.1f us\n", what,
	       choice->text, (unsigned long long)choice->probes, choice->candidates,
	       choice->microseconds);
}

static void print_text(const struct qr_context *ctx, const struct qr_query *query,
		       const simidx_explanation *e)
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
	printf("  %-9s  probes %llu, blocks %llu, candidates %llu, fingerprints %llu, "
	       "documents %llu\n",
	       "took", (unsigned long long)r->probes, (unsigned long long)r->blocks,
	       (unsigned long long)r->candidates, (unsigned long long)r->fingerprints,
	       (unsigned long long)r->count);
	if (r->complete_to < 0)
		printf("  %-9s  not even at distance 0", "complete");
	else
		printf("  %-9s  to distance %d", "complete", r->complete_to);
	puts(r->truncated ? ", but the answer was cut" : "");
	printf("  %-9s  kernel %s, tables looked up through block indexes: %u of %u\n", "with",
	       e->kernel, e->block_indexes, ctx->info.n_tables);
}

int qr_print_explanation(const struct qr_context *ctx, const struct qr_query *query,
			 const simidx_explanation *explanation)
{
	if (ctx->json)
		return qr_json_explanation(ctx, query, explanation);
	print_text(ctx, query, explanation);
	return tl_output_failed() ? TL_TROUBLE : 0;
}
