/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rd_script.h"

/* All requests of a step are sent together. */

#define ROWS 512 /* that are handed over at once */
#define KEYS 64  /* of tables that one command reads */

/* What a callback has ended a call with; beside SIMIDX_OK and errors. */
#define ENDED 1

static int damaged(const struct rd_index *x, simidx_error *err, const char *what)
{
	return rd_fail(err, SIMIDX_E_CORRUPT, "%s: the index \"%s\" is damaged: %s",
		       x->server.uri.place, x->server.uri.name, what);
}

static int read_all(struct rd_index *x, size_t n,
		    int (*add)(void *ctx, struct rd_link *link, size_t i, simidx_error *err),
		    int (*take)(void *ctx, size_t i, const redisReply *reply, simidx_error *err),
		    void *ctx, simidx_error *err)
{
	const struct rd_reading reading = { n, add, take, ctx, 0 };

	return rd_read(&x->server, &reading, err);
}

/* ---- rows ---- */

/* A fingerprint whose ids are in a set, and the probe that has met it. */
struct crowd {
	size_t probe;
	uint64_t fp;
};

struct scan {
	struct rd_index *x;
	const simidx_engine_probe *probe;
	/* Probes of one prefix share its key: those of key i are order[first[i]] and on. */
	size_t *order, *first, n_keys;
	uint64_t *version;
	simidx_engine_rows rows;
	void *ctx;
	size_t there;        /* keys of the last command that have something */
	size_t *odd, n_odd;  /* keys that may have something that MGET does not deliver */
	struct crowd *crowd; /* by fingerprint, when all were met */
	size_t n_crowds, cap;
	size_t *group, n_groups; /* where each fingerprint begins there */
	uint64_t bytes;
};

/* A probe, to be sorted. */
struct wanted {
	uint64_t place;
	size_t probe;
};

static int compare_wanted(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->probe < y->probe ? -1 : 1;
}

/* Find out which probes are of one prefix. */
static int sort_probes(struct scan *s, size_t n, simidx_error *err)
{
	struct wanted *wanted = malloc((n + 1) * sizeof(*wanted));

	s->order = malloc((n + 1) * sizeof(*s->order));
	s->first = malloc((n + 1) * sizeof(*s->first));
	s->odd = malloc((n + 1) * sizeof(*s->odd));
	if (!wanted || !s->order || !s->first || !s->odd) {
		free(wanted);
		return rd_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		wanted[i] = (struct wanted){ rd_place(s->probe[i].table, s->probe[i].prefix), i };
	qsort(wanted, n, sizeof(*wanted), compare_wanted);
	for (size_t i = 0; i < n; i++) {
		s->order[i] = wanted[i].probe;
		if (!i || wanted[i].place != wanted[i - 1].place)
			s->first[s->n_keys++] = i;
	}
	s->first[s->n_keys] = n;
	free(wanted);
	return SIMIDX_OK;
}

static const simidx_engine_probe *probe_of_key(const struct scan *s, size_t key)
{
	return &s->probe[s->order[s->first[key]]];
}

/* How many keys group number i has. */
static size_t group_size(const struct scan *s, size_t i)
{
	size_t left = s->n_keys - i * KEYS;

	return left < KEYS ? left : KEYS;
}

/*
 * Two commands for each group of keys. MGET says of a key of another type that it is not there; then
 * EXISTS counts one more.
 */
static int add_group(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct scan *s = ctx;
	size_t n = group_size(s, i / 2), size[KEYS + 1] = { i % 2 ? 6 : 4 };
	char key[KEYS][RD_MAX_TABLE_KEY];
	const char *at[KEYS + 1] = { i % 2 ? "EXISTS" : "MGET" };

	for (size_t j = 0; j < n; j++) {
		const simidx_engine_probe *probe = probe_of_key(s, i / 2 * KEYS + j);

		at[j + 1] = key[j];
		size[j + 1] = rd_table_key(s->x, probe->table, probe->prefix, key[j]);
	}
	return rd_link_add_args(link, n + 1, at, size, err);
}

static int add_get(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct scan *s = ctx;
	const simidx_engine_probe *probe = probe_of_key(s, s->odd[i]);

	return rd_link_add(link, err, "GET " RD_TABLE_KEY, s->x->prefix, probe->table,
			   (unsigned)probe->prefix);
}

static int add_crowd(struct scan *s, size_t probe, uint64_t fp, simidx_error *err)
{
	if (s->n_crowds == s->cap) {
		size_t more = s->cap ? 2 * s->cap : 64;
		struct crowd *grown = realloc(s->crowd, more * sizeof(*grown));

		if (!grown)
			return rd_fail_nomem(err);
		s->crowd = grown;
		s->cap = more;
	}
	s->crowd[s->n_crowds++] = (struct crowd){ probe, fp };
	return SIMIDX_OK;
}

/* The rows of a probe. Those of many documents are read afterwards, though it may be enough. */
static int take_rows(struct scan *s, size_t i, const redisReply *reply, simidx_error *err)
{
	uint64_t fp[ROWS], id[ROWS];
	enum simidx_engine_next next = SIMIDX_ENGINE_ON;
	size_t at = RD_HEAD;
	int rc = SIMIDX_OK;

	if (reply->type == REDIS_REPLY_NIL) {
		if (s->version)
			s->version[i] = 0;
		return SIMIDX_OK;
	}
	if (reply->type != REDIS_REPLY_STRING)
		return rd_reply_odd(&s->x->server, err);
	if (reply->len < RD_HEAD || (reply->len - RD_HEAD) % RD_ROW)
		return damaged(s->x, err, "rows of a table are cut off");
	s->bytes += reply->len;
	if (s->version)
		s->version[i] = rd_get64(reply->str) << 24 | (reply->len - RD_HEAD) / RD_ROW;
	while (!rc && !next && at < reply->len) {
		size_t n = 0;

		for (; !rc && n < ROWS && at < reply->len; at += RD_ROW) {
			fp[n] = rd_get64(reply->str + at);
			id[n] = rd_get64(reply->str + at + 8);
			if (id[n] == RD_MANY)
				rc = add_crowd(s, i, fp[n], err);
			else
				n++;
		}
		if (!rc && n)
			next = s->rows(s->ctx, i, fp, id, n);
	}
	return rc ? rc : next == SIMIDX_ENGINE_END ? ENDED : SIMIDX_OK;
}

/* What a key has, for each of its probes. */
static int take_key(struct scan *s, size_t key, const redisReply *reply, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = s->first[key]; !rc && i < s->first[key + 1]; i++)
		rc = take_rows(s, s->order[i], reply, err);
	return rc;
}

