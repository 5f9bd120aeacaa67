#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Errors of a second day: what simidx-dedup decides by what its index remembers of the first one.

    bench/second_day.py SIMIDX-DEDUP WORDS:ROWS[:NEW] ...

For each length, ROWS rows of WORDS random words are kept, and as many come, each of them one of
the first with words replaced. How many, is drawn so that the similarity lies between .60 and 1. With
NEW, so many come, of which every fifth is such a row, and the others have words of their own. WORDS
may be a range, as 70-130.

A line for each length: of the rows whose similarity is in each range how many there are, how many
the index of sketches decides otherwise than the true similarity, and how many an index of texts
does. What an index of texts keeps, though it is near, the search has not found. Then for both
indexes: bytes a row after the first day, and the CPU time of a row of the second day, divided by
that of the first.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

RANGES = [(.85, 1.01), (.80, .85), (.75, .80), (0, .75)]
NEAR = 5  # with NEW, one of so many is near to a row of the first day


def shingles(words):
    return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}


def random_words(rng, lengths):
    return ["w%d" % rng.randrange(60000) for _ in range(rng.randint(*lengths))]


def replace_words(rng, words):
    """A copy with some words replaced, and how similar it is."""
    new = list(words)
    # Each of k words takes up to five shingles away: (1 - 5 x) / (1 + 5 x) for a share of x.
    s = rng.uniform(.6, 1)
    k = round((1 - s) / (1 + s) / 5 * len(words))
    for i in rng.sample(range(len(words)), k):
        new[i] = "x%d" % rng.randrange(10**9)
    a, b = shingles(words), shingles(new)
    return new, len(a & b) / len(a | b)


def make(rng, lengths, n_rows, n_new, path):
    """Write both days. Returns the similarity of each row of the second one."""
    first = [random_words(rng, lengths) for _ in range(n_rows)]
    with open(path + "/first.jsonl", "w") as out:
        for words in first:
            out.write(json.dumps({"text": " ".join(words)}) + "\n")
    similar = []
    with open(path + "/second.jsonl", "w") as out:
        for i in range(n_new or n_rows):
            if not n_new or i % NEAR == 0:
                words, s = replace_words(rng, rng.choice(first) if n_new else first[i])
            else:
                words, s = random_words(rng, lengths), 0
            out.write(json.dumps({"text": " ".join(words)}) + "\n")
            similar.append(s)
    return similar


def run(command):
    """CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_days(tool, path, remember):
    """Which rows of the second day are left out, bytes of the index after the first, CPU times."""
    index, dups = path + "/" + remember, path + "/dups." + remember
    command = [tool, "-q", "--threads", "1", "--stream", "--index", index, "--remember", remember]
    first = run(command + [path + "/first.jsonl"])
    n_bytes = os.stat(index + "/data.mdb").st_blocks * 512
    second = run(command + ["--dups", dups, path + "/second.jsonl"])
    with open(dups) as lines:
        out = {int(line.split("\t")[1].rsplit(":", 1)[1]) - 1 for line in lines}
    return out, n_bytes, first, second


def main():
    kinds = ("sketch", "text")
    print("words rows " + " ".join("%.2f:rows sketch text" % low for low, _ in RANGES) +
          " bytes:sketch text second/first:sketch text")
    for what in sys.argv[2:]:
        words, n_rows, n_new = (what + ":0").split(":")[:3]
        lengths = [int(n) for n in (words if "-" in words else words + "-" + words).split("-")]
        with tempfile.TemporaryDirectory() as path:
            similar = make(random.Random(lengths[0]), lengths, int(n_rows), int(n_new), path)
            days = [run_days(sys.argv[1], path, remember) for remember in kinds]
        line = [words, n_rows]
        for low, high in RANGES:
            rows = [i for i, s in enumerate(similar) if low <= s < high]
            line.append(len(rows))
            line += [sum((i in day[0]) != (similar[i] >= .8) for i in rows) for day in days]
        line += ["%.0f" % (n_bytes / int(n_rows)) for _, n_bytes, _, _ in days]
        line += ["%.2f" % (second / len(similar) / (first / int(n_rows)))
                 for _, _, first, second in days]
        print(*line, flush=True)


if __name__ == "__main__":
    main()
