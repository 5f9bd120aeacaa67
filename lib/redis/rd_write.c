/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Storing batches. A call of the script stores a piece of one, so that no call takes long.
 */

#include "rd_write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STEPS 160           /* rows that a piece changes: two to three milliseconds of the script */
#define PIECE_BYTES (1 << 20) /* of a piece, as it is sent */

/* ---- beginning ---- */

/*
 * Have the server know this writer by a number, so that a piece with an older one, which may still
 * be on its way, is not stored.
 */
static int enter(struct rd_index *x, simidx_error *err)
{
	return rd_ask(&x->server, NULL, err, "SET %sw:%s %llu EX 86400", x->prefix, x->writer,
		      (unsigned long long)++x->number);
}

static int begin(struct rd_index *x, simidx_error *err)
{
	uint64_t token;
	int rc;

	if (!*x->writer) {
		if (getrandom(&token, sizeof(token), 0) != sizeof(token))
			return rd_fail(err, SIMIDX_E_IO, "the system has no random numbers");
		snprintf(x->writer, sizeof(x->writer), "%016" PRIx64, token);
	}
	rc = enter(x, err);
	x->is_unfinished &= rc != 0;
	return rc;
}

/* The number of loads that have gone on after the mark, with this one if it does. */
static int begin_as(struct rd_index *x, const char *word, simidx_error *err)
{
	struct rd_args args = { 0 };
	redisReply *reply;
	int rc;

	rd_script_begin(x, &args, word);
	rc = rd_script_call(x, &args, &reply, NULL, err);
	if (!rc && !rd_is_string(reply, 1))
		rc = rd_reply_odd(&x->server, err);
	if (!rc)
		snprintf(x->resumed, sizeof(x->resumed), "%s", reply->element[1]->str);
	if (reply)
		freeReplyObject(reply);
	rd_args_free(&args);
	return rc ? rc : begin(x, err);
}

int rd_begin(void *state, simidx_error *err)
{
	struct rd_index *x = state;

	return *x->resumed ? begin(x, err) : begin_as(x, "begin", err);
}

int rd_resume(void *state, simidx_error *err)
{
	return begin_as(state, "resume", err);
}

int rd_reserve_ids(void *state, uint64_t n, uint64_t at_least, uint64_t *first, simidx_error *err)
{
	struct rd_index *x = state;
	struct rd_args args = { 0 };
	redisReply *reply = NULL;
	int rc;

	rd_script_begin(x, &args, "reserve");
	rd_args_number(&args, n);
	rd_args_number(&args, at_least);
	rc = rd_script_call(x, &args, &reply, NULL, err);
	if (rc == SIMIDX_E_IO && err && strstr(err->text, "integer")) {
		err->code = SIMIDX_OK;
		rc = rd_fail(err, SIMIDX_E_RANGE, "%s: there are no more ids",
			     x->server.uri.place);
	}
	if (!rc && (!rd_is_string(reply, 1) ||
		    rd_digits(reply->element[1]->str, reply->element[1]->len, first)))
		rc = rd_reply_odd(&x->server, err);
	if (reply)
		freeReplyObject(reply);
	rd_args_free(&args);
	return rc;
}

/* ---- versions that this batch has raised ---- */

/*
 * Pieces of a batch raise versions that later ones rest on. Of each prefix: the version that it
 * had before this batch, and the one that this batch has given it last.
 */
struct raised {
	uint64_t place;   /* table and prefix, and 1 above; 0: the slot is free */
	uint64_t before, now;
};

struct batch {
	struct rd_index *x;
	const simidx_engine_batch *given;
	size_t *order;          /* of the changes: those first that give a label away */
	size_t at;              /* changes of it that the script has seen */
	size_t conditions_left; /* of changes that it has not */
	struct raised *raised;
	size_t n_raised, slots;
	struct rd_args args;
	size_t refused;
	struct raised whole;    /* the version of the index as a whole */
	char (*record)[RD_MAX_RECORD]; /* room for two */
};

