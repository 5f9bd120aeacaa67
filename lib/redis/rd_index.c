/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

static int grow(void **at, size_t *cap, size_t n, size_t size)
{
	size_t more = *cap ? *cap : 64;
	void *grown;

	if (n <= *cap)
		return 0;
	while (more < n)
		more *= 2;
	grown = realloc(*at, more * size);
	if (!grown)
		return -1;
	*at = grown;
	*cap = more;
	return 0;
}

void rd_args_copy(struct rd_args *a, const void *data, size_t size)
{
	size_t caps[2] = { a->cap, a->cap };

	if (a->has_failed || grow((void **)&a->at, &caps[0], a->n + 1, sizeof(*a->at)) ||
	    grow((void **)&a->size, &caps[1], a->n + 1, sizeof(*a->size)) ||
	    grow((void **)&a->offset, &a->cap, a->n + 1, sizeof(*a->offset)) ||
	    grow((void **)&a->bytes, &a->room, a->used + size, 1)) {
		a->has_failed = 1;
		return;
	}
	if (size)
		memcpy(a->bytes + a->used, data, size);
	a->offset[a->n] = a->used;
	a->size[a->n++] = size;
	a->used += size;
}

void rd_args_set(struct rd_args *a, size_t i, const void *data, size_t size)
{
	rd_args_copy(a, data, size);
	if (a->has_failed)
		return;
	a->n--;
	a->offset[i] = a->offset[a->n];
	a->size[i] = size;
}

void rd_args_text(struct rd_args *a, const char *text)
{
	rd_args_copy(a, text, strlen(text));
}

void rd_args_number(struct rd_args *a, uint64_t number)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRIu64, number);
	rd_args_text(a, digits);
}

int rd_args_end(struct rd_args *a, simidx_error *err)
{
	for (size_t i = 0; i < a->n; i++)
		a->at[i] = a->bytes + a->offset[i];
	return a->has_failed ? rd_fail_nomem(err) : SIMIDX_OK;
}

void rd_args_clear(struct rd_args *a)
{
	a->n = a->used = 0;
	a->has_failed = 0;
}

void rd_args_free(struct rd_args *a)
{
	free(a->at);
	free(a->size);
	free(a->offset);
	free(a->bytes);
	memset(a, 0, sizeof(*a));
}

/* ---- numbers and records ---- */

void rd_put64(char *to, uint64_t x)
{
	for (int i = 7; i >= 0; i--, x >>= 8)
		to[i] = (char)(x & 0xff);
}

uint64_t rd_get64(const char *from)
{
	uint64_t x = 0;

	for (int i = 0; i < 8; i++)
		x = x << 8 | (unsigned char)from[i];
	return x;
}

int rd_digits(const char *text, size_t size, uint64_t *out)
{
	uint64_t x = 0;

	if (!size || size > 20)
		return -1;
	for (size_t i = 0; i < size; i++) {
		uint64_t digit = (uint64_t)(text[i] - '0');

		if (digit > 9 || x > (UINT64_MAX - digit) / 10)
			return -1;
		x = x * 10 + digit;
	}
	*out = x;
	return 0;
}

/* Flags of a record. */
#define HAS_FP2 1
#define HAS_LABEL 2
#define HAS_UNKNOWN_FP2 4
#define HAS_TIME 8

size_t rd_record_write(const simidx_engine_version *v, char out[RD_MAX_RECORD])
{
	size_t n = 9;

	out[0] = (char)((v->flags & SIMIDX_DOC_FP2 ? HAS_FP2 : 0) |
			(v->flags & SIMIDX_DOC_FP2_UNKNOWN ? HAS_UNKNOWN_FP2 : 0) |
			(v->label_size ? HAS_LABEL : 0) | (v->time ? HAS_TIME : 0));
	rd_put64(out + 1, v->fp);
	if (v->flags & SIMIDX_DOC_FP2) {
		rd_put64(out + n, v->fp2);
		n += 8;
	}
	if (v->time) {
		for (int i = 3; i >= 0; i--)
			out[n++] = (char)(v->time >> 8 * i & 0xff);
	}
	if (v->label_size)
		memcpy(out + n, v->label, v->label_size);
	return n + v->label_size;
}

int rd_record_read(const char *data, size_t size, simidx_match *out)
{
	unsigned flags = size ? (unsigned char)data[0] : 0;
	size_t n = 9 + (flags & HAS_FP2 ? 8 : 0) + (flags & HAS_TIME ? 4 : 0);

	if (size < n || flags > 15 || (flags & HAS_FP2 && flags & HAS_UNKNOWN_FP2) ||
	    (flags & HAS_LABEL ? size == n || size - n > SIMIDX_MAX_LABEL : size > n))
		return -1;
	out->fp = rd_get64(data + 1);
	n = 9;
	if (flags & HAS_FP2) {
		out->fp2 = rd_get64(data + n);
		out->flags |= SIMIDX_MATCH_FP2;
		n += 8;
	}
	if (flags & HAS_TIME) {
		for (int i = 0; i < 4; i++)
			out->time = out->time << 8 | (unsigned char)data[n++];
		out->flags |= SIMIDX_MATCH_TIME;
	}
	if (flags & HAS_LABEL) {
		out->label = data + n;
		out->label_size = size - n;
		out->flags |= SIMIDX_MATCH_LABEL;
	}
	return flags & HAS_TIME && !out->time ? -1 : 0;
}

size_t rd_table_key(const struct rd_index *x, unsigned table, uint32_t prefix,
		    char out[RD_MAX_TABLE_KEY])
{
	static const char digits[] = "0123456789abcdef";
	size_t n = strlen(x->prefix);

	memcpy(out, x->prefix, n);
	if (table >= 10)
		out[n++] = (char)('0' + table / 10 % 10);
	out[n++] = (char)('0' + table % 10);
	out[n++] = ':';
	for (int shift = 28; shift >= 0; shift -= 4)
		out[n++] = digits[prefix >> shift & 15];
	return n;
}

/* ---- answers ---- */

int rd_is_string(const redisReply *reply, size_t i)
{
	return reply->type == REDIS_REPLY_ARRAY && i < reply->elements &&
	       reply->element[i]->type == REDIS_REPLY_STRING;
}

int rd_says(const redisReply *reply, const char *word)
{
	return rd_is_string(reply, 0) && !strcmp(reply->element[0]->str, word);
}

/* ---- going over keys ---- */

int rd_scan_some(struct rd_index *x, const char *command, const char *what, char cursor[24],
		 redisReply **out, simidx_error *err)
{
	int is_keys = !strcmp(command, "SCAN"), is_odd;
	int rc = is_keys ? rd_ask(&x->server, out, err, "SCAN %s MATCH %s COUNT 1000", cursor, what)
			 : rd_ask(&x->server, out, err, "%s %s %s COUNT 1000", command, what,
				  cursor);

	if (rc)
		return rc;
	is_odd = (*out)->elements != 2 || !rd_is_string(*out, 0) ||
		 (*out)->element[1]->type != REDIS_REPLY_ARRAY;
	for (size_t i = 0; !is_odd && i < (*out)->element[1]->elements; i++)
		is_odd = !rd_is_string((*out)->element[1], i);
	if (!is_odd) {
		snprintf(cursor, 24, "%s", (*out)->element[0]->str);
		return SIMIDX_OK;
	}
	freeReplyObject(*out);
	*out = NULL;
	return rd_reply_odd(&x->server, err);
}
