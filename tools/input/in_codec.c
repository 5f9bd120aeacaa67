/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_codec.h"

#include <string.h>

const struct in_codec *const in_codecs[IN_N_CODECS + 1] = { &in_codec_gzip, &in_codec_zstd,
								   NULL };

const struct in_codec *in_codec_of_path(const char *path)
{
	size_t n = strlen(path), m, i;

	for (i = 0; in_codecs[i]; i++) {
		m = strlen(in_codecs[i]->suffix);
		if (n > m && strcmp(path + n - m, in_codecs[i]->suffix) == 0)
			return in_codecs[i];
	}
	return NULL;
}

const char *in_codec_missing(const struct in_codec *codec)
{
	if (codec->begin)
		return NULL;
	return codec == &in_codec_gzip ? "compressed by gzip, and this program was built "
					 "without zlib" :
					 "compressed by zstd, and this program was built "
					 "without libzstd";
}
