/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_emit.h"

#include "common/tl_emit.h"
#include "common/tl_escape.h"
#include "common/tl_msg.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ld_emit_begin(const struct ld_options *options)
{
	if (options->emit != LD_EMIT_NONE)
		tl_emit_begin(stdout, '\n', options->resume ? 0 : -1);
}

static void put_id(uint64_t id)
{
	if (id != SIMIDX_NO_ID)
		printf("%" PRIu64, id);
	putchar('\t');
}

/* Where the row is, its label, what it is near to and how far that is. */
static void put_line(const struct ld_item *item, int is_new, const struct ld_change *change)
{
	const simidx_match *blocker = &change->blocker;
	char line[32] = "";

	if (item->line)
		snprintf(line, sizeof(line), ":%" PRIu64, item->line);
	tl_put_escaped(stdout, item->path, strlen(item->path));
	printf("%s\t", line);
	if (item->row.label)
		tl_put_escaped(stdout, item->row.label, item->row.label_size);
	putchar('\t');
	put_id(is_new ? change->id : blocker->id);
	if (is_new) {
		fputs("\t\t\n", stdout);
		return;
	}
	if (change->is_late)
		fputs("\t\t", stdout);
	else
		printf("%u\t%u\t", blocker->distance, blocker->weighted_distance);
	if (blocker->label)
		tl_put_escaped(stdout, blocker->label, blocker->label_size);
	putchar('\n');
}

void ld_emit_row(const struct ld_options *options, const struct ld_item *item, int is_new,
		 const struct ld_change *change)
{
	switch (options->emit) {
	case LD_EMIT_NEW:
		if (is_new)
			tl_emit_input(item->path, item->kept, item->kept_size);
		break;
	case LD_EMIT_DUP:
		if (!is_new)
			put_line(item, is_new, change);
		break;
	case LD_EMIT_ALL:
		fputs(is_new ? "new\t" : "dup\t", stdout);
		put_line(item, is_new, change);
		break;
	default:
		break;
	}
}

int ld_emit_flush(const struct ld_options *options)
{
	return options->emit == LD_EMIT_NONE ? 0 : tl_emit_flush(stdout, "standard output");
}

/* ---- rows that a commit may decide again ---- */

/* What --emit and the report need of a row. */
struct ld_decided_row {
	uint64_t number;  /* of the call of the writer */
	int told, now;    /* what came of it: a code */
	struct ld_item item;
	struct ld_change change;
	char *bytes;      /* path, label, line and label of the blocker */
};

/* Copy bytes to *to and go on behind them. NULL stays NULL. */
static const char *keep(char **to, const char *from, size_t size)
{
	char *at = *to;

	if (!from)
		return NULL;
	memcpy(at, from, size);
	at[size] = '\0';
	*to += size + 1;
	return at;
}

int ld_decided_add(struct ld_decided *d, const struct ld_item *item, uint64_t number, int code,
		   const struct ld_change *change)
{
	const simidx_match *blocker = &change->blocker;
	size_t path = strlen(item->path), label = item->row.label ? item->row.label_size : 0;
	size_t theirs = code == SIMIDX_E_EXISTS && blocker->label ? blocker->label_size : 0;
	struct ld_decided_row *row;
	char *to;

	if (in_room_have(&d->rows, (d->n + 1) * sizeof(*row)))
		return tl_error("out of memory");
	row = (struct ld_decided_row *)d->rows.bytes + d->n;
	*row = (struct ld_decided_row){ .number = number, .told = code, .now = code };
	row->bytes = to = malloc(path + label + item->kept_size + theirs + 4);
	if (!to)
		return tl_error("out of memory");
	row->item.path = keep(&to, item->path, path);
	row->item.line = item->line;
	row->item.row.label = keep(&to, item->row.label, label);
	row->item.row.label_size = label;
	row->item.kept = keep(&to, item->kept, item->kept_size);
	row->item.kept_size = item->kept_size;
	row->change.id = change->id;
	if (code == SIMIDX_E_EXISTS) {
		row->change.blocker = *blocker;
		row->change.blocker.label = keep(&to, theirs ? blocker->label : NULL, theirs);
	}
	d->n++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ld_decided_row *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

void ld_decided_again(void *ctx, const simidx_rejudged *outcome)
{
	struct ld_decided *d = ctx;
	const struct ld_decided_row key = { .number = outcome->change };
	struct ld_decided_row *row =
		d->n ? bsearch(&key, d->rows.bytes, d->n, sizeof(key), compare) : NULL;

	if (!row)
		return;
	row->now = outcome->code;
	row->change.id = outcome->id;
	if (row->change.blocker.id != outcome->blocker || outcome->code != row->told) {
		row->change.blocker = (simidx_match){ .id = outcome->blocker };
		row->change.is_late = 1;
	}
}

/* Count what came of a row, in place of what it was counted as. */
static void count(struct ld_report *report, const struct ld_decided_row *row)
{
	const char *place = ld_item_place(&row->item);

	report->near -= row->told == SIMIDX_E_EXISTS;
	report->near += row->now == SIMIDX_E_EXISTS;
	if (row->now == SIMIDX_E_DUPLICATE) {
		report->duplicates++;
		ld_report_reject(report, place, "its id or label is in use", 1);
	} else if (row->now == SIMIDX_E_NOT_FOUND) {
		ld_report_missing(report, place);
	} else if (row->now && row->now != SIMIDX_E_EXISTS) {
		ld_report_undecided(report, place);
	}
}

void ld_decided_end(struct ld_decided *d, const struct ld_options *options,
		    struct ld_report *report)
{
	const struct ld_decided_row *row = d->rows.bytes;

	for (size_t i = 0; i < d->n; i++, row++) {
		if (row->now != row->told)
			count(report, row);
		if (!row->now || row->now == SIMIDX_E_EXISTS)
			ld_emit_row(options, &row->item, !row->now, &row->change);
	}
	ld_decided_clear(d);
}

void ld_decided_clear(struct ld_decided *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(((struct ld_decided_row *)d->rows.bytes)[i].bytes);
	free(d->rows.bytes);
	memset(d, 0, sizeof(*d));
}
