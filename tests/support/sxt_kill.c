/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_kill.h"

#include <string.h>

#include "index/sx_snapshot.h"
#include "support/sxt_assert.h"

static sxt_kill now;
static unsigned places;

void sxt_kill_begin(const sxt_kill *kill)
{
	memset(&now, 0, sizeof(now));
	places = 0;
	if (kill)
		now = *kill;
}

void sxt_kill_before(void)
{
	places++;
	if (places == now.at && !now.is_after)
		_exit(SXT_KILLED);
}

void sxt_kill_after(void)
{
	if (places == now.at)
		_exit(SXT_KILLED);
	if (now.watcher) {
		sxt_proc_tell(now.watcher);
		sxt_proc_wait(now.watcher);
	}
}

unsigned sxt_merge_state(simidx *index)
{
	sx_snapshot snapshot;

	sxt_must_ok(sx_snapshot_begin(&snapshot, index, &sxt_err));
	sx_snapshot_end(&snapshot);
	return snapshot.header.state;
}
