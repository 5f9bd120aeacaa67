/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Storing batches. A call of the script stores a piece of one, so that no call takes long.
 */

#include "rd_write.h"
#include "rd_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define STEPS 256             /* rows that a piece changes: two milliseconds of the script */
#define PIECE_BYTES (1 << 20) /* of a piece, as it is sent */
#define CONDITION 11          /* bytes of a condition: a key, and a version */

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
	struct rd_call call = { 0 };
	redisReply *reply;
	int rc;

	rd_call_begin(x, &call, word);
	rc = rd_call_make(x, &call, &reply, NULL, err);
	if (!rc && !rd_is_string(reply, 1))
		rc = rd_reply_odd(&x->server, err);
	if (!rc)
		snprintf(x->resumed, sizeof(x->resumed), "%s", reply->element[1]->str);
	if (reply)
		freeReplyObject(reply);
	rd_call_free(&call);
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
	struct rd_call call = { 0 };
	redisReply *reply = NULL;
	int rc;

	rd_call_begin(x, &call, "reserve");
	rd_args_number(&call.args, n);
	rd_args_number(&call.args, at_least);
	rc = rd_call_make(x, &call, &reply, NULL, err);
	/* The next id is above what the server counts with, or would be. */
	if (rc == SIMIDX_E_IO && err &&
	    (strstr(err->text, "integer") || strstr(err->text, "overflow"))) {
		err->code = SIMIDX_OK;
		rc = rd_fail(err, SIMIDX_E_RANGE, "%s: there are no more ids",
			     x->server.uri.place);
	}
	if (!rc && (!rd_is_string(reply, 1) ||
		    rd_digits(reply->element[1]->str, reply->element[1]->len, first)))
		rc = rd_reply_odd(&x->server, err);
	if (reply)
		freeReplyObject(reply);
	rd_call_free(&call);
	return rc;
}

/* ---- versions that this batch has raised ---- */

/*
 * Pieces of a batch raise versions that later ones rest on. Of each prefix that a condition names:
 * the version that it had before this batch, and the one that this batch has given it last.
 */
struct raised {
	uint64_t place; /* table and prefix; 0: the slot is free */
	uint64_t before, now;
	int is_raised;
	size_t last;    /* change that has the last condition on it */
};

struct batch {
	struct rd_index *x;
	const simidx_engine_batch *given;
	size_t *order;          /* of the changes: those first that give a label away */
	size_t at;              /* changes of it that the script has seen */
	struct raised *raised;
	size_t slots;
	struct rd_call call;
	size_t refused;
	struct raised whole;    /* the version of the index as a whole */
	char (*record)[RD_MAX_RECORD]; /* room for two */
};

static const simidx_engine_change *change_at(const struct batch *b, size_t i)
{
	return &b->given->change[b->order[i]];
}

/* The slot of a place, or a free one. */
static struct raised *slot(const struct batch *b, uint64_t place)
{
	size_t at = (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (b->slots - 1);

	while (b->raised[at].place && b->raised[at].place != place)
		at = (at + 1) & (b->slots - 1);
	return &b->raised[at];
}

/* Know all prefixes that conditions name. */
static int note_conditions(struct batch *b, simidx_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < b->given->n; i++)
		n += b->given->change[i].n_conditions;
	for (b->slots = 64; b->slots < 2 * n; b->slots *= 2)
		;
	b->raised = calloc(b->slots, sizeof(*b->raised));
	if (!b->raised)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < b->given->n; i++) {
		const simidx_engine_change *c = change_at(b, i);

		for (size_t j = 0; j < c->n_conditions; j++) {
			const simidx_engine_condition *one = &c->condition[j];
			uint64_t place = rd_place(one->table, one->prefix);

			if (one->table == SIMIDX_ENGINE_WHOLE)
				continue;
			slot(b, place)->place = place;
			slot(b, place)->last = i;
		}
	}
	return SIMIDX_OK;
}

static void note(struct raised *r, uint64_t before, uint64_t now)
{
	/* Somebody else was there in between. */
	if (!r->is_raised || before != r->now)
		r->before = before;
	r->is_raised = 1;
	r->now = now;
}

/* What a condition comes to, after the pieces that are stored. */
static uint64_t translate(const struct batch *b, const simidx_engine_condition *c)
{
	const struct raised *r = c->table == SIMIDX_ENGINE_WHOLE
					 ? &b->whole
					 : slot(b, rd_place(c->table, c->prefix));

	return r->is_raised && r->before == c->version ? r->now : c->version;
}

/* ---- pieces ---- */

/* Conditions in the form of the script, as one argument, and how many keys a change needs. */
static int add_conditions(struct batch *b, const simidx_engine_change *c, simidx_error *err)
{
	char *text = malloc(CONDITION * c->n_conditions + 1), *to = text;

	if (!text)
		return rd_fail_nomem(err);
	for (size_t i = 0; i < c->n_conditions; i++, to += CONDITION) {
		const simidx_engine_condition *one = &c->condition[i];

		rd_call_put_key(to, one->table == SIMIDX_ENGINE_WHOLE
					    ? 0
					    : rd_call_key(b->x, &b->call, one->table,
							  one->prefix));
		rd_put64(to + 3, translate(b, one));
	}
	rd_args_copy(&b->call.args, text, CONDITION * c->n_conditions);
	rd_args_number(&b->call.args, b->call.n_keys);
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
	rd_call_change(b->x, &b->call, c->id, record[0], record[1], v[0]->prefix, v[1]->prefix);
	return add_conditions(b, c, err);
}

