/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The tables that are open, by name. LMDB keeps them in a list that it does not guard, and a
 * transaction sees of it what was there when it began. So one transaction at a time, the opener,
 * may add to the list, from its first table to its end, and it must have begun after the last
 * one that did. All others find here what is open, without asking LMDB.
 */

#ifndef SX_NAMES_H
#define SX_NAMES_H

#include <pthread.h>
#include <stdatomic.h>

#define SX_NAMES_MAX 64      /* tables of a store */
#define SX_NAMES_MAX_SIZE 31 /* bytes in a table's name */

/** What a transaction may use of the list. */
typedef struct sx_names_view {
	unsigned seen; /* sx_names.additions when the transaction began */
	int is_opener;
} sx_names_view;

/** A table that is open. */
typedef struct sx_name {
	char name[SX_NAMES_MAX_SIZE + 1];
	unsigned dbi;
	unsigned since; /* sx_names.additions at the end of the transaction that opened it */
} sx_name;

typedef struct sx_names {
	pthread_mutex_t mutex; /* guards all but additions */
	pthread_cond_t ended;
	const sx_names_view *opener;
	pthread_t opener_thread;
	atomic_uint additions; /* transactions that opened tables and were committed */
	unsigned n, n_kept;    /* tables that are open; of these, not only in the opener */
	sx_name at[SX_NAMES_MAX];
} sx_names;

/** What sx_names_find() says. */
enum sx_names_answer {
	SX_NAMES_FOUND,  /* the table is open, and the transaction can use it */
	SX_NAMES_OPENER, /* the transaction may open the table, and is the opener until it ends */
	SX_NAMES_STALE,  /* it began too early to be the opener */
	SX_NAMES_SELF    /* the opener is another transaction of the same thread */
};

/** 0 or an errno. */
int sx_names_init(sx_names *names);

void sx_names_destroy(sx_names *names);

/** A transaction is about to begin: before LMDB looks at its list of tables. */
void sx_names_begin(sx_names *names, sx_names_view *view);

/** Find a table; *dbi is set after SX_NAMES_FOUND. May wait for another opener to end. */
enum sx_names_answer sx_names_find(sx_names *names, sx_names_view *view, const char *name,
				   unsigned *dbi);

/** Remember a table that the opener has opened. Returns 0, or -1 when there are too many. */
int sx_names_add(sx_names *names, const char *name, unsigned dbi);

/**
 * The transaction has ended. If it was the opener, the tables that it opened stay open if `keep`
 * is set, and are forgotten otherwise.
 */
void sx_names_end(sx_names *names, sx_names_view *view, int keep);

#endif /* SX_NAMES_H */
