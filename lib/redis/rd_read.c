/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int rd_damaged(const struct rd_index *x, simidx_error *err, const char *what)
{
	return rd_fail(err, SIMIDX_E_CORRUPT, "%s: the index \"%s\" is damaged: %s",
		       x->server.uri.place, x->server.uri.name, what);
}

int rd_read_all(struct rd_index *x, size_t n,
		int (*add)(void *ctx, struct rd_link *link, size_t i, simidx_error *err),
		int (*take)(void *ctx, size_t i, const redisReply *reply, simidx_error *err),
		void *ctx, simidx_error *err)
{
	const struct rd_reading reading = { n, add, take, ctx, 0 };

	return rd_read(&x->server, &reading, err);
}

/* ---- documents ---- */

struct find {
	struct rd_index *x;
	const uint64_t *id;
	simidx_engine_document document;
	void *ctx;
	uint64_t bytes;
	/* By labels: */
	const simidx_engine_bytes *label; /* or NULL */
	uint64_t *found; /* ids of those that are there */
	size_t *place;   /* which of the labels each has */
	size_t n_found;
};

static int add_document(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct find *f = ctx;

	return rd_link_add(link, err, "HGET " RD_DOCUMENT, RD_DOCUMENT_OF(f->x, f->id[i]));
}

static int deliver(struct rd_index *x, uint64_t id, const char *data, size_t size, size_t i,
		   simidx_engine_document document, void *ctx, simidx_error *err)
{
	simidx_match match = { .id = id };
	char what[64];

	if (rd_record_read(data, size, &match)) {
		snprintf(what, sizeof(what), "the record of document %" PRIu64, id);
		return rd_damaged(x, err, what);
	}
	return document(ctx, i, &match) == SIMIDX_ENGINE_ON ? SIMIDX_OK : SIMIDX_E_STOPPED;
}

static int take_document(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct find *f = ctx;
	const simidx_engine_bytes *label = f->label ? &f->label[f->place[i]] : NULL;
	simidx_match match = { .id = f->id[i] };

	if (reply->type == REDIS_REPLY_NIL)
		return SIMIDX_OK;
	if (reply->type != REDIS_REPLY_STRING)
		return rd_reply_odd(&f->x->server, err);
	f->bytes += reply->len;
	/* A label that has moved meanwhile is not the one that was asked for. */
	if (label && !rd_record_read(reply->str, reply->len, &match) &&
	    (match.label_size != label->size || memcmp(match.label, label->data, label->size) != 0))
		return SIMIDX_OK;
	return deliver(f->x, f->id[i], reply->str, reply->len, f->label ? f->place[i] : i,
		       f->document, f->ctx, err);
}

static int find(struct find *f, size_t n, simidx_engine_cost *cost, simidx_error *err)
{
	int rc = rd_read_all(f->x, n, add_document, take_document, f, err);

	cost->round_trips++;
	cost->requests += n;
	cost->bytes += f->bytes;
	return rc;
}

int rd_find_ids(void *state, const uint64_t *id, size_t n, simidx_engine_document document,
		void *ctx, simidx_engine_cost *cost, simidx_error *err)
{
	struct find f = { .x = state, .id = id, .document = document, .ctx = ctx };

	return find(&f, n, cost, err);
}

static int add_label(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct find *f = ctx;

	return rd_link_add(link, err, "HGET %sl %b", f->x->prefix, f->label[i].data,
			   f->label[i].size);
}

static int take_label(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct find *f = ctx;
	uint64_t *id = &f->found[f->n_found];

	if (reply->type == REDIS_REPLY_NIL)
		return SIMIDX_OK;
	if (reply->type != REDIS_REPLY_STRING)
		return rd_reply_odd(&f->x->server, err);
	if (rd_digits(reply->str, reply->len, id) || *id > SIMIDX_MAX_ID)
		return rd_damaged(f->x, err, "a label has no id");
	f->place[f->n_found++] = i;
	return SIMIDX_OK;
}

int rd_find_labels(void *state, const simidx_engine_bytes *label, size_t n,
		   simidx_engine_document document, void *ctx, simidx_engine_cost *cost,
		   simidx_error *err)
{
	struct find f = { .x = state, .label = label, .document = document, .ctx = ctx };
	int rc = SIMIDX_OK;

	f.id = f.found = malloc((n ? n : 1) * sizeof(*f.found));
	f.place = malloc((n ? n : 1) * sizeof(*f.place));
	if (!f.found || !f.place)
		rc = rd_fail_nomem(err);
	if (!rc)
		rc = rd_read_all(f.x, n, add_label, take_label, &f, err);
	cost->round_trips++;
	cost->requests += n;
	if (!rc && f.n_found)
		rc = find(&f, f.n_found, cost, err);
	free(f.found);
	free(f.place);
	return rc;
}

/* ---- all documents ---- */

/* A page of keys with documents, by ascending ids. */
struct walk {
	struct rd_index *x;
	uint64_t from;     /* id */
	uint64_t version;
	int has_ended;
	uint64_t *bucket;
	size_t n_buckets, most; /* keys of the page */
	size_t left;       /* documents that are still wanted */
	rd_record_fn record;
	void *ctx;
};

/* The version, then the next keys. */
static int add_page(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct walk *w = ctx;

	return i ? rd_link_add(link, err, "ZRANGEBYLEX %sb [%016llx + LIMIT 0 %llu", w->x->prefix,
			       (unsigned long long)w->from / RD_BUCKET,
			       (unsigned long long)w->most)
		 : rd_link_add(link, err, "HGET %s version", w->x->header);
}

