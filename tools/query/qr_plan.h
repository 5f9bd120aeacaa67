/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What `plan` is asked.
 */

#ifndef QR_PLAN_H
#define QR_PLAN_H

#include <simidx_admin.h>

struct qr_plan_request {
	const char *plan;    /* of the index; NULL = none was given */
	uint64_t documents;  /* 0 until it is known */
	unsigned bits;       /* likewise */
	unsigned radius;
};

/** Whether it is about the plan that the index has. */
int qr_plan_is_of_index(const struct qr_plan_request *request, const simidx_prediction *one);

#endif /* QR_PLAN_H */
