/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "rd_script.h"

#define MIN_MAJOR 7       /* of the server */
#define MAX_DESCRIPTION (64 << 20)

/* ---- the server ---- */

/* A line of INFO, "name:value". Returns 0 if it is not there. */
static int info_value(const redisReply *reply, const char *name, char *out, size_t room)
{
	size_t size = strlen(name);

	for (const char *line = reply->str; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, size) && line[size] == ':') {
			size_t n = strcspn(line + size + 1, "\r\n");

			snprintf(out, room, "%.*s", (int)(n < room ? n : room - 1),
				 line + size + 1);
			return 1;
		}
	}
	return 0;
}

/* A setting; "?" where the server does not tell. */
static void read_setting(struct rd_index *x, const char *name, char *out, size_t room)
{
	redisReply *reply;

	snprintf(out, room, "?");
	if (rd_ask(&x->server, &reply, NULL, "CONFIG GET %s", name))
		return;
	if (reply->elements == 2 && rd_is_string(reply, 1))
		snprintf(out, room, "%s", reply->element[1]->str);
	freeReplyObject(reply);
}

/* How long stored documents last. */
static void describe_durability(struct rd_index *x, const redisReply *info)
{
	char aof[8] = "?", value[64];
	int has_log = info_value(info, "aof_enabled", aof, sizeof(aof)) && *aof == '1';

	read_setting(x, has_log ? "appendfsync" : "save", value, sizeof(value));
	snprintf(x->durability, sizeof(x->durability), "appendonly %s, %s %s",
		 has_log ? "yes" : "no", has_log ? "appendfsync" : "save",
		 *value ? value : "never");
}

static int check_server(struct rd_index *x, simidx_error *err)
{
	const char *place = x->server.uri.place;
	char version[32] = "", policy[64] = "noeviction", loading[4] = "";
	redisReply *reply;
	int rc = rd_ask(&x->server, &reply, err, "INFO");

	if (rc)
		return rc;
	if (reply->type != REDIS_REPLY_STRING ||
	    !info_value(reply, "redis_version", version, sizeof(version)))
		rc = rd_reply_odd(&x->server, err);
	else if (atoi(version) < MIN_MAJOR)
		rc = rd_fail(err, SIMIDX_E_UNSUPPORTED, "%s: it is Redis %s, and 7.0 is needed",
			     place, version);
	else if (info_value(reply, "loading", loading, sizeof(loading)) && loading[0] == '1')
		rc = rd_fail(err, SIMIDX_E_IO, "%s: it is still loading: try again later", place);
	else if (info_value(reply, "maxmemory_policy", policy, sizeof(policy)) &&
		 strcmp(policy, "noeviction") != 0)
		rc = rd_fail(err, SIMIDX_E_UNSUPPORTED,
			     "%s: it may evict keys of an index, as its maxmemory-policy is %s: "
			     "set that to noeviction", place, policy);
	else
		describe_durability(x, reply);
	freeReplyObject(reply);
	return rc;
}

/* ---- the header ---- */

/* Take generation, tables and description from the header. SIMIDX_E_NOT_FOUND: there is none. */
static int take_header(struct rd_index *x, const redisReply *r, simidx_error *err)
{
	const char *place = x->server.uri.place, *name = x->server.uri.name;
	uint64_t tables;

	if (r->type != REDIS_REPLY_ARRAY || r->elements != 4)
		return rd_reply_odd(&x->server, err);
	if (r->element[0]->type == REDIS_REPLY_NIL)
		return rd_fail(err, SIMIDX_E_NOT_FOUND, "%s: there is no index \"%s\"", place,
			       name);
	if (!rd_is_string(r, 0) || strcmp(r->element[0]->str, RD_FORMAT) != 0)
		return rd_fail(err, SIMIDX_E_VERSION,
			       "%s: the index \"%s\" has format %.20s, which this library does not "
			       "know", place, name, rd_is_string(r, 0) ? r->element[0]->str : "?");
	if (!rd_is_string(r, 1) || !rd_is_string(r, 2) || !rd_is_string(r, 3) ||
	    r->element[1]->len != RD_GEN ||
	    rd_digits(r->element[2]->str, r->element[2]->len, &tables) || !tables ||
	    tables > RD_MAX_TABLES || r->element[3]->len > MAX_DESCRIPTION)
		return rd_fail(err, SIMIDX_E_CORRUPT, "%s: the header of the index \"%s\" is "
			       "damaged", place, name);
	memcpy(x->gen, r->element[1]->str, RD_GEN);
	snprintf(x->prefix, sizeof(x->prefix), "%s%s:", x->header, x->gen);
	x->n_tables = (unsigned)tables;
	free(x->description);
	x->description_size = r->element[3]->len;
	x->description = malloc(x->description_size + 1);
	if (!x->description)
		return rd_fail_nomem(err);
	memcpy(x->description, r->element[3]->str, x->description_size);
	return SIMIDX_OK;
}

