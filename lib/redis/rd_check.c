/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Checking an index: first each key, whether what it has is of a document that is there; then each
 * document, whether all keys have it; then the counts. What is wrong is mended by the script, which
 * looks once more, so others may write meanwhile.
 */

#include "rd_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rd_open.h"
#include "rd_read.h"
#include "rd_script.h"

#define CLAIMS 8192  /* that are compared together */
#define PAGE 2048    /* documents of a page */
#define STEPS 400    /* rows of a call of the script */
#define COUNT_AT 5   /* which argument of it is the number of documents */

/* What a key says of a document. */
struct claim {
	enum claim_kind { ROW, ID, LABEL, TIME } kind;
	uint64_t id, fp;      /* the fingerprint, or the time */
	char *what;           /* the key of a row, or a label */
	size_t what_size;
	int is_wrong;         /* whatever the document is */
};

struct checking {
	struct rd_index *x;
	simidx_engine_check *c;
	simidx_error *err;
	struct claim *claim;
	size_t n;
	const redisReply *keys; /* of a page of SCAN */
	uint64_t labels;      /* documents with one */
	struct rd_call call;  /* documents for the script */
	uint64_t *id;         /* their ids */
	size_t n_ids;
	uint64_t version;     /* before documents were read; then raised here so often: */
	uint64_t raised;
};

/* ---- telling and mending ---- */

static int mends(const struct checking *k)
{
	return (k->c->flags & SIMIDX_ENGINE_MEND) != 0;
}

static __attribute__((format(printf, 4, 5)))
void tell(struct checking *k, const char *place, int can_mend, const char *format, ...)
{
	char text[256];
	simidx_problem problem = { place, text };
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	k->c->problems++;
	k->c->mended += can_mend && mends(k);
	k->c->problem(k->c->ctx, &problem);
}

/*
 * Whether something is left over, while the record of its document is the one that was seen, or
 * none: the script looks once more, and removes it if that is to be mended.
 */
static int drop(struct checking *k, const char *kind, struct rd_arg what, uint64_t fp, uint64_t id,
		struct rd_arg record, int *is)
{
	struct rd_call call = { 0 };
	redisReply *reply;
	char number[8];
	int rc;

	rd_call_begin(k->x, &call, "drop");
	if (!strcmp(kind, "row"))
		rd_args_copy(&call.keys, what.data, what.size);
	rd_args_text(&call.args, kind);
	rd_args_copy(&call.args, what.data, what.size);
	rd_put64(number, fp);
	rd_args_copy(&call.args, number, 8);
	rd_args_text(&call.args, mends(k) ? "1" : "0");
	rd_call_change(k->x, &call, id, record, record, NULL, NULL);
	rc = rd_call_make(k->x, &call, &reply, NULL, k->err);
	*is = !rc && rd_is_string(reply, 1) && *reply->element[1]->str == '1';
	k->raised += !rc && rd_is_string(reply, 2) && *reply->element[2]->str == '1';
	if (reply)
		freeReplyObject(reply);
	rd_call_free(&call);
	return rc;
}

/* The same of something that is of no document. */
static int drop_other(struct checking *k, const char *kind, const char *what, size_t size, int *is)
{
	const struct rd_arg other = { what, size }, none = { "", 0 };

	return drop(k, kind, other, 0, SIMIDX_MAX_ID, none, is);
}

/* ---- what keys say of documents ---- */

/* Whether a claim is right, by the record of its document, if that is one. */
static int is_right(const struct claim *c, const redisReply *record)
{
	simidx_match m = { .id = c->id };

	if (c->is_wrong || record->type != REDIS_REPLY_STRING ||
	    rd_record_read(record->str, record->len, &m))
		return 0;
	if (c->kind == LABEL)
		return m.label_size == c->what_size && !memcmp(m.label, c->what, c->what_size);
	return c->kind == TIME ? m.time == c->fp : m.fp == c->fp;
}

static int add_claim(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct checking *k = ctx;

	return rd_link_add(link, err, "HGET " RD_DOCUMENT, RD_DOCUMENT_OF(k->x, k->claim[i].id));
}

static int take_claim(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	static const char *const kind[] = { "row", "id", "label", "time" };
	static const char *const place[] = { "tables", "ids", "labels", "times" };
	const struct rd_arg record = { reply->str ? reply->str : "", reply->len };
	struct checking *k = ctx;
	const struct claim *c = &k->claim[i];
	const struct rd_arg what = { c->what, c->what_size };
	int rc, is;

	(void)err;
	if (is_right(c, reply))
		return SIMIDX_OK;
	rc = drop(k, kind[c->kind], what, c->fp, c->id, record, &is);
	if (is)
		tell(k, place[c->kind], 1, "document %" PRIu64 ": a %s is left over", c->id,
		     kind[c->kind]);
	return rc;
}

