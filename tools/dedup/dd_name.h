/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a document is called where it is printed.
 */

#ifndef DD_NAME_H
#define DD_NAME_H

#include <stdint.h>

/** Where a document is. */
struct dd_name {
	uint64_t number; /* among all documents, from 1 */
	uint64_t line;   /* 0 = it is the whole file */
	uint32_t file;   /* as dd_files_meet() numbers it */
};

#endif /* DD_NAME_H */
