/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "damage_sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "index/sx_index.h"
#include "util/sx_hash.h"

#define KILLED 42
#define LONG_LABEL 9000 /* bytes: three pages of its own */
#define CHUNK ((size_t)8 << 20)

struct MDB_txn;

int __real_mdb_txn_commit(struct MDB_txn *txn);
int __wrap_mdb_txn_commit(struct MDB_txn *txn);

const dmg_form dmg_forms[DMG_N_FORMS] = {
	/* plan, layout, flags, bits, fill, merged, fresh, commits, half merged */
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 64, 50, 2400, 150, 3, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, 0, 64, 50, 2400, 0, 3, 0 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 64, 0, 1600, 40, 40, 0 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, 0, 64, 50, 1500, 300, 2, 1 },
	{ "3x22", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2, 48, 50, 2000, 300, 4, 1 },
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS, 64, 50, 2400, 100, 4, 0 },
	{ "16x28", SIMIDX_LAYOUT_BLOCKS, 0, 64, 90, 600, 50, 6, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 64, 0, 700, 120, 3, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, 0, 64, 0, 700, 0, 3, 0 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 64, 0, 600, 40, 40, 0 },
	{ "3x22", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 48, 0, 600, 200, 2, 1 },
	{ "4x16", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_NO_IDS, 32, 0, 800, 100, 4, 0 },
	{ "10x26", SIMIDX_LAYOUT_ROWS, 0, 64, 0, 300, 40, 5, 0 },
	{ "2x32", SIMIDX_LAYOUT_ROWS, SIMIDX_CREATE_FP2, 64, 0, 900, 90, 2, 0 },
};

/* Set in children that make half a merge: the commit at which they end. */
static unsigned commits, kill_at;

