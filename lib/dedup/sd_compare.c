/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_compare.h"

#include <string.h>

#include "util/sx_err.h"

/*
 * Bytes for a hash: while a set is made, while one is made beside another one, and while one is
 * made of the half of all memory, so that there is some for the other one.
 */
#define MAKING 16
#define MAKING_BESIDE 24
#define MAKING_IN_HALF 32

/* Of the bytes of two long texts, what a part of their hashes needs at least. */
#define WALKS_SHARE 2

/* Room for what a thread does not keep for the next comparison. */
#define KEEP_HASHES ((size_t)512 << 10)

/* How many hashes may be held, where `held` bytes are taken already. */
static size_t most_hashes(const struct sd_thread *thread, uint64_t held, unsigned bytes)
{
	size_t n;

	if (!thread->bytes)
		return SIZE_MAX;
	n = thread->bytes > held ? (size_t)((thread->bytes - held) / bytes) : 0;
	return n > SD_SHINGLES_LEAST ? n : SD_SHINGLES_LEAST;
}

void sd_compare_begin(const simidx_dedup *dedup, struct sd_thread *thread, unsigned threads,
		      int is_ahead)
{
	thread->is_ahead = is_ahead;
	thread->bytes = dedup->n == 1 ? dedup->bytes : dedup->bytes / 2 / threads;
}

/*
 * What all hashes of short texts need, of which there is one for two bytes at most; what the least
 * part needs; and for long texts so much that they are walked about twenty times at most.
 */
int sd_has_room(const struct sd_thread *thread, uint64_t held, uint64_t sizes)
{
	uint64_t all = sizes / 2 * MAKING_BESIDE;
	uint64_t need = SD_SHINGLES_LEAST * (uint64_t)MAKING_BESIDE;

	need = all < need ? all : need;
	need = sizes / WALKS_SHARE > need ? sizes / WALKS_SHARE : need;
	return !thread->bytes || thread->bytes >= held + need;
}

int sd_make_set(struct sd_thread *thread, struct sd_item *item, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (item->has_set)
		return SIMIDX_OK;
	item->set.first = 0;
	item->set.last = UINT64_MAX;
	rc = sd_shingles_make_part(thread->shingler, item->row.text, item->row.text_size,
				   most_hashes(thread, 0, MAKING_IN_HALF), &item->set, err);
	item->has_set = !rc;
	return rc;
}

static void free_if_large(struct sd_shingles *set)
{
	if (set->room > KEEP_HASHES)
		sd_shingles_free(set);
}

/* Have the shingles from `first` on in `part`, as many as fit, up to `last`. */
static int make_part(struct sd_thread *thread, const char *text, size_t size, uint64_t first,
		     uint64_t last, size_t most, struct sd_shingles *part, simidx_error *err)
{
	part->first = first;
	part->last = last;
	return sd_shingles_make_part(thread->shingler, text, size, most, part, err);
}

int sd_count_shingles(struct sd_thread *thread, const struct sd_item *item, uint64_t *n,
		      simidx_error *err)
{
	struct sd_shingles *part = &thread->other;
	uint64_t last = item->set.last;
	int rc = SIMIDX_OK;

	for (*n = item->set.n; !rc && last != UINT64_MAX; *n += part->n) {
		rc = make_part(thread, item->row.text, item->row.text_size, last + 1, UINT64_MAX,
			       most_hashes(thread, item->set.room * sizeof(uint64_t), MAKING), part,
			       err);
		last = part->last;
	}
	free_if_large(part);
	return rc;
}

/*
 * Count what two texts have in common, from the least hash on. What is in a set at hand is taken
 * from it; for what is not, the text is walked again.
 */
static int count_overlap(const simidx_dedup *dedup, struct sd_thread *thread,
			 const struct sd_item *item, const struct sd_text *other,
			 struct sd_overlap *sum, simidx_error *err)
{
	const struct sd_shingles *a = &item->set, *b = other->set;
	const simidx_dedup_row *row = &item->row;
	uint64_t first = 0, last = UINT64_MAX;
	int rc = SIMIDX_OK;

