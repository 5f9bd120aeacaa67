/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What `plan` is asked.
 */

#ifndef QR_PLAN_H
#define QR_PLAN_H

#include <stdint.h>

struct qr_plan_request {
	uint64_t documents;  /* 0 until it is known */
	unsigned bits;       /* likewise */
	unsigned radius;
};

#endif /* QR_PLAN_H */
