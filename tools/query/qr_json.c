/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "query/qr_json.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"

#ifdef HAVE_JSON

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *qr_json_missing(void)
{
	return NULL;
}

/* Print and free. An object that could not be built in full must not be printed in part. */
static int print(json_t *object, int failed)
{
	int rc = failed || !object;

	if (rc)
		tl_error("out of memory");
	else if (json_dumpf(object, stdout, JSON_COMPACT) || putchar('\n') == EOF)
		rc = 1;
	json_decref(object);
	return rc || tl_output_failed() ? TL_TROUBLE : 0;
}

static int set_integer(json_t *object, const char *key, uint64_t value)
{
	return json_object_set_new(object, key, json_integer((json_int_t)value));
}

static int set_text(json_t *object, const char *key, const char *text)
{
	return json_object_set_new(object, key, json_string(text));
}

static int set_fingerprint(json_t *object, const char *key, uint64_t fp, unsigned bits)
{
	char text[QR_FP_SIZE];

	qr_format_fingerprint(text, fp, bits);
	return set_text(object, key, text);
}

static json_t *hex_string(const char *bytes, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	char *hex = malloc(2 * size + 1);
	json_t *string;
	size_t i;

	if (!hex)
		return NULL;
	for (i = 0; i < size; i++) {
		hex[2 * i] = digits[(unsigned char)bytes[i] >> 4];
		hex[2 * i + 1] = digits[(unsigned char)bytes[i] & 15];
	}
	string = json_stringn(hex, 2 * size);
	free(hex);
	return string;
}

/* JSON strings are UTF-8; other bytes go out as hexadecimal digits under the second key. */
static int set_bytes(json_t *object, const char *key, const char *hex_key, const char *bytes,
		     size_t size)
{
	if (tl_is_utf8(bytes, size))
		return json_object_set_new(object, key, json_stringn(bytes, size));
	return json_object_set_new(object, hex_key, hex_string(bytes, size));
}

static int set_id(json_t *object, const simidx_match *match)
{
	return match->id == SIMIDX_NO_ID ? 0 : set_integer(object, "id", match->id);
}

static int set_label(json_t *object, const simidx_match *match)
{
	return match->label ? set_bytes(object, "label", "label_hex", match->label,
					match->label_size) :
			      0;
}

static json_t *match_object(const struct qr_query *query, const simidx_match *match,
			    unsigned bits)
{
	json_t *object = json_object();
	int failed = set_id(object, match);

	failed |= set_fingerprint(object, "fp", match->fp, bits);
	failed |= set_integer(object, "distance", match->distance);
	if (query->is_search)
		failed |= set_integer(object, "weighted", match->weighted_distance);
	if (query->has_fp2)
		failed |= set_integer(object, "distance2", match->distance2);
	failed |= set_label(object, match);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

/* The query as its answer names it. */
static int set_query(json_t *object, const struct qr_query *query, unsigned bits)
{
	int failed = set_bytes(object, "query", "query_hex", query->name, query->name_size);

	if (query->has_fp)
		failed |= set_fingerprint(object, "fingerprint", query->fp, bits);
	if (query->is_text) {
		failed |= set_integer(object, "tokens", query->n_tokens);
		failed |= json_object_set_new(object, "short", json_boolean(query->is_short));
	}
	return failed;
}

/* How far the answer goes. */
static int set_extent(json_t *object, const struct qr_query *query,
		      const simidx_results *results)
{
	int failed = json_object_set_new(object, "truncated", json_boolean(results->truncated));

	if (query->is_search)
		failed |= json_object_set_new(object, "complete_to",
					      json_integer(results->complete_to));
	return failed;
}

static int put_match(FILE *out, const struct qr_query *query, const simidx_match *match,
		     unsigned bits)
{
	json_t *object = match_object(query, match, bits);
	int failed = object ? json_dumpf(object, out, JSON_COMPACT) : tl_error("out of memory");

	json_decref(object);
	return failed || qr_print_failed(out);
}

/*
 * An object: the query, its matches one by one, since there may be millions, and how far the
 * answer goes. All but the matches are made before anything is printed.
 */
int qr_json_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		    const simidx_results *results, int begun)
{
	int has_matches = query->show == QR_SHOW_MATCHES;
	json_t *head = json_object(), *tail = json_object();
	int failed = set_query(head, query, ctx->info.bits) | set_extent(tail, query, results);

	if (query->show == QR_SHOW_COUNT)
		failed |= set_integer(head, "count", results->count);
	else if (query->show == QR_SHOW_EXISTS)
		failed |= json_object_set_new(head, "exists", json_boolean(results->count));
	if (failed)
		tl_error("out of memory");
	if (!failed && !begun) {
		putc('{', out);
		failed = json_dumpf(head, out, JSON_COMPACT | JSON_EMBED);
		fputs(has_matches ? ",\"matches\":[" : "", out);
	}
	for (size_t i = 0; has_matches && !failed && i < results->n; i++) {
		fputs(i || begun ? "," : "", out);
		failed = put_match(out, query, &results->matches[i], ctx->info.bits);
	}
	if (!failed && !results->more) {
		fputs(has_matches ? "]," : ",", out);
		failed = json_dumpf(tail, out, JSON_COMPACT | JSON_EMBED);
		fputs("}\n", out);
	}
	json_decref(head);
	json_decref(tail);
	return failed || qr_print_failed(out) ? TL_TROUBLE : 0;
}

