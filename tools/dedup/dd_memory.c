/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_memory.h"

#include <limits.h>

#define MB ((uint64_t)1 << 20)

/*
 * Of the half of the tables: the program with its libraries and what a merge of the index needs;
 * each thread with its extractors, reader and buffers; and tables with which it is worth to begin.
 */
#define PROGRAM (24 * MB)
#define THREAD (1 * MB)
#define LEAST_TABLES (4 * MB)

/*
 * A batch ends at this number of documents, and of less memory at fewer; or when its texts have a
 * share of the memory. Shingles of the texts need up to four times that. Another one is read
 * meanwhile.
 */
#define BATCH_DOCUMENTS 2048
#define BATCH_MEMORY (256 * MB)
#define BATCH_SHARE 32

/*
 * Rows that are not merged have a share of the memory, and need about this number of bytes each.
 * With more of them than MOST_ROWS, looking them up takes longer than merges that are fewer save.
 */
#define ROWS_SHARE 8
#define ROW 320
#define MOST_ROWS 65536

uint64_t dd_memory_for(uint64_t tables, unsigned threads)
{
	return 2 * (PROGRAM + tables + threads * THREAD);
}

uint64_t dd_memory_least(unsigned threads)
{
	return dd_memory_for(LEAST_TABLES, threads);
}

unsigned dd_memory_threads(uint64_t bytes)
{
	uint64_t none = dd_memory_least(0), n = bytes < none ? 0 : (bytes - none) / (2 * THREAD);

	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

void dd_memory_divide(struct dd_memory *memory, uint64_t bytes, unsigned threads)
{
	uint64_t rows = bytes / ROWS_SHARE / ROW;

	memory->batch_documents = bytes < BATCH_MEMORY ? BATCH_DOCUMENTS * bytes / BATCH_MEMORY :
							 BATCH_DOCUMENTS;
	memory->batch_bytes = bytes / BATCH_SHARE;
	memory->index_rows = rows < MOST_ROWS ? rows : MOST_ROWS;
	memory->tables = bytes / 2 - PROGRAM - threads * THREAD;
	memory->charged = 0;
}

int dd_memory_has(const struct dd_memory *memory, uint64_t bytes)
{
	return memory->charged + bytes <= memory->tables;
}