static int take_group(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct scan *s = ctx;
	size_t n = group_size(s, i / 2), first = i / 2 * KEYS;
	int rc = SIMIDX_OK;

	if (i % 2 && reply->type != REDIS_REPLY_INTEGER)
		return rd_reply_odd(&s->x->server, err);
	if (i % 2) {
		if (s->there == (size_t)reply->integer)
			s->n_odd -= n - s->there;
		return SIMIDX_OK;
	}
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != n)
		return rd_reply_odd(&s->x->server, err);
	s->there = 0;
	for (size_t j = 0; !rc && j < n; j++) {
		if (reply->element[j]->type == REDIS_REPLY_NIL)
			s->odd[s->n_odd++] = first + j;
		else
			s->there++;
		rc = take_key(s, first + j, reply->element[j], err);
	}
	return rc;
}

static int take_get(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct scan *s = ctx;

	return take_key(s, s->odd[i], reply, err);
}

static int compare_crowds(const void *a, const void *b)
{
	const struct crowd *x = a, *y = b;

	return (x->fp > y->fp) - (x->fp < y->fp);
}

/* Most often all tables of a query have met the same fingerprint, whose ids are asked for once. */
static int group_crowds(struct scan *s, simidx_error *err)
{
	s->group = malloc(s->n_crowds * sizeof(*s->group));
	if (!s->group)
		return rd_fail_nomem(err);
	qsort(s->crowd, s->n_crowds, sizeof(*s->crowd), compare_crowds);
	for (size_t i = 0; i < s->n_crowds; i++)
		if (!i || s->crowd[i].fp != s->crowd[i - 1].fp)
			s->group[s->n_groups++] = i;
	return SIMIDX_OK;
}

static int add_members(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const struct scan *s = ctx;
	char fp[8];

	rd_put64(fp, s->crowd[s->group[i]].fp);
	return rd_link_add(link, err, "SMEMBERS " RD_IDS_KEY, s->x->prefix, fp, sizeof(fp));
}

