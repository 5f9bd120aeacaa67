/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_names.h"

#include <string.h>

int sx_names_init(sx_names *names)
{
	int e = pthread_mutex_init(&names->mutex, NULL);

	return e ? e : pthread_cond_init(&names->ended, NULL);
}

void sx_names_destroy(sx_names *names)
{
	pthread_cond_destroy(&names->ended);
	pthread_mutex_destroy(&names->mutex);
}

void sx_names_begin(sx_names *names, sx_names_view *view)
{
	view->seen = atomic_load(&names->additions);
}

/* Whether there is a table of the name that the transaction can use. */
static int find_name(const sx_names *names, const sx_names_view *view, const char *name,
		     unsigned *dbi)
{
	for (unsigned i = 0; i < names->n; i++) {
		const sx_name *n = &names->at[i];

		if (strcmp(n->name, name))
			continue;
		*dbi = n->dbi;
		return view->is_opener || (i < names->n_kept && n->since <= view->seen);
	}
	return 0;
}

static enum sx_names_answer find(sx_names *names, sx_names_view *view, const char *name,
				 unsigned *dbi)
{
	for (;;) {
		if (find_name(names, view, name, dbi))
			return SX_NAMES_FOUND;
		if (view->is_opener)
			return SX_NAMES_OPENER;
		if (!names->opener)
			break;
		if (pthread_equal(names->opener_thread, pthread_self()))
			return SX_NAMES_SELF;
		pthread_cond_wait(&names->ended, &names->mutex);
	}
	if (view->seen != names->additions)
		return SX_NAMES_STALE;
	view->is_opener = 1;
	names->opener = view;
	names->opener_thread = pthread_self();
	return SX_NAMES_OPENER;
}

enum sx_names_answer sx_names_find(sx_names *names, sx_names_view *view, const char *name,
				   unsigned *dbi)
{
	enum sx_names_answer answer;

	pthread_mutex_lock(&names->mutex);
	answer = find(names, view, name, dbi);
	pthread_mutex_unlock(&names->mutex);
	return answer;
}

int sx_names_add(sx_names *names, const char *name, unsigned dbi)
{
	size_t size = strlen(name) + 1;
	sx_name *n;

	if (names->n == SX_NAMES_MAX || size > sizeof(n->name))
		return -1;
	pthread_mutex_lock(&names->mutex);
	n = &names->at[names->n++];
	memcpy(n->name, name, size);
	n->dbi = dbi;
	n->since = names->additions + 1;
	pthread_mutex_unlock(&names->mutex);
	return 0;
}

void sx_names_end(sx_names *names, sx_names_view *view, int keep)
{
	if (!view->is_opener)
		return;
	pthread_mutex_lock(&names->mutex);
	if (!keep)
		names->n = names->n_kept;
	if (names->n != names->n_kept)
		atomic_fetch_add(&names->additions, 1);
	names->n_kept = names->n;
	names->opener = NULL;
	pthread_cond_broadcast(&names->ended);
	pthread_mutex_unlock(&names->mutex);
	view->is_opener = 0;
}
