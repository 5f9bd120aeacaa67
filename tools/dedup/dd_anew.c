/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_anew.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "dedup/dd_again.h"
#include "dedup/dd_memory.h"
#include "dedup/dd_room.h"

#include <stdlib.h>

/* simidx_dedup_place.source of a text that the tool has put aside. */
#define PUT_ASIDE UINT32_MAX

struct deciding {
	struct dd_anew *anew;
	struct dd_index *index;
	simidx_dedup *dedup;
	struct dd_again *again;
	struct in_room *text;     /* of each thread: what was put aside */
	struct dd_member **kept;  /* in the order of handles */
	size_t n_kept;
	double shown;
};

static int hear_decided(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near,
			size_t n)
{
	struct deciding *deciding = ctx;
	struct dd_anew *anew = deciding->anew;
	struct dd_member *member = *(struct dd_member *const *)row->extra;

	if (!n) {
		dd_member_stay(member, (uint64_t)(member - anew->table));
		deciding->kept[deciding->n_kept++] = member;
	} else if (near->similarity == SIMIDX_DEDUP_BY_FP || near->flags & SIMIDX_DEDUP_ESTIMATE) {
		member->is_told = 1;
		anew->n_unread++;
	} else {
		member->keeper = (uint64_t)(deciding->kept[near->keeper] - anew->table);
		member->similarity = near->similarity;
		member->flags = near->flags & SIMIDX_DEDUP_EQUAL;
	}
	return 0;
}

static int read_text(void *ctx, unsigned thread, const simidx_dedup_place *place,
		     const char **text, size_t *size)
{
	struct deciding *deciding = ctx;
	const struct dd_fact fact = { .text = place->offset, .size = place->length };

	if (place->source != PUT_ASIDE)
		return dd_again_read(deciding->again, thread, place, text, size);
	if (dd_facts_text(deciding->anew->work->facts, &fact, &deciding->text[thread]))
		return TL_TROUBLE;
	*text = deciding->text[thread].bytes;
	*size = fact.size;
	return 0;
}

static int begin(struct deciding *deciding)
{
	struct dd_anew *anew = deciding->anew;
	const struct dd_work *work = anew->work;
	const struct dd_options *options = work->options;
	simidx_dedup_options how;
	struct dd_memory memory;
	simidx_error err;

	dd_memory_divide_left(&memory, anew->memory);
	deciding->again = dd_again_open(work->files, &options->inputs.columns, options->threads);
	deciding->text = calloc(options->threads, sizeof(*deciding->text));
	if (!deciding->again || !deciding->text)
		return tl_error("out of memory");
	deciding->index = dd_index_open(options, SIMIDX_DEDUP_TEXTS, &memory, work->dir,
				    DD_ROOM_SECOND);
	if (!deciding->index)
		return TL_TROUBLE;
	how = dd_index_options(deciding->index, SIMIDX_DEDUP_TEXTS);
	how.flags &= ~SIMIDX_DEDUP_NEAREST;
	how.batch_rows = memory.batch_documents;
	how.batch_bytes = memory.batch_bytes;
	how.unsearched_bytes = memory.unsearched;
	how.tmpdir = anew->work->dir;
	how.calls = (simidx_dedup_calls){ deciding, hear_decided, NULL, read_text, tl_stop_wanted,
					  NULL };
	if (simidx_dedup_open(deciding->index->handle, deciding->index->writer, &how,
			      &deciding->dedup, &err))
		return dd_index_fail(deciding->index, &err);
	simidx_dedup_limit(deciding->dedup, memory.work);
	return 0;
}

/* Where it can be read again while others are compared with it. What has no such place was put
   aside by the library, and is again. */
static void set_place(simidx_dedup_row *row, const struct dd_fact *fact)
{
	if (fact->length)
		row->place = (simidx_dedup_place){ fact->offset, fact->name.file, fact->length };
	else if (fact->text && fact->text >> 48 == 0)
		row->place = (simidx_dedup_place){ fact->text, PUT_ASIDE, (uint32_t)fact->size };
	else
		return;
	row->flags = SIMIDX_DEDUP_PLACED;
}

static int add(struct deciding *deciding, struct dd_member *member, struct in_room *label)
{
	struct dd_anew *anew = deciding->anew;
	simidx_dedup_near first = dd_member_first(member);
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	struct dd_fact fact;
	struct dd_text text;
	simidx_error err;
	int rc;

	if (dd_facts_get(anew->work->facts, member->fact, label, &fact) ||
	    dd_texts_get(anew->texts, 0, &fact, member->is_as_first ? &first : NULL, &text))
		return TL_TROUBLE;
	if (!text.bytes) {
		member->is_told = 1;
		anew->n_unread++;
		return 0;
	}
	row.text = text.bytes;
	row.text_size = text.size;
	row.extra = &member;
	row.extra_size = sizeof(member);
	set_place(&row, &fact);
	rc = simidx_dedup_add(deciding->dedup, &row, &err);
	return rc < 0 ? dd_index_fail(deciding->index, &err) : rc;
}

void dd_anew_progress(double *shown, uint64_t n, const char *what)
{
	if (tl_progress_due(shown))
		tl_progress_show("%s of groups %s", tl_counted(n, "document", "documents"),
				 what);
}

int dd_anew_decide(struct dd_anew *anew, struct dd_member **order, size_t n)
{
	struct deciding deciding = { .anew = anew, .kept = order };
	struct in_room label = { NULL, 0 };
	simidx_error err;
	int code;

	anew->n_unread = 0;
	if (!n)
		return 0;
	code = begin(&deciding);
	/* What is kept takes the places of what was added before. */
	for (size_t i = 0; !code && i < n; i++) {
		dd_anew_progress(&deciding.shown, i, "decided again, the best first");
		code = add(&deciding, order[i], &label);
	}
	if (!code)
		code = simidx_dedup_flush(deciding.dedup, 1, &err);
	if (code < 0)
		code = dd_index_fail(deciding.index, &err);
	tl_progress_clear();
	simidx_dedup_close(deciding.dedup);
	dd_index_close(deciding.index);
	dd_again_close(deciding.again);
	for (unsigned i = 0; deciding.text && i < anew->work->options->threads; i++)
		free(deciding.text[i].bytes);
	free(deciding.text);
	free(label.bytes);
	return code;
}
