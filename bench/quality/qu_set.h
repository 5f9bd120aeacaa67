/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A labelled collection: texts, and what is known of their pairs.
 *
 * PREFIX.jsonl has a JSON object a line with the members "id" (a string or an integer; without it
 * the line's number) and "text". PREFIX.pairs.tsv has the columns id1, id2 and label: "near",
 * "near:KIND" for a near pair of a text and an edited version of it, "edit:KIND" for another such
 * pair, "grey" (does not count) or "not". Pairs that are not there are "not". Either file may end
 * in .zst.
 */

#ifndef QU_SET_H
#define QU_SET_H

#include <stddef.h>
#include <stdint.h>

#define QU_MAX_KINDS 64
#define QU_MAX_KIND 24

enum qu_label { QU_NOT, QU_NEAR, QU_GREY, QU_EDIT };

struct qu_doc {
	char *id, *text;
	size_t size; /**< of the text, in bytes */
};

struct qu_pair {
	uint32_t later, earlier; /**< documents by number; the later one asks */
	unsigned label;          /**< enum qu_label */
	unsigned kind;           /**< of the edit; QU_MAX_KINDS: not known */
};

struct qu_set {
	char name[64];
	struct qu_doc *docs;
	size_t n;
	struct qu_pair *pairs; /**< ascending, each once */
	size_t n_pairs, n_near;
	int is_of_edits; /**< has edits that need not be near: nothing else is known of its pairs */
	unsigned n_kinds;
	char kinds[QU_MAX_KINDS][QU_MAX_KIND];
	size_t edits[QU_MAX_KINDS]; /**< pairs of each kind */
};

/** Documents and pairs; `text_field` is the member that has the text, NULL for "text". */
void qu_set_read(struct qu_set *set, const char *prefix, const char *text_field);

/** Documents alone, without PREFIX.pairs.tsv. */
void qu_set_read_docs(struct qu_set *set, const char *prefix, const char *text_field);
void qu_set_free(struct qu_set *set);

/** The bytes of a file, PREFIX and suffix, with or without ".zst"; for free(). */
char *qu_file_read(const char *prefix, const char *suffix, size_t *size);

/** What is known of two documents; NULL if nothing is. */
const struct qu_pair *qu_set_find(const struct qu_set *set, size_t later, size_t earlier);

#endif /* QU_SET_H */