int qr_json_document(const struct qr_context *ctx, const simidx_match *document)
{
	json_t *object = json_object();
	int failed = set_id(object, document);

	failed |= set_label(object, document);
	failed |= set_fingerprint(object, "fp", document->fp, ctx->info.bits);
	if (document->flags & SIMIDX_MATCH_FP2)
		failed |= set_fingerprint(object, "fp2", document->fp2, 64);
	return print(object, failed);
}

static int set_info(json_t *object, const simidx_info *info)
{
	char format[32];
	int failed = 0;

	snprintf(format, sizeof(format), "%u.%u", info->format_major, info->format_minor);
	failed |= set_integer(object, "documents", info->documents);
	failed |= set_integer(object, "distinct", info->distinct);
	failed |= set_integer(object, "fresh_rows", info->fresh_rows);
	failed |= set_integer(object, "labels", info->labels);
	failed |= set_integer(object, "next_id", info->next_id);
	failed |= set_integer(object, "bits", info->bits);
	failed |= set_text(object, "plan", info->plan);
	failed |= set_text(object, "layout", qr_layout_name(info));
	failed |= set_integer(object, "fill", info->fill);
	failed |= json_object_set_new(object, "ids",
				      json_boolean(!(info->flags & SIMIDX_CREATE_NO_IDS)));
	failed |= json_object_set_new(object, "fp2",
				      json_boolean(info->flags & SIMIDX_CREATE_FP2));
	failed |= set_text(object, "profile", info->profile);
	failed |= set_text(object, "format", format);
	failed |= set_integer(object, "file_bytes", info->file_bytes);
	failed |= set_integer(object, "used_bytes", info->used_bytes);
	failed |= set_integer(object, "page_bytes", info->page_bytes);
	return failed;
}

/* A figure that is not known (nothing stored) is left out. */
static int set_real(json_t *object, const char *key, double value)
{
	return value < 0 ? 0 : json_object_set_new(object, key, json_real(value));
}

static int add_table(json_t *list, const struct qr_table *table, uint64_t page_bytes)
{
	const simidx_table_info *info = &table->info;
	json_t *object = json_object();
	int failed = 0;

	failed |= set_text(object, "table", table->name);
	if (info->prefix_bits)
		failed |= set_integer(object, "prefix_bits", info->prefix_bits);
	failed |= set_integer(object, "entries", info->entries);
	failed |= set_integer(object, "keys", info->keys);
	failed |= set_integer(object, "pages", info->pages);
	failed |= set_integer(object, "overflow_pages", info->overflow_pages);
	failed |= set_integer(object, "bytes_used", info->bytes_used);
	failed |= set_real(object, "bytes_per_entry", qr_bytes_per_entry(info, page_bytes));
	failed |= set_real(object, "fill", qr_table_fill(info, page_bytes));
	failed |= set_fingerprint(object, "digest", info->digest, 64);
	return json_array_append_new(list, object) || failed;
}

int qr_json_stats(const struct qr_context *ctx, const struct qr_table *tables, size_t n)
{
	json_t *object = json_object(), *list = json_array();
	int failed = set_info(object, &ctx->info);
	size_t i;

	failed |= set_real(object, "bytes_per_document", qr_bytes_per_document(&ctx->info));
	failed |= set_real(object, "limit_bits",
			   qr_limit_bits(ctx->info.bits, ctx->info.distinct));
	for (i = 0; i < n; i++)
		failed |= add_table(list, &tables[i], ctx->info.page_bytes);
	failed |= json_object_set_new(object, "tables", list);
	return print(object, failed);
}

