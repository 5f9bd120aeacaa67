/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What each threshold of each table costs: the planner's raw material.
 */

#ifndef SX_OPTIONS_H
#define SX_OPTIONS_H

#include <stdint.h>

#include "plan/sx_planner.h"

#define SX_MAX_LEVELS 12 /* thresholds 0..11 of a table are thought of */

/** One threshold of one table: how it is probed best. */
typedef struct sx_option {
	double ns;
	double candidates;
	uint32_t probes;
	uint8_t bits, merged; /* as in sx_strategy */
} sx_option;

/** Tables that are probed together, and their options; ns grows with the threshold. */
typedef struct sx_family {
	const sx_plan *plan;
	const sx_request *request;
	const sx_costs *costs;
	const sx_sizes *sizes;
	unsigned radius;   /* not above the number of bits that count */
	int first_leads;
	int disjoint;      /* no two of them see the same bit */
	unsigned n;
	uint8_t table[SX_MAX_TABLES];
	uint8_t width[SX_MAX_TABLES];  /* leading bits that may be probed */
	uint8_t levels[SX_MAX_TABLES]; /* thresholds below this one have an option */
	sx_option option[SX_MAX_TABLES][SX_MAX_LEVELS];
} sx_family;

/** A threshold for each table of a family, -1 = not probed. */
typedef struct sx_levels {
	double ns;
	int8_t of[SX_MAX_TABLES];
} sx_levels;

/**
 * What so many probes of so many tables with so many rows in their ranges take; a query takes
 * costs->query more.
 */
double sx_probes_ns(const sx_costs *costs, unsigned tables, double probes, double candidates);

/** What a query takes that reads a whole table. */
double sx_scan_ns(const sx_costs *costs, uint64_t rows);

/**
 * Fill in the tables of a family and what the thresholds would cost if all prefixes were equally
 * frequent; what takes longer than `most_ns` is left out.
 */
void sx_family_init(sx_family *family, const sx_plan *plan, const sx_request *request,
		    const sx_costs *costs, const sx_sizes *sizes, int first_leads,
		    double most_ns);

/**
 * Replace the cost of one threshold of every table by what it really is for the query, where
 * that takes few enough look-ups; `most_ns` as above.
 */
void sx_family_look(sx_family *family, unsigned errors, double most_ns);

/** The cheapest exact levels of a disjoint family below `levels` each. Returns 1, or 0: none. */
int sx_levels_disjoint(const sx_family *family, unsigned levels, sx_levels *out);

/**
 * Cheap exact levels of any family: the cheapest when so many steps (sx_errors.h) are enough to
 * find them. Returns 1, or 0 when no levels are exact or none were found.
 */
int sx_levels_search(const sx_family *family, unsigned steps, sx_levels *out);

#endif /* SX_OPTIONS_H */