/* Compare the claims that were noted. */
static int flush(struct checking *k)
{
	const struct rd_reading reading = { k->n, add_claim, take_claim, k, 1 };
	int rc = k->n ? rd_read(&k->x->server, &reading, k->err) : SIMIDX_OK;

	while (k->n)
		free(k->claim[--k->n].what);
	return rc;
}

static int claim(struct checking *k, struct claim c, const char *what, size_t size)
{
	c.what = size ? malloc(size) : NULL;
	c.what_size = size;
	if (size && !c.what)
		return rd_fail_nomem(k->err);
	if (size)
		memcpy(c.what, what, size);
	c.is_wrong |= c.id > SIMIDX_MAX_ID;
	k->claim[k->n++] = c;
	return k->n == CLAIMS ? flush(k) : SIMIDX_OK;
}

/* ---- keys ---- */

/* What a key is: 'T': of a table, and which; 'i', 'd', another; '\0': not of this index. */
static char kind_of(const struct checking *k, const redisReply *key, unsigned *table,
		    unsigned *prefix)
{
	size_t n = strlen(k->x->prefix);
	const char *rest = key->str + n;
	char more;

	if (key->len <= n || memcmp(key->str, k->x->prefix, n) != 0)
		return '\0';
	if (sscanf(rest, "%2u:%8x%c", table, prefix, &more) == 2)
		return *table < k->x->n_tables ? 'T' : '?';
	if ((*rest == 'i' && key->len - n != 10) || (*rest == 'd' && key->len - n != 18))
		return '?';
	return *rest;
}

/* A key is none that an index has. */
static int tell_key(struct checking *k, const redisReply *key, const char *place, const char *why)
{
	int is, rc = drop_other(k, "key", key->str, key->len, &is);

	if (is)
		tell(k, place, 1, "%.100s: %s", key->str, why);
	return rc;
}

static int add_key(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct checking *k = ctx;
	const redisReply *key = k->keys->element[i];
	unsigned table, prefix;

	switch (kind_of(k, key, &table, &prefix)) {
	case 'T':
		return rd_link_add(link, err, "GET %b", key->str, key->len);
	case 'i':
		return rd_link_add(link, err, "SMEMBERS %b", key->str, key->len);
	case 'd':
		return rd_link_add(link, err, "ZSCORE %sb %s", k->x->prefix,
				   key->str + strlen(k->x->prefix) + 2);
	default:
		return rd_link_add(link, err, "TYPE %b", key->str, key->len);
	}
}

static int take_table(struct checking *k, const redisReply *key, unsigned table, unsigned prefix,
		      const redisReply *r)
{
	uint32_t right[RD_MAX_TABLES];
	int rc = SIMIDX_OK;

	if (r->type == REDIS_REPLY_NIL)
		return SIMIDX_OK;
	if (r->type != REDIS_REPLY_STRING || r->len < RD_HEAD || (r->len - RD_HEAD) % RD_ROW)
		return tell_key(k, key, "tables", "it holds something else than rows");
	for (size_t at = RD_HEAD; !rc && at < r->len; at += RD_ROW) {
		struct claim c = { .kind = ROW, .fp = rd_get64(r->str + at),
				   .id = rd_get64(r->str + at + 8) };

		k->c->rows++;
		k->c->prefixes(k->c->ctx, c.fp, right);
		c.is_wrong = right[table] != prefix;
		if (c.is_wrong || c.id != RD_MANY)
			rc = claim(k, c, key->str, key->len);
	}
	return rc;
}

static int take_ids(struct checking *k, const redisReply *key, const redisReply *r)
{
	struct claim c = { .kind = ID, .fp = rd_get64(key->str + key->len - 8) };
	int rc = SIMIDX_OK;

	if (r->type != REDIS_REPLY_ARRAY)
		return tell_key(k, key, "ids", "it is no set of ids");
	for (size_t j = 0; !rc && j < r->elements; j++) {
		if (rd_is_string(r, j) && r->element[j]->len == 8) {
			c.id = rd_get64(r->element[j]->str);
			rc = claim(k, c, NULL, 0);
		}
	}
	return rc;
}

/* Whether a key is of another generation of the index. Others may have keys with its tag, too. */
static int is_replaced(const struct rd_index *x, const redisReply *key)
{
	const char *gen = key->str + strlen(x->header);

	return key->len > strlen(x->header) + RD_GEN && gen[RD_GEN] == ':' &&
	       strspn(gen, RD_LETTERS) == RD_GEN;
}

