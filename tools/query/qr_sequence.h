/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Files that HBase's program Import reads: a SequenceFile of Hadoop whose keys are the keys of rows
 * (ImmutableBytesWritable) and whose values are rows of one cell each (Result, as protocol
 * buffers).
 */

#ifndef QR_SEQUENCE_H
#define QR_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define QR_SEQUENCE_SYNC 16 /* bytes of a sync marker */

/** A file that is being written. */
struct qr_sequence {
	FILE *out;
	unsigned char sync[QR_SEQUENCE_SYNC]; /* where a reader may begin; unlike any data */
	uint64_t unsynced;                    /* bytes since the last one */
};

/** A cell. Its row is the key of the record, and its family is "d". */
struct qr_cell {
	const void *row;
	size_t row_size;
	const void *column; /* after "d:" */
	size_t column_size;
	const void *value;
	size_t value_size;
	uint64_t timestamp; /* milliseconds since 1970 */
};

/** Begin a file. Returns 0, or -1 with errno. */
int qr_sequence_begin(struct qr_sequence *file, FILE *out);

/** Add a row of one cell. Errors of the stream show where it is closed. */
void qr_sequence_put(struct qr_sequence *file, const struct qr_cell *cell);

#endif /* QR_SEQUENCE_H */
