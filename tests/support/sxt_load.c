/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_load.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

char *sxt_load_dir, *sxt_load_path, *sxt_load_other;
sxt_rng sxt_load_rng;

void sxt_load_set_up(void)
{
	sxt_load_dir = sxt_dir_make();
	sxt_load_path = sxt_path(sxt_load_dir, "index");
	sxt_load_other = sxt_path(sxt_load_dir, "other");
	sxt_rng_init(&sxt_load_rng, 77);
}

void sxt_load_tear_down(void)
{
	sxt_remove(sxt_load_dir);
	free(sxt_load_other);
	free(sxt_load_path);
	free(sxt_load_dir);
}


static void hear_rejected(void *ctx, uint64_t row, const char *reason)
{
	sxt_heard *heard = ctx;

	ck_assert_uint_lt(row, SXT_MAX_ROWS);
	ck_assert(*reason);
	ck_assert(!heard->rejected[row]);
	heard->rejected[row] = 1;
	heard->n++;
}

static int stop(void *ctx)
{
	sxt_heard *heard = ctx;

	return ++heard->calls == heard->stop_at;
}

simidx_loader *sxt_loader(const simidx_create_options *create, unsigned policy,
				  sxt_heard *heard)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_create_options own;
	simidx_loader *loader;

	if (create) {
		own = *create;
		own.map_size = (uint64_t)1 << 30;
		create = &own;
	}
	o.memory = (uint64_t)64 << 20;
	o.duplicates = policy;
	o.threads = 1 + (unsigned)sxt_rng_below(&sxt_load_rng, 2);
	if (heard) {
		memset(heard, 0, sizeof(*heard));
		o.rejected = hear_rejected;
		o.stop = stop;
		o.ctx = heard;
	}
	ck_assert_sx(simidx_loader_open(sxt_load_path, create, &o, &loader, &sxt_err), SIMIDX_OK);
	return loader;
}

void sxt_load_finish(simidx_loader *loader, simidx_loader_report *report)
{
	*report = (simidx_loader_report)SIMIDX_LOADER_REPORT_INIT;
	ck_assert_sx(simidx_loader_finish(loader, report, &sxt_err), SIMIDX_OK);
	simidx_loader_close(loader);
}

void sxt_load_put(simidx *index, uint64_t from, uint64_t n)
{
	simidx_writer *writer = sxt_writer(index, 0);
	simidx_doc doc = SIMIDX_DOC_INIT;

	for (uint64_t i = 0; i < n; i++) {
		doc.fp = (from + i) * 0x9e3779b97f4a7c15;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

uint64_t sxt_load_count(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	return info.documents;
}

/* No private directory, no temporary file. */
int sxt_load_hidden(void)
{
	DIR *d = opendir(sxt_load_dir);
	const struct dirent *entry;
	int n = 0;

	while ((entry = readdir(d)) != NULL)
		n += !strncmp(entry->d_name, ".simidx", 7);
	closedir(d);
	return n;
}

const sxt_form sxt_forms[SXT_N_FORMS] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, 0, 64, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 64, 0 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 64, 100 },
	{ "10x26", SIMIDX_LAYOUT_ROWS, 0, 32, 0 },
	{ "16x28", SIMIDX_LAYOUT_BLOCKS, 0, 64, 50 },
	{ "3x22", SIMIDX_LAYOUT_ROWS, 0, 48, 0 },
	{ "2x32", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 64, 0 },
	{ "20x31", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS, 64, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_NO_IDS, 16, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS, 33, 0 },
};

simidx_create_options sxt_create_of(const sxt_form *form)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = form->plan;
	o.layout = form->layout;
	o.flags = form->flags;
	o.bits = form->bits;
	o.fill = form->fill;
	return o;
}
