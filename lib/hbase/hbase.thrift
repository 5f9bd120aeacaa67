// SPDX-License-Identifier: MIT
// Copyright the libsimidx authors
//
// What libsimidx-hbase needs of HBase's Thrift2 gateway: the calls that it makes and the fields that
// it sets or reads. Names of calls, numbers and types of fields are those of the gateway of HBase 2.5
// to 3.0; names of types and fields are our own, as they are not sent. The gateway takes what is left
// out as its default, and fields of its answers that are not listed here are skipped.

namespace cpp simidx_hbase.gateway

enum ServerKind { THRIFT1 = 1, THRIFT2 = 2 }
enum ReadType { DEFAULT = 1, STREAM = 2, PREAD = 3 }
enum Durability { TABLE = 0, NONE = 1, ASYNC = 2, SYNC = 3, FSYNC = 4 }
enum DeleteType { ONE_VERSION = 0, ALL_VERSIONS = 1 }
enum Bloom { NONE = 0, ROW = 1, ROW_COLUMN = 2, ROW_PREFIX = 3 }
enum Compression { LZO = 0, GZ = 1, NONE = 2, SNAPPY = 3, LZ4 = 4, BZIP2 = 5, ZSTD = 6 }
enum Encoding { NONE = 0, PREFIX = 2, DIFF = 3, FAST_DIFF = 4, ROW_INDEX = 7 }

struct TableName {
	1: optional binary space
	2: required binary name
}

struct Cell {
	1: required binary family
	2: required binary column
	3: required binary value
	4: optional i64 timestamp
}

// Columns are deleted as of their own timestamp: the gateway ignores that of the whole deletion.
struct Column {
	1: required binary family
	2: optional binary column
	3: optional i64 timestamp
}

struct Put {
	1: required binary row
	2: required list<Cell> cells
	3: optional i64 timestamp
	6: optional Durability durability
}

struct Delete {
	1: required binary row
	2: optional list<Column> columns
	4: optional DeleteType type
	7: optional Durability durability
}

struct Get {
	1: required binary row
	2: optional list<Column> columns
	14: optional bool existence_only
}

struct Scan {
	1: optional binary start
	2: optional binary stop
	3: optional list<Column> columns
	4: optional i32 caching
	12: optional bool cache_blocks
	14: optional ReadType read_type
	15: optional i32 limit
}

struct Result {
	1: optional binary row
	2: required list<Cell> cells
}

union Mutation {
	1: Put put
	2: Delete remove
}

struct RowMutations {
	1: required binary row
	2: required list<Mutation> mutations
}

struct Family {
	1: required binary name
	3: optional map<string, string> configuration
	5: optional Bloom bloom
	6: optional Compression compression
	8: optional Encoding encoding
	10: optional i32 max_versions
}

struct TableDescriptor {
	1: required TableName table
	2: optional list<Family> families
	3: optional map<binary, binary> attributes
}

struct NamespaceDescriptor {
	1: required string name
}

exception IOError {
	1: optional string message
	2: optional bool can_retry
}

service Gateway {
	ServerKind getThriftServerType()
	bool tableExists(1: TableName table) throws (1: IOError io)
	TableDescriptor getTableDescriptor(1: TableName table) throws (1: IOError io)
	bool isTableEnabled(1: TableName table) throws (1: IOError io)
	void createTable(1: TableDescriptor table, 2: list<binary> splits) throws (1: IOError io)
	void disableTable(1: TableName table) throws (1: IOError io)
	void deleteTable(1: TableName table) throws (1: IOError io)
	void createNamespace(1: NamespaceDescriptor space) throws (1: IOError io)

	void putMultiple(1: binary table, 2: list<Put> puts) throws (1: IOError io)
	list<Delete> deleteMultiple(1: binary table, 2: list<Delete> deletes) throws (1: IOError io)
	void mutateRow(1: binary table, 2: RowMutations mutations) throws (1: IOError io)
	list<Result> getMultiple(1: binary table, 2: list<Get> gets) throws (1: IOError io)
	list<bool> existsAll(1: binary table, 2: list<Get> gets) throws (1: IOError io)
	list<Result> getScannerResults(1: binary table, 2: Scan scan, 3: i32 rows)
		throws (1: IOError io)

	// An empty value stands for "there is no such cell, or it is empty".
	bool checkAndPut(1: binary table, 2: binary row, 3: binary family, 4: binary column,
			 5: binary value, 6: Put put) throws (1: IOError io)
}
