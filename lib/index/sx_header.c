/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_header.h"

#include <string.h>

#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

_Static_assert(SX_MAX_COLUMNS <= SX_HEADER_COLUMNS, "the header has a record for each column");

static const unsigned char magic[8] = { 's', 'i', 'm', 'i', 'd', 'x', 0x1a, '\n' };

/* Places in the record; doc/format.md has the same list. */
enum {
	MAGIC_AT = 0,
	MAJOR_AT = 8,
	MINOR_AT = 10,
	INCOMPAT_AT = 12,
	RO_COMPAT_AT = 16,
	COMPAT_AT = 20,
	PAGE_SIZE_AT = 24,
	BITS_AT = 28,
	LAYOUT_AT = 29,
	FILL_AT = 30,
	N_TABLES_AT = 31,
	PLAN_AT = 32, /* 16 bytes */
	FLAGS_AT = 48,
	STATE_AT = 52,
	DOCUMENTS_AT = 56,
	LABELS_AT = 64,
	NEXT_ID_AT = 72,
	FIRST_SEQ_AT = 80,
	NEXT_SEQ_AT = 88,
	MERGED_FP_AT = 96,
	MERGED_ID_AT = 104,
	MERGE_END_AT = 112,
	UNKNOWN_FP2_AT = 120,
	COMMIT_AT = 128,
	N_COLUMNS_AT = 136, /* 1 byte, 7 zero */
	NOTES_AT = 144,
	COLUMNS_AT = 152,
	COLUMN_SIZE = 24,
	TABLES_AT = COLUMNS_AT + COLUMN_SIZE * SX_HEADER_COLUMNS
};

/* The record of an optional column. */
enum {
	NAME_AT = 0,      /* 8 bytes */
	WIDTH_AT = 8,     /* 1 byte */
	DIGESTED_AT = 9,  /* 1 byte, 6 zero */
	ABSENT_AT = 16
};

/* A table's record: its leads, then its counts. */
enum {
	LEADS_AT = 0,
	ROWS_AT = 8 * SX_MAX_LEADS,
	DIGEST_AT = ROWS_AT + 8,
	GENERATION_AT = ROWS_AT + 16,
	TABLE_SIZE = ROWS_AT + 24
};

static void put_count(unsigned char *out, const sx_table_count *count)
{
	sx_store_le64(out + ROWS_AT, count->rows);
	sx_store_le64(out + DIGEST_AT, count->digest);
	sx_store_le64(out + GENERATION_AT, count->generation);
}

static void get_count(const unsigned char *in, sx_table_count *count)
{
	count->rows = sx_load_le64(in + ROWS_AT);
	count->digest = sx_load_le64(in + DIGEST_AT);
	count->generation = sx_load_le64(in + GENERATION_AT);
}

/* All records of columns: those that flags ask for, and zeros. */
static unsigned put_columns(uint32_t flags, unsigned char *out)
{
	sx_columns columns = sx_columns_of_flags(flags);

	memset(out, 0, COLUMN_SIZE * SX_HEADER_COLUMNS);
	for (unsigned c = 0; c < columns.n; c++, out += COLUMN_SIZE) {
		const sx_column_kind *kind = &sx_column_kinds[columns.kind[c]];

		memcpy(out + NAME_AT, kind->name, sizeof(kind->name));
		out[WIDTH_AT] = (unsigned char)kind->width;
		out[DIGESTED_AT] = (unsigned char)kind->is_digested;
		sx_store_le64(out + ABSENT_AT, kind->absent);
	}
	return columns.n;
}

size_t sx_header_encode(const sx_header *h, unsigned char *out)
{
	unsigned n = h->plan.n_tables;
	size_t size = TABLES_AT + (size_t)(n + SX_COUNT_OTHERS) * TABLE_SIZE;
	unsigned char *at = out + TABLES_AT;

	memset(out, 0, size);
	memcpy(out + MAGIC_AT, magic, sizeof(magic));
	sx_store_le16(out + MAJOR_AT, (uint16_t)h->major);
	sx_store_le16(out + MINOR_AT, (uint16_t)h->minor);
	sx_store_le32(out + INCOMPAT_AT, h->incompat);
	sx_store_le32(out + RO_COMPAT_AT, h->ro_compat);
	sx_store_le32(out + COMPAT_AT, h->compat);
	sx_store_le32(out + PAGE_SIZE_AT, h->page_size);
	out[BITS_AT] = (unsigned char)h->bits;
	out[LAYOUT_AT] = (unsigned char)h->layout;
	out[FILL_AT] = (unsigned char)h->fill;
	out[N_TABLES_AT] = (unsigned char)n;
	memcpy(out + PLAN_AT, h->plan.name, sizeof(h->plan.name));
	sx_store_le32(out + FLAGS_AT, h->flags);
	sx_store_le32(out + STATE_AT, h->state);
	sx_store_le64(out + DOCUMENTS_AT, h->documents);
	sx_store_le64(out + LABELS_AT, h->labels);
	sx_store_le64(out + NOTES_AT, h->notes);
	sx_store_le64(out + NEXT_ID_AT, h->next_id);
	sx_store_le64(out + FIRST_SEQ_AT, h->first_seq);
	sx_store_le64(out + NEXT_SEQ_AT, h->next_seq);
	sx_store_le64(out + MERGED_FP_AT, h->merged_fp);
	sx_store_le64(out + MERGED_ID_AT, h->merged_id);
	sx_store_le64(out + MERGE_END_AT, h->merge_end);
	sx_store_le64(out + UNKNOWN_FP2_AT, h->unknown_fp2);
	sx_store_le64(out + COMMIT_AT, h->commit);
	out[N_COLUMNS_AT] = (unsigned char)put_columns(h->flags, out + COLUMNS_AT);
	for (unsigned t = 0; t < n; t++, at += TABLE_SIZE) {
		for (unsigned i = 0; i < SX_MAX_LEADS; i++)
			sx_store_le64(at + LEADS_AT + 8 * i, h->plan.table[t].lead[i]);
		put_count(at, &h->table[t]);
	}
	for (unsigned i = 0; i < SX_COUNT_OTHERS; i++, at += TABLE_SIZE)
		put_count(at, &h->other[i]);
	sx_store_le64(out + size, sx_hash(out, size));
	return size + 8;
}

