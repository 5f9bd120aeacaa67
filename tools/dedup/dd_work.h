/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the parts of a run share.
 */

#ifndef DD_WORK_H
#define DD_WORK_H

#include "dedup/dd_against.h"
#include "dedup/dd_facts.h"
#include "dedup/dd_files.h"
#include "dedup/dd_index.h"
#include "dedup/dd_options.h"

struct dd_work {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_facts *facts;     /* NULL: nothing is said of rows later */
	struct dd_keepers *keepers;
	const char *dir;            /* for temporary files */
	/* These are zero until there is a document, the second also without other indexes. */
	enum simidx_dedup_kind kind; /* of all documents */
	struct dd_against *against;
	struct dd_index *index;
	simidx_dedup *dedup;
};

#endif /* DD_WORK_H */
