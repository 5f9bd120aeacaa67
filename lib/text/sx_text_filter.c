/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_filter.h"

#include <string.h>

#include <simidx_sketch.h>

void sx_filter_begin(sx_filter *f, const sx_lists *lists, int whole_wanted, int joint)
{
	f->lists = lists;
	f->waiting.n = f->n_waiting = 0;
	f->whole_wanted = whole_wanted;
	f->whole.n = 0;
	f->n_whole = 0;
	f->joint = joint;
}

static int add_to_whole(sx_filter *f, const char *bytes, size_t size, simidx_error *err)
{
	const char joint = (char)f->joint;
	int rc = SIMIDX_OK;

	if (f->n_whole++ && f->joint >= 0)
		rc = sx_bytes_add(&f->whole, &joint, 1, err);
	return rc ? rc : sx_bytes_add(&f->whole, bytes, size, err);
}

/** A token in its final length. */
static int finish(sx_filter *f, const char *bytes, size_t size, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (f->whole_wanted)
		rc = add_to_whole(f, bytes, size, err);
	if (!rc && f->lists->stop.n &&
	    sx_dict_get(&f->lists->stop, simidx_feature_hash(bytes, size)))
		return SIMIDX_OK;
	if (!rc && f->stem)
		rc = sx_stem_word(f->stem, bytes, size, &bytes, &size, err);
	if (rc || !size)
		return rc;
	return f->take(f->ctx, bytes, size, err);
}

/** How many of the waiting tokens make up the first word: the longest of the list, or one. */
static size_t join(const sx_filter *f)
{
	const sx_dict *words = &f->lists->words;
	size_t n = f->n_waiting;

	for (; n > 1; n--)
		if (f->end[n - 1] <= f->lists->longest_word &&
		    sx_dict_get(words, simidx_feature_hash(f->waiting.at, f->end[n - 1])))
			break;
	return n;
}

static int finish_first(sx_filter *f, simidx_error *err)
{
	size_t joined = join(f), size = f->end[joined - 1], i;
	int rc = finish(f, f->waiting.at, size, err);

	f->waiting.n -= size;
	memmove(f->waiting.at, f->waiting.at + size, f->waiting.n);
	f->n_waiting -= joined;
	for (i = 0; i < f->n_waiting; i++)
		f->end[i] = f->end[i + joined] - size;
	return rc;
}

int sx_filter_take(void *ctx, const char *bytes, size_t size, simidx_error *err)
{
	sx_filter *f = ctx;
	int rc;

	if (!f->lists->words.n)
		return finish(f, bytes, size, err);
	rc = sx_bytes_add(&f->waiting, bytes, size, err);
	if (rc)
		return rc;
	f->end[f->n_waiting++] = f->waiting.n;
	/* Until no further token can make the first word longer. */
	while (!rc && (f->n_waiting == SX_MAX_JOINED ||
		       (f->n_waiting && f->waiting.n >= f->lists->longest_word)))
		rc = finish_first(f, err);
	return rc;
}

int sx_filter_end(sx_filter *f, simidx_error *err)
{
	int rc = SIMIDX_OK;

	while (!rc && f->n_waiting)
		rc = finish_first(f, err);
	return rc;
}
