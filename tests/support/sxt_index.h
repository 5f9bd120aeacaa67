/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the suites about handles and writing share. Failures end the process, so that children can
 * use it.
 */

#ifndef SXT_INDEX_H
#define SXT_INDEX_H

#include <string.h>

#include <simidx_info.h>

#include "support/sxt_model.h"

static inline simidx_doc t_document(uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = id;
	doc.fp = fp;
	doc.label = label;
	doc.label_size = label ? strlen(label) : 0;
	return doc;
}

/** Put a document; returns the code, and checks that the error says the same. */
static inline int t_put(simidx_writer *writer, uint64_t id, uint64_t fp, const char *label)
{
	simidx_doc doc = t_document(id, fp, label);
	simidx_error err;
	uint64_t got = 0;
	int rc = simidx_writer_put(writer, &doc, &got, &err);

	sxt_must(rc == err.code && !rc == !err.text[0]);
	sxt_must(rc ? got == SIMIDX_NO_ID : id == SIMIDX_NO_ID || got == id);
	return rc;
}

/**
 * A new index with documents 0 to n - 1, each with its number as the id, unless there are no ids,
 * and 16 times that as the fingerprint.
 */
static inline simidx *t_numbered(const char *path, size_t n, unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.flags = flags;
	index = sxt_create(path, &o);
	writer = sxt_writer(index, 0);
	for (size_t i = 0; i < n; i++)
		sxt_must_eq(t_put(writer, SIMIDX_NO_ID, 16 * i, NULL), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	return index;
}

/** Documents with exactly this fingerprint. */
static inline size_t t_count(simidx *index, uint64_t fp)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_reader *reader = sxt_reader(index);

	query.fp = fp;
	query.radius = 0;
	sxt_must_ok(simidx_reader_search(reader, &query, &results, &sxt_err));
	simidx_reader_close(reader);
	return results.n;
}

static inline simidx_info t_info(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	return info;
}

/** A writer that does not wait for the lock. */
static inline simidx_writer *t_impatient_writer(simidx *index)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;

	o.wait_ms = 0;
	sxt_must_ok(simidx_writer_open(index, &o, &writer, &sxt_err));
	return writer;
}

#endif /* SXT_INDEX_H */