static int fail_foreign(const struct rd_index *x, simidx_error *err)
{
	return rd_fail(err, SIMIDX_E_NOT_INDEX, "%s: the key \"%s\" is no index",
		       x->server.uri.place, x->header);
}

static int read_header(struct rd_index *x, simidx_error *err)
{
	simidx_error own = { .code = SIMIDX_OK };
	redisReply *reply;
	int rc = rd_ask(&x->server, &reply, &own, "HMGET %s simidx gen tables description",
			x->header);

	if (rc == SIMIDX_E_CORRUPT)
		return fail_foreign(x, err);
	if (rc)
		return rd_fail(err, rc, "%s", own.text);
	rc = take_header(x, reply, err);
	freeReplyObject(reply);
	return rc;
}

/* ---- making ---- */

static int random_letters(char *out, size_t n, simidx_error *err)
{
	static const char letters[] = RD_LETTERS;
	unsigned char bytes[32];

	if (n > sizeof(bytes) || getrandom(bytes, n, 0) != (ssize_t)n)
		return rd_fail(err, SIMIDX_E_IO, "the system has no random numbers");
	for (size_t i = 0; i < n; i++)
		out[i] = letters[bytes[i] % 32];
	out[n] = '\0';
	return SIMIDX_OK;
}

static int add_unlink(void *ctx, struct rd_link *link, size_t i, simidx_error *err)
{
	const redisReply *key = ((const redisReply *)ctx)->element[i];

	return rd_link_add(link, err, "UNLINK %b", key->str, key->len);
}

static int take_nothing(void *ctx, size_t i, const redisReply *reply, simidx_error *err)
{
	(void)ctx, (void)i, (void)reply, (void)err;
	return SIMIDX_OK;
}

/* Remove the keys of an index that was replaced. */
static int remove_old(struct rd_index *x, const char *gen, simidx_error *err)
{
	char cursor[24] = "0", pattern[RD_MAX_NAME + 16];
	int rc;

	snprintf(pattern, sizeof(pattern), "%s%s:*", x->header, gen);
	do {
		struct rd_reading reading = { 0, add_unlink, take_nothing, NULL, 0 };
		redisReply *reply;

		rc = rd_scan_some(x, "SCAN", pattern, cursor, &reply, err);
		if (rc)
			return rc;
		reading.ctx = reply->element[1];
		reading.n = reply->element[1]->elements;
		rc = rd_read(&x->server, &reading, err);
		freeReplyObject(reply);
	} while (!rc && strcmp(cursor, "0") != 0);
	return rc;
}

static int fail_exists(const struct rd_index *x, simidx_error *err)
{
	return rd_fail(err, SIMIDX_E_EXISTS, "%s: there is an index \"%s\" already",
		       x->server.uri.place, x->server.uri.name);
}