int qr_json_problem(const char *table, const char *text)
{
	json_t *object = json_object();
	int failed = 0;

	failed |= set_bytes(object, "table", "table_hex", table, strlen(table));
	failed |= set_bytes(object, "text", "text_hex", text, strlen(text));
	return print(object, failed);
}

static json_t *choice_object(const simidx_choice *choice)
{
	json_t *object = json_object();
	int failed = set_text(object, "way", choice->text);

	failed |= set_integer(object, "probes", choice->probes);
	failed |= set_real(object, "candidates", choice->candidates);
	failed |= set_real(object, "microseconds", choice->microseconds);
	if (!failed)
		return object;
	json_decref(object);
	return NULL;
}

int qr_json_explanation(const struct qr_context *ctx, const struct qr_query *query,
			const simidx_explanation *e)
{
	json_t *object = json_object(), *list = json_array();
	int failed = set_query(object, query, ctx->info.bits);

	failed |= json_object_set_new(object, "chosen", choice_object(&e->choices[0]));
	for (size_t i = 1; i < e->n_choices; i++)
		failed |= json_array_append_new(list, choice_object(&e->choices[i]));
	failed |= json_object_set_new(object, "rejected", list);
	failed |= json_object_set_new(object, "looked_up", json_boolean(e->looked_up));
	failed |= set_integer(object, "probes", e->results->probes);
	failed |= set_integer(object, "blocks", e->results->blocks);
	failed |= set_integer(object, "candidates", e->results->candidates);
	failed |= set_integer(object, "fingerprints", e->results->fingerprints);
	failed |= set_integer(object, "count", e->results->count);
	failed |= set_extent(object, query, e->results);
	failed |= set_text(object, "kernel", e->kernel);
	failed |= set_integer(object, "block_indexes", e->block_indexes);
	return print(object, failed);
}

static int print_prediction(const struct qr_plan_request *request, const simidx_prediction *one)
{
	json_t *object = json_object();
	int failed = set_text(object, "plan", one->plan);

	failed |= set_integer(object, "documents", request->documents);
	failed |= set_integer(object, "bits", request->bits);
	failed |= set_integer(object, "radius", request->radius);
	failed |= set_integer(object, "tables", one->n_tables);
	failed |= set_real(object, "table_bytes", one->table_bytes);
	failed |= set_real(object, "bytes", one->bytes);
	failed |= set_real(object, "bytes_in_all", one->bytes * (double)request->documents);
	failed |= set_real(object, "probes", one->probes);
	failed |= set_real(object, "candidates", one->candidates);
	failed |= set_real(object, "microseconds", one->microseconds);
	return print(object, failed);
}

int qr_json_predictions(const struct qr_plan_request *request, const simidx_prediction *all,
			size_t n)
{
	int code = 0;
	size_t i;

	for (i = 0; i < n && !code; i++)
		code = print_prediction(request, &all[i]);
	return code;
}

#else /* !HAVE_JSON */

#define MISSING "this program was built without JSON support"

const char *qr_json_missing(void)
{
	return MISSING;
}

int qr_json_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		    const simidx_results *results, int begun)
{
	(void)out;
	(void)ctx;
	(void)query;
	(void)results;
	(void)begun;
	return tl_error(MISSING);
}

int qr_json_explanation(const struct qr_context *ctx, const struct qr_query *query,
			const simidx_explanation *explanation)
{
	(void)ctx;
	(void)query;
	(void)explanation;
	return tl_error(MISSING);
}

int qr_json_predictions(const struct qr_plan_request *request, const simidx_prediction *all,
			size_t n)
{
	(void)request;
	(void)all;
	(void)n;
	return tl_error(MISSING);
}

int qr_json_document(const struct qr_context *ctx, const simidx_match *document)
{
	(void)ctx;
	(void)document;
	return tl_error(MISSING);
}

int qr_json_stats(const struct qr_context *ctx, const struct qr_table *tables, size_t n)
{
	(void)ctx;
	(void)tables;
	(void)n;
	return tl_error(MISSING);
}

int qr_json_problem(const char *table, const char *text)
{
	(void)table;
	(void)text;
	return tl_error(MISSING);
}

#endif