/* How many of the next changes go together. */
static size_t measure(const struct batch *b)
{
	size_t n = 0, steps = 0, bytes = 0;

	while (b->at + n < b->given->n) {
		const simidx_engine_change *c = change_at(b, b->at + n);

		steps += (size_t)(!!c->before + !!c->after) * b->x->n_tables + c->n_conditions / 4;
		bytes += 100 + (CONDITION + RD_MAX_TABLE_KEY) * c->n_conditions +
			 (c->before ? c->before->label_size : 0) +
			 (c->after ? c->after->label_size : 0);
		if (n && (steps > STEPS || bytes > PIECE_BYTES))
			break;
		n++;
	}
	return n;
}

/* Keys of a piece whose versions conditions of later ones name. */
static int add_wanted(struct batch *b, size_t at, size_t end, simidx_error *err)
{
	char *text = malloc(3 * b->call.n_keys);
	size_t n = 0;

	if (!text)
		return rd_fail_nomem(err);
	for (size_t key = 2; key <= b->call.n_keys; key++) {
		const struct raised *r = slot(b, rd_call_place(&b->call, key));

		if (!r->place || r->last < end)
			continue;
		rd_call_put_key(text + n, key);
		n += 3;
	}
	rd_args_set(&b->call.args, at, text, n);
	free(text);
	return SIMIDX_OK;
}

/* Fill in the arguments of a piece of n changes. */
static int make_piece(struct batch *b, size_t n, simidx_error *err)
{
	const simidx_engine_batch *given = b->given;
	int is_last = b->at + n == given->n, rc = SIMIDX_OK;
	struct rd_args *args = &b->call.args;
	size_t wanted;

	rd_call_begin(b->x, &b->call, "write");
	rd_args_text(args, b->x->writer);
	rd_args_number(args, b->x->number);
	rd_args_number(args, b->x->number + 1);
	rd_args_text(args, given->mark ? b->x->resumed : "");
	rd_args_text(args, given->mark && is_last && !b->refused ? "1" : "0");
	rd_args_copy(args, given->mark, given->mark && is_last ? given->mark_size : 0);
	rd_args_number(args, b->x->n_tables);
	wanted = args->n;
	rd_args_text(args, ""); /* not known yet */
	rd_args_number(args, n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_change(b, change_at(b, b->at + i), err);
	return rc ? rc : add_wanted(b, wanted, b->at + n, err);
}

/* Note versions that were raised: of each key its number, and the versions before and after. */
static void take_versions(struct batch *b, const redisReply *r)
{
	const char *at = r->element[4]->str, *end = at + r->element[4]->len;

	note(&b->whole, rd_get64(r->element[2]->str), rd_get64(r->element[3]->str));
	for (; end - at >= 19; at += 19) {
		size_t key = (size_t)(unsigned char)at[0] << 16 |
			     (size_t)(unsigned char)at[1] << 8 | (unsigned char)at[2];
		uint64_t place = rd_call_place(&b->call, key);
		struct raised *raised = place ? slot(b, place) : NULL;

		if (raised && raised->place)
			note(raised, rd_get64(at + 3), rd_get64(at + 11));
	}
}

/* What the script says of a piece of n changes, of which it may have done fewer. */
static int take_answer(struct batch *b, const redisReply *r, size_t n, simidx_error *err)
{
	size_t done;

	if (!rd_says(r, "ok") || r->elements != 5 || !rd_is_string(r, 1) || !rd_is_string(r, 2) ||
	    !rd_is_string(r, 3) || !rd_is_string(r, 4) || r->element[2]->len != 8 ||
	    r->element[3]->len != 8 || r->element[1]->len > n || (n && !r->element[1]->len))
		return rd_reply_odd(&b->x->server, err);
	done = r->element[1]->len;
	take_versions(b, r);
	for (size_t i = 0; i < done; i++) {
		if (r->element[1]->str[i] != '1')
			continue;
		b->refused++;
		if (b->given->refused)
			b->given->refused[b->order[b->at + i]] = 1;
	}
	b->at += done;
	b->x->number++;
	return SIMIDX_OK;
}

/* Have one piece stored. */
static int store_piece(struct batch *b, int *sent, simidx_error *err)
{
	size_t n = measure(b);
	redisReply *reply = NULL;
	int rc = make_piece(b, n, err);

	*sent = 0;
	if (!rc)
		rc = rd_call_make(b->x, &b->call, &reply, sent, err);
	/* It was a day without a commit, or the server has lost it. No other call is on its way. */
	if (!rc && rd_says(reply, "stale")) {
		freeReplyObject(reply);
		reply = NULL;
		rc = enter(b->x, err);
		if (!rc)
			rc = make_piece(b, n, err);
		if (!rc)
			rc = rd_call_make(b->x, &b->call, &reply, sent, err);
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
	return note_conditions(b, err);
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
	rd_call_free(&b.call);
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