static int create(struct rd_index *x, const simidx_engine_open *how, simidx_error *err)
{
	int replaces = (how->flags & SIMIDX_ENGINE_TRUNCATE) != 0, rc;
	struct rd_call call = { 0 };
	char old[RD_GEN + 1] = "";
	redisReply *reply = NULL;

	rc = random_letters(x->gen, RD_GEN, err);
	snprintf(x->prefix, sizeof(x->prefix), "%s%s:", x->header, x->gen);
	rd_call_begin(x, &call, "create");
	rd_args_text(&call.args, replaces ? "any" : "absent");
	rd_args_number(&call.args, how->n_tables);
	rd_args_copy(&call.args, how->description, how->description_size);
	if (!rc)
		rc = rd_call_make(x, &call, &reply, NULL, err);
	/* Somebody else was first, and it is opened. */
	if (!rc && rd_says(reply, "exists") && how->flags & SIMIDX_ENGINE_MUST_CREATE)
		rc = fail_exists(x, err);
	if (!rc && rd_says(reply, "foreign"))
		rc = fail_foreign(x, err);
	if (!rc && rd_says(reply, "ok") && rd_is_string(reply, 1) &&
	    reply->element[1]->len == RD_GEN)
		memcpy(old, reply->element[1]->str, RD_GEN);
	if (reply)
		freeReplyObject(reply);
	rd_call_free(&call);
	return rc || !*old ? rc : remove_old(x, old, err);
}

/* ---- opening ---- */

static int open_index(struct rd_index *x, const simidx_engine_open *how, simidx_error *err)
{
	simidx_error own = { .code = SIMIDX_OK };
	int rc = check_server(x, err);

	if (rc)
		return rc;
	rc = read_header(x, &own);
	if (!rc && how->flags & SIMIDX_ENGINE_MUST_CREATE)
		return fail_exists(x, err);
	if ((!rc && how->flags & SIMIDX_ENGINE_TRUNCATE) ||
	    (rc == SIMIDX_E_NOT_FOUND && how->flags & SIMIDX_OPEN_CREATE)) {
		rc = create(x, how, err);
		return rc ? rc : read_header(x, err);
	}
	return rc ? rd_fail(err, rc, "%s", own.text) : SIMIDX_OK;
}

int rd_open(const char *uri, const simidx_engine_open *how, void **state, simidx_error *err)
{
	struct rd_index *x = calloc(1, sizeof(*x));
	int rc;

	if (!x)
		return rd_fail_nomem(err);
	rc = rd_server_init(&x->server, uri, err);
	snprintf(x->header, sizeof(x->header), "{%s}", x->server.uri.name);
	if (!rc)
		rc = open_index(x, how, err);
	if (rc) {
		rd_close(x);
		return rc;
	}
	*state = x;
	return SIMIDX_OK;
}

void rd_close(void *state)
{
	struct rd_index *x = state;

	rd_server_free(&x->server);
	free(x->description);
	free(x);
}

/* ---- what it is ---- */

int rd_info(void *state, simidx_engine_info *out, simidx_error *err)
{
	struct rd_index *x = state;
	uint64_t *const to[3] = { &out->documents, &out->labels, &out->next_id };
	redisReply *r;
	int rc = rd_ask(&x->server, &r, err, "HMGET %s gen documents labels next", x->header);

	if (rc)
		return rc;
	if (r->type != REDIS_REPLY_ARRAY || r->elements != 4)
		rc = rd_reply_odd(&x->server, err);
	else if (!rd_is_string(r, 0) || strcmp(r->element[0]->str, x->gen) != 0)
		rc = rd_fail(err, SIMIDX_E_MOVED, "%s: the index \"%s\" was made anew, or removed",
			     x->server.uri.place, x->server.uri.name);
	for (size_t i = 0; !rc && i < 3; i++)
		if (!rd_is_string(r, i + 1) ||
		    rd_digits(r->element[i + 1]->str, r->element[i + 1]->len, to[i]))
			rc = rd_fail(err, SIMIDX_E_CORRUPT, "%s: the header of the index \"%s\" is "
				     "damaged", x->server.uri.place, x->server.uri.name);
	freeReplyObject(r);
	out->capabilities = SIMIDX_ENGINE_CONDITIONS | SIMIDX_ENGINE_SOUND_ROWS;
	out->description = x->description;
	out->description_size = x->description_size;
	out->durability = x->durability;
	out->round_trip = 60;
	out->probe = 2;
	out->row = 0.01;
	out->scan_row = 0.5;
	return rc;
}