static int take_members(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	struct scan *s = ctx;
	const struct crowd *from = &s->crowd[s->group[i]];
	const struct crowd *to = s->crowd + (i + 1 < s->n_groups ? s->group[i + 1] : s->n_crowds);
	uint64_t fp[ROWS], id[ROWS];
	enum simidx_engine_next next = SIMIDX_ENGINE_ON;
	size_t at = 0;

	if (reply->type != REDIS_REPLY_ARRAY)
		return rd_reply_odd(&s->x->server, err);
	s->bytes += 8 * reply->elements;
	while (next != SIMIDX_ENGINE_END && at < reply->elements) {
		size_t n = 0;

		for (; n < ROWS && at < reply->elements; at++) {
			if (!rd_is_string(reply, at) || reply->element[at]->len != 8)
				return damaged(s->x, err, "a set of ids has something else in it");
			fp[n] = from->fp;
			id[n++] = rd_get64(reply->element[at]->str);
		}
		for (const struct crowd *c = from; next != SIMIDX_ENGINE_END && c < to; c++)
			next = s->rows(s->ctx, c->probe, fp, id, n);
	}
	return next == SIMIDX_ENGINE_END ? ENDED : SIMIDX_OK;
}

int rd_scan(void *state, const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows,
	    void *ctx, uint64_t *version, simidx_engine_cost *cost, simidx_error *err)
{
	struct scan s = { .x = state, .probe = probe, .version = version, .rows = rows,
			  .ctx = ctx };
	int rc = sort_probes(&s, n, err);
	size_t commands = 2 * ((s.n_keys + KEYS - 1) / KEYS);

	if (!rc)
		rc = read_all(s.x, commands, add_group, take_group, &s, err);
	cost->round_trips++;
	cost->requests += commands;
	/* What another writer has stored between the two commands, too. */
	if (!rc && s.n_odd) {
		rc = read_all(s.x, s.n_odd, add_get, take_get, &s, err);
		cost->round_trips++;
		cost->requests += s.n_odd;
	}
	if (!rc && s.n_crowds)
		rc = group_crowds(&s, err);
	if (!rc && s.n_groups) {
		rc = read_all(s.x, s.n_groups, add_members, take_members, &s, err);
		cost->round_trips++;
		cost->requests += s.n_groups;
	}
	cost->bytes += s.bytes;
	free(s.order);
	free(s.first);
	free(s.odd);
	free(s.crowd);
	free(s.group);
	return rc == ENDED ? SIMIDX_OK : rc;
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
		return damaged(x, err, what);
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
	int rc = read_all(f->x, n, add_document, take_document, f, err);

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
		return damaged(f->x, err, "a label has no id");
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
		rc = read_all(f.x, n, add_label, take_label, &f, err);
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
			       ? SIMIDX_OK : damaged(w->x, err, "the header has no version");
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements > w->most)
		return rd_reply_odd(&w->x->server, err);
	for (w->n_buckets = 0; w->n_buckets < reply->elements; w->n_buckets++) {
		char *end;

		if (!rd_is_string(reply, w->n_buckets) ||
		    reply->element[w->n_buckets]->len != 16)
			return damaged(w->x, err, "the list of keys with documents");
		w->bucket[w->n_buckets] = strtoull(reply->element[w->n_buckets]->str, &end, 16);
		if (*end || w->bucket[w->n_buckets] > SIMIDX_MAX_ID / RD_BUCKET ||
		    (w->n_buckets && w->bucket[w->n_buckets] <= w->bucket[w->n_buckets - 1]))
			return damaged(w->x, err, "the list of keys with documents");
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
			return damaged(w->x, err, "a key with documents has something else in it");
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
	return rc ? rc : w->left ? SIMIDX_OK : ENDED;
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
		rc = read_all(w.x, 2, add_page, take_page, &w, err);
		if (!rc && is_first && version)
			*version = w.version;
		is_first = 0;
		if (!rc)
			rc = read_all(w.x, w.n_buckets, add_bucket, take_bucket, &w, err);
		if (!rc && w.n_buckets)
			w.from = (w.bucket[w.n_buckets - 1] + 1) * RD_BUCKET;
	}
	free(w.bucket);
	*from = w.left ? SIMIDX_NO_ID : w.from;
	return rc == ENDED ? SIMIDX_OK : rc;
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
			rc = damaged(x, err, "the list of times");
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
