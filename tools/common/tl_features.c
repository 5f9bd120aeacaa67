/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_features.h"

#include "common/tl_msg.h"

#include <stdio.h>
#include <string.h>

#define KIND "features "
#define MAX_NAME 200

int tl_features_check(const char *name)
{
	size_t n = strlen(name), i = 0;

	while (i < n && (unsigned char)name[i] > ' ' && name[i] != 0x7f)
		i++;
	if (n && n <= MAX_NAME && i == n)
		return 0;
	return tl_usage_error("--features-by: expected a name of 1..%d bytes without blanks, "
			      "found '%s'", MAX_NAME, name);
}

void tl_features_profile(const char *name, char out[TL_FEATURES_PROFILE_SIZE])
{
	snprintf(out, TL_FEATURES_PROFILE_SIZE, KIND "%s", name);
}

int tl_features_is_text(const char *profile)
{
	return *profile && strncmp(profile, KIND, strlen(KIND)) != 0;
}

int tl_features_has_triples(const char *profile)
{
	return tl_features_is_text(profile) && strstr(profile, " fp2=triples");
}

int tl_features_fit(const char *path, const simidx_info *info, const char *name)
{
	const char *profile = info->profile;
	const char *made_by = NULL;

	if (strncmp(profile, KIND, strlen(KIND)) == 0)
		made_by = profile + strlen(KIND);
	if (made_by ? name && strcmp(name, made_by) == 0 : !name)
		return 0;
	if (made_by && name)
		return tl_error("%s: holds features made by %s, not by %s", path, made_by, name);
	if (made_by)
		return tl_error("%s: holds features made by %s, so say who made these: "
				"--features-by %s",
				path, made_by, made_by);
	return tl_error("%s: holds %s%.*s, so --features-by %s does not fit", path,
			*profile ? "texts by " : "bare fingerprints",
			(int)strcspn(profile, " "), profile, name);
}
