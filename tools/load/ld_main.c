/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_engines.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_output.h"
#include "load/ld_run.h"

int main(int argc, char **argv)
{
	struct ld_options options;
	int code;

	tl_msg_init("simidx-load");
	tl_ignore_signals();
	tl_engines_add();
	code = ld_parse_options(argc, argv, &options);
	if (code == TL_PROCEED) {
		/* A merge may be killed at any time, and does not look at signals. */
		if (!options.merge_only)
			tl_stop_on_signals();
		code = ld_run(&options);
	}
	ld_free_options(&options);
	return tl_finish_output(code);
}
