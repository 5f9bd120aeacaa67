/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_print.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_options.h"
#include "query/qr_json.h"

int qr_print_failed(FILE *out)
{
	return (out == stdout ? tl_output_failed() : ferror(out)) ? TL_TROUBLE : 0;
}

void qr_print_id(FILE *out, uint64_t id)
{
	if (id != SIMIDX_NO_ID)
		fprintf(out, "%llu", (unsigned long long)id);
}

size_t qr_format_fingerprint(char out[QR_FP_SIZE], uint64_t fp, unsigned bits)
{
	return (size_t)snprintf(out, QR_FP_SIZE, "%0*llx", (int)tl_hex_width(bits),
				(unsigned long long)fp);
}

void qr_print_fingerprint(FILE *out, uint64_t fp, unsigned bits)
{
	char text[QR_FP_SIZE];

	fwrite(text, 1, qr_format_fingerprint(text, fp, bits), out);
}

static void print_name(FILE *out, const struct qr_query *query)
{
	tl_put_escaped(out, query->name, query->name_size);
	putc('\t', out);
}

static void print_match(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
			const simidx_match *match)
{
	print_name(out, query);
	qr_print_id(out, match->id);
	putc('\t', out);
	qr_print_fingerprint(out, match->fp, ctx->info.bits);
	fprintf(out, "\t%u\t", match->distance);
	if (match->label)
		tl_put_escaped(out, match->label, match->label_size);
	putc('\n', out);
}

int qr_print_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		     const simidx_results *results, int begun)
{
	uint64_t count = results->count;

	if (ctx->json)
		return qr_json_results(out, ctx, query, results, begun);
	if (query->show == QR_SHOW_EXISTS)
		count = count != 0;
	if (query->show != QR_SHOW_MATCHES) {
		print_name(out, query);
		fprintf(out, "%llu\n", (unsigned long long)count);
		return qr_print_failed(out);
	}
	for (size_t i = 0; i < results->n && !qr_print_failed(out); i++)
		print_match(out, ctx, query, &results->matches[i]);
	return qr_print_failed(out);
}
