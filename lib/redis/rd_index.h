/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An open index in Redis: its keys, records and the script that changes it. doc/redis.md describes
 * the layout.
 */

#ifndef RD_INDEX_H
#define RD_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "rd_link.h"

#define RD_FORMAT "1"       /* of the layout */
#define RD_GEN 4            /* letters of a generation */
#define RD_LETTERS "abcdefghijklmnopqrstuvwxyz234567"
#define RD_MAX_TABLES 32
#define RD_BUCKET 64        /* documents with consecutive ids that are in one key */
#define RD_ROW 16           /* bytes: fingerprint and id */
#define RD_HEAD 8           /* bytes before the rows: version */
#define RD_MANY UINT64_MAX  /* in the place of an id: the ids are in a set */
#define RD_MAX_RECORD (1 + 8 + 8 + 4 + SIMIDX_MAX_LABEL)

struct rd_index {
	struct rd_server server;
	char header[RD_MAX_NAME + 3];        /* "{NAME}" */
	char gen[RD_GEN + 1];
	char prefix[RD_MAX_NAME + RD_GEN + 4]; /* of all other keys: "{NAME}GEN:" */
	unsigned n_tables;
	char *description;
	size_t description_size;
	char durability[128];
	char sha[41];                        /* of the script; "" = not loaded */
	/* Of the writer: */
	char writer[17];     /* its token; "" = it has not begun */
	uint64_t number;     /* of its last call of the script */
	int is_unfinished;   /* nobody knows what came of that one */
	char resumed[24];    /* digits: how often loads have gone on after the mark when it began */
};

/* ---- arguments ---- */

struct rd_arg {
	const char *data;
	size_t size;
};

/** Arguments of a command that is being made. All zero: none. */
struct rd_args {
	const char **at;     /* n of them, after rd_args_end() */
	size_t *size, *offset; /* of each, in `bytes` */
	size_t n, cap;
	char *bytes;
	size_t used, room;
	int has_failed;      /* memory was short */
};

/** Add a copy of bytes. */
void rd_args_copy(struct rd_args *args, const void *data, size_t size);

/** Add text, or a number in digits. */
void rd_args_text(struct rd_args *args, const char *text);
void rd_args_number(struct rd_args *args, uint64_t number);

/** Set number i, which has no bytes so far. */
void rd_args_set(struct rd_args *args, size_t i, const void *data, size_t size);

/** SIMIDX_E_NOMEM. */
int rd_args_end(struct rd_args *args, simidx_error *err);

void rd_args_clear(struct rd_args *args);
void rd_args_free(struct rd_args *args);

/* ---- numbers and records ---- */

/** Eight bytes, big-endian. */
void rd_put64(char *to, uint64_t x);
uint64_t rd_get64(const char *from);

/** Read digits; -1: it is no number. */
int rd_digits(const char *text, size_t size, uint64_t *out);

/** Write a record. Returns its size. */
size_t rd_record_write(const simidx_engine_version *version, char out[RD_MAX_RECORD]);

/** Read a record; -1: it is none. The label points into it. */
int rd_record_read(const char *data, size_t size, simidx_match *out);

/* ---- keys, for the formats of rd_link_add() and rd_ask() ---- */

#define RD_TABLE_KEY "%s%u:%08x"   /* x->prefix, table, prefix: as rd_table_key() */
#define RD_DOCUMENT "%sd:%016llx %u" /* a key and a field; RD_DOCUMENT_OF(x, id) */
#define RD_DOCUMENT_OF(x, id) \
	(x)->prefix, (unsigned long long)(id) / RD_BUCKET, (unsigned)((id) % RD_BUCKET)
#define RD_IDS_KEY "%si:%b"        /* x->prefix, fingerprint by rd_put64(), 8 */

#define RD_MAX_TABLE_KEY (RD_MAX_NAME + RD_GEN + 24)

/** Write the key of a prefix. Returns its size. */
size_t rd_table_key(const struct rd_index *x, unsigned table, uint32_t prefix,
		    char out[RD_MAX_TABLE_KEY]);

/* ---- answers ---- */

/** Whether element i of an answer is a string. */
int rd_is_string(const redisReply *reply, size_t i);

/** Whether an answer begins with this word. */
int rd_says(const redisReply *reply, const char *word);

/* ---- going over keys ---- */

/**
 * One answer of SCAN, HSCAN or ZSCAN: element 1 has strings. *cursor is where it goes on: "0" at
 * first and at the end.
 *
 * @param what  of SCAN, a pattern; else the key
 */
int rd_scan_some(struct rd_index *x, const char *command, const char *what, char cursor[24],
		 redisReply **out, simidx_error *err);

#endif /* RD_INDEX_H */
