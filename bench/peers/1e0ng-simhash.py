#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# SimhashIndex of 1e0ng/simhash ("pip install simhash") as a contestant of bench/bn_search: bench/bn_peer.c
# describes what is read and printed. Usage: 1e0ng-simhash.py FILE RADIUS
import array
import json
import logging
import os
import sys
import time

from simhash import Simhash, SimhashIndex

QUERIES = 1000
ALL = (1 << 64) - 1


def mix(x):
    """What bn_mix() of bench/bn_util.c computes."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & ALL
    x = (x ^ x >> 27) * 0x94D049BB133111EB & ALL
    return x ^ x >> 31


def read_set(path):
    words = array.array("Q")
    with open(path, "rb") as file:
        words.fromfile(file, os.path.getsize(path) // 8)
    return words[2 : 2 + words[0]], words[2 + words[0] :]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def build(documents, radius):
    index = SimhashIndex([], f=64, k=radius)
    for i, fingerprint in enumerate(documents):
        index.add(str(i), Simhash(fingerprint, f=64))
    return index


def run(index, work, first, queries):
    out = {"mean_us": 0, "p50_us": 0, "p99_us": 0, "n": 0}
    total, times = 0, []
    begin = time.thread_time()
    for i, query in enumerate(queries):
        start = time.perf_counter()
        found = index.get_near_dups(Simhash(query, f=64))
        times.append(1e6 * (time.perf_counter() - start))
        out["n"] += len(found)
        if work == "check":
            ids = sum(mix(int(one) + 1) for one in found)
            total += ids * (mix(first + i + 1) | 1)
    if queries:
        out["mean_us"] = 1e6 * (time.thread_time() - begin) / len(queries)
        times.sort()
        out["p50_us"] = times[(len(times) - 1) // 2]
        out["p99_us"] = times[int((len(times) - 1) * 0.99)]
    out["sum"] = "%x" % (total & ALL)
    return out


def main():
    logging.disable(logging.CRITICAL)  # it warns of sets of more than 200
    documents, queries = read_set(sys.argv[1])
    before, start = resident(), time.monotonic()
    index = build(documents, int(sys.argv[2]))
    built = {
        "build_s": time.monotonic() - start,
        "bytes": (resident() - before) / len(documents),
        "max_queries": QUERIES,
    }
    print(json.dumps(built, separators=(",", ":")), flush=True)
    for line in sys.stdin:
        work, first, n = line.split()
        out = run(index, work, int(first), queries[int(first) : int(first) + int(n)])
        print(json.dumps(out, separators=(",", ":")), flush=True)


main()
