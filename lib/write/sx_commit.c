/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Commits. What holds the tables may refuse changes, because another writer has changed what they
 * rest on (sx_backend.h). Then the transaction begins again, so that look-ups find what is there
 * by now. The calls that made these changes are judged again, in their order, and so are those
 * whose answer rested on one of these changes. What comes of them is committed in the same call.
 *
 * That ends: a change is refused only where another one was stored. But a writer may lose each
 * time, so there are no more than ROUNDS, and what is refused then is told to be undecided.
 */

#include <stdlib.h>

#include "util/sx_err.h"
#include "write/sx_writer_change.h"

#define ROUNDS 8

static int has_to_store(const simidx_writer *w)
{
	return w->pending.n || w->mark.size || w->reserves_ids;
}

/* Documents that were replaced by what they were: nothing is to be written. */
static void count_unchanged(simidx_writer *w)
{
	if (w->pending.n)
		return;
	w->stored += w->changes;
	w->changes = 0;
}

/* ---- judging again ---- */

static int compare_u64(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Whether what came of a call rests on a change that was refused. */
static int is_refused(const simidx_writer *w, const sx_call *c)
{
	const sx_u64s *refused = &w->refused;

	if (c->rests_on == SIMIDX_NO_ID)
		return 1;
	return bsearch(&c->rests_on, refused->at, refused->n, sizeof(*refused->at),
		       compare_u64) != NULL;
}

/* Of the calls that were open, those that are now stored, or answered, are not any more. */
static size_t close_round(simidx_writer *w, sx_calls *asked)
{
	size_t n_open = 0;

	if (w->refused.n > 1)
		qsort(w->refused.at, w->refused.n, sizeof(*w->refused.at), compare_u64);
	for (size_t i = 0; i < asked->n; i++) {
		sx_call *c = &asked->at[i];

		if (!c->is_open)
			continue;
		c->is_open = w->refused.n && is_refused(w, c);
		n_open += c->is_open != 0;
		/* A commit that refuses nothing counts by itself. */
		w->stored += w->refused.n && !c->is_open && !c->now.code;
	}
	return n_open;
}

/* Have the queries of what is open looked up together. */
static int look_ahead(simidx_writer *w, sx_calls *asked, simidx_error *err)
{
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < asked->n; i++)
		n += asked->at[i].is_open && asked->at[i].query;
	rc = sx_ahead_expect_copies(&w->ahead, n, err);
	for (size_t i = 0; !rc && i < asked->n; i++) {
		sx_call *c = &asked->at[i];
		simidx_query query;

		c->nth = 0;
		if (!c->is_open || !c->query)
			continue;
		query = sx_writer_asks(c->query);
		rc = sx_ahead_copy(&w->ahead, &query, w->index->schema->bits, err);
		c->nth = w->ahead.n;
	}
	return rc;
}

/* Judge what is open in a transaction that begins now, and commit what comes of it. */
static int do_round(simidx_writer *w, sx_calls *asked, simidx_error *err)
{
	int rc = sx_writer_renew(w, err);

	if (!rc)
		rc = look_ahead(w, asked, err);
	for (size_t i = 0; !rc && i < asked->n; i++) {
		sx_call *c = &asked->at[i];
		simidx_error why;

		if (!c->is_open)
			continue;
		sx_err_clear(&why);
		sx_writer_judge(w, c, NULL, &why);
		if (sx_call_is_decided(c->now.code))
			continue;
		rc = c->now.code;
		if (err)
			*err = why;
	}
	if (rc)
		return rc;
	count_unchanged(w);
	return has_to_store(w) ? w->index->backend->writer->commit(w, 1, err) : SIMIDX_OK;
}

/* `asked` is what the transaction was asked for, of which something was refused. */
static int judge_again(simidx_writer *w, sx_calls *asked, simidx_error *err)
{
	size_t n_open;
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < asked->n; i++)
		asked->at[i].is_open = 1;
	n_open = close_round(w, asked);
	for (unsigned round = 1; !rc && n_open && round < ROUNDS; round++) {
		rc = do_round(w, asked, err);
		if (!rc)
			n_open = close_round(w, asked);
	}
	if (!rc && n_open)
		rc = sx_fail(err, SIMIDX_E_BUSY,
			     "%zu changes are not stored: others were first, %d times",
			     n_open, ROUNDS);
	for (size_t i = 0; i < asked->n; i++)
		if (asked->at[i].is_open)
			asked->at[i].now = (sx_answer){ rc, SIMIDX_NO_ID, SIMIDX_NO_ID };
	return rc;
}

/* Tell what has come otherwise than the calls had said. */
static void tell(const simidx_writer *w, const sx_calls *asked)
{
	for (size_t i = 0; w->options.rejudged && i < asked->n; i++) {
		const sx_answer *told = &asked->at[i].told, *now = &asked->at[i].now;
		simidx_rejudged out = { .size = sizeof(out), .change = asked->at[i].number,
					.id = now->id, .blocker = now->blocker, .code = now->code };

		if (told->code != now->code || told->id != now->id || told->blocker != now->blocker)
			w->options.rejudged(w->options.rejudged_ctx, &out);
	}
}

/* ---- committing ---- */

int simidx_writer_commit(simidx_writer *w, simidx_error *err)
{
	sx_calls asked = { 0 };
	int rc;

	sx_err_clear(err);
	if (!w)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_writer_commit: writer is NULL");
	rc = sx_index_check_fork(w->index, err);
	if (rc)
		return rc;
	count_unchanged(w);
	if (!has_to_store(w) && !w->index->backend->writer->is_unfinished(w)) {
		sx_writer_drop(w);
		return SIMIDX_OK;
	}
	rc = sx_writer_begin(w, err);
	if (!rc)
		rc = w->index->backend->writer->commit(w, has_to_store(w), err);
	if (!rc && w->refused.n) {
		/* Deletions of what is old are no calls: others have changed that, so it stays. */
		if (!w->calls.n)
			w->stored += w->changes - w->refused.n;
		sx_calls_take(&asked, &w->calls);
		rc = judge_again(w, &asked, err);
	}
	sx_writer_drop(w);
	tell(w, &asked);
	sx_calls_free(&asked);
	return rc;
}
