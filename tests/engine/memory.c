/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "engine/memory_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

memory_faults memory_faults_now;

pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct store *stores;

void *memory_grown(void *at, size_t n, size_t size)
{
	at = realloc(at, (n ? n : 1) * size);
	sxt_must(at != NULL);
	return at;
}

void *memory_copied(const void *data, size_t size)
{
	void *copy = memory_grown(NULL, size, 1);

	if (size)
		memcpy(copy, data, size);
	return copy;
}

int memory_fail(simidx_error *err, int code, const char *text)
{
	if (err) {
		err->code = code;
		snprintf(err->text, sizeof(err->text), "memory: %s", text);
	}
	return code;
}

/* Whether this is the call that is to fail. */
int memory_fails(simidx_error *err)
{
	memory_faults *f = &memory_faults_now;

	if (!f->fail_in || --f->fail_in)
		return 0;
	return memory_fail(err, f->fail_code ? f->fail_code : SIMIDX_E_IO, "told to fail");
}

/* ---- stores ---- */

static struct store *find_store(const char *uri)
{
	struct store *s = stores;

	while (s && strcmp(s->uri, uri))
		s = s->next;
	return s;
}

static void empty_store(struct store *s)
{
	for (unsigned t = 0; t < MAX_TABLES; t++)
		free(s->table[t].at);
	for (size_t i = 0; i < s->n_docs; i++)
		free(s->doc[i].label);
	free(s->doc);
	free(s->version);
	free(s->mark);
	free(s->description);
}

/* Make a store what a new index is to be. */
static void fill_store(struct store *s, const simidx_engine_open *how)
{
	char *uri = s->uri;
	struct store *next = s->next;

	empty_store(s);
	memset(s, 0, sizeof(*s));
	s->uri = uri;
	s->next = next;
	s->has_conditions = strstr(uri, "?conditions") != NULL;
	s->n_tables = how->n_tables;
	s->description = memory_copied(how->description, how->description_size);
	s->description_size = how->description_size;
}

static int open_locked(const char *uri, const simidx_engine_open *how, void **state,
		       simidx_error *err)
{
	struct store *s = find_store(uri);

	if (!s) {
		struct store read = { .uri = (char *)(size_t)uri };

		if (memory_load(&read)) {
			s = memory_grown(NULL, 1, sizeof(*s));
			*s = read;
			s->uri = memory_copied(uri, strlen(uri) + 1);
			s->has_conditions = strstr(uri, "?conditions") != NULL;
			s->next = stores;
			stores = s;
		}
	}
	if (s && how->flags & SIMIDX_ENGINE_MUST_CREATE)
		return memory_fail(err, SIMIDX_E_EXISTS, "there is one");
	if (!s && !(how->flags & SIMIDX_OPEN_CREATE))
		return memory_fail(err, SIMIDX_E_NOT_FOUND, "there is none");
	if (!s) {
		s = memory_grown(NULL, 1, sizeof(*s));
		memset(s, 0, sizeof(*s));
		s->uri = memory_copied(uri, strlen(uri) + 1);
		s->next = stores;
		stores = s;
		fill_store(s, how);
	} else if (how->flags & SIMIDX_ENGINE_TRUNCATE) {
		fill_store(s, how);
	}
	memory_save(s);
	*state = s;
	return SIMIDX_OK;
}

static int engine_open(const char *uri, const simidx_engine_open *how, void **state,
		       simidx_error *err)
{
	int rc;

	pthread_mutex_lock(&memory_lock);
	rc = open_locked(uri, how, state, err);
	pthread_mutex_unlock(&memory_lock);
	return rc;
}

static void engine_close(void *state)
{
	(void)state;
}

void memory_clear(void)
{
	while (stores) {
		struct store *s = stores;

		stores = s->next;
		empty_store(s);
		free(s->uri);
		free(s);
	}
}

void memory_describe(const char *uri, const void *description, size_t size)
{
	struct store *s = find_store(uri);

	free(s->description);
	s->description = memory_copied(description, size);
	s->description_size = size;
}

size_t memory_rows(const char *uri)
{
	const struct store *s = find_store(uri);
	size_t n = 0;

	for (unsigned t = 0; s && t < s->n_tables; t++)
		n += s->table[t].n;
	return n;
}