static int take_page(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct walk *w = ctx;

	if (!i)
		return reply->type == REDIS_REPLY_STRING &&
				       !rd_digits(reply->str, reply->len, &w->version)
			       ? SIMIDX_OK : rd_damaged(w->x, err, "the header has no version");
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > w->most)
		return rd_reply_odd(&w->x->server, err);
	for (w->n_buckets = 0; w->n_buckets < reply->elements; w->n_buckets++) {
		char *end;

		if (!rd_is_string(reply, w->n_buckets) ||
		    reply->element[w->n_buckets]->len != 16)
			return rd_damaged(w->x, err, "the list of keys with documents");
		w->bucket[w->n_buckets] = strtoull(reply->element[w->n_buckets]->str, &end, 16);
		if (*end || w->bucket[w->n_buckets] > SIMIDX_MAX_ID / RD_BUCKET ||
		    (w->n_buckets && w->bucket[w->n_buckets] <= w->bucket[w->n_buckets - 1]))
			return rd_damaged(w->x, err, "the list of keys with documents");
	}
	w->has_ended = w->n_buckets < w->most;
	return SIMIDX_OK;
}

static int add_bucket(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct walk *w = ctx;

	return rd_link_add(link, err, "HGETALL %sd:%016llx", w->x->prefix,
			   (unsigned long long)w->bucket[i]);
}

static int take_bucket(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct walk *w = ctx;
	const redisReply *at[RD_BUCKET] = { NULL };
	int rc = SIMIDX_OK;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements % 2)
		return rd_reply_odd(&w->x->server, err);
	for (size_t j = 0; j < reply->elements; j += 2) {
		uint64_t place;

		if (!rd_is_string(reply, j) || !rd_is_string(reply, j + 1) ||
		    rd_digits(reply->element[j]->str, reply->element[j]->len, &place) ||
		    place >= RD_BUCKET)
			return rd_damaged(w->x, err,
					  "a key with documents has something else in it");
		at[place] = reply->element[j + 1];
	}
	for (unsigned place = 0; !rc && w->left && place < RD_BUCKET; place++) {
		uint64_t id = w->bucket[i] * RD_BUCKET + place;

		if (!at[place] || id < w->from)
			continue;
		rc = w->record(w->ctx, id, at[place]->str, at[place]->len, err);
		w->from = id + 1;
		w->left--;
	}
	return rc ? rc : w->left ? SIMIDX_OK : RD_ENDED;
}

int rd_walk_records(struct rd_index *x, uint64_t *from, size_t n, rd_record_fn record, void *ctx,
		    uint64_t *version, simidx_error *err)
{
	struct walk w = { .x = x, .from = *from, .left = n, .record = record, .ctx = ctx };
	int rc = SIMIDX_OK, is_first = 1;

	w.most = n / RD_BUCKET + 2;
	w.bucket = malloc(w.most * sizeof(*w.bucket));
	if (!w.bucket)
		return rd_fail_nomem(err);
	while (!rc && w.left && !w.has_ended && w.from <= SIMIDX_MAX_ID) {
		rc = rd_read_all(w.x, 2, add_page, take_page, &w, err);
		if (!rc && is_first && version)
			*version = w.version;
		is_first = 0;
		if (!rc)
			rc = rd_read_all(w.x, w.n_buckets, add_bucket, take_bucket, &w, err);
		if (!rc && w.n_buckets)
			w.from = (w.bucket[w.n_buckets - 1] + 1) * RD_BUCKET;
	}
	free(w.bucket);
	*from = w.left ? SIMIDX_NO_ID : w.from;
	return rc == RD_ENDED ? SIMIDX_OK : rc;
}

struct walking {
	struct rd_index *x;
	simidx_engine_document document;
	void *ctx;
};

static int on_record(void *ctx, uint64_t id, const char *data, size_t size, simidx_error *err)
{
	const struct walking *w = ctx;

	return deliver(w->x, id, data, size, 0, w->document, w->ctx, err);
}

int rd_walk(void *state, uint64_t from_id, size_t n, simidx_engine_document document, void *ctx,
	    uint64_t *version, simidx_error *err)
{
	struct walking w = { state, document, ctx };

	return rd_walk_records(state, &from_id, n, on_record, &w, version, err);
}

int rd_older(void *state, uint32_t time, size_t n, uint64_t *id, size_t *found, simidx_error *err)
{
	struct rd_index *x = state;
	redisReply *reply;
	int rc = rd_ask(&x->server, &reply, err, "ZRANGEBYSCORE %st -inf (%u LIMIT 0 %llu",
			x->prefix, (unsigned)time, (unsigned long long)n);

	*found = 0;
	if (rc)
		return rc;
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > n)
		rc = rd_reply_odd(&x->server, err);
	for (size_t i = 0; !rc && i < reply->elements; i++)
		if (!rd_is_string(reply, i) ||
		    rd_digits(reply->element[i]->str, reply->element[i]->len, &id[(*found)++]))
			rc = rd_damaged(x, err, "the list of times");
	freeReplyObject(reply);
	return rc;
}

int rd_get_mark(void *state, void **data, size_t *size, simidx_error *err)
{
	struct rd_index *x = state;
	redisReply *reply;
	int rc = rd_ask(&x->server, &reply, err, "HGET %s mark", x->header);

	*data = NULL;
	*size = 0;
	if (rc)
		return rc;
	if (reply->type == REDIS_REPLY_STRING && reply->len) {
		*data = malloc(reply->len);
		if (*data)
			memcpy(*data, reply->str, *size = reply->len);
		else
			rc = rd_fail_nomem(err);
	} else if (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_NIL) {
		rc = rd_reply_odd(&x->server, err);
	}
	freeReplyObject(reply);
	return rc;
}
