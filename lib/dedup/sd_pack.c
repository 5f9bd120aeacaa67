/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_pack.h"

#include <errno.h>
#include <stdlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#elif defined HAVE_ZLIB
#include <zlib.h>
#endif

#include "util/sx_alloc.h"

#define ZSTD_LEVEL 1
#define ZLIB_LEVEL 1

#ifdef HAVE_ZSTD

enum sd_method sd_pack_method(void)
{
	return SD_ZSTD;
}

static size_t bound(size_t size)
{
	return ZSTD_compressBound(size);
}

/* Returns bytes; 0 = it cannot be compressed. */
static size_t pack(struct sd_packer *packer, const char *text, size_t size)
{
	size_t n;

	if (!packer->codec && !(packer->codec = ZSTD_createCCtx()))
		return 0;
	n = ZSTD_compressCCtx(packer->codec, packer->bytes, packer->room, text, size, ZSTD_LEVEL);
	return ZSTD_isError(n) ? 0 : n;
}

/* Returns -1 with errno. */
static int unpack(struct sd_unpacker *unpacker, const char *packed, size_t n, size_t size)
{
	size_t got;

	if (!unpacker->codec && !(unpacker->codec = ZSTD_createDCtx())) {
		errno = ENOMEM;
		return -1;
	}
	got = ZSTD_decompressDCtx(unpacker->codec, unpacker->text, size, packed, n);
	errno = EIO;
	return got == size ? 0 : -1;
}

void sd_packer_free(struct sd_packer *packer)
{
	ZSTD_freeCCtx(packer->codec);
	free(packer->bytes);
	*packer = (struct sd_packer){ NULL, NULL, 0 };
}

void sd_unpacker_free(struct sd_unpacker *unpacker)
{
	ZSTD_freeDCtx(unpacker->codec);
	free(unpacker->text);
	*unpacker = (struct sd_unpacker){ NULL, NULL, 0 };
}

#else

#ifdef HAVE_ZLIB

enum sd_method sd_pack_method(void)
{
	return SD_ZLIB;
}

static size_t bound(size_t size)
{
	return compressBound(size);
}

static size_t pack(struct sd_packer *packer, const char *text, size_t size)
{
	uLongf n = packer->room;
	int rc = compress2((Bytef *)packer->bytes, &n, (const Bytef *)text, size, ZLIB_LEVEL);

	return rc == Z_OK ? n : 0;
}

static int unpack(struct sd_unpacker *unpacker, const char *packed, size_t n, size_t size)
{
	uLongf got = size;
	int rc = uncompress((Bytef *)unpacker->text, &got, (const Bytef *)packed, n);

	errno = rc == Z_MEM_ERROR ? ENOMEM : EIO;
	return rc == Z_OK && got == size ? 0 : -1;
}

#else

enum sd_method sd_pack_method(void)
{
	return SD_AS_IT_IS;
}

static size_t bound(size_t size)
{
	(void)size;
	return 0;
}

static size_t pack(struct sd_packer *packer, const char *text, size_t size)
{
	(void)packer, (void)text, (void)size;
	return 0;
}

static int unpack(struct sd_unpacker *unpacker, const char *packed, size_t n, size_t size)
{
	(void)unpacker, (void)packed, (void)n, (void)size;
	errno = EIO;
	return -1;
}

#endif

void sd_packer_free(struct sd_packer *packer)
{
	free(packer->bytes);
	*packer = (struct sd_packer){ NULL, NULL, 0 };
}

void sd_unpacker_free(struct sd_unpacker *unpacker)
{
	free(unpacker->text);
	*unpacker = (struct sd_unpacker){ NULL, NULL, 0 };
}

#endif

int sd_pack(struct sd_packer *packer, const char *text, size_t size, const char **packed,
	    size_t *n)
{
	if (sx_reserve(&packer->bytes, &packer->room, bound(size), 1))
		return -1;
	*n = pack(packer, text, size);
	*packed = packer->bytes;
	if (*n && *n < size)
		return 0;
	*n = size;
	*packed = text;
	return 0;
}

const char *sd_unpack(struct sd_unpacker *unpacker, const char *packed, size_t n, size_t size)
{
	if (sx_reserve(&unpacker->text, &unpacker->room, size + 1, 1)) {
		errno = ENOMEM;
		return NULL;
	}
	return unpack(unpacker, packed, n, size) ? NULL : unpacker->text;
}
