/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_scan.h"

#include <stdlib.h>
#include <string.h>

#include "rd_read.h"
#include "rd_script.h"

#define ROWS 512 /* that are handed over at once */
#define KEYS 64  /* of tables that one command reads */

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
 * Two commands for each group of keys. MGET says of a key of another type that it is not there;
 * then EXISTS counts one more.
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
		return rd_damaged(s->x, err, "rows of a table are cut off");
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
	return rc ? rc : next == SIMIDX_ENGINE_END ? RD_ENDED : SIMIDX_OK;
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
				return rd_damaged(s->x, err,
						  "a set of ids has something else in it");
			fp[n] = from->fp;
			id[n++] = rd_get64(reply->element[at]->str);
		}
		for (const struct crowd *c = from; next != SIMIDX_ENGINE_END && c < to; c++)
			next = s->rows(s->ctx, c->probe, fp, id, n);
	}
	return next == SIMIDX_ENGINE_END ? RD_ENDED : SIMIDX_OK;
}

int rd_scan(void *state, const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows,
	    void *ctx, uint64_t *version, simidx_engine_cost *cost, simidx_error *err)
{
	struct scan s = { .x = state, .probe = probe, .version = version, .rows = rows,
			  .ctx = ctx };
	int rc = sort_probes(&s, n, err);
	size_t commands = 2 * ((s.n_keys + KEYS - 1) / KEYS);

	if (!rc)
		rc = rd_read_all(s.x, commands, add_group, take_group, &s, err);
	cost->round_trips++;
	cost->requests += commands;
	/* What another writer has stored between the two commands, too. */
	if (!rc && s.n_odd) {
		rc = rd_read_all(s.x, s.n_odd, add_get, take_get, &s, err);
		cost->round_trips++;
		cost->requests += s.n_odd;
	}
	if (!rc && s.n_crowds)
		rc = group_crowds(&s, err);
	if (!rc && s.n_groups) {
		rc = rd_read_all(s.x, s.n_groups, add_members, take_members, &s, err);
		cost->round_trips++;
		cost->requests += s.n_groups;
	}
	cost->bytes += s.bytes;
	free(s.order);
	free(s.first);
	free(s.odd);
	free(s.crowd);
	free(s.group);
	return rc == RD_ENDED ? SIMIDX_OK : rc;
}
