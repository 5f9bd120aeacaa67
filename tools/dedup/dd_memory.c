/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_memory.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_options.h"

#include <inttypes.h>
#include <limits.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#define MB ((uint64_t)1 << 20)

#define LARGE_BLOCK (1 << 20)

/*
 * Of the half of the tables: the program with its libraries and what a merge of the index needs;
 * each thread with its extractors, reader and buffers; and tables with which it is worth to begin.
 */
#define PROGRAM (24 * MB)
#define THREAD (1 * MB)
#define LEAST_TABLES (4 * MB)

/*
 * A batch ends at this number of documents, and of less memory at fewer; or when its texts have a
 * share of the memory. Another one is read meanwhile. Eight times that is for the work at it, as
 * shingles of the texts need up to four times what these do.
 */
#define BATCH_DOCUMENTS 1024
#define BATCH_MEMORY (256 * MB)
#define BATCH_SHARE 32
#define WORK_SHARE 4

/* A row that is longer than a batch has this share, and what the tables do not need yet. */
#define READING_SHARE 16

/*
 * Rows that are not merged have a share of the memory, and need about this number of bytes each.
 * With more of them than MOST_ROWS, looking them up takes longer than merges that are fewer save.
 */
#define ROWS_SHARE 8
#define ROW 320
#define MOST_ROWS 32768

/*
 * In an index that has documents a merge goes through all of them: so as many rows wait as are this
 * part of them. What they need beyond their share is no more than this part of the tables.
 */
#define ROWS_OF_INDEX 8
#define TABLES_PART 8

/* What --memory has to be, in bytes, for tables of this size. */
static uint64_t memory_for(uint64_t tables, unsigned threads)
{
	return 2 * (PROGRAM + tables + threads * THREAD);
}

uint64_t dd_memory_megabytes(uint64_t tables, unsigned threads)
{
	return (memory_for(tables, threads) >> 20) + 1;
}

/* Of a number without a unit. */
#define FEW_BYTES 1000000

/* The least that it can be. */
static uint64_t least_for(unsigned threads)
{
	return memory_for(LEAST_TABLES, threads);
}

/* The most threads for which it is enough; 0 = not even one. */
static unsigned threads_for(uint64_t bytes)
{
	uint64_t none = least_for(0), n = bytes < none ? 0 : (bytes - none) / (2 * THREAD);

	return n < UINT_MAX ? (unsigned)n : UINT_MAX;
}

int dd_memory_check(uint64_t bytes, unsigned *threads)
{
	unsigned wanted = tl_threads(*threads), fit = threads_for(bytes);

	*threads = !*threads && wanted > fit && fit ? fit : wanted;
	if (*threads <= fit)
		return TL_PROCEED;
	return tl_usage_error("--memory: %u thread%s at least %" PRIu64 "M, found %s%s", *threads,
			      *threads == 1 ? " needs" : "s need", least_for(*threads) >> 20,
			      tl_counted(bytes, "byte", "bytes"),
			      bytes < FEW_BYTES ? ": a unit stands right behind the number, as in "
						  "512M" : "");
}

/* By itself glibc keeps blocks of up to 32 MB for later, in each thread. */
void dd_memory_begin(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
	mallopt(M_TRIM_THRESHOLD, 2 * LARGE_BLOCK);
#endif
}

void dd_memory_divide(struct dd_memory *memory, uint64_t bytes, unsigned threads)
{
	uint64_t rows = bytes / ROWS_SHARE / ROW;

	memory->batch_documents = bytes < BATCH_MEMORY ? BATCH_DOCUMENTS * bytes / BATCH_MEMORY :
							 BATCH_DOCUMENTS;
	memory->batch_bytes = bytes / BATCH_SHARE;
	memory->index_rows = rows < MOST_ROWS ? rows : MOST_ROWS;
	memory->unsearched = bytes / ROWS_SHARE - memory->index_rows * ROW;
	if (memory->unsearched < MB)
		memory->unsearched = 0;
	memory->work = bytes / WORK_SHARE;
	memory->reading = bytes / READING_SHARE;
	memory->tables = bytes / 2 - PROGRAM - threads * THREAD;
	memory->charged = 0;
}

void dd_memory_index(struct dd_memory *memory, uint64_t documents)
{
	uint64_t had = memory->index_rows;
	uint64_t most = had + memory->tables / TABLES_PART / ROW;
	uint64_t rows = documents / ROWS_OF_INDEX;

	rows = rows < most ? rows : most;
	if (rows <= had)
		return;
	memory->index_rows = rows;
	memory->tables -= (rows - had) * ROW;
}

void dd_memory_divide_left(struct dd_memory *memory, uint64_t bytes)
{
	dd_memory_divide(memory, bytes, 0);
	memory->batch_documents += bytes < BATCH_MEMORY; /* at least one */
	memory->unsearched = memory->reading = memory->tables = 0;
}

static uint64_t free_of(const struct dd_memory *memory)
{
	return memory->charged < memory->tables ? memory->tables - memory->charged : 0;
}

/*
 * How often a row is in memory: a file that is one text once; else in the line, in its parser,
 * twice more to be written again, and in what comes back with the decision.
 */
static unsigned copies(int is_whole)
{
	return is_whole ? 1 : 5;
}

size_t dd_memory_longest(const struct dd_memory *memory, int is_whole)
{
	return (size_t)((memory->reading + free_of(memory)) / copies(is_whole));
}

uint64_t dd_memory_work(const struct dd_memory *memory, uint64_t size, int is_whole)
{
	uint64_t longest = memory->reading + free_of(memory);
	uint64_t held = copies(is_whole) * size;

	/* Where a batch is read meanwhile, it may have a long row. */
	if (held <= memory->reading)
		return memory->work;
	return memory->work + (held < longest ? longest - held : 0);
}

uint64_t dd_memory_row(uint64_t bytes, int is_whole)
{
	return bytes / copies(is_whole);
}

uint64_t dd_memory_left(const struct dd_memory *memory)
{
	return memory->reading + memory->work + free_of(memory);
}

int dd_memory_has(const struct dd_memory *memory, uint64_t bytes)
{
	return memory->charged + bytes <= memory->tables;
}
