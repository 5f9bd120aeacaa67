/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "engine/sides.h"

#include <string.h>

#include <simidx_info.h>

#include "engine/engines.h"
#include "support/sxt_index.h"

struct side a, b;

static void hear(void *ctx, const simidx_rejudged *outcome)
{
	struct side *s = ctx;

	sxt_must_lt(s->n_heard, HEARD);
	sxt_must_eq(outcome->size, sizeof(*outcome));
	s->heard[s->n_heard++] = *outcome;
}

static void begin_side(struct side *s)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;

	memset(s, 0, sizeof(*s));
	s->index = sxt_open(URI, 0);
	o.rejudged = hear;
	o.rejudged_ctx = s;
	sxt_must_ok(simidx_writer_open(s->index, &o, &s->w, &sxt_err));
}

static void end_side(struct side *s)
{
	simidx_writer_close(s->w);
	simidx_close(s->index);
}

void sides_begin(void)
{
	engines_add();
	memset(&memory_faults_now, 0, sizeof(memory_faults_now));
	simidx_close(engines_create(URI, "4x16", 64, 0));
	begin_side(&a);
	begin_side(&b);
}

void sides_end(void)
{
	sxt_check_sound(a.index);
	end_side(&a);
	end_side(&b);
	memory_clear();
}

int side_put_if_new(struct side *s, uint64_t fp, const char *label, unsigned radius, uint64_t *id)
{
	simidx_doc doc = t_document(SIMIDX_NO_ID, fp, label);
	simidx_query q = SIMIDX_QUERY_INIT;
	simidx_match blocker;
	int rc;

	q.fp = fp;
	q.radius = radius;
	rc = simidx_writer_put_if_new(s->w, &doc, &q, id, &blocker, &sxt_err);
	if (rc == SIMIDX_E_EXISTS)
		*id = blocker.id;
	return rc;
}

int side_put(struct side *s, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = t_document(id, fp, label);

	return simidx_writer_put(s->w, &doc, NULL, &sxt_err);
}

int side_replace(struct side *s, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = t_document(id, fp, label);

	return simidx_writer_replace(s->w, &doc, NULL, &sxt_err);
}

int side_delete_label(struct side *s, const char *label)
{
	return simidx_writer_delete_label(s->w, label, strlen(label), &sxt_err);
}

void side_commit(struct side *s)
{
	s->n_heard = 0;
	ck_assert_sx(simidx_writer_commit(s->w, &sxt_err), SIMIDX_OK);
}

void sides_store(const simidx_doc *docs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sxt_must_ok(simidx_writer_put(a.w, &docs[i], NULL, &sxt_err));
	side_commit(&a);
	memory_faults_now.n_refused = memory_faults_now.n_writes = 0;
}

void side_heard(size_t i, uint64_t change, int code, uint64_t id, uint64_t blocker)
{
	ck_assert_uint_lt(i, b.n_heard);
	ck_assert_uint_eq(b.heard[i].change, change);
	ck_assert_int_eq(b.heard[i].code, code);
	ck_assert_uint_eq(b.heard[i].id, id);
	ck_assert_uint_eq(b.heard[i].blocker, blocker);
}

uint64_t sides_fp(uint64_t id, const char *label)
{
	simidx_reader *reader = sxt_reader(a.index);
	simidx_match m;

	ck_assert_sx(simidx_reader_find_id(reader, id, &m, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(m.label_size, label ? strlen(label) : 0);
	ck_assert(!label || !memcmp(m.label, label, m.label_size));
	simidx_reader_close(reader);
	return m.fp;
}

uint64_t sides_count(void)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(a.index, &info, &sxt_err));
	return info.documents;
}
