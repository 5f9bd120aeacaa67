/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_merger.h"

#include "common/tl_path.h"

#include <signal.h>

#include <simidx_write.h>

/*
 * The handle is another one than the load's, whose callback of progress is for one thread. The
 * index may have been replaced meanwhile, and what is fresh then is in the new one.
 */
static int merge_once(const struct ld_options *options, simidx_error *err)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_writer_options writing = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer = NULL;
	simidx *index = NULL;
	simidx_info info;
	int rc;

	how.flags = ld_open_flags(options);
	writing.durability = options->durability;
	rc = tl_path_open(options->index, &how, &index, &info, err);
	if (!rc)
		rc = simidx_writer_open(index, &writing, &writer, err);
	if (!rc)
		rc = simidx_writer_merge(writer, err);
	simidx_writer_close(writer);
	simidx_close(index);
	return rc == SIMIDX_E_MOVED ? SIMIDX_OK : rc;
}

static void *run(void *opaque)
{
	ld_merger *merger = opaque;

	merger->code = merge_once(merger->options, &merger->err);
	atomic_store(&merger->has_ended, 1);
	return NULL;
}

int ld_merger_end(ld_merger *merger)
{
	if (merger->has_thread)
		pthread_join(merger->thread, NULL);
	merger->has_thread = 0;
	return merger->code;
}

void ld_merger_begin(ld_merger *merger, const struct ld_options *options)
{
	sigset_t all, before;

	if (merger->has_thread && !atomic_load(&merger->has_ended))
		return;
	if (ld_merger_end(merger))
		return;
	merger->options = options;
	atomic_store(&merger->has_ended, 0);
	/* Signals are for the thread that reads. Without a thread, commits merge when they must. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	merger->has_thread = !pthread_create(&merger->thread, NULL, run, merger);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}