static int take_key(void *ctx, size_t i, const redisReply *r, simidx_error *err)
{
	struct checking *k = ctx;
	const redisReply *key = k->keys->element[i];
	const char *bucket;
	unsigned table, prefix;
	int rc, is = 0;

	(void)err;
	switch (kind_of(k, key, &table, &prefix)) {
	case 'T':
		return take_table(k, key, table, prefix, r);
	case 'i':
		return take_ids(k, key, r);
	case 'd':
		/* Documents whose key is not in the list of keys are not walked over. */
		bucket = key->str + key->len - 16;
		rc = r->type == REDIS_REPLY_STRING ? SIMIDX_OK
						   : drop_other(k, "bucket", bucket, 16, &is);
		if (is)
			tell(k, "documents", 1, "%s: it is not in the list of keys", key->str);
		return rc;
	case '\0':
		return is_replaced(k->x, key)
			       ? tell_key(k, key, "keys", "it is of an index that was replaced")
			       : SIMIDX_OK;
	default:
		return SIMIDX_OK;
	}
}

static int check_keys(struct checking *k)
{
	char cursor[24] = "0", pattern[RD_MAX_NAME + 4];
	uint64_t keys = 0;
	int rc;

	snprintf(pattern, sizeof(pattern), "%s*", k->x->header);
	do {
		redisReply *reply;
		struct rd_reading reading = { 0, add_key, take_key, k, 1 };

		rc = rd_scan_some(k->x, "SCAN", pattern, cursor, &reply, k->err);
		if (rc)
			return rc;
		k->keys = reply->element[1];
		reading.n = k->keys->elements;
		rc = reading.n ? rd_read(&k->x->server, &reading, k->err) : SIMIDX_OK;
		keys += reading.n;
		freeReplyObject(reply);
		if (!rc)
			rc = flush(k);
		k->c->progress(k->c->ctx, "keys", keys, keys);
	} while (!rc && strcmp(cursor, "0") != 0);
	return rc;
}

/* Labels, or times: pairs of a label and an id, or of an id and a time. */
static int check_pairs(struct checking *k, enum claim_kind kind)
{
	char cursor[24] = "0", key[RD_MAX_NAME + RD_GEN + 8];
	int rc;

	snprintf(key, sizeof(key), "%s%c", k->x->prefix, kind == LABEL ? 'l' : 't');
	do {
		redisReply *reply, *const *pair;
		size_t n;

		rc = rd_scan_some(k->x, kind == LABEL ? "HSCAN" : "ZSCAN", key, cursor, &reply,
				  k->err);
		if (rc)
			return rc;
		pair = reply->element[1]->element;
		n = reply->element[1]->elements;
		for (size_t i = 0; !rc && i + 1 < n; i += 2) {
			const redisReply *id = pair[i + (kind == LABEL)];
			struct claim c = { .kind = kind };

			c.is_wrong = rd_digits(id->str, id->len, &c.id);
			if (kind == TIME)
				c.is_wrong |= rd_digits(pair[i + 1]->str, pair[i + 1]->len, &c.fp);
			rc = claim(k, c, pair[i]->str, kind == LABEL ? pair[i]->len : 0);
		}
		freeReplyObject(reply);
		if (!rc)
			rc = flush(k);
	} while (!rc && strcmp(cursor, "0") != 0);
	return rc;
}

/* ---- documents ---- */

static void begin_documents(struct checking *k)
{
	rd_call_begin(k->x, &k->call, "check");
	rd_args_text(&k->call.args, mends(k) ? "1" : "0");
	rd_args_number(&k->call.args, k->x->n_tables);
	rd_args_text(&k->call.args, "      "); /* how many, which is not known yet */
	k->n_ids = 0;
}

/* Tell what the script has found: for each document letters, separated by commas. */
static int take_found(struct checking *k, const redisReply *reply)
{
	const char *at;

	if (!rd_is_string(reply, 1) || !rd_is_string(reply, 2))
		return rd_reply_odd(&k->x->server, k->err);
	k->raised += *reply->element[2]->str == '1';
	at = reply->element[1]->str;
	for (size_t i = 0; i < k->n_ids; i++, at += *at == ',') {
		for (; *at && *at != ','; at++) {
			const char *what = *at == 'r'   ? "a row is missing"
					   : *at == 'l' ? "its label is missing"
					   : *at == 'L' ? "another one has its label"
							: "its time is missing";

			tell(k, *at == 'r' ? "tables" : *at == 't' ? "times" : "labels",
			     *at != 'L', "document %" PRIu64 ": %s", k->id[i], what);
		}
	}
	return SIMIDX_OK;
}

