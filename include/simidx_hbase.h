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
