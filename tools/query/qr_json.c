/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_json.h"

#include "common/tl_options.h"

#include <stdio.h>
#include <string.h>

/* The end of an object that is a line of its own. */
static int end_line(struct tl_json *json)
{
	tl_json_close(json, '}');
	putc('\n', json->out);
	return qr_print_failed(json->out);
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

static void put_label(struct tl_json *json, const simidx_match *match)
{
	if (match->label)
		tl_json_bytes(json, "label", match->label, match->label_size);
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
	put_label(json, match);
	tl_json_close(json, '}');
}

/* The query as its answer names it. */
static void put_query(struct tl_json *json, const struct qr_query *query, unsigned bits)
{
	tl_json_bytes(json, "query", query->name, query->name_size);
	if (query->has_fp)
		qr_json_fingerprint(json, "fingerprint", query->fp, bits);
	if (query->is_text) {
		tl_json_unsigned(json, "tokens", query->n_tokens);
		tl_json_bool(json, "short", query->is_short);
	}
}

/* How far the answer goes. */
static void put_extent(struct tl_json *json, const struct qr_query *query,
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
		tl_json_open(&json, NULL, '{');
		put_query(&json, query, ctx->info.bits);
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
	put_extent(&json, query, results);
	return end_line(&json);
}

int qr_json_document(const struct qr_context *ctx, const simidx_match *document)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	put_id(&json, document);
	put_label(&json, document);
	qr_json_fingerprint(&json, "fp", document->fp, ctx->info.bits);
	if (document->flags & SIMIDX_MATCH_FP2)
		qr_json_fingerprint(&json, "fp2", document->fp2, 64);
	else if (ctx->info.flags & SIMIDX_CREATE_FP2)
		tl_json_null(&json, "fp2");
	return end_line(&json);
}

static void put_info(struct tl_json *json, const simidx_info *info)
{
	char format[32];

	snprintf(format, sizeof(format), "%u.%u", info->format_major, info->format_minor);
	tl_json_unsigned(json, "documents", info->documents);
	tl_json_unsigned(json, "distinct", info->distinct);
	tl_json_unsigned(json, "fresh_rows", info->fresh_rows);
	tl_json_unsigned(json, "labels", info->labels);
	tl_json_unsigned(json, "next_id", info->next_id);
	tl_json_unsigned(json, "bits", info->bits);
	tl_json_string(json, "plan", info->plan);
	tl_json_string(json, "layout", qr_layout_name(info));
	tl_json_unsigned(json, "fill", info->fill);
	tl_json_bool(json, "ids", !(info->flags & SIMIDX_CREATE_NO_IDS));
	tl_json_bool(json, "fp2", (info->flags & SIMIDX_CREATE_FP2) != 0);
	tl_json_bytes(json, "profile", info->profile, strlen(info->profile));
	tl_json_string(json, "format", format);
	tl_json_unsigned(json, "file_bytes", info->file_bytes);
	tl_json_unsigned(json, "used_bytes", info->used_bytes);
	tl_json_unsigned(json, "page_bytes", info->page_bytes);
}

/* A figure that is not known (nothing stored) is left out. */
static void put_figure(struct tl_json *json, const char *key, double value)
{
	if (value >= 0)
		tl_json_real(json, key, value);
}

static void put_crowd(struct tl_json *json, const struct qr_crowd *crowd, const char *what,
		      unsigned bits)
{
	tl_json_open(json, "fullest", '{');
	qr_json_fingerprint(json, "fp", crowd->fp, bits);
	tl_json_unsigned(json, what, crowd->n);
	tl_json_close(json, '}');
}

static void put_table(struct tl_json *json, const struct qr_table *table,
		      const struct qr_crowd *fullest, const simidx_info *index)
{
	uint64_t page_bytes = index->page_bytes;
	const simidx_table_info *info = &table->info;

	tl_json_open(json, NULL, '{');
	tl_json_bytes(json, "table", table->name, strlen(table->name));
	if (info->prefix_bits)
		tl_json_unsigned(json, "prefix_bits", info->prefix_bits);
	tl_json_unsigned(json, "entries", info->entries);
	tl_json_unsigned(json, "keys", info->keys);
	tl_json_unsigned(json, "pages", info->pages);
	tl_json_unsigned(json, "overflow_pages", info->overflow_pages);
	tl_json_unsigned(json, "bytes_used", info->bytes_used);
	put_figure(json, "bytes_per_entry", qr_bytes_per_entry(info, page_bytes));
	put_figure(json, "fill", qr_table_fill(info, page_bytes));
	qr_json_fingerprint(json, "digest", info->digest, 64);
	if (fullest && fullest->n)
		put_crowd(json, fullest, "fingerprints", index->bits);
	tl_json_close(json, '}');
}