static int flush_documents(struct checking *k)
{
	redisReply *reply;
	char number[8];
	int rc;

	if (!k->n_ids)
		return SIMIDX_OK;
	/* Without memory for it, the call fails. */
	if (!k->call.args.has_failed)
		memcpy(k->call.args.bytes + k->call.args.offset[COUNT_AT], number,
		       (size_t)snprintf(number, sizeof(number), "%6zu", k->n_ids));
	rc = rd_call_make(k->x, &k->call, &reply, NULL, k->err);
	if (!rc)
		rc = take_found(k, reply);
	if (reply)
		freeReplyObject(reply);
	begin_documents(k);
	return rc;
}

static int on_record(void *ctx, uint64_t id, const char *data, size_t size, simidx_error *err)
{
	const struct rd_arg none = { "", 0 }, record = { data, size };
	struct checking *k = ctx;
	simidx_match m = { .id = id };
	uint32_t prefix[RD_MAX_TABLES];

	(void)err;
	if (rd_record_read(data, size, &m)) {
		int is, rc = drop(k, "document", none, 0, id, record, &is);

		if (is)
			tell(k, "documents", 0, "document %" PRIu64 ": its record is damaged", id);
		return rc;
	}
	k->c->documents++;
	k->labels += m.label_size != 0;
	k->c->prefixes(k->c->ctx, m.fp, prefix);
	rd_call_change(k->x, &k->call, id, none, record, NULL, prefix);
	rd_args_text(&k->call.args, "");
	rd_args_number(&k->call.args, k->call.n_keys);
	k->id[k->n_ids++] = id;
	return k->n_ids * k->x->n_tables >= STEPS ? flush_documents(k) : SIMIDX_OK;
}

static int check_documents(struct checking *k)
{
	uint64_t from = 0;
	int rc = SIMIDX_OK, is_first = 1;

	begin_documents(k);
	k->raised = 0;
	while (!rc && from != SIMIDX_NO_ID) {
		rc = rd_walk_records(k->x, &from, PAGE, on_record, k,
				     is_first ? &k->version : NULL, k->err);
		is_first = 0;
		k->c->progress(k->c->ctx, "documents", k->c->documents, k->c->documents);
	}
	return rc ? rc : flush_documents(k);
}

/* Counts are compared where nobody else has changed anything since they were made. */
static int check_counts(struct checking *k)
{
	simidx_engine_info info = { .size = sizeof(info) };
	struct rd_call call = { 0 };
	uint64_t version = 0;
	redisReply *reply;
	int rc = rd_info(k->x, &info, k->err);

	if (!rc)
		rc = rd_ask(&k->x->server, &reply, k->err, "HGET %s version", k->x->header);
	if (rc)
		return rc;
	if (reply->type != REDIS_REPLY_STRING || rd_digits(reply->str, reply->len, &version))
		rc = rd_reply_odd(&k->x->server, k->err);
	freeReplyObject(reply);
	if (rc || version != k->version + k->raised ||
	    (info.documents == k->c->documents && info.labels == k->labels))
		return rc;
	tell(k, "header", 1, "%" PRIu64 " documents and %" PRIu64 " labels are counted, and there "
	     "are %" PRIu64 " and %" PRIu64, info.documents, info.labels, k->c->documents,
	     k->labels);
	if (!mends(k))
		return SIMIDX_OK;
	rd_call_begin(k->x, &call, "counts");
	rd_args_number(&call.args, version);
	rd_args_number(&call.args, k->c->documents);
	rd_args_number(&call.args, k->labels);
	rc = rd_call_do(k->x, &call, k->err);
	rd_call_free(&call);
	return rc;
}

int rd_check(void *state, simidx_engine_check *check, simidx_error *err)
{
	struct checking k = { .x = state, .c = check, .err = err };
	int rc = SIMIDX_OK;

	k.claim = malloc(CLAIMS * sizeof(*k.claim));
	k.id = malloc(STEPS * sizeof(*k.id));
	if (!k.claim || !k.id)
		rc = rd_fail_nomem(err);
	if (!rc)
		rc = check_keys(&k);
	if (!rc)
		rc = check_pairs(&k, LABEL);
	if (!rc)
		rc = check_pairs(&k, TIME);
	if (!rc)
		rc = check_documents(&k);
	if (!rc)
		rc = check_counts(&k);
	while (k.n)
		free(k.claim[--k.n].what);
	free(k.claim);
	free(k.id);
	rd_call_free(&k.call);
	return rc;
}