static struct raised *slot(const struct batch *b, uint64_t place)
{
	size_t at = (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (b->slots - 1);

	while (b->raised[at].place && b->raised[at].place != place)
		at = (at + 1) & (b->slots - 1);
	return &b->raised[at];
}

static int make_room(struct batch *b, simidx_error *err)
{
	struct raised *old = b->raised;
	size_t n = b->slots;

	if (2 * (b->n_raised + 1) <= n)
		return SIMIDX_OK;
	b->slots = n ? 2 * n : 4096;
	b->raised = calloc(b->slots, sizeof(*b->raised));
	if (!b->raised) {
		b->raised = old;
		b->slots = n;
		return rd_fail_nomem(err);
	}
	for (size_t i = 0; i < n; i++)
		if (old[i].place)
			*slot(b, old[i].place) = old[i];
	free(old);
	return SIMIDX_OK;
}

static void note(struct raised *r, uint64_t place, uint64_t before, uint64_t now)
{
	/* Somebody else was there in between. */
	if (!r->place || before != r->now)
		r->before = before;
	r->place = place;
	r->now = now;
}

static uint64_t place_of(unsigned table, uint32_t prefix)
{
	return (uint64_t)(table + 1) << 32 | prefix;
}

/* What a condition comes to, after the pieces that are stored. */
static uint64_t translate(const struct batch *b, const simidx_engine_condition *c)
{
	const struct raised *r = &b->whole;

	if (c->table != SIMIDX_ENGINE_WHOLE)
		r = b->slots ? slot(b, place_of(c->table, c->prefix)) : NULL;
	return r && r->place && r->before == c->version ? r->now : c->version;
}

/* ---- pieces ---- */

/* Conditions in the form of the script, as one argument. */
static int add_conditions(struct batch *b, const simidx_engine_change *c, simidx_error *err)
{
	char *text = malloc(18 * c->n_conditions + 1);

	if (!text)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < c->n_conditions; i++) {
		const simidx_engine_condition *one = &c->condition[i];

		if (one->table == SIMIDX_ENGINE_WHOLE)
			memcpy(text + 18 * i, "--00000000", 10);
		else
			snprintf(text + 18 * i, 11, "%02u%08" PRIx32, one->table % 100,
				 one->prefix);
		rd_put64(text + 18 * i + 10, translate(b, one));
	}
	rd_args_copy(&b->args, text, 18 * c->n_conditions);
	free(text);
	return SIMIDX_OK;
}

static int add_change(struct batch *b, const simidx_engine_change *c, simidx_error *err)
{
	static const simidx_engine_version none;
	const simidx_engine_version *v[2] = { c->before ? c->before : &none,
					      c->after ? c->after : &none };
	struct rd_arg record[2];

	for (int i = 0; i < 2; i++) {
		char *to = b->record[i];

		record[i] = (struct rd_arg){ to, v[i]->prefix ? rd_record_write(v[i], to) : 0 };
	}
	rd_script_change(b->x, &b->args, c->id, record[0], record[1], v[0]->prefix, v[1]->prefix);
	return add_conditions(b, c, err);
}

static const simidx_engine_change *change_at(const struct batch *b, size_t i)
{
	return &b->given->change[b->order[i]];
}

/* How many of the next changes go together. */
static size_t measure(const struct batch *b)
{
	size_t n = 0, steps = 0, bytes = 0;

	while (b->at + n < b->given->n) {
		const simidx_engine_change *c = change_at(b, b->at + n);

		steps += (size_t)(!!c->before + !!c->after) * b->x->n_tables + c->n_conditions / 4;
		bytes += 100 + 18 * c->n_conditions + (c->before ? c->before->label_size : 0) +
			 (c->after ? c->after->label_size : 0);
		if (n && (steps > STEPS || bytes > PIECE_BYTES))
			break;
		n++;
	}
	return n;
}