int qr_json_stats(const struct qr_context *ctx, const struct qr_table *tables, size_t n,
		  const struct qr_skew *skew)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	put_info(&json, &ctx->info);
	if (ctx->info.flags & SIMIDX_CREATE_FP2)
		tl_json_unsigned(&json, "unknown_fp2", qr_unknown_fp2(tables, n));
	put_figure(&json, "bytes_per_document", qr_bytes_per_document(&ctx->info));
	put_figure(&json, "limit_bits", qr_limit_bits(ctx->info.bits, ctx->info.distinct));
	tl_json_open(&json, "tables", '[');
	for (size_t i = 0; i < n; i++)
		put_table(&json, &tables[i], skew ? &skew->range[i] : NULL, &ctx->info);
	tl_json_close(&json, ']');
	if (skew && skew->distinct)
		put_crowd(&json, &skew->fingerprint, "documents", ctx->info.bits);
	return end_line(&json);
}

int qr_json_problem(const char *table, const char *text)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	tl_json_bytes(&json, "table", table, strlen(table));
	tl_json_bytes(&json, "text", text, strlen(text));
	return end_line(&json);
}

int qr_json_loss(const char *kind, const simidx_loss *loss)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	tl_json_string(&json, "kind", kind);
	if (loss->table)
		tl_json_string(&json, "table", loss->table);
	if (loss->id != SIMIDX_NO_ID)
		tl_json_unsigned(&json, "id", loss->id);
	if (loss->flags & SIMIDX_LOSS_HAS_FP)
		qr_json_fingerprint(&json, "fp", loss->fp, loss->bits);
	if (loss->label)
		tl_json_bytes(&json, "label", loss->label, loss->label_size);
	tl_json_bytes(&json, "text", loss->text, strlen(loss->text));
	return end_line(&json);
}

static void put_choice(struct tl_json *json, const char *key, const simidx_choice *choice)
{
	tl_json_open(json, key, '{');
	tl_json_string(json, "access", choice->text);
	tl_json_unsigned(json, "probes", choice->probes);
	put_figure(json, "candidates", choice->candidates);
	put_figure(json, "microseconds", choice->microseconds);
	tl_json_close(json, '}');
}

int qr_json_explanation(const struct qr_context *ctx, const struct qr_query *query,
			const struct qr_explanation *explanation)
{
	const simidx_explanation *e = &explanation->found;
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	put_query(&json, query, ctx->info.bits);
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
	put_extent(&json, query, e->results);
	tl_json_real(&json, "microseconds", explanation->microseconds);
	tl_json_string(&json, "kernel", e->kernel);
	tl_json_unsigned(&json, "block_indexes", e->block_indexes);
	return end_line(&json);
}

int qr_json_prediction(const struct qr_plan_request *request, const simidx_prediction *one)
{
	struct tl_json json = { .out = stdout };

	tl_json_open(&json, NULL, '{');
	tl_json_string(&json, "plan", one->plan);
	tl_json_unsigned(&json, "documents", request->documents);
	tl_json_unsigned(&json, "bits", request->bits);
	tl_json_unsigned(&json, "radius", request->radius);
	tl_json_unsigned(&json, "tables", one->n_tables);
	tl_json_real(&json, "table_bytes", one->table_bytes);
	tl_json_real(&json, "bytes", one->bytes);
	tl_json_real(&json, "bytes_in_all", one->bytes * (double)request->documents);
	tl_json_real(&json, "probes", one->probes);
	tl_json_real(&json, "candidates", one->candidates);
	tl_json_real(&json, "microseconds", one->microseconds);
	tl_json_bool(&json, "auto", one->is_auto != 0);
	if (request->plan)
		tl_json_bool(&json, "of_index", qr_plan_is_of_index(request, one));
	return end_line(&json);
}
