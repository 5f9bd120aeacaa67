/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_hbase.h - an index in HBase (libsimidx-hbase). doc/hbase.md is the manual.
 *
 * After simidx_hbase_add() a URI may stand wherever libsimidx takes the path of an index:
 *
 *   hbase://HOST[:PORT][,HOST[:PORT]...]/[NAMESPACE:]TABLE[?OPTION=VALUE[&OPTION=VALUE...]]
 *
 * HOST is a Thrift2 gateway of HBase (`hbase thrift2 start`), PORT is 9090 unless given. Of several
 * gateways the first one that answers is used. One that does not answer is passed over for a
 * minute: after 2 seconds if none has answered yet, else after half of the time of a call. An IPv6
 * address stands in brackets. The index has two tables, TABLE and TABLE_docs.
 *
 * | option        | values                     | default | meaning                                |
 * |---------------|----------------------------|---------|----------------------------------------|
 * | transport     | binary framed http https   | binary  | as the gateway was started             |
 * | path          | /...                       | /       | of HTTP requests                       |
 * | ca            | a PEM file                 | system  | authorities that are trusted, https    |
 * | timeout       | seconds                    | 30      | until a call that reads gives up       |
 * | write-timeout | seconds                    | 6 times | the same for a call that writes        |
 * | connections   | 1..64                      | 8       | most that one handle opens             |
 * | lease         | 1..3600 seconds            | 60      | until another writer may take over     |
 * | durability    | fsync sync async           | fsync   | what a commit waits for                |
 * | regions       | 1..10000                   | 16      | that a new index begins with           |
 * | compression   | none gz snappy lz4 zstd    | none    | of a new index                         |
 *
 * With transport=https the gateway must have a certificate from a trusted authority for the HOST of
 * the URI, and TLS of version 1.2 or later. The file is read when the index is opened.
 *
 * With durability=fsync a commit waits until it is on disks, and with SIMIDX_DURABILITY_NORMAL
 * until it is in the memory of the machines that keep copies; with `sync`, for that in both cases;
 * with `async`, for nothing.
 *
 * Errors, beside those of libsimidx: SIMIDX_E_IO after the deadline, with the last thing that went
 * wrong, and at once for what never gets better, such as a certificate that is refused;
 * SIMIDX_E_UNKNOWN from a commit of which some may be stored, and which the next writer or a repair
 * completes; SIMIDX_E_MOVED when the index was created anew meanwhile, from a commit and, a second
 * later at most, from a search; SIMIDX_E_RANGE from a commit of more than 128 MiB;
 * SIMIDX_E_PERMISSION when HBase denies access. Texts name the gateway.
 */

#ifndef SIMIDX_HBASE_H
#define SIMIDX_HBASE_H

#include <simidx_engine.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** The plans that an index in HBase can have: strings, separated by commas. */
#define SIMIDX_HBASE_PLANS "4x16", "10x26", "16x28", "20x31"

/*
 * The bytes of rows, for the engine and for programs that write many of them at once
 * (doc/hbase-design.md, "Tables and rows"). Numbers are big-endian.
 *
 * A row of the index: prefix, 4 bytes; number of the table from 1 on, 1; fingerprint, 8; id, 8.
 * A document: 'd'; salt, 1 byte; id, 8. Its value: SIMIDX_HBASE_FORMAT, 1; flags, 1; fingerprint,
 * 8; with SIMIDX_HBASE_HAS_FP2 the second one, 8; with SIMIDX_HBASE_HAS_LABEL the label.
 * A label: 'l'; its XXH3-128, 16, the high half first. It has a column for each id.
 */
#define SIMIDX_HBASE_FORMAT 1
#define SIMIDX_HBASE_INDEX_KEY (4 + 1 + 8 + 8)
#define SIMIDX_HBASE_DOCUMENT_KEY (1 + 1 + 8)
#define SIMIDX_HBASE_LABEL_KEY (1 + 16)
#define SIMIDX_HBASE_DOCUMENT_VALUE (1 + 1 + 8 + 8) /**< with a second fingerprint, no label */
#define SIMIDX_HBASE_SALTS 16      /**< parts of the table of documents, over which ids spread */
#define SIMIDX_HBASE_HAS_FP2 1u
#define SIMIDX_HBASE_HAS_LABEL 2u
#define SIMIDX_HBASE_LACKS_FP2 4u  /**< others have a second fingerprint, and its own is lost */
#define SIMIDX_HBASE_IS_DELETED 8u /**< the row stays for a while, for its timestamp */

/**
 * Let this process open indexes in HBase, from now on. May be called more than once, and from any
 * thread.
 *
 * @return SIMIDX_OK; SIMIDX_E_EXISTS: another engine has the scheme "hbase"; SIMIDX_E_VERSION:
 *         libsimidx is of another version
 */
int simidx_hbase_add(simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_HBASE_H */
