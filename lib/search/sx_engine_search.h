/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Searches in an index that an engine holds. Queries and accesses are those of any other index; here
 * the probes go to the engine, the rows that come back are filtered, and the documents of those that
 * are near are asked for. Several queries share each wait for an answer.
 */

#ifndef SX_ENGINE_SEARCH_H
#define SX_ENGINE_SEARCH_H

#include "search/sx_engine_rows.h"
#include "search/sx_reader.h"

/** Forget the labels that matches point to. */
void sx_engine_search_begin(sx_engine_search *search);

/** Search by the access of the reader, as sx_search() does within a radius, with labels. */
int sx_engine_search_one(sx_engine_search *search, simidx_reader *reader, const sx_query *query,
			 simidx_results *out, simidx_error *err);

/**
 * Ask n queries together. What is wrong with one of them is told by its answer.
 *
 * @param queries  of our size; they stay until they are answered
 */
int sx_engine_search_many(sx_engine_search *search, simidx_reader *reader,
			  const simidx_query *queries, size_t n, simidx_error *err);

/**
 * Answer query number i of these, as sx_search() does, with labels. Once each, in their order.
 *
 * @param alone  set to a query that has to be searched for by itself; else NULL
 */
int sx_engine_search_answer(sx_engine_search *search, simidx_reader *reader, size_t i,
			    simidx_results *out, const sx_query **alone, simidx_error *err);

#endif /* SX_ENGINE_SEARCH_H */
