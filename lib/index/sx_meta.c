/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_meta.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

const char *const sx_meta_names[SX_META_COPIES] = { "meta", "meta2" };
const char *const sx_meta_basis = "basis";

/* The profile and the mark end in XXH3 of all bytes before it. */
#define CHECKSUM_SIZE 8

/* Of the profile: length of the text and number of check fingerprints, 4 bytes each; then both. */
#define PROFILE_FIXED 8

/* A kind of record. */
struct record {
	sx_slice key;
	/* Whether a value is a sound one: *out is then the header, of other records the value. */
	int (*check)(sx_slice value, void *out, simidx_error *err);
	int is_optional;
};

static int check_header(sx_slice value, void *out, simidx_error *err)
{
	return sx_header_decode(out, value, err);
}

/* Whether a record is not empty and ends with the right checksum. */
static int is_checked(sx_slice value)
{
	const unsigned char *bytes = value.data;
	size_t size = value.size - CHECKSUM_SIZE;

	return value.size > CHECKSUM_SIZE && sx_load_le64(bytes + size) == sx_hash(bytes, size);
}

static int check_profile(sx_slice value, void *out, simidx_error *err)
{
	size_t length = 0, n = 0;

	if (value.size >= PROFILE_FIXED) {
		length = sx_load_le32(value.data);
		n = sx_load_le32((const unsigned char *)value.data + 4);
	}
	if (length > SX_MAX_PROFILE || n > SX_MAX_CHECK_FPS ||
	    value.size != PROFILE_FIXED + length + 8 * n + CHECKSUM_SIZE || !is_checked(value))
		return sx_fail(err, SIMIDX_E_CORRUPT, "the profile record is damaged");
	*(sx_slice *)out = value;
	return SIMIDX_OK;
}

static int check_mark(sx_slice value, void *out, simidx_error *err)
{
	if (value.size > SIMIDX_MAX_MARK + CHECKSUM_SIZE || !is_checked(value))
		return sx_fail(err, SIMIDX_E_CORRUPT, "the mark record is damaged");
	*(sx_slice *)out = value;
	return SIMIDX_OK;
}

static const struct record header_record = { { "header", 6 }, check_header, 0 };
static const struct record profile_record = { { "profile", 7 }, check_profile, 0 };
static const struct record mark_record = { { "mark", 4 }, check_mark, 1 };

/* ---- both copies ---- */

/* A file of format 0.1 has `meta` alone: its header tells. */
int sx_meta_open(sx_txn *txn, sx_meta *meta, sx_header *header, simidx_error *err)
{
	int missing = -1, rc;

	for (int i = 0; i < SX_META_COPIES; i++) {
		rc = sx_dbi_open(txn, sx_meta_names[i], 0, &meta->copy[i], err);
		if (rc != SIMIDX_E_NOT_FOUND && rc)
			return rc;
		if (!rc)
			continue;
		sx_err_clear(err);
		if (missing >= 0)
			return sx_fail(err, SIMIDX_E_NOT_INDEX,
				       "not a simidx index, but an LMDB file of another program");
		missing = i;
	}
	if (missing >= 0)
		meta->copy[missing] = meta->copy[!missing];
	rc = sx_meta_read_header(txn, meta, header, err);
	if (!rc && missing >= 0)
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "table %s is missing", sx_meta_names[missing]);
	if (!rc)
		rc = sx_dbi_open(txn, sx_meta_basis, 0, &meta->basis, err);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	sx_err_clear(err);
	return sx_fail(err, SIMIDX_E_CORRUPT, "table %s is missing", sx_meta_basis);
}

/* One copy of a record. SIMIDX_E_NOT_FOUND without setting err; else LMDB cannot read its page. */
static int get(sx_txn *txn, const sx_meta *meta, unsigned copy, const struct record *r,
	       sx_slice *value, simidx_error *err)
{
	simidx_error local = { 0 };
	int rc = sx_dbi_get(txn, meta->copy[copy], r->key, value, &local);

	if (!rc || rc == SIMIDX_E_NOT_FOUND)
		return rc;
	return sx_fail(err, rc, "table %s: %s", sx_meta_names[copy], local.text);
}

