/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Who made the features of documents, where that was not us: a name of the caller's choice, which
 * takes the place of an extractor's profile in an index, and is compared.
 */

#ifndef TL_FEATURES_H
#define TL_FEATURES_H

#include <simidx_info.h>

/** "features NAME", the profile of such an index. */
#define TL_FEATURES_PROFILE_SIZE 256

/** Whether --features-by can be this name. Returns 0, or TL_TROUBLE after a message. */
int tl_features_check(const char *name);

/** Write the profile. */
void tl_features_profile(const char *name, char out[TL_FEATURES_PROFILE_SIZE]);

/** Whether an index with this profile holds texts: neither bare fingerprints nor features. */
int tl_features_is_text(const char *profile);

/** Whether second fingerprints were made from runs of three words, not from the same features. */
int tl_features_has_triples(const char *profile);

/**
 * Whether features made by `name`, or nobody knows by whom (NULL), fit an index.
 *
 * @param path  of the index, for the message
 * @param info  of the index; the profile is looked at
 * @return 0, or the exit code after a message that names what differs
 */
int tl_features_fit(const char *path, const simidx_info *info, const char *name);

#endif /* TL_FEATURES_H */
