/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_emit.h"

#include "common/tl_emit.h"
#include "common/tl_escape.h"

#include <inttypes.h>
#include <stdio.h>
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
