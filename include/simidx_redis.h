/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_redis.h - an index in Redis (libsimidx-redis). doc/redis.md is the manual.
 *
 * After simidx_redis_add() a URI may stand wherever libsimidx takes the path of an index:
 *
 *   redis://[USER[:PASSWORD]@]HOST[:PORT]/NAME[?OPTION=VALUE[&OPTION=VALUE...]]
 *   unix:///SOCKET?name=NAME[&OPTION=VALUE...]
 *
 * HOST is a redis-server of version 7.0 or later, PORT is 6379 unless given. An IPv6 address stands
 * in brackets. NAME has up to 64 letters, digits and any of "._:-". USER ends at the first colon,
 * PASSWORD at the last @, and neither has a question mark. `rediss` in the place of `redis` is the
 * same with TLS, where this library was made with hiredis 1.0 or later and its hiredis_ssl;
 * elsewhere it is refused. The certificate of the server must be for HOST.
 *
 * | option        | values    | default | meaning                                              |
 * |---------------|-----------|---------|------------------------------------------------------|
 * | db            | 0..999999 | 0       | number of the database                               |
 * | timeout       | 1..3600   | 30      | seconds until a call gives up                        |
 * | user          | a name    | none    | as USER                                              |
 * | password-file | a path    | none    | a file whose first line is the password              |
 * | ca            | a path    | system  | rediss: certificates of authorities to trust         |
 * | cert, key     | paths     | none    | rediss: of the client                                |
 *
 * The password is that of the URI, or of the file, or else that of the variable
 * SIMIDX_REDIS_PASSWORD of the environment. No message shows it.
 *
 * Errors, beside those of libsimidx: SIMIDX_E_IO when the server is gone, silent until the deadline
 * or sends garbage, and when it is a node of a cluster and another node has the index, which is
 * named; SIMIDX_E_UNKNOWN from a commit of which some may be stored; SIMIDX_E_PERMISSION when it
 * denies access; SIMIDX_E_NO_SPACE when its memory is full; SIMIDX_E_READ_ONLY from a replica;
 * SIMIDX_E_CORRUPT when a key of the index holds something else; SIMIDX_E_MOVED when the index was
 * made anew meanwhile; SIMIDX_E_UNSUPPORTED for a server that is too old or would evict keys, and
 * for rediss where there is no TLS.
 */

#ifndef SIMIDX_REDIS_H
#define SIMIDX_REDIS_H

#include <simidx_engine.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** The plans that an index in Redis can have: strings, separated by commas. */
#define SIMIDX_REDIS_PLANS "4x16", "10x26", "16x28", "20x31"

/**
 * Let this process open indexes in Redis, from now on. May be called more than once, and from any
 * thread.
 *
 * @return SIMIDX_OK; SIMIDX_E_EXISTS: another engine has one of the schemes "redis", "rediss" and
 *         "unix"; SIMIDX_E_VERSION: libsimidx is of another version
 */
int simidx_redis_add(simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_REDIS_H */