static int engine_info(void *state, simidx_engine_info *out, simidx_error *err)
{
	const struct store *s = state;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	out->capabilities = (memory_faults_now.leases ? SIMIDX_ENGINE_LEASES : 0) |
			    (s->has_conditions ? SIMIDX_ENGINE_CONDITIONS : 0);
	out->description = s->description;
	out->description_size = s->description_size;
	out->documents = s->n_docs;
	for (size_t i = 0; i < s->n_docs; i++)
		out->labels += s->doc[i].label != NULL;
	out->next_id = s->next_id;
	out->round_trip = 500;
	out->probe = 40;
	out->row = 0.5;
	out->scan_row = 2;
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

/* ---- rows ---- */

int memory_compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* The first row that is not before this one. */
size_t memory_place_of_row(const struct rows *rows, const struct row *row)
{
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (memory_compare_rows(&rows->at[middle], row) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum simidx_engine_next scan_one(const struct store *s, const simidx_engine_probe *probe,
					size_t number, simidx_engine_rows rows, void *ctx)
{
	const struct rows *table = &s->table[probe->table];
	struct row first = { probe->prefix, 0, 0 };
	enum simidx_engine_next next = SIMIDX_ENGINE_ON;

	for (size_t i = memory_place_of_row(table, &first);
	     !next && i < table->n && table->at[i].prefix == probe->prefix; i++) {
		next = rows(ctx, number, &table->at[i].fp, &table->at[i].id, 1);
		if (!next && memory_faults_now.sends_twice)
			next = rows(ctx, number, &table->at[i].fp, &table->at[i].id, 1);
	}
	return next;
}

static int engine_scan(void *state, const simidx_engine_probe *probe, size_t n,
		       simidx_engine_rows rows, void *ctx, uint64_t *version,
		       simidx_engine_cost *cost, simidx_error *err)
{
	const struct store *s = state;
	enum simidx_engine_next next = SIMIDX_ENGINE_ON;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	memory_faults_now.calls++;
	memory_faults_now.probes += n;
	cost->round_trips++;
	sxt_must(!version || s->has_conditions);
	for (size_t i = 0; version && i < n; i++)
		version[i] = memory_version(s, probe[i].table, probe[i].prefix);
	/* Any order of probes is allowed, so the last one comes first. */
	for (size_t i = n; next != SIMIDX_ENGINE_END && i-- > 0;) {
		sxt_must(probe[i].table < s->n_tables);
		next = scan_one(s, &probe[i], i, rows, ctx);
	}
	pthread_mutex_unlock(&memory_lock);
	return SIMIDX_OK;
}

/* ---- documents ---- */

size_t memory_place_of(const struct store *s, uint64_t id)
{
	size_t low = 0, high = s->n_docs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->doc[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct doc *memory_find_doc(const struct store *s, uint64_t id)
{
	size_t at = memory_place_of(s, id);

	return at < s->n_docs && s->doc[at].id == id ? &s->doc[at] : NULL;
}

/* Hand a document over in memory that is gone afterwards. */
static int deliver(const struct doc *doc, size_t i, simidx_engine_document document, void *ctx)
{
	simidx_match match = { .id = doc->id, .fp = doc->fp };
	char *label = doc->label ? memory_copied(doc->label, doc->label_size) : NULL;
	enum simidx_engine_next next;

	if (doc->flags & SIMIDX_DOC_FP2) {
		match.fp2 = doc->fp2;
		match.flags |= SIMIDX_MATCH_FP2;
	}
	if (doc->time) {
		match.time = doc->time;
		match.flags |= SIMIDX_MATCH_TIME;
	}
	if (label) {
		match.label = label;
		match.label_size = doc->label_size;
		match.flags |= SIMIDX_MATCH_LABEL;
	}
	next = document(ctx, i, &match);
	if (label)
		memset(label, 'x', doc->label_size);
	free(label);
	return next == SIMIDX_ENGINE_ON ? SIMIDX_OK : SIMIDX_E_STOPPED;
}

static int engine_find_ids(void *state, const uint64_t *id, size_t n,
			   simidx_engine_document document, void *ctx, simidx_engine_cost *cost,
			   simidx_error *err)
{
	const struct store *s = state;
	int rc = SIMIDX_OK;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	memory_faults_now.calls++;
	cost->round_trips++;
	for (size_t i = n; !rc && i-- > 0;) {
		const struct doc *doc = memory_find_doc(s, id[i]);

		if (doc)
			rc = deliver(doc, i, document, ctx);
	}
	pthread_mutex_unlock(&memory_lock);
	return rc;
}

static int engine_find_labels(void *state, const simidx_engine_bytes *label, size_t n,
			      simidx_engine_document document, void *ctx, simidx_engine_cost *cost,
			      simidx_error *err)
{
	const struct store *s = state;
	int rc = SIMIDX_OK;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	memory_faults_now.calls++;
	cost->round_trips++;
	for (size_t i = 0; i < n; i++)
		for (size_t d = 0; !rc && d < s->n_docs; d++)
			if (s->doc[d].label && s->doc[d].label_size == label[i].size &&
			    !memcmp(s->doc[d].label, label[i].data, label[i].size))
				rc = deliver(&s->doc[d], i, document, ctx);
	pthread_mutex_unlock(&memory_lock);
	return rc;
}

static int engine_walk(void *state, uint64_t from_id, size_t n, simidx_engine_document document,
		       void *ctx, uint64_t *version, simidx_error *err)
{
	const struct store *s = state;
	int rc = SIMIDX_OK;

	if (memory_fails(err))
		return err ? err->code : SIMIDX_E_IO;
	pthread_mutex_lock(&memory_lock);
	if (version)
		*version = memory_version(s, SIMIDX_ENGINE_WHOLE, 0);
	for (size_t i = memory_place_of(s, from_id); !rc && i < s->n_docs && n; i++, n--)
		rc = deliver(&s->doc[i], 0, document, ctx);
	pthread_mutex_unlock(&memory_lock);
	return rc;
}

void memory_add(void)
{
	static const char *const plans[] = { "4x16", "10x26", "16x28", "20x31", NULL };
	static const simidx_engine engine = {
		.size = sizeof(engine),
		.version = SIMIDX_ENGINE_VERSION,
		.scheme = "memory",
		.name = "Memory",
		.plans = plans,
		.keeps = SIMIDX_CREATE_TIMES,
		.open = engine_open,
		.close = engine_close,
		.info = engine_info,
		.scan = engine_scan,
		.find_ids = engine_find_ids,
		.find_labels = engine_find_labels,
		.walk = engine_walk,
		.begin = memory_begin,
		.resume = memory_resume,
		.write = memory_write,
		.reserve_ids = memory_reserve_ids,
		.get_mark = memory_get_mark,
		.check = memory_check,
		.lease = memory_lease,
		.release = memory_release,
	};

	sxt_must_ok(simidx_engine_add(&engine, &sxt_err));
}