static int is_same(sx_slice a, sx_slice b)
{
	return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

/*
 * The copy to read first: where the headers differ, that of the later commit. The other one is what
 * a write that the disk has lost leaves.
 */
static int find_newest(sx_txn *txn, const sx_meta *meta, unsigned *copy, simidx_error *err)
{
	sx_slice value[SX_META_COPIES];

	*copy = meta->only == SX_META_BOTH ? 0 : (unsigned)meta->only;
	if (meta->only != SX_META_BOTH)
		return SIMIDX_OK;
	for (unsigned i = 0; i < SX_META_COPIES; i++) {
		int rc = get(txn, meta, i, &header_record, &value[i], err);

		if (rc && rc != SIMIDX_E_NOT_FOUND)
			return rc;
	}
	if (!is_same(value[0], value[1]))
		*copy = sx_header_commit(value[1]) > sx_header_commit(value[0]);
	return SIMIDX_OK;
}

/*
 * The sound copy of a record, of two the newest, as its check gives it. Where there is none: what
 * is wrong with the copies, or that they are damaged if it is not the same. SIMIDX_E_NOT_FOUND
 * without setting err if no copy has one.
 */
static int read_record(sx_txn *txn, const sx_meta *meta, const struct record *r, void *out,
		       simidx_error *err)
{
	unsigned n = meta->only == SX_META_BOTH ? SX_META_COPIES : 1, newest;
	simidx_error first = { 0 };
	int before = find_newest(txn, meta, &newest, err);

	if (before)
		return before;
	for (unsigned i = 0; i < n; i++) {
		simidx_error local = { 0 };
		sx_slice value;
		int rc = get(txn, meta, newest ^ i, r, &value, &local);

		if (!rc)
			rc = r->check(value, out, &local);
		if (!rc)
			return SIMIDX_OK;
		if (i && rc != before)
			rc = SIMIDX_E_CORRUPT;
		if (!first.text[0])
			first = local;
		before = rc;
	}
	return before == SIMIDX_E_NOT_FOUND ? before : sx_fail(err, before, "%s", first.text);
}

static int write_record(sx_txn *txn, const sx_meta *meta, const struct record *r, sx_slice value,
			simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (unsigned i = 0; !rc && i < SX_META_COPIES; i++)
		rc = sx_dbi_put(txn, meta->copy[i], r->key, value, err);
	return rc;
}

/* The record `profile`, which the caller frees; NULL when memory is short. */
static unsigned char *encode_profile(const sx_profile *profile, size_t *size)
{
	size_t length = strlen(profile->text), n = profile->n_check_fps;
	unsigned char *bytes;

	*size = PROFILE_FIXED + length + 8 * n;
	bytes = sx_calloc(1, *size + CHECKSUM_SIZE);
	if (!bytes)
		return NULL;
	sx_store_le32(bytes, (uint32_t)length);
	sx_store_le32(bytes + 4, (uint32_t)n);
	memcpy(bytes + PROFILE_FIXED, profile->text, length);
	for (size_t i = 0; i < n; i++)
		sx_store_le64(bytes + PROFILE_FIXED + length + 8 * i, profile->check_fps[i]);
	sx_store_le64(bytes + *size, sx_hash(bytes, *size));
	*size += CHECKSUM_SIZE;
	return bytes;
}

/* `basis` comes first: so its pages are the first ones of the file, and never written again. */
int sx_meta_create(sx_txn *txn, sx_meta *meta, const sx_header *header, const sx_profile *profile,
		   simidx_error *err)
{
	unsigned char bytes[SX_HEADER_MAX_SIZE];
	sx_slice value = { bytes, sx_header_encode(header, bytes) }, text;
	int rc = sx_dbi_open(txn, sx_meta_basis, 1, &meta->basis, err);

	text.data = encode_profile(profile, &text.size);
	if (!rc && !text.data)
		rc = sx_fail_nomem(err);
	if (!rc)
		rc = sx_dbi_put(txn, meta->basis, header_record.key, value, err);
	if (!rc)
		rc = sx_dbi_put(txn, meta->basis, profile_record.key, text, err);
	for (unsigned i = 0; !rc && i < SX_META_COPIES; i++)
		rc = sx_dbi_open(txn, sx_meta_names[i], 1, &meta->copy[i], err);
	if (!rc)
		rc = write_record(txn, meta, &profile_record, text, err);
	free((void *)text.data);
	return rc;
}

/* Write `size` bytes and their checksum, for which there is room after them. */
static int write_checked(sx_txn *txn, const sx_meta *meta, const struct record *r,
			 unsigned char *bytes, size_t size, simidx_error *err)
{
	sx_slice value = { bytes, size + CHECKSUM_SIZE };

	sx_store_le64(bytes + size, sx_hash(bytes, size));
	return write_record(txn, meta, r, value, err);
}

/* Where the copies of a record differ, write the sound one in place of the other. */
static int mend(sx_txn *txn, const sx_meta *meta, const struct record *r, simidx_error *err)
{
	sx_slice value[SX_META_COPIES], sound;
	unsigned char *bytes;
	int rc = SIMIDX_OK;

	for (unsigned i = 0; !rc && i < SX_META_COPIES; i++) {
		rc = get(txn, meta, i, r, &value[i], err);
		if (rc == SIMIDX_E_NOT_FOUND)
			rc = SIMIDX_OK;
	}
	if (rc || is_same(value[0], value[1]))
		return rc;
	/* Where neither is sound nothing is lost by leaving both. */
	if (read_record(txn, meta, r, &sound, NULL))
		return SIMIDX_OK;
	/* A write may move the page that the value lies in. */
	bytes = sx_calloc(1, sound.size);
	if (!bytes)
		return sx_fail_nomem(err);
	memcpy(bytes, sound.data, sound.size);
	sound.data = bytes;
	rc = write_record(txn, meta, r, sound, err);
	free(bytes);
	return rc;
}

int sx_meta_read_header(sx_txn *txn, const sx_meta *meta, sx_header *header, simidx_error *err)
{
	int rc = read_record(txn, meta, &header_record, header, err);

	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, SIMIDX_E_NOT_INDEX, "not a simidx index: it has no header");
	return rc;
}