int __wrap_mdb_txn_commit(struct MDB_txn *txn)
{
	int rc = __real_mdb_txn_commit(txn);

	if (kill_at && ++commits == kill_at)
		_exit(KILLED);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * Documents
 */

int dmg_has_ids(const dmg_sample *sample)
{
	return !(sample->form->flags & SIMIDX_CREATE_NO_IDS);
}

uint64_t dmg_doc_hash(const dmg_doc *doc)
{
	uint64_t fields[] = { doc->id, doc->fp, doc->fp2,
			      doc->label ? sx_hash(doc->label, doc->label_size) : 0 };

	return sx_hash(fields, sizeof(fields));
}

/* Zeros that are never freed and that a fork does not copy: there are many thousand forks. */
static void *shared(size_t size)
{
	static unsigned char *chunk;
	static size_t left;
	unsigned char *p;

	if (size > left) {
		left = size > CHUNK ? size : CHUNK;
		chunk = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		sxt_must(chunk != MAP_FAILED);
	}
	p = chunk;
	size = (size + 7) / 8 * 8;
	chunk += size;
	left -= size > left ? left : size;
	return p;
}

static const char *make_label(size_t i, size_t *size)
{
	static char label[LONG_LABEL];

	memset(label, 'x', LONG_LABEL);
	*size = (size_t)snprintf(label, LONG_LABEL, "http://example.org/%zu", i);
	if (i % 500 == 101) {
		label[*size] = '/';
		*size = LONG_LABEL - i % 3;
	}
	return memcpy(shared(*size), label, *size);
}

/* Near to others in groups of four; some ids are left free. */
static void make_docs(dmg_sample *s, sxt_rng *rng)
{
	size_t n = s->form->merged + s->form->fresh;
	unsigned bits = s->form->bits;
	uint64_t centre = 0;

	s->docs = shared(n * sizeof(*s->docs));
	s->sums = shared((n + 1) * sizeof(*s->sums));
	for (s->n_docs = 0; s->n_docs < n; s->n_docs++) {
		dmg_doc *doc = &s->docs[s->n_docs];
		size_t i = s->n_docs;

		if (i % 4 == 0)
			centre = sxt_rng_u64(rng) >> (64 - bits);
		doc->id = dmg_has_ids(s) ? i + i / 10 : SIMIDX_NO_ID;
		/* Without ids each fingerprint is there once. */
		do
			doc->fp = sxt_rng_flip(rng, centre, bits, (unsigned)(i % 4));
		while (!dmg_has_ids(s) && dmg_find_doc(s, 0, doc->fp) < i);
		if (dmg_has_ids(s) && i % 9 == 0)
			doc->fp = 12345;
		if (s->form->flags & SIMIDX_CREATE_FP2)
			doc->fp2 = sxt_rng_u64(rng);
		if (dmg_has_ids(s) && i % 3 == 2)
			doc->label = make_label(i, &doc->label_size);
		s->sums[i + 1] = s->sums[i] + dmg_doc_hash(doc);
	}
	for (unsigned q = 0; q < DMG_QUERIES; q++)
		s->queries[q] = sxt_rng_flip(rng, s->docs[sxt_rng_below(rng, n)].fp, bits, q % 3);
}

static void put(const dmg_sample *s, simidx *index, size_t from, size_t to)
{
	simidx_writer *writer = sxt_writer(index, 0);

	for (size_t i = from; i < to; i++) {
		const dmg_doc *from_doc = &s->docs[i];
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = from_doc->id;
		doc.fp = from_doc->fp;
		doc.fp2 = from_doc->fp2;
		doc.flags = s->form->flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
		doc.label = from_doc->label;
		doc.label_size = from_doc->label_size;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

/* ------------------------------------------------------------------------------------------
 * Commits
 */

/* The file as it is now; the oldest image goes if there is no more room. */
static void keep_image(dmg_sample *s, const char *data_path, size_t n)
{
	size_t size;
	unsigned char *data = sxt_file_read(data_path, &size);
	dmg_image *last;

	if (!s->n_commits || s->commits[s->n_commits - 1] != n) {
		sxt_must(s->n_commits < DMG_MAX_COMMITS);
		s->commits[s->n_commits++] = n;
	}
	last = s->n_images ? &s->images[s->n_images - 1] : NULL;
	if (last && last->size == size && !memcmp(last->data, data, size)) {
		free(data);
		return;
	}
	if (s->n_images == DMG_MAX_IMAGES)
		memmove(s->images, s->images + 1, --s->n_images * sizeof(s->images[0]));
	s->images[s->n_images++] = (dmg_image){ memcpy(shared(size), data, size), size,
						s->n_commits - 1 };
	free(data);
}

static int merge_until_killed(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(ctx, 0);

	(void)me;
	index->tuning.merge_blocks = 4;
	index->tuning.merge_rows = 150;
	commits = 0;
	sxt_merge(index);
	simidx_close(index);
	return 0;
}

/* Each commit of a merge, by merges that are killed one commit later each time. */
static void keep_half_merges(dmg_sample *s, const char *path, const char *data_path)
{
	size_t size;
	void *before = sxt_file_read(data_path, &size);
	int status = KILLED;

	for (kill_at = 1; status == KILLED; kill_at++) {
		sxt_file_write(data_path, before, size);
		status = sxt_proc_run(merge_until_killed, (void *)path);
		sxt_must(status == KILLED || !status);
		if (status)
			keep_image(s, data_path, s->n_docs);
	}
	kill_at = 0;
	free(before);
}

void dmg_sample_make(dmg_sample *s, const dmg_form *form, const char *dir)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *path = sxt_path(dir, "sample"), *data_path = sxt_path(path, "data.mdb");
	size_t from = 0, to;
	simidx *index;
	sxt_rng rng;

	memset(s, 0, sizeof(*s));
	s->form = form;
	sxt_rng_init(&rng, 1000 + (uint64_t)(form - dmg_forms));
	make_docs(s, &rng);
	s->commits[s->n_commits++] = 0; /* the index when it was made */
	o.plan = form->plan;
	o.layout = form->layout;
	o.flags = form->flags;
	o.bits = form->bits;
	o.fill = form->fill;
	index = sxt_create(path, &o);
	for (unsigned i = 1; i <= form->commits; i++, from = to) {
		to = (size_t)form->merged * i / form->commits;
		put(s, index, from, to);
		keep_image(s, data_path, to);
		sxt_merge(index);
		keep_image(s, data_path, to);
	}
	/* In two commits, so that there is an older one with fresh rows. */
	for (; from < s->n_docs; from = to) {
		to = from == form->merged ? from + (s->n_docs - from + 1) / 2 : s->n_docs;
		put(s, index, from, to);
		keep_image(s, data_path, to);
	}
	simidx_close(index);
	if (form->half_merged)
		keep_half_merges(s, path, data_path);
	sxt_remove(path);
	free(data_path);
	free(path);
}

/* ------------------------------------------------------------------------------------------
 * What must be answered
 */

int dmg_is_doc(const dmg_sample *s, const dmg_doc *doc, const simidx_match *match, int with_label)
{
	if (match->id != doc->id || match->fp != doc->fp)
		return 0;
	if (!!(match->flags & SIMIDX_MATCH_FP2) != !!(s->form->flags & SIMIDX_CREATE_FP2) ||
	    (match->flags & SIMIDX_MATCH_FP2 && match->fp2 != doc->fp2))
		return 0;
	if (!with_label)
		return 1;
	if (!(match->flags & SIMIDX_MATCH_LABEL) || !doc->label)
		return !(match->flags & SIMIDX_MATCH_LABEL) && !doc->label;
	return match->label_size == doc->label_size &&
	       !memcmp(match->label, doc->label, doc->label_size);
}

uint64_t dmg_all_commits(const dmg_sample *s)
{
	return s->n_commits == 64 ? UINT64_MAX : (UINT64_C(1) << s->n_commits) - 1;
}

uint64_t dmg_commits_with(const dmg_sample *s, size_t i, int is_there)
{
	uint64_t mask = 0;

	for (unsigned c = 0; c < s->n_commits; c++)
		mask |= (uint64_t)((i < s->commits[c]) == is_there) << c;
	return mask;
}

uint64_t dmg_commits_of_sum(const dmg_sample *s, size_t n, uint64_t sum)
{
	for (unsigned c = 0; c < s->n_commits; c++)
		if (s->commits[c] == n)
			return (uint64_t)(s->sums[n] == sum) << c;
	return 0;
}

size_t dmg_find_doc(const dmg_sample *s, uint64_t id, uint64_t fp)
{
	size_t i;

	if (dmg_has_ids(s)) {
		i = (size_t)(id - id / 11); /* the inverse of make_docs() */
		return id < UINT32_MAX && i < s->n_docs && s->docs[i].id == id ? i : s->n_docs;
	}
	for (i = 0; i < s->n_docs && s->docs[i].fp != fp; i++)
		;
	return i;
}

static unsigned distance(uint64_t a, uint64_t b)
{
	return (unsigned)__builtin_popcountll(a ^ b);
}

/* By (distance, id), without ids by (distance, fingerprint). */
static int is_ordered(const simidx_match *a, const simidx_match *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	return a->id != b->id ? a->id < b->id : a->fp < b->fp;
}

uint64_t dmg_commits_of_answer(const dmg_sample *s, uint64_t query, unsigned radius,
			       const simidx_results *results, int with_labels)
{
	size_t near = 0, d = 0;
	uint64_t mask = 0, sum = 0, expected = 0;

	for (size_t i = 0; i < results->n; i++) {
		const simidx_match *m = &results->matches[i];
		size_t doc = dmg_find_doc(s, m->id, m->fp);

		if (doc == s->n_docs || !dmg_is_doc(s, &s->docs[doc], m, with_labels) ||
		    m->distance != distance(query, m->fp) || (i && !is_ordered(m - 1, m)))
			return 0;
		sum += sx_hash_u64(doc);
	}
	for (unsigned c = 0; c < s->n_commits; c++) {
		for (; d < s->commits[c]; d++) {
			if (distance(query, s->docs[d].fp) > radius)
				continue;
			near++;
			expected += sx_hash_u64(d);
		}
		mask |= (uint64_t)(near == results->n && expected == sum) << c;
	}
	return mask;
}
