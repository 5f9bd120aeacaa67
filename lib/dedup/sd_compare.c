/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_compare.h"

#include <string.h>

int sd_make_set(struct sd_thread *thread, struct sd_item *item, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (!item->has_set)
		rc = sd_shingles_make(thread->shingler, item->row.text, item->row.text_size,
				      &item->set, err);
	item->has_set = !rc;
	return rc;
}

void sd_trust(const simidx_dedup *dedup, const struct sd_item *item, struct sd_candidate *c)
{
	c->similarity = dedup->options.kind == SIMIDX_DEDUP_FINGERPRINTS ? c->distance :
									   SIMIDX_DEDUP_BY_FP;
	c->is_near = !dedup->verifies || c->distance <= sd_kept_trusted(&item->sketch);
}

void sd_judge(const simidx_dedup *dedup, struct sd_candidate *candidate, const struct sd_item *item,
	      const struct sd_shingles *other, const char *text, size_t size)
{
	candidate->similarity = sd_shingles_jaccard(&item->set, other);
	candidate->is_equal = size == item->row.text_size &&
			      memcmp(text, item->row.text, size) == 0;
	if (candidate->is_equal)
		candidate->similarity = 1;
	candidate->is_near = candidate->similarity >= dedup->options.similarity;
	candidate->is_estimate = 0;
}

simidx_dedup_near sd_near(const struct sd_candidate *candidate, uint64_t keeper, unsigned against)
{
	return (simidx_dedup_near){ candidate->id,
				    keeper,
				    candidate->similarity,
				    candidate->distance,
				    (candidate->is_estimate ? SIMIDX_DEDUP_ESTIMATE : 0) |
					    (candidate->is_equal ? SIMIDX_DEDUP_EQUAL : 0),
				    against,
				    0 };
}

void sd_note_nearest(struct sd_item *item, const simidx_dedup_near *near)
{
	if (near->similarity > item->nearest.similarity)
		item->nearest = *near;
}

int sd_compare(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	       struct sd_candidate *candidate, simidx_error *err)
{
	uint64_t handle = sd_kept_handle(dedup->kept, candidate->id);
	int rc = SIMIDX_E_NOT_FOUND;
	const char *text;
	size_t size;

	candidate->is_near = candidate->is_estimate = 0;
	if (handle == SD_LEFT_OUT)
		return SIMIDX_OK;
	if (dedup->verifies && handle != SD_EARLIER)
		rc = sd_texts_get(thread->texts, handle, &text, &size, err);
	if (rc == SIMIDX_E_NOT_FOUND) {
		sd_trust(dedup, item, candidate);
		return SIMIDX_OK;
	}
	if (!rc)
		rc = sd_make_set(thread, item, err);
	if (!rc)
		rc = sd_shingles_make(thread->shingler, text, size, &thread->other, err);
	if (!rc)
		sd_judge(dedup, candidate, item, &thread->other, text, size);
	return rc;
}