/* Fill in the arguments of a piece of n changes. */
static int make_piece(struct batch *b, size_t n, simidx_error *err)
{
	const simidx_engine_batch *given = b->given;
	int is_last = b->at + n == given->n, rc = SIMIDX_OK;

	rd_script_begin(b->x, &b->args, "write");
	rd_args_text(&b->args, b->x->writer);
	rd_args_number(&b->args, b->x->number);
	rd_args_number(&b->args, b->x->number + 1);
	rd_args_text(&b->args, given->mark ? b->x->resumed : "");
	rd_args_text(&b->args, given->mark && is_last && !b->refused ? "1" : "0");
	rd_args_copy(&b->args, given->mark, given->mark && is_last ? given->mark_size : 0);
	rd_args_number(&b->args, b->x->n_tables);
	rd_args_text(&b->args, is_last || !b->conditions_left ? "0" : "1");
	rd_args_number(&b->args, n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_change(b, change_at(b, b->at + i), err);
	return rc;
}

/* Note the versions that were raised: table (2), prefix (8), versions before and after it. */
static int take_versions(struct batch *b, const redisReply *r, simidx_error *err)
{
	const char *at = r->element[4]->str, *end = at + r->element[4]->len;

	note(&b->whole, 1, rd_get64(r->element[2]->str), rd_get64(r->element[3]->str));
	for (; end - at >= 26; at += 26) {
		unsigned table, prefix;
		uint64_t place;
		int rc = make_room(b, err);

		if (rc)
			return rc;
		if (sscanf(at, "%2u%8x", &table, &prefix) != 2)
			return rd_reply_odd(&b->x->server, err);
		place = place_of(table, prefix);
		b->n_raised += !slot(b, place)->place;
		note(slot(b, place), place, rd_get64(at + 10), rd_get64(at + 18));
	}
	return SIMIDX_OK;
}

/* What the script says of a piece of n changes, of which it may have done fewer. */
static int take_answer(struct batch *b, const redisReply *r, size_t n, simidx_error *err)
{
	size_t done;
	int rc;

	if (!rd_says(r, "ok") || r->elements != 5 || !rd_is_string(r, 1) || !rd_is_string(r, 2) ||
	    !rd_is_string(r, 3) || !rd_is_string(r, 4) || r->element[2]->len != 8 ||
	    r->element[3]->len != 8 || r->element[1]->len > n || (n && !r->element[1]->len))
		return rd_reply_odd(&b->x->server, err);
	done = r->element[1]->len;
	rc = take_versions(b, r, err);
	for (size_t i = 0; i < done; i++) {
		const simidx_engine_change *c = change_at(b, b->at + i);

		b->conditions_left -= c->n_conditions;
		if (r->element[1]->str[i] != '1')
			continue;
		b->refused++;
		if (b->given->refused)
			b->given->refused[b->order[b->at + i]] = 1;
	}
	b->at += done;
	b->x->number++;
	return rc;
}

/* Have one piece stored. */
static int store_piece(struct batch *b, int *sent, simidx_error *err)
{
	size_t n = measure(b);
	redisReply *reply = NULL;
	int rc = make_piece(b, n, err);

	*sent = 0;
	if (!rc)
		rc = rd_script_call(b->x, &b->args, &reply, sent, err);
	/* It was a day without a commit, or the server has lost it. No other call is on its way. */
	if (!rc && rd_says(reply, "stale")) {
		freeReplyObject(reply);
		reply = NULL;
		rc = enter(b->x, err);
		if (!rc)
			rc = make_piece(b, n, err);
		if (!rc)
			rc = rd_script_call(b->x, &b->args, &reply, sent, err);
	}
	if (!rc && rd_says(reply, "resumed"))
		rc = rd_fail(err, SIMIDX_E_STATE,
			     "%s: another load has gone on after the mark", b->x->server.uri.place);
	if (!rc) {
		*sent = 1; /* and what follows fails for memory, or because it makes no sense */
		rc = take_answer(b, reply, n, err);
	}
	if (reply)
		freeReplyObject(reply);
	return rc;
}

/* ---- batches ---- */

static int gives_label(const simidx_engine_change *c)
{
	return c->before && c->before->label_size &&
	       !(c->after && c->after->label_size == c->before->label_size &&
		 !memcmp(c->after->label, c->before->label, c->after->label_size));
}

static int begin_batch(struct batch *b, simidx_error *err)
{
	const simidx_engine_batch *given = b->given;
	size_t n = 0;

	b->order = malloc((given->n ? given->n : 1) * sizeof(*b->order));
	b->record = malloc(2 * sizeof(*b->record));
	if (!b->order || !b->record)
		return rd_fail_nomem(err);
	for (int gives = 1; gives >= 0; gives--)
		for (size_t i = 0; i < given->n; i++)
			if (gives_label(&given->change[i]) == gives)
				b->order[n++] = i;
	for (size_t i = 0; i < given->n; i++)
		b->conditions_left += given->change[i].n_conditions;
	return SIMIDX_OK;
}

int rd_write(void *state, const simidx_engine_batch *given, simidx_error *err)
{
	struct batch b = { .x = state, .given = given };
	int sent = 0, rc = SIMIDX_OK;

	if (b.x->is_unfinished)
		rc = begin(b.x, err);
	if (!rc)
		rc = begin_batch(&b, err);
	do {
		if (!rc)
			rc = store_piece(&b, &sent, err);
	} while (!rc && b.at < given->n);
	free(b.order);
	free(b.record);
	free(b.raised);
	rd_args_free(&b.args);
	if (!rc || (!sent && !b.at))
		return rc;
	b.x->is_unfinished = 1;
	if (err) {
		char why[400];

		snprintf(why, sizeof(why), "%.390s", err->text);
		snprintf(err->text, sizeof(err->text), "%s; %zu of %zu changes are known to be "
			 "stored", why, b.at - b.refused, given->n);
		err->code = SIMIDX_E_UNKNOWN;
	}
	return SIMIDX_E_UNKNOWN;
}
