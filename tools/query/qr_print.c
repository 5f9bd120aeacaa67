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

int qr_print_matches(const struct qr_context *ctx, const struct qr_query *query,
		     const simidx_match *matches, size_t n, int truncated)
{
	size_t i;

	if (ctx->json)
		return qr_json_matches(ctx, query, matches, n, truncated);
	for (i = 0; i < n && !tl_output_failed(); i++) {
		tl_put_escaped(stdout, query->name, query->name_size);
		putchar('\t');
		qr_print_id(matches[i].id);
		putchar('\t');
		qr_print_fingerprint(matches[i].fp, ctx->info.bits);
		printf("\t%u\t", matches[i].distance);
		if (matches[i].label)
			tl_put_escaped(stdout, matches[i].label, matches[i].label_size);
		putchar('\n');
	}
	return tl_output_failed() ? TL_TROUBLE : 0;
}