static int check_version(const sx_header *h, simidx_error *err)
{
	unsigned format = h->major << 16 | h->minor;

	if (format != (SX_FORMAT_MAJOR << 16 | SX_FORMAT_MINOR))
		return sx_fail(
			err, SIMIDX_E_VERSION,
			"the index is of format %u.%u, and this library reads %d.%d only: "
			"%s",
			h->major, h->minor, SX_FORMAT_MAJOR, SX_FORMAT_MINOR,
			format < (SX_FORMAT_MAJOR << 16 | SX_FORMAT_MINOR)
				? "simidx-query of the version that made it can dump it for "
				  "simidx-load"
				: "a later version made it");
	if (h->incompat & ~SX_KNOWN_INCOMPAT)
		return sx_fail(err, SIMIDX_E_VERSION,
			       "the index uses features (%08x) that this library does not know",
			       h->incompat & ~SX_KNOWN_INCOMPAT);
	return SIMIDX_OK;
}

static int check_columns(const sx_header *h, const unsigned char *in, simidx_error *err)
{
	unsigned char known[COLUMN_SIZE * SX_HEADER_COLUMNS];

	/* With the zeros after their number. */
	if (sx_load_le64(in + N_COLUMNS_AT) != put_columns(h->flags, known) ||
	    memcmp(in + COLUMNS_AT, known, sizeof(known)))
		return sx_fail(err, SIMIDX_E_VERSION,
			       "the index has columns that this library does not know");
	return SIMIDX_OK;
}

/* The tables that the record lists must be those of the plan that it names. */
static int check_plan(sx_header *h, const unsigned char *in, simidx_error *err)
{
	char name[sizeof(h->plan.name)];
	const unsigned char *at = in + TABLES_AT;

	memcpy(name, in + PLAN_AT, sizeof(name));
	if (name[sizeof(name) - 1] || sx_plan_make(&h->plan, name, h->bits, NULL))
		return sx_fail(err, SIMIDX_E_VERSION,
			       "the index has a plan that this library does not know");
	if (h->plan.n_tables != in[N_TABLES_AT])
		return sx_fail(err, SIMIDX_E_CORRUPT, "header: the plan does not have %u tables",
			       in[N_TABLES_AT]);
	for (unsigned t = 0; t < h->plan.n_tables; t++, at += TABLE_SIZE)
		for (unsigned i = 0; i < SX_MAX_LEADS; i++)
			if (sx_load_le64(at + LEADS_AT + 8 * i) != h->plan.table[t].lead[i])
				return sx_fail(err, SIMIDX_E_VERSION,
					       "table t%02u is permuted in a way that this "
					       "library does not know",
					       t + 1);
	return SIMIDX_OK;
}

/* How far a merge has come, where there is one. */
static int is_merge_possible(const sx_header *h)
{
	if (h->state & SX_STATE_MERGING)
		return h->merge_end > h->first_seq && h->merge_end <= h->next_seq;
	return !h->merge_end && !(h->state & SX_STATE_PARTIAL);
}

