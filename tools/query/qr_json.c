/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_json.h"

#include "common/tl_time.h"

#include <stdio.h>
#include <string.h>

int qr_json_end(struct tl_json *json)
{
	tl_json_end(json);
	return qr_print_failed(json->out);
}

void qr_json_next_id(struct tl_json *json, const simidx_info *info)
{
	if (info->flags & SIMIDX_CREATE_NO_IDS)
		return;
	if (info->next_id > SIMIDX_MAX_ID)
		tl_json_null(json, "next_id");
	else
		tl_json_unsigned(json, "next_id", info->next_id);
}

void qr_json_fingerprint(struct tl_json *json, const char *key, uint64_t fp, unsigned bits)
{
	char text[QR_FP_SIZE];

	qr_format_fingerprint(text, fp, bits);
	tl_json_string(json, key, text);
}

static void put_id(struct tl_json *json, const simidx_match *match)
{
	if (match->id != SIMIDX_NO_ID)
		tl_json_unsigned(json, "id", match->id);
}

static void put_time(struct tl_json *json, const simidx_match *match)
{
	char text[TL_TIME_SIZE];

	if (match->flags & SIMIDX_MATCH_TIME)
		tl_json_string(json, "time", tl_time_write(match->time, text));
}

static void put_match(struct tl_json *json, const struct qr_query *query,
		      const simidx_match *match, unsigned bits)
{
	tl_json_open(json, NULL, '{');
	put_id(json, match);
	qr_json_fingerprint(json, "fp", match->fp, bits);
	tl_json_unsigned(json, "distance", match->distance);
	if (query->is_search)
		tl_json_unsigned(json, "weight", match->weighted_distance);
	if (query->has_fp2 && match->flags & SIMIDX_MATCH_FP2)
		tl_json_unsigned(json, "distance2", match->distance2);
	else if (query->has_fp2)
		tl_json_null(json, "distance2");
	tl_json_bytes(json, "label", match->label, match->label_size);
	put_time(json, match);
	tl_json_close(json, '}');
}

void qr_json_query(struct tl_json *json, const struct qr_query *query, unsigned bits)
{
	tl_json_bytes(json, "query", query->name, query->name_size);
	if (query->has_fp)
		qr_json_fingerprint(json, "fingerprint", query->fp, bits);
	if (query->is_text) {
		tl_json_unsigned(json, "tokens", query->n_tokens);
		tl_json_bool(json, "short", query->is_short);
	}
}

void qr_json_extent(struct tl_json *json, const struct qr_query *query,
		       const simidx_results *results)
{
	tl_json_bool(json, "truncated", results->truncated != 0);
	if (query->is_search)
		tl_json_signed(json, "complete_to", results->complete_to);
}

/* An object: the query, its matches, and how far the answer goes. */
int qr_json_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		    const simidx_results *results, int begun)
{
	struct tl_json json = { .out = out, .comma = begun };
	int has_matches = query->show == QR_SHOW_MATCHES;

	if (!begun) {
		json = tl_json_line(out);
		qr_json_query(&json, query, ctx->info.bits);
		if (query->show == QR_SHOW_COUNT)
			tl_json_unsigned(&json, "count", results->count);
		else if (query->show == QR_SHOW_EXISTS)
			tl_json_bool(&json, "exists", results->count != 0);
		else
			tl_json_open(&json, "matches", '[');
	}
	for (size_t i = 0; has_matches && i < results->n && !qr_print_failed(out); i++)
		put_match(&json, query, &results->matches[i], ctx->info.bits);
	if (results->more)
		return qr_print_failed(out);
	if (has_matches)
		tl_json_close(&json, ']');
	qr_json_extent(&json, query, results);
	return qr_json_end(&json);
}

int qr_json_document(const struct qr_context *ctx, const simidx_match *document, const void *note,
		     size_t note_size)
{
	struct tl_json json = tl_json_line(stdout);

	put_id(&json, document);
	tl_json_bytes(&json, "label", document->label, document->label_size);
	qr_json_fingerprint(&json, "fp", document->fp, ctx->info.bits);
	if (document->flags & SIMIDX_MATCH_FP2)
		qr_json_fingerprint(&json, "fp2", document->fp2, 64);
	else if (ctx->info.flags & SIMIDX_CREATE_FP2)
		tl_json_null(&json, "fp2");
	put_time(&json, document);
	tl_json_bytes(&json, "note", note, note_size);
	return qr_json_end(&json);
}

int qr_json_problem(const simidx_problem *problem)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_bytes(&json, "table", problem->table, strlen(problem->table));
	tl_json_bytes(&json, "text", problem->text, strlen(problem->text));
	return qr_json_end(&json);
}

int qr_json_loss(const char *kind, const simidx_loss *loss)
{
	struct tl_json json = tl_json_line(stdout);

	tl_json_string(&json, "kind", kind);
	if (loss->table)
		tl_json_string(&json, "table", loss->table);
	if (loss->id != SIMIDX_NO_ID)
		tl_json_unsigned(&json, "id", loss->id);
	if (loss->flags & SIMIDX_LOSS_HAS_FP)
		qr_json_fingerprint(&json, "fp", loss->fp, loss->bits);
	tl_json_bytes(&json, "label", loss->label, loss->label_size);
	tl_json_bytes(&json, "text", loss->text, strlen(loss->text));
	return qr_json_end(&json);
}
