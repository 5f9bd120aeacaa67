/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_print.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_options.h"
#include "query/qr_json.h"

#include <stdio.h>

void qr_print_id(uint64_t id)
{
	if (id != SIMIDX_NO_ID)
		printf("%llu", (unsigned long long)id);
}

size_t qr_format_fingerprint(char out[QR_FP_SIZE], uint64_t fp, unsigned bits)
{
	return (size_t)snprintf(out, QR_FP_SIZE, "%0*llx", (int)tl_hex_width(bits),
				(unsigned long long)fp);
}

void qr_print_fingerprint(uint64_t fp, unsigned bits)
{
	char text[QR_FP_SIZE];

	fwrite(text, 1, qr_format_fingerprint(text, fp, bits), stdout);
}

static void print_name(const struct qr_query *query)
{
	tl_put_escaped(stdout, query->name, query->name_size);
	putchar('\t');
}

static void print_match(const struct qr_context *ctx, const struct qr_query *query,
			const simidx_match *match)
{
	print_name(query);
	qr_print_id(match->id);
	putchar('\t');
	qr_print_fingerprint(match->fp, ctx->info.bits);
	printf("\t%u\t", match->distance);
	if (match->label)
		tl_put_escaped(stdout, match->label, match->label_size);
	putchar('\n');
}

int qr_print_results(const struct qr_context *ctx, const struct qr_query *query,
		     const simidx_results *results)
{
	uint64_t count = results->count;
	size_t i;

	if (ctx->json)
		return qr_json_results(ctx, query, results);
	if (query->show == QR_SHOW_EXISTS)
		count = count != 0;
	if (query->show != QR_SHOW_MATCHES) {
		print_name(query);
		printf("%llu\n", (unsigned long long)count);
	}
	for (i = 0; query->show == QR_SHOW_MATCHES && i < results->n && !tl_output_failed(); i++)
		print_match(ctx, query, &results->matches[i]);
	return tl_output_failed() ? TL_TROUBLE : 0;
}