static int check_values(const sx_header *h, simidx_error *err)
{
	const uint32_t flags = SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_NOTES | sx_columns_flags() |
			       SX_FLAG_UNKNOWN_FP2;
	const uint32_t state = SX_STATE_SUPERSEDED | SX_STATE_MERGING | SX_STATE_PARTIAL;
	const char *wrong = NULL;

	if (h->layout > SIMIDX_LAYOUT_ROWS)
		wrong = "unknown layout";
	else if (h->fill < 50 || h->fill > 100)
		wrong = "impossible fill factor";
	else if (h->flags & ~flags || h->state & ~state)
		wrong = "unknown flags or state";
	else if (h->flags & SX_FLAG_UNKNOWN_FP2 ? !(h->flags & SIMIDX_CREATE_FP2)
						: h->unknown_fp2 != 0)
		wrong = "a mark of unknown second fingerprints where there are none";
	else if (h->first_seq > h->next_seq || h->next_id > SIMIDX_MAX_ID + 1 ||
		 !is_merge_possible(h))
		wrong = "impossible counts";
	else if (!sx_header_can_have(h->flags))
		wrong = "notes or columns without ids";
	else if (h->notes && !(h->flags & SIMIDX_CREATE_NOTES))
		wrong = "notes where there can be none";
	return wrong ? sx_fail(err, SIMIDX_E_CORRUPT, "header: %s", wrong) : SIMIDX_OK;
}

static void get_fixed(sx_header *h, const unsigned char *in)
{
	h->major = sx_load_le16(in + MAJOR_AT);
	h->minor = sx_load_le16(in + MINOR_AT);
	h->incompat = sx_load_le32(in + INCOMPAT_AT);
	h->ro_compat = sx_load_le32(in + RO_COMPAT_AT);
	h->compat = sx_load_le32(in + COMPAT_AT);
	h->page_size = sx_load_le32(in + PAGE_SIZE_AT);
	h->bits = in[BITS_AT];
	h->layout = in[LAYOUT_AT];
	h->fill = in[FILL_AT];
	h->flags = sx_load_le32(in + FLAGS_AT);
	h->state = sx_load_le32(in + STATE_AT);
	h->documents = sx_load_le64(in + DOCUMENTS_AT);
	h->labels = sx_load_le64(in + LABELS_AT);
	h->notes = sx_load_le64(in + NOTES_AT);
	h->next_id = sx_load_le64(in + NEXT_ID_AT);
	h->first_seq = sx_load_le64(in + FIRST_SEQ_AT);
	h->next_seq = sx_load_le64(in + NEXT_SEQ_AT);
	h->merged_fp = sx_load_le64(in + MERGED_FP_AT);
	h->merged_id = sx_load_le64(in + MERGED_ID_AT);
	h->merge_end = sx_load_le64(in + MERGE_END_AT);
	h->unknown_fp2 = sx_load_le64(in + UNKNOWN_FP2_AT);
	h->commit = sx_load_le64(in + COMMIT_AT);
}

int sx_header_decode(sx_header *h, sx_slice bytes, simidx_error *err)
{
	const unsigned char *in = bytes.data;
	size_t size;
	int rc;

	memset(h, 0, sizeof(*h));
	if (bytes.size < TABLES_AT || memcmp(in, magic, sizeof(magic)))
		return sx_fail(err, SIMIDX_E_NOT_INDEX,
			       "not a simidx index: the header has no magic");
	get_fixed(h, in);
	/* The version first: another one may lay out the rest in its own way. */
	rc = check_version(h, err);
	if (rc)
		return rc;
	size = TABLES_AT + (size_t)(in[N_TABLES_AT] + SX_COUNT_OTHERS) * TABLE_SIZE;
	if (in[N_TABLES_AT] > SX_MAX_TABLES || bytes.size != size + 8 ||
	    sx_load_le64(in + size) != sx_hash(in, size))
		return sx_fail(err, SIMIDX_E_CORRUPT, "header: checksum mismatch");
	rc = check_plan(h, in, err);
	if (!rc)
		rc = check_columns(h, in, err);
	if (!rc)
		rc = check_values(h, err);
	if (rc)
		return rc;
	for (unsigned t = 0; t < h->plan.n_tables; t++)
		get_count(in + TABLES_AT + t * TABLE_SIZE, &h->table[t]);
	for (unsigned i = 0; i < SX_COUNT_OTHERS; i++)
		get_count(in + TABLES_AT + (h->plan.n_tables + i) * TABLE_SIZE, &h->other[i]);
	return SIMIDX_OK;
}

uint64_t sx_header_commit(sx_slice bytes)
{
	const unsigned char *in = bytes.data;
	size_t size = bytes.size - 8;

	if (bytes.size < TABLES_AT + 8 || memcmp(in, magic, sizeof(magic)) ||
	    sx_load_le64(in + size) != sx_hash(in, size))
		return 0;
	return sx_load_le64(in + COMMIT_AT);
}

int sx_header_is_alike(const sx_header *a, const sx_header *b)
{
	return a->page_size == b->page_size && a->bits == b->bits && a->layout == b->layout &&
	       a->fill == b->fill && !strcmp(a->plan.name, b->plan.name) &&
	       !((a->flags ^ b->flags) & ~SX_FLAG_UNKNOWN_FP2);
}

sx_table_count *sx_header_count(sx_header *h, unsigned number)
{
	if (number && number <= h->plan.n_tables)
		return &h->table[number - 1];
	if (number == SX_NUMBER_POSTINGS)
		return &h->other[SX_COUNT_POSTINGS];
	return number == SX_NUMBER_DOCS ? &h->other[SX_COUNT_DOCS] : NULL;
}
