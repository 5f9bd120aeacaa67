/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_engines.h"
#include "common/tl_msg.h"
#include "common/tl_options.h"
#include "common/tl_output.h"
#include "dedup/dd_run.h"

int main(int argc, char **argv)
{
	struct dd_options options;
	int code;

	tl_msg_init("simidx-dedup");
	tl_ignore_signals();
	tl_engines_add();
	code = dd_parse_options(argc, argv, &options);
	if (code == TL_PROCEED) {
		tl_stop_on_signals();
		code = dd_run(&options);
	}
	dd_free_options(&options);
	return tl_finish_output(code);
}
