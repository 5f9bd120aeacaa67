/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What is written by bench/bn_write, and the interface of those that write it. */

#ifndef BN_WRITE_H
#define BN_WRITE_H

#include <stddef.h>
#include <stdint.h>

enum bn_op {
	BN_INSERT,
	BN_IF_NEW,
	BN_IF_NEW_TEXT, /**< by weights and second fingerprints, as of texts */
	BN_REPLACE,
	BN_DELETE,
	BN_REPLACE_LABEL, /**< the document is named by its label, as in the next one */
	BN_DELETE_LABEL,
	BN_OPS
};

/** One measurement. */
struct bn_write {
	const char *dir;    /**< where it may make files; empty */
	const char *base;   /**< where an index of the documents is, for contestants that copy it */
	uint64_t documents; /**< that are there at the beginning, with ids 0, 1, ... */
	enum bn_op op;
	int normal;         /**< the last commits may be lost in a power cut */
	int background;     /**< merges are made by a thread, not by commits */
	uint64_t threshold; /**< fresh rows before a merge */
	unsigned redis;     /**< port of a server that has nothing stored */
};

/** One change: delete document `id`, or give it or a new one this fingerprint. */
struct bn_change {
	uint64_t id, fp;
	uint64_t fp2;             /**< of BN_IF_NEW_TEXT, as the rest */
	const uint8_t *weights, *weights2;
};

#define BN_LABEL 40

/** The fingerprint of document `id`; that of a later one is the one of a larger id. */
uint64_t bn_write_fp(uint64_t id);

/** The second fingerprint of a document with this fingerprint. */
uint64_t bn_write_fp2(uint64_t fp);

/** The label of document `id`; returns its length. */
size_t bn_write_label(uint64_t id, char label[BN_LABEL]);

/** Whether documents have labels, for this kind of change. */
int bn_write_has_labels(enum bn_op op);

/** A contestant. Errors end the program. */
struct bn_writer {
	const char *name;
	unsigned ops; /**< bit n: kind of change n */
	/** Make one with all documents. */
	void *(*open)(const struct bn_write *write);
	/** Begin a transaction: wait until one may write. */
	void (*begin)(void *writer);
	void (*change)(void *writer, const struct bn_change *change);
	/** Decide the changes that wait to be decided together. NULL = none ever do. */
	void (*decide)(void *writer);
	/** Store the changes; returns how many documents were added, replaced or deleted. */
	uint64_t (*commit)(void *writer);
	/** Merges so far: a measurement ends with one. NULL = there are none. */
	uint64_t (*merges)(void *writer);
	/** Wait for what is done besides. NULL = there is no such thing. */
	void (*finish)(void *writer);
	/** Commits that waited until a merge had caught up. NULL = none ever does. */
	uint64_t (*waits)(void *writer);
	/** Changes that are not merged. NULL = there is no such thing. */
	uint64_t (*left)(void *writer);
	/** Documents that are there. */
	uint64_t (*count)(void *writer);
	/** Remove all that was made. */
	void (*close)(void *writer);
};

extern const struct bn_writer bn_write_own, bn_write_single, bn_write_lmdb, bn_write_redis;
#ifdef HAVE_SQLITE
extern const struct bn_writer bn_write_sqlite;
#endif

/** Make an index of the documents for bn_write_own. */
void bn_write_base(const char *dir, uint64_t documents, enum bn_op op);

#endif /* BN_WRITE_H */
