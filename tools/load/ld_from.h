/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The indexes that --from takes over.
 */

#ifndef LD_FROM_H
#define LD_FROM_H

#include <simidx_info.h>
#include <simidx_load.h>

#include "load/ld_options.h"

/** Open indexes; all zero are none. */
struct ld_from {
	const struct ld_options *options;
	simidx **index;
	simidx_info first; /* of the first one; lives as long as that is not opened again */
};

/** Open all that the options name. Returns 0, or TL_TROUBLE with a message. */
int ld_from_open(struct ld_from *from, const struct ld_options *options);

/** Close them. */
void ld_from_close(struct ld_from *from);

/**
 * Open what is at the path of number `i` now, after SIMIDX_E_MOVED; nothing may use the one that
 * was open. Returns as ld_from_open().
 */
int ld_from_again(struct ld_from *from, size_t i);

/** Documents in all of them. */
uint64_t ld_from_documents(const struct ld_from *from);

/** Let the loader take them over. Returns 0, or TL_TROUBLE with a message. */
int ld_from_add(struct ld_from *from, simidx_loader *loader);

/**
 * What the options leave open of a new index is as in another one; fill 0 and no plan are not
 * known.
 */
void ld_from_describe(const struct ld_options *options, const simidx_info *info,
		      simidx_create_options *create);

/** The index that an error of a loader is about: the one of --from that it names, or INDEX. */
const char *ld_from_blamed(const struct ld_options *options, const simidx_error *err);

#endif /* LD_FROM_H */
