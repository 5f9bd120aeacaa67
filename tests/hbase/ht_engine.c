/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hbase/ht_engine.h"

#include <string.h>

#include "hb_engine.hh"

simidx_error ht_err;

ht_doc ht_document(uint64_t id, uint64_t fp)
{
	ht_doc doc;

	memset(&doc, 0, sizeof(doc));
	doc.id = id;
	doc.fp = fp;
	doc.there = 1;
	return doc;
}

void ht_prefixes(void *ctx, uint64_t fp, uint32_t *prefix)
{
	(void)ctx;
	for (unsigned t = 0; t < HT_TABLES; t++)
		prefix[t] = (uint32_t)(fp >> (48 - 16 * t) & 0xffff) << 16;
}

uint64_t ht_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

void *ht_open(const char *uri, unsigned flags)
{
	static const char description[] = "a description\0with a zero";
	simidx_engine_open how;
	void *state;

	memset(&how, 0, sizeof(how));
	how.size = sizeof(how);
	how.flags = flags;
	how.n_tables = HT_TABLES;
	how.description = description;
	how.description_size = sizeof(description);
	HT_CODE(hb_engine()->open(uri, &how, &state, &ht_err), SIMIDX_OK);
	return state;
}

static void make_version(simidx_engine_version *out, const ht_doc *doc, uint32_t *prefix)
{
	memset(out, 0, sizeof(*out));
	out->fp = doc->fp;
	out->fp2 = doc->fp2;
	out->flags = doc->flags;
	out->label = doc->label;
	out->label_size = doc->label_size;
	out->prefix = prefix;
	ht_prefixes(NULL, doc->fp, prefix);
}

int ht_write(void *state, const ht_doc *before, const ht_doc *after, size_t n, const char *mark,
	     unsigned durability)
{
	simidx_engine_version *version = calloc(2 * n + 1, sizeof(*version));
	uint32_t *prefix = calloc(2 * n + 1, HT_TABLES * sizeof(*prefix));
	simidx_engine_change *change = calloc(n + 1, sizeof(*change));
	simidx_engine_batch batch;
	int code;

	HT_CHECK(version && prefix && change);
	memset(&batch, 0, sizeof(batch));
	for (size_t i = 0; i < n; i++) {
		change[i].id = after[i].id;
		if (before && before[i].there) {
			make_version(&version[2 * i], &before[i], prefix + 2 * i * HT_TABLES);
			change[i].before = &version[2 * i];
		}
		if (after[i].there) {
			make_version(&version[2 * i + 1], &after[i],
				     prefix + (2 * i + 1) * HT_TABLES);
			change[i].after = &version[2 * i + 1];
		}
	}
	batch.size = sizeof(batch);
	batch.change = change;
	batch.n = n;
	batch.mark = mark;
	batch.mark_size = mark ? strlen(mark) : 0;
	batch.durability = durability;
	code = hb_engine()->write(state, &batch, &ht_err);
	free(version);
	free(prefix);
	free(change);
	return code;
}

int ht_begin(void *state)
{
	return hb_engine()->begin(state, &ht_err);
}

int ht_resume(void *state)
{
	return hb_engine()->resume(state, &ht_err);
}

struct look {
	const ht_doc *doc;
	int found, same;
};

static enum simidx_engine_next compare(void *ctx, size_t i, const simidx_match *m)
{
	struct look *look = ctx;
	const ht_doc *doc = look->doc;

	look->found++;
	look->same = i == 0 && m->id == doc->id && m->fp == doc->fp &&
		     !(m->flags & SIMIDX_MATCH_FP2) == !(doc->flags & SIMIDX_DOC_FP2) &&
		     (!(m->flags & SIMIDX_MATCH_FP2) || m->fp2 == doc->fp2) &&
		     !(m->flags & SIMIDX_MATCH_LABEL) == !doc->label &&
		     (!doc->label || (m->label_size == doc->label_size &&
				      memcmp(m->label, doc->label, doc->label_size) == 0));
	return SIMIDX_ENGINE_ON;
}

int ht_is_stored(void *state, const ht_doc *doc)
{
	struct look look = { doc, 0, 0 };

	HT_CODE(hb_engine()->find_ids(state, &doc->id, 1, compare, &look, NULL, &ht_err),
		SIMIDX_OK);
	return doc->there ? look.found == 1 && look.same : look.found == 0;
}

struct rows {
	const ht_doc *doc;
	unsigned found;
};

static enum simidx_engine_next count_rows(void *ctx, size_t probe, const uint64_t *fp,
					  const uint64_t *id, size_t n)
{
	struct rows *rows = ctx;

	for (size_t i = 0; i < n; i++)
		if (id[i] == rows->doc->id && fp[i] == rows->doc->fp)
			rows->found |= 1u << probe;
	return SIMIDX_ENGINE_ON;
}

int ht_has_rows(void *state, const ht_doc *doc)
{
	simidx_engine_probe probe[HT_TABLES];
	uint32_t prefix[HT_TABLES];
	struct rows rows = { doc, 0 };

	ht_prefixes(NULL, doc->fp, prefix);
	for (unsigned t = 0; t < HT_TABLES; t++) {
		probe[t].prefix = prefix[t];
		probe[t].table = t;
	}
	HT_CODE(hb_engine()->scan(state, probe, HT_TABLES, count_rows, &rows, NULL, NULL, &ht_err),
		SIMIDX_OK);
	return rows.found == (1u << HT_TABLES) - 1;
}

static void show_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	if (getenv("HT_VERBOSE"))
		fprintf(stderr, "%s: %s\n", problem->table, problem->text);
}

uint64_t ht_check(void *state, unsigned flags, simidx_engine_check *out)
{
	simidx_engine_check check;

	memset(&check, 0, sizeof(check));
	check.size = sizeof(check);
	check.flags = flags;
	check.n_tables = HT_TABLES;
	check.prefixes = ht_prefixes;
	check.problem = show_problem;
	HT_CODE(hb_engine()->check(state, &check, &ht_err), SIMIDX_OK);
	if (out)
		*out = check;
	return check.problems;
}
