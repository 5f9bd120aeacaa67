#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Errors of a second day: what simidx-dedup decides by what its index remembers of the first one.

    bench/second_day.py SIMIDX-DEDUP WORDS:ROWS ...

For each length, ROWS rows of WORDS random words are kept, and as many come, each of them one of the first
with words replaced. How many, is drawn so that the similarity lies between .60 and 1. A line for each length:
of the rows whose similarity is in each range how many there are, how many the index of sketches decides
otherwise than the true similarity, and how many an index of texts does. What an index of texts keeps, though
it is near, the search has not found.
"""
import json
import random
import subprocess
import sys
import tempfile

RANGES = [(.85, 1.01), (.80, .85), (.75, .80), (.60, .75)]


def shingles(words):
    return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}


def make(rng, n_words, n_rows, path):
    """Write both days. Returns the similarity of each row of the second one."""
    first = [["w%d" % rng.randrange(60000) for _ in range(n_words)] for _ in range(n_rows)]
    with open(path + "/first.jsonl", "w") as out:
        for words in first:
            out.write(json.dumps({"text": " ".join(words)}) + "\n")
    similar = []
    with open(path + "/second.jsonl", "w") as out:
        for words in first:
            new = list(words)
            # Each of k words takes up to five shingles away: (1 - 5 x) / (1 + 5 x) for a share of x.
            s = rng.uniform(.6, 1)
            k = round((1 - s) / (1 + s) / 5 * n_words)
            for i in rng.sample(range(n_words), k):
                new[i] = "x%d" % rng.randrange(10**9)
            a, b = shingles(words), shingles(new)
            similar.append(len(a & b) / len(a | b))
            out.write(json.dumps({"text": " ".join(new)}) + "\n")
    return similar


def run(tool, path, remember):
    """The numbers of the rows of the second day that are left out."""
    command = [tool, "-q", "--stream", "--index", path + "/" + remember, "--remember", remember]
    subprocess.run(command + [path + "/first.jsonl"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(command + ["--dups", path + "/dups." + remember, path + "/second.jsonl"],
                   check=True, stdout=subprocess.DEVNULL)
    with open(path + "/dups." + remember) as dups:
        return {int(line.split("\t")[1].rsplit(":", 1)[1]) - 1 for line in dups}


def main():
    print("words rows " + " ".join("%.2f:rows sketch text" % low for low, _ in RANGES))
    for what in sys.argv[2:]:
        n_words, n_rows = map(int, what.split(":"))
        with tempfile.TemporaryDirectory() as path:
            similar = make(random.Random(n_words), n_words, n_rows, path)
            out = {remember: run(sys.argv[1], path, remember) for remember in ("sketch", "text")}
        line = [n_words, n_rows]
        for low, high in RANGES:
            rows = [i for i, s in enumerate(similar) if low <= s < high]
            line.append(len(rows))
            line += [sum((i in out[r]) != (similar[i] >= .8) for i in rows) for r in ("sketch", "text")]
        print(*line, flush=True)


if __name__ == "__main__":
    main()
