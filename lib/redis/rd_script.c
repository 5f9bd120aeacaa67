/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char script[] =
#include "rd_script.inc"
	;

/* Words of the command: the name of the script, how many keys there are, and the first of them. */
#define SHA 1
#define COUNT 2
#define HEADER 3

/* ---- words ---- */

void rd_call_begin(const struct rd_index *x, struct rd_call *c, const char *asked)
{
	rd_args_clear(&c->keys);
	rd_args_clear(&c->args);
	c->n_keys = 1;
	if (c->slots)
		memset(c->slot, 0, c->slots * sizeof(*c->slot));
	rd_args_text(&c->keys, "EVALSHA");
	rd_args_copy(&c->keys, x->sha, 40);
	rd_args_copy(&c->keys, "", 0);
	rd_args_text(&c->keys, x->header);
	rd_args_text(&c->args, asked);
	rd_args_text(&c->args, x->gen);
	rd_args_text(&c->args, x->prefix);
}

static size_t *slot_of(const struct rd_call *c, uint64_t place)
{
	size_t at = (size_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->slots - 1);

	while (c->slot[at] && c->place[c->slot[at] - 2] != place)
		at = (at + 1) & (c->slots - 1);
	return &c->slot[at];
}

/* Have room for one more key; -1: memory is short. */
static int make_room(struct rd_call *c)
{
	size_t slots = c->slots ? 2 * c->slots : 512;
	size_t *slot;
	uint64_t *place;

	if (2 * c->n_keys < c->slots)
		return 0;
	place = realloc(c->place, slots * sizeof(*place));
	if (!place)
		return -1;
	c->place = place;
	slot = calloc(slots, sizeof(*slot));
	if (!slot)
		return -1;
	free(c->slot);
	c->slot = slot;
	c->slots = slots;
	for (size_t key = 2; key <= c->n_keys; key++)
		*slot_of(c, c->place[key - 2]) = key;
	return 0;
}

size_t rd_call_key(const struct rd_index *x, struct rd_call *c, unsigned table, uint32_t prefix)
{
	uint64_t place = rd_place(table, prefix);
	char key[RD_MAX_TABLE_KEY];
	size_t *slot;

	if (make_room(c)) {
		c->keys.has_failed = 1;
		return 1;
	}
	slot = slot_of(c, place);
	if (!*slot) {
		rd_args_copy(&c->keys, key, rd_table_key(x, table, prefix, key));
		c->place[c->n_keys++ - 1] = place;
		*slot = c->n_keys;
	}
	return *slot;
}

void rd_call_put_key(char to[3], size_t key)
{
	to[0] = (char)(key >> 16 & 0xff);
	to[1] = (char)(key >> 8 & 0xff);
	to[2] = (char)(key & 0xff);
}

uint64_t rd_call_place(const struct rd_call *c, size_t key)
{
	return key < 2 || key > c->n_keys ? 0 : c->place[key - 2];
}

void rd_call_change(const struct rd_index *x, struct rd_call *c, uint64_t id, struct rd_arg before,
		    struct rd_arg after, const uint32_t *from, const uint32_t *to)
{
	char text[24], keys[2 * 3 * RD_MAX_TABLES];
	size_t n = 0;

	rd_args_number(&c->args, id);
	rd_put64(text, id);
	rd_args_copy(&c->args, text, 8);
	snprintf(text, sizeof(text), "%016" PRIx64 "%u", id / RD_BUCKET,
		 (unsigned)(id % RD_BUCKET));
	rd_args_text(&c->args, text);
	rd_args_copy(&c->args, before.data, before.size);
	rd_args_copy(&c->args, after.data, after.size);
	for (unsigned t = 0; from && t < x->n_tables; t++, n += 3)
		rd_call_put_key(keys + n, rd_call_key(x, c, t, from[t]));
	for (unsigned t = 0; to && t < x->n_tables; t++, n += 3)
		rd_call_put_key(keys + n, rd_call_key(x, c, t, to[t]));
	rd_args_copy(&c->args, keys, n);
}

/* ---- making it ---- */

