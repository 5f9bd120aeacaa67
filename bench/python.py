#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""What the Python package costs beside a program in C that makes the same calls with the same arrays.

    PYTHONPATH=PACKAGE bench/python.py BUILD [--rows N] [--rounds N] [--threads N] [--rival-rows N] [--dir DIR]

BUILD is the build directory, where `make bench/bn_columns` was done. Each contestant runs in a process of its
own, and all take turns. Prints the CPU time of all threads (the median of the rounds) and how many times that of
the program in C it is. The answers are compared. "list" takes and gives what Python has, numbers and str. rensa
and datasketch, where they are installed, do as their pages say, with the first --rival-rows in one round: 128
permutations, a threshold of 0.8, and words; they decide by estimates, and what they keep is printed.
"""

import argparse
import json
import random
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
from array import array


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def make(where, n, seed=5):
    """Files of fingerprints and queries, half of which have a match, and of texts of 60 words, a third
    of which are earlier ones with words replaced."""
    rng = random.Random(seed)
    fps = array("Q", (rng.getrandbits(64) for _ in range(n)))
    queries = array("Q", fps)
    for i in range(n):
        queries[i] = (queries[i] ^ 1 << rng.randrange(64)) if i % 2 else rng.getrandbits(64)
    with open(where + "/fps", "wb") as out:
        out.write(fps)
    with open(where + "/queries", "wb") as out:
        out.write(queries)
    words = [f"w{i}" for i in range(40000)]
    some = []
    at = 0
    with open(where + "/bytes", "wb") as data, open(where + "/offsets", "wb") as offsets:
        offsets.write(struct.pack("<i", 0))
        for _ in range(n):
            if some and rng.random() < 1 / 3:
                text = some[rng.randrange(len(some))][:]
                for _ in range(rng.choice([0, 1, 1, 2, 5])):
                    text[rng.randrange(60)] = rng.choice(words)
            else:
                text = rng.choices(words, k=60)
                if len(some) < 20000:
                    some.append(text)
                else:
                    some[rng.randrange(20000)] = text
            line = " ".join(text).encode()
            at += len(line)
            data.write(line)
            offsets.write(struct.pack("<i", at))


def numbers(path, code):
    values = array(code)
    with open(path, "rb") as file:
        values.frombytes(file.read())
    return values


def arrow(where):
    import pyarrow

    with open(where + "/offsets", "rb") as file:
        offsets = pyarrow.py_buffer(file.read())
    with open(where + "/bytes", "rb") as file:
        data = pyarrow.py_buffer(file.read())
    n = len(offsets) // 4 - 1
    texts = pyarrow.StringArray.from_buffers(n, offsets, data)
    return pyarrow.table({"n": pyarrow.array(range(n)), "text": texts})


def texts(where):
    offsets = numbers(where + "/offsets", "i")
    with open(where + "/bytes", "rb") as file:
        data = file.read()
    return [data[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def rival(name, lines):
    kept = []
    if name == "rensa":
        import rensa

        table = rensa.RMinHashLSH(0.8, 128, 16)
        for i, line in enumerate(lines):
            minhash = rensa.RMinHash(128, 42)
            minhash.update(line.split())
            if not table.query(minhash):
                table.insert(i, minhash)
                kept.append(i)
    else:
        import datasketch

        lsh = datasketch.MinHashLSH(threshold=0.8, num_perm=128)
        for i, line in enumerate(lines):
            sketch = datasketch.MinHash(num_perm=128)
            sketch.update_batch([word.encode() for word in line.split()])
            if not lsh.query(sketch):
                lsh.insert(i, sketch, check_duplication=False)
                kept.append(i)
    return kept


def run(what, where, threads, rival_rows):
    """One contestant, in this process: a line of JSON."""
    if what in ("rensa", "datasketch"):
        lines = texts(where)[:rival_rows]
        before = cpu()
        kept = rival(what, lines)
        print(json.dumps({"kept": len(kept), "cpu_s": cpu() - before}))
        return
    import simidx

    if what in ("search", "search list"):
        queries = numbers(where + "/queries", "Q")
        if what == "search list":
            queries = list(queries)
        with simidx.Index(where + "/index") as index:
            before = cpu()
            found = index.search_many(queries, radius=3, threads=threads)
            after = cpu()
        print(json.dumps({"found": len(found.ids), "sum": sum(found.ids), "cpu_s": after - before}))
    elif what == "dedup":
        table = arrow(where)
        before = cpu()
        kept = [batch for batch in simidx.dedup(table.to_reader(8192), threads=threads, tmpdir=where)]
        after = cpu()
        import pyarrow

        rows = pyarrow.Table.from_batches(pyarrow.record_batch(b) for b in kept)["n"].to_pylist()
        print(json.dumps({"kept": len(rows), "sum": sum(rows), "cpu_s": after - before}))
    else:
        lines = texts(where)
        before = cpu()
        rows = [n for n, _ in simidx.dedup_texts(lines, threads=threads, tmpdir=where)]
        after = cpu()
        print(json.dumps({"kept": len(rows), "sum": sum(rows), "cpu_s": after - before}))


def measure(options, where, what):
    """The line of one contestant."""
    threads = str(options.threads)
    program = options.build + "/bench/bn_columns"
    if what == "C search":
        command = [program, "search", where + "/index", where + "/queries", "3", threads]
    elif what == "C dedup":
        new = tempfile.mkdtemp(dir=where) + "/index"
        command = [program, "dedup", new, where + "/offsets", where + "/bytes", threads]
    else:
        command = [sys.executable, __file__, options.build, "--run", what, "--dir", where]
        command += ["--threads", threads, "--rival-rows", str(options.rival_rows)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build")
    parser.add_argument("--rows", type=int, default=1000000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rival-rows", type=int, default=100000)
    parser.add_argument("--dir", default=None)
    parser.add_argument("--run", default=None)
    options = parser.parse_args()
    if options.run:
        run(options.run, options.dir, options.threads, options.rival_rows)
        return
    import simidx

    with tempfile.TemporaryDirectory(dir=options.dir) as where:
        make(where, options.rows)
        with simidx.Index(where + "/index", create=True) as index:
            index.add(numbers(where + "/fps", "Q"))
        works = {"C search": ["search", "search list"], "C dedup": ["dedup", "dedup list"]}
        rivals = []
        for name in ("rensa", "datasketch"):
            try:
                __import__(name)
                rivals.append(name)
            except ImportError:
                print(f"{name} is not installed", file=sys.stderr)
        for base, others in works.items():
            everyone = [base, *others, *(rivals if base == "C dedup" else [])]
            lines = {name: [] for name in everyone}
            for i in range(options.rounds):
                for name in everyone:
                    if name not in rivals or not i:
                        lines[name].append(measure(options, where, name))
            rows = {n: min(options.rows, options.rival_rows if n in rivals else options.rows) for n in everyone}
            median = {n: statistics.median(x["cpu_s"] for x in lines[n]) for n in everyone}
            for name in everyone:
                answer = {k: v for k, v in lines[name][0].items() if k in ("found", "kept", "sum")}
                of_c = {key: lines[base][0][key] for key in answer}
                assert answer == of_c or name in rivals, (name, answer, of_c)
                us = median[name] / rows[name] * 1e6
                ratio = us / (median[base] / options.rows * 1e6)
                line = {"bench": "python", "contestant": name, "rows": rows[name], **answer}
                spread = [round(x["cpu_s"], 2) for x in lines[name]]
                print(json.dumps({**line, "cpu_s": round(median[name], 2), "all": spread}))
                row = f"{name:12} {rows[name]:9} rows {us:8.2f} us a row {ratio:7.2f} x "
                print(row, answer, file=sys.stderr)


if __name__ == "__main__":
    main()
