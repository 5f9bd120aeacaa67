/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bytes of rows: doc/hbase-design.md describes them. Numbers are big-endian in keys, so that
 * HBase's order is theirs, and in values, too.
 */

#ifndef HB_ROWS_HH
#define HB_ROWS_HH

#include <simidx_engine.h>
#include <simidx_hbase.h>

#include <string>
#include <vector>

#include "hbase_types.h"

namespace simidx_hbase {

const unsigned FORMAT = SIMIDX_HBASE_FORMAT; /**< of the rows; an index of another one is refused */
const unsigned MAX_TABLES = 32;
const unsigned SALTS = SIMIDX_HBASE_SALTS;
const char FAMILY[] = "d";
const size_t INDEX_KEY_SIZE = SIMIDX_HBASE_INDEX_KEY;
const size_t JOURNAL_SIZE = 32; /* of its own cell */

/* First byte of the rows of the table of documents. */
const char ROW_COUNTER = 'c';   /**< the next id */
const char ROW_DOCUMENT = 'd';  /**< salt, id */
const char ROW_LEASE = 'e';     /**< of a prefix: table, prefix */
const char ROW_LABEL = 'l';     /**< hash of the label; one column an id */
const char ROW_LAYOUT = 'm';
const char ROW_WRITER = 'w';    /**< number of the writer */
const char ROW_TEXT = 'x';      /**< pieces of the description */

/* Columns of a writer's row. */
const char COLUMN_OWNER[] = "o";
const char COLUMN_COUNTS[] = "n";
const char COLUMN_MARK[] = "k";
const char COLUMN_MARKS[] = "s";    /**< who, with this number, stores marks; of the counter: see
                                         resumed() */
const char COLUMN_JOURNAL[] = "j";  /**< says which pieces make the journal */
const char COLUMN_PIECE = 'p';      /**< p, number: 2 bytes */

void put_number(std::string &out, uint64_t value, int bytes);
uint64_t get_number(const std::string &in, size_t at, int bytes);

std::string index_prefix(unsigned table, uint32_t prefix);
std::string index_key(unsigned table, uint32_t prefix, uint64_t fp, uint64_t id);
/**
 * Above all keys that begin with `prefix`, and with the same first bytes, as the prefix filter
 * needs.
 */
std::string above(const std::string &prefix);

unsigned salt(uint64_t id);
std::string document_key(uint64_t id);
std::string label_hash(const char *label, size_t size);
std::string label_key(const std::string &hash);
std::string writer_key(unsigned writer);
std::string lease_key(unsigned table, uint32_t prefix);

/**
 * The cell of an owner, of a lease or of a writer's number: until when it is somebody's, in
 * milliseconds since 1970, and whose.
 */
std::string owner_value(int64_t until, const std::string &token);
/**
 * The same of what nobody has. No two are equal: so a request that was to take it, and arrives when
 * others have had it meanwhile, takes nothing. `timestamp` is one that this token has not used
 * before.
 */
std::string free_value(const std::string &token, int64_t timestamp);
/** Whose it is; empty: nobody's. */
std::string token_of(const std::string &value);
/** Until when; 0: nobody's. */
int64_t until_of(const std::string &value);

/** What a row of a document says. */
struct Document {
	uint64_t id = 0, fp = 0, fp2 = 0;
	unsigned flags = 0;   /**< SIMIDX_DOC_FP2, SIMIDX_DOC_FP2_UNKNOWN */
	bool labelled = false;
	bool deleted = false; /**< the row stays for a while, for its timestamp */
	std::string label;
	int64_t timestamp = 0;
};

std::string document_value(const Document &document);
/** False where the bytes are no document. */
bool parse_document(const gateway::Result &row, Document &out);

/** A change as the journal keeps it. */
struct Change {
	bool has_before = false, has_after = false;
	Document after; /**< its id is the document's in any case */
	uint64_t before_fp = 0;
	std::string before_label_hash; /**< empty: no label */
	std::vector<uint32_t> before_prefix, after_prefix;
};

/** A batch as the journal keeps it: all that is needed to finish it. */
struct Batch {
	int64_t timestamp = 0;
	int64_t documents = 0, labels = 0; /**< of the writer, after the batch; in the journal's own
	                                        cell */
	bool has_mark = false;
	std::string mark;
	std::vector<Change> changes;
};

std::string batch_bytes(const Batch &batch, unsigned n_tables);
/** False where the bytes are no batch. */
bool parse_batch(const std::string &bytes, unsigned n_tables, Batch &out);

/** XXH3-64. */
uint64_t checksum(const std::string &bytes);

gateway::Cell cell(const std::string &column, const std::string &value, int64_t timestamp);
gateway::Put put(const std::string &row, const std::string &column, const std::string &value,
		 int64_t timestamp, gateway::Durability::type durability);
/** Delete all versions of a column up to a timestamp. */
gateway::Delete remove(const std::string &row, const std::string &column, int64_t timestamp,
		       gateway::Durability::type durability);
/** The cell of a column, or NULL. */
const gateway::Cell *find_cell(const gateway::Result &row, const std::string &column);

} // namespace simidx_hbase

#endif /* HB_ROWS_HH */