/* All words in their order. */
static int complete(struct rd_call *c, char count[24], simidx_error *err)
{
	size_t n = c->keys.n + c->args.n;
	int rc = rd_args_end(&c->keys, err);

	if (!rc)
		rc = rd_args_end(&c->args, err);
	if (rc)
		return rc;
	free(c->at);
	free(c->size);
	c->at = malloc(n * sizeof(*c->at));
	c->size = malloc(n * sizeof(*c->size));
	if (!c->at || !c->size)
		return rd_fail_nomem(err);
	memcpy(c->at, c->keys.at, c->keys.n * sizeof(*c->at));
	memcpy(c->size, c->keys.size, c->keys.n * sizeof(*c->size));
	memcpy(c->at + c->keys.n, c->args.at, c->args.n * sizeof(*c->at));
	memcpy(c->size + c->keys.n, c->args.size, c->args.n * sizeof(*c->size));
	c->at[COUNT] = count;
	c->size[COUNT] = (size_t)snprintf(count, 24, "%zu", c->keys.n - HEADER);
	c->words = n;
	return SIMIDX_OK;
}

static int load_script(struct rd_index *x, struct rd_link *link, simidx_error *err)
{
	redisReply *reply;
	int rc = rd_link_ask(&x->server, link, &reply, err, "SCRIPT LOAD %b", script,
			     sizeof(script) - 1);

	if (rc)
		return rc;
	if (reply->type != REDIS_REPLY_STRING || reply->len != 40)
		rc = rd_reply_odd(&x->server, err);
	else
		memcpy(x->sha, reply->str, 40);
	freeReplyObject(reply);
	return rc;
}

/* Send it and get an answer, of whatever kind. A server that does not know the script gets it. */
static int ask(struct rd_index *x, struct rd_link *link, const struct rd_call *c, redisReply **out,
	       simidx_error *err)
{
	int rc = SIMIDX_OK, tries = 0;

	while (!rc && !*out) {
		if (!*x->sha)
			rc = load_script(x, link, err);
		c->at[SHA] = x->sha;
		link->sent = 0;
		if (!rc)
			rc = rd_link_add_args(link, c->words, c->at, c->size, err);
		if (!rc)
			rc = rd_link_next(&x->server, link, out, err);
		if (!rc && (*out)->type == REDIS_REPLY_ERROR &&
		    !strncmp((*out)->str, "NOSCRIPT", 8) && !tries++) {
			freeReplyObject(*out);
			*out = NULL;
			x->sha[0] = '\0';
		}
	}
	return rc;
}

int rd_call_make(struct rd_index *x, struct rd_call *c, redisReply **out, int *sent,
		 simidx_error *err)
{
	redisReply *reply = NULL;
	struct rd_link link;
	char count[24];
	int rc = complete(c, count, err);

	*out = NULL;
	if (sent)
		*sent = 0;
	if (rc)
		return rc;
	rc = rd_link_take(&x->server, &link, err);
	if (!rc)
		rc = ask(x, &link, c, &reply, err);
	if (rc && sent)
		*sent = link.c && link.sent;
	rd_link_give(&x->server, &link);
	if (!rc && reply->type == REDIS_REPLY_ERROR) {
		/* What the script has changed before it failed stays. Other types of keys, and
		   memory that is full, show before it changes something. */
		if (sent && strstr(reply->str, "script: ") && !strstr(reply->str, "WRONGTYPE") &&
		    !strstr(reply->str, "OOM"))
			*sent = 1;
		rc = rd_reply_fail(&x->server, reply, err);
	} else if (!rc && rd_says(reply, "moved")) {
		rc = rd_fail(err, SIMIDX_E_MOVED, "%s: the index \"%s\" was made anew",
			     x->server.uri.place, x->server.uri.name);
	} else if (!rc && !rd_is_string(reply, 0)) {
		rc = rd_reply_odd(&x->server, err);
	}
	if (rc && reply)
		freeReplyObject(reply);
	else if (!rc)
		*out = reply;
	return rc;
}

int rd_call_do(struct rd_index *x, struct rd_call *c, simidx_error *err)
{
	redisReply *reply;
	int rc = rd_call_make(x, c, &reply, NULL, err);

	if (reply)
		freeReplyObject(reply);
	return rc;
}

void rd_call_free(struct rd_call *c)
{
	rd_args_free(&c->keys);
	rd_args_free(&c->args);
	free(c->place);
	free(c->slot);
	free(c->at);
	free(c->size);
	memset(c, 0, sizeof(*c));
}
