/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_hbase.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <simidx_hbase.h>
#include <simidx_info.h>

int qr_hbase_has_plan(const char *plan)
{
	static const char *const plans[] = { SIMIDX_HBASE_PLANS };

	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		if (!strcmp(plans[i], plan))
			return 1;
	return 0;
}

static unsigned char *write_be(unsigned char *out, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		*out++ = (unsigned char)(value >> 8 * bytes);
	return out;
}

/*
 * Neighbours have different ones, so that ids that are assigned in turn go to all parts of the
 * table.
 */
static unsigned salt(uint64_t id)
{
	id = (id ^ id >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ id >> 27) * UINT64_C(0x94d049bb133111eb);
	return (unsigned)(id >> 60) % SIMIDX_HBASE_SALTS;
}

static void put_documents_row(struct qr_hbase *hbase, const struct qr_cell *cell)
{
	struct qr_cell row = *cell;

	row.timestamp = hbase->timestamp;
	qr_sequence_put(hbase->documents, &row);
	hbase->n_documents++;
}

static void put_index_rows(struct qr_hbase *hbase, uint64_t fp, uint64_t id, const uint32_t *prefix,
			   unsigned n)
{
	unsigned char key[SIMIDX_HBASE_INDEX_KEY];
	struct qr_cell cell = { .row = key,
				.row_size = sizeof(key),
				.timestamp = hbase->timestamp };

	for (unsigned t = 0; t < n; t++) {
		unsigned char *end = write_be(write_be(key, prefix[t], 4), t + 1, 1);

		write_be(write_be(end, fp, 8), id, 8);
		qr_sequence_put(hbase->index, &cell);
	}
	hbase->n_index += n;
}

static int put_waiting(struct qr_hbase *hbase, simidx_error *err)
{
	static uint32_t prefix[QR_HBASE_BATCH * QR_HBASE_MAX_TABLES];
	unsigned n;
	int rc = simidx_plan_prefixes(hbase->plan, hbase->bits, hbase->fp, hbase->waiting, prefix,
				      QR_HBASE_BATCH * QR_HBASE_MAX_TABLES, &n, err);

	for (size_t i = 0; !rc && i < hbase->waiting; i++)
		put_index_rows(hbase, hbase->fp[i], hbase->id[i], prefix + i * n, n);
	hbase->waiting = 0;
	return rc;
}

static void put_document_row(struct qr_hbase *hbase, const simidx_match *document)
{
	static unsigned char value[SIMIDX_HBASE_DOCUMENT_VALUE + SIMIDX_MAX_LABEL];
	unsigned char key[SIMIDX_HBASE_DOCUMENT_KEY], *end;
	int knows_fp2 = (document->flags & SIMIDX_MATCH_FP2) != 0;
	unsigned flags = (knows_fp2	? SIMIDX_HBASE_HAS_FP2 :
			  hbase->has_fp2 ? SIMIDX_HBASE_LACKS_FP2 :
					   0) |
			 (document->label ? SIMIDX_HBASE_HAS_LABEL : 0);
	struct qr_cell cell = { .row = key, .row_size = sizeof(key), .value = value };

	write_be(write_be(write_be(key, 'd', 1), salt(document->id), 1), document->id, 8);
	end = write_be(write_be(value, SIMIDX_HBASE_FORMAT, 1), flags, 1);
	end = write_be(end, document->fp, 8);
	if (knows_fp2)
		end = write_be(end, document->fp2, 8);
	if (document->label)
		end = mempcpy(end, document->label, document->label_size);
	cell.value_size = (size_t)(end - value);
	put_documents_row(hbase, &cell);
}

/* From a label to the id. */
static void put_label_row(struct qr_hbase *hbase, const simidx_match *document)
{
	XXH128_hash_t hash = XXH3_128bits(document->label, document->label_size);
	unsigned char key[SIMIDX_HBASE_LABEL_KEY], id[8];
	struct qr_cell cell = { .row = key, .row_size = sizeof(key), .column = id,
				.column_size = sizeof(id), .value = "1", .value_size = 1 };

	write_be(write_be(write_be(key, 'l', 1), hash.high64, 8), hash.low64, 8);
	write_be(id, document->id, sizeof(id));
	put_documents_row(hbase, &cell);
}

int qr_hbase_put(struct qr_hbase *hbase, const simidx_match *document, simidx_error *err)
{
	hbase->fp[hbase->waiting] = document->fp;
	hbase->id[hbase->waiting++] = document->id;
	hbase->count++;
	if (document->id >= hbase->next_id)
		hbase->next_id = document->id + 1;
	put_document_row(hbase, document);
	if (document->label) {
		put_label_row(hbase, document);
		hbase->labels++;
	}
	return hbase->waiting == QR_HBASE_BATCH ? put_waiting(hbase, err) : 0;
}

int qr_hbase_end(struct qr_hbase *hbase, const void *mark, size_t mark_size, simidx_error *err)
{
	/* As if writer number 0 had stored all of them. */
	static const unsigned char writer[3] = { 'w', 0, 0 };
	unsigned char counts[16], next[8];
	struct qr_cell count = { .row = writer, .row_size = sizeof(writer), .column = "n",
				 .column_size = 1, .value = counts, .value_size = sizeof(counts) };
	struct qr_cell own = { .row = writer, .row_size = sizeof(writer), .column = "k",
			       .column_size = 1, .value = mark, .value_size = mark_size };
	struct qr_cell counter = { .row = "c", .row_size = 1, .value = next,
				   .value_size = sizeof(next) };
	int rc = put_waiting(hbase, err);

	if (rc)
		return rc;
	write_be(write_be(counts, hbase->count, 8), hbase->labels, 8);
	write_be(next, hbase->next_id, 8);
	put_documents_row(hbase, &count);
	put_documents_row(hbase, &counter);
	if (mark_size)
		put_documents_row(hbase, &own);
	return 0;
}