	do {
		if (first && sd_stops(dedup)) {
			rc = sx_fail(err, SIMIDX_E_STOPPED, "stopped");
			break;
		}
		if (first > a->last) {
			rc = make_part(thread, row->text, row->text_size, first, UINT64_MAX,
				       most_hashes(thread, other->held, MAKING_BESIDE),
				       &thread->own, err);
			a = &thread->own;
		}
		if (!rc && (!b || first > b->last)) {
			rc = make_part(thread, other->bytes, other->size, first, a->last,
				       most_hashes(thread, other->held + a->room * sizeof(first),
						   MAKING),
				       &thread->other, err);
			b = &thread->other;
		}
		if (rc)
			break;
		last = a->last < b->last ? a->last : b->last;
		sd_overlap_add(sum, a, b, first, last);
		first = last + 1;
	} while (last != UINT64_MAX);
	free_if_large(&thread->own);
	free_if_large(&thread->other);
	return rc;
}

int sd_judge(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	     const struct sd_text *other, struct sd_candidate *candidate, simidx_error *err)
{
	struct sd_overlap sum = { 0, 0, 0 };
	int rc = SIMIDX_OK;

	candidate->is_estimate = 0;
	candidate->similarity = 1;
	candidate->is_equal = other->size == item->row.text_size &&
			      memcmp(other->bytes, item->row.text, other->size) == 0;
	if (!candidate->is_equal) {
		rc = sd_make_set(thread, item, err);
		if (!rc)
			rc = count_overlap(dedup, thread, item, other, &sum, err);
		candidate->similarity = sd_overlap_jaccard(&sum);
	}
	candidate->is_near = candidate->similarity >= dedup->options.similarity;
	return rc;
}

void sd_trust(const simidx_dedup *dedup, const struct sd_item *item, struct sd_candidate *c)
{
	c->similarity = dedup->options.kind == SIMIDX_DEDUP_FINGERPRINTS ? c->distance :
									   SIMIDX_DEDUP_BY_FP;
	c->is_near = !dedup->verifies || c->distance <= sd_kept_trusted(&item->sketch);
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

static const struct sd_candidate *find_led(const struct sd_leads *leads, uint64_t id)
{
	for (size_t i = 0; i < leads->n; i++)
		if (leads->of[i].id == id)
			return &leads->of[i];
	return NULL;
}

int sd_find_lead(const simidx_dedup *dedup, const struct sd_item *item, struct sd_leads *leads)
{
	uint64_t id;

	if (!dedup->known.first || item->is_new || sd_tells_all(dedup, item) ||
	    leads->n == SD_FIRST_MOST)
		return 0;
	do {
		if (!sd_first_find(dedup->known.first, &item->sketch, &leads->at, &leads->hash,
				   &id))
			return 0;
	} while (find_led(leads, id));
	leads->of[leads->n] = (struct sd_candidate){ .id = id,
						     .distance = SIMIDX_DEDUP_NOT_SEARCHED };
	return 1;
}

int sd_take_known(const simidx_dedup *dedup, const struct sd_item *item,
		  struct sd_candidate *candidate)
{
	const struct sd_candidate *known = find_led(&item->leads, candidate->id);
	unsigned distance = candidate->distance;

	for (size_t i = 0; !known && i < item->n_compared; i++)
		if (item->found[i].id == candidate->id)
			known = &item->found[i];
	if (!known)
		return 0;
	*candidate = *known;
	candidate->distance = distance;
	if (candidate->similarity == SIMIDX_DEDUP_BY_FP)
		sd_trust(dedup, item, candidate);
	return 1;
}

int sd_compare(const simidx_dedup *dedup, struct sd_thread *thread, struct sd_item *item,
	       struct sd_candidate *candidate, simidx_error *err)
{
	uint64_t handle = sd_kept_handle(dedup->kept, candidate->id);
	struct sd_text other = { 0 };
	int rc = SIMIDX_E_NOT_FOUND;

	candidate->is_near = candidate->is_estimate = 0;
	if (handle == SD_LEFT_OUT)
		return SIMIDX_OK;
	if (dedup->verifies && handle != SD_EARLIER) {
		other.held = sd_texts_bytes(thread->texts, handle);
		rc = sd_texts_get(thread->texts, handle, &other.bytes, &other.size, err);
	}
	if (rc == SIMIDX_E_NOT_FOUND) {
		sd_trust(dedup, item, candidate);
		return SIMIDX_OK;
	}
	return rc ? rc : sd_judge(dedup, thread, item, &other, candidate, err);
}