int sx_meta_write_header(sx_txn *txn, const sx_meta *meta, sx_header *header, simidx_error *err)
{
	unsigned char bytes[SX_HEADER_MAX_SIZE];
	sx_slice value = { bytes, 0 };
	/* While the headers still tell which copy is the newest. */
	int rc = mend(txn, meta, &profile_record, err);

	if (!rc)
		rc = mend(txn, meta, &mark_record, err);
	if (rc)
		return rc;
	header->commit++;
	value.size = sx_header_encode(header, bytes);
	return write_record(txn, meta, &header_record, value, err);
}

/* ---- without LMDB ---- */

/* The commit number of a header that is sound, if it is higher. */
static int see_header(void *ctx, sx_slice key, sx_slice value)
{
	uint64_t *commit = ctx;
	sx_header *header;

	if (key.size != header_record.key.size ||
	    memcmp(key.data, header_record.key.data, key.size))
		return SIMIDX_OK;
	header = sx_calloc(1, sizeof(*header));
	if (!header)
		return SIMIDX_E_NOMEM;
	if (!sx_header_decode(header, value, NULL) && header->commit > *commit)
		*commit = header->commit;
	free(header);
	return SIMIDX_OK;
}

int sx_meta_find_commit(sx_txn *txn, sx_page_roots *roots, uint64_t *commit, simidx_error *err)
{
	sx_page_reading reading = { .value = see_header, .ctx = commit };
	int rc = SIMIDX_OK;

	*commit = 0;
	for (unsigned i = 0; i < SX_META_COPIES && (!rc || rc == SIMIDX_E_NOT_FOUND); i++)
		rc = sx_page_read(txn, roots, sx_meta_names[i], &reading, err);
	if (rc == SIMIDX_E_NOMEM)
		return sx_fail_nomem(err);
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* ---- whether both are sound ---- */

enum finding { MISSING, DAMAGED, SOUND };

/*
 * What is to be said of the copies of one record, of which one is of the newest commit. How often.
 */
static unsigned compare_copies(const struct record *r, const enum finding *found,
			       const sx_slice *value, unsigned newest,
			       void (*report)(void *ctx, const char *name, const char *what),
			       void *ctx)
{
	const char *key = r->key.data;
	unsigned reported = 0;
	char text[64];

	for (unsigned i = 0; i < SX_META_COPIES; i++) {
		if (found[i] != MISSING || (r->is_optional && found[!i] == MISSING))
			continue;
		snprintf(text, sizeof(text), "the %s record is missing", key);
		report(ctx, sx_meta_names[i], text);
		reported++;
	}
	if (found[0] != SOUND || found[1] != SOUND || is_same(value[0], value[1]))
		return reported;
	snprintf(text, sizeof(text), "the %s record is not that of %s", key, sx_meta_names[newest]);
	report(ctx, sx_meta_names[!newest], text);
	return reported + 1;
}

int sx_meta_check(sx_txn *txn, const sx_meta *meta,
		  void (*report)(void *ctx, const char *name, const char *what), void *ctx,
		  uint64_t *n_mended, simidx_error *err)
{
	const struct record *const records[] = { &header_record, &profile_record, &mark_record };
	const unsigned n_records = sizeof(records) / sizeof(records[0]);
	unsigned of_record[sizeof(records) / sizeof(records[0])] = { 0 }; /* what was reported */
	enum finding found[sizeof(records) / sizeof(records[0])][SX_META_COPIES];
	sx_slice value[sizeof(records) / sizeof(records[0])][SX_META_COPIES];
	sx_header *scratch = sx_calloc(1, sizeof(*scratch)); /* as large as any other record */
	unsigned first = meta->only == SX_META_BOTH ? 0 : (unsigned)meta->only, newest;
	int is_readable = 1;

	if (!scratch)
		return sx_fail_nomem(err);
	/* One copy after the other: the first one can be read, or we had no snapshot. */
	for (unsigned i = 0; is_readable && i < SX_META_COPIES; i++) {
		unsigned copy = first ^ i;

		for (unsigned r = 0; is_readable && r < n_records; r++) {
			simidx_error local = { 0 };
			int rc = sx_dbi_get(txn, meta->copy[copy], records[r]->key, &value[r][copy],
					    &local);

			is_readable = !rc || rc == SIMIDX_E_NOT_FOUND;
			found[r][copy] = MISSING;
			if (!rc)
				found[r][copy] = records[r]->check(value[r][copy], scratch, &local)
							 ? DAMAGED
							 : SOUND;
			if (!local.text[0])
				continue;
			report(ctx, sx_meta_names[copy], local.text);
			of_record[r]++;
		}
	}
	newest = is_readable && sx_header_commit(value[0][1]) > sx_header_commit(value[0][0]);
	for (unsigned r = 0; is_readable && r < n_records; r++) {
		of_record[r] += compare_copies(records[r], found[r], value[r], newest, report, ctx);
		if (found[r][0] == SOUND || found[r][1] == SOUND)
			*n_mended += of_record[r];
	}
	free(scratch);
	return SIMIDX_OK;
}

/* ---- what never changes ---- */

int sx_meta_check_basis(sx_txn *txn, const sx_meta *meta, const sx_header *header,
			void (*report)(void *ctx, const char *name, const char *what), void *ctx,
			simidx_error *err)
{
	static const struct record *const records[] = { &header_record, &profile_record };
	sx_header *about = sx_calloc(1, sizeof(*about)); /* larger than a slice */
	sx_slice value[2], sound;

	if (!about)
		return sx_fail_nomem(err);
	for (int r = 0; r < 2; r++) {
		simidx_error local = { 0 };
		int rc = sx_dbi_get(txn, meta->basis, records[r]->key, &value[r], &local);
		int is_other = 0;

		if (rc == SIMIDX_E_NOT_FOUND)
			rc = sx_fail(&local, rc, "the %s record is missing",
				     (const char *)records[r]->key.data);
		if (!rc)
			rc = records[r]->check(value[r], about, &local);
		if (!rc && !r)
			is_other = !sx_header_is_alike(about, header);
		else if (!rc && !read_record(txn, meta, &profile_record, &sound, NULL))
			is_other = !is_same(value[r], sound);
		if (is_other)
			sx_fail(&local, SIMIDX_E_CORRUPT, "the %s record is not that of %s",
				(const char *)records[r]->key.data, sx_meta_names[0]);
		if (local.code)
			report(ctx, sx_meta_basis, local.text);
	}
	free(about);
	return SIMIDX_OK;
}

/* ---- the profile and the mark ---- */

int sx_meta_decode_profile(sx_slice value, sx_profile *out, simidx_error *err)
{
	const unsigned char *bytes = value.data;
	size_t length, n;
	int rc = check_profile(value, &value, err);

	memset(out, 0, sizeof(*out));
	if (rc)
		return rc;
	length = sx_load_le32(bytes);
	n = sx_load_le32(bytes + 4);
	out->n_check_fps = n;
	out->text = sx_calloc(length + 1, 1);
	out->check_fps = sx_calloc(n, sizeof(*out->check_fps));
	if (!out->text || !out->check_fps) {
		sx_meta_free_profile(out);
		return sx_fail_nomem(err);
	}
	memcpy(out->text, bytes + PROFILE_FIXED, length);
	for (size_t i = 0; i < n; i++)
		out->check_fps[i] = sx_load_le64(bytes + PROFILE_FIXED + length + 8 * i);
	return SIMIDX_OK;
}

int sx_meta_read_profile(sx_txn *txn, const sx_meta *meta, sx_profile *out, simidx_error *err)
{
	sx_slice value;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = read_record(txn, meta, &profile_record, &value, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, SIMIDX_E_CORRUPT, "the profile record is missing");
	return rc ? rc : sx_meta_decode_profile(value, out, err);
}

void sx_meta_free_profile(sx_profile *profile)
{
	free(profile->text);
	free(profile->check_fps);
	memset(profile, 0, sizeof(*profile));
}

int sx_meta_set_mark(sx_mark *mark, const void *data, size_t size, const char *function,
		     simidx_error *err)
{
	if (!data)
		return sx_fail(err, SIMIDX_E_ARG, "%s: data is NULL", function);
	if (!size || size > sizeof(mark->bytes))
		return sx_fail(err, SIMIDX_E_RANGE, "a mark has 1 to %d bytes, this one %zu",
			       SIMIDX_MAX_MARK, size);
	memcpy(mark->bytes, data, size);
	mark->size = size;
	return SIMIDX_OK;
}

int sx_meta_write_mark(sx_txn *txn, const sx_meta *meta, const sx_mark *mark, simidx_error *err)
{
	unsigned char bytes[SIMIDX_MAX_MARK + CHECKSUM_SIZE];

	if (!mark->size)
		return SIMIDX_OK;
	memcpy(bytes, mark->bytes, mark->size);
	return write_checked(txn, meta, &mark_record, bytes, mark->size, err);
}

int sx_meta_read_mark(sx_txn *txn, const sx_meta *meta, sx_slice *out, simidx_error *err)
{
	int rc = read_record(txn, meta, &mark_record, out, err);

	if (!rc)
		out->size -= CHECKSUM_SIZE;
	return rc;
}

int sx_meta_decode_mark(sx_slice value, sx_mark *out, simidx_error *err)
{
	int rc = check_mark(value, &value, err);

	if (rc)
		return rc;
	out->size = value.size - CHECKSUM_SIZE;
	memcpy(out->bytes, value.data, out->size);
	return SIMIDX_OK;
}
