#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Filters rows by MinHash, as rivals of simidx-dedup do: --help.
"""Filter JSON lines by MinHash and LSH, in memory, and write what simidx-dedup --stream --dups writes.

A row is left out if it is near to an earlier one that was kept. Two rows are near if their MinHashes
share a band, as people run it; with --verify if, too, the Jaccard similarity of their sets of
shingles, runs of five words, is at least --similarity. Kept rows go to standard output. For each row
that is left out a line goes to --dups, with the first row found near to it. What was used is printed
to standard error as a line of JSON. Examples:

  minhash.py --with rensa rows.jsonl >kept
  minhash.py --with rensa --permutations 256 --bands 32 --verify --dups dups rows.jsonl >kept
  bn_dups dups rows.jsonl
"""

import argparse
import json
import re
import resource
import sys
import time

WORD = re.compile(r"\w+")


def shingles(text):
    """Runs of five words; a shorter text is one run."""
    words = WORD.findall(text.lower())
    if not words:
        return set()
    return {" ".join(words[i:i + 5]) for i in range(max(1, len(words) - 4))}


class Rensa:
    """Rust: R-MinHash and an LSH table, https://pypi.org/project/rensa/."""

    def __init__(self, options):
        import rensa
        self.make = rensa.RMinHash
        self.permutations = options.permutations
        self.table = rensa.RMinHashLSH(options.similarity, options.permutations, options.bands)

    def near(self, words):
        self.minhash = self.make(self.permutations, 42)
        self.minhash.update(list(words))
        return sorted(self.table.query(self.minhash))

    def keep(self, number):
        self.table.insert(number, self.minhash)


class Datasketch:
    """Python and numpy: MinHash and MinHashLSH, https://pypi.org/project/datasketch/."""

    def __init__(self, options):
        import datasketch
        rows = options.permutations // options.bands
        self.make = datasketch.MinHash
        self.permutations = options.permutations
        self.table = datasketch.MinHashLSH(num_perm=options.permutations,
                                           params=(options.bands, rows))

    def near(self, words):
        self.minhash = self.make(num_perm=self.permutations)
        self.minhash.update_batch([word.encode() for word in words])
        return sorted(self.table.query(self.minhash))

    def keep(self, number):
        self.table.insert(number, self.minhash, check_duplication=False)


def run(options, engine):
    """Returns how many rows there were, and how many were kept."""
    sets = {}
    kept = rows = 0
    dups = open(options.dups, "w", encoding="utf-8") if options.dups else None
    with open(options.rows, encoding="utf-8") as lines:
        for rows, line in enumerate(lines, 1):
            words = shingles(json.loads(line)[options.text_field])
            keeper, similarity = None, "fp"
            for other in engine.near(words) if words else []:
                if not options.verify:
                    keeper = other
                    break
                jaccard = len(words & sets[other]) / len(words | sets[other])
                if jaccard >= options.similarity:
                    keeper, similarity = other, f"{int(jaccard * 1000 + 1e-9) / 10:.1f}"
                    break
            if keeper is not None:
                if dups:
                    dups.write(f"{similarity}\t{options.rows}:{rows}\t{options.rows}:{keeper}\n")
                continue
            kept += 1
            sys.stdout.write(line)
            if words:
                engine.keep(rows)
                if options.verify:
                    sets[rows] = words
    return rows, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", metavar="ROWS.jsonl")
    parser.add_argument("--with", dest="engine", choices=("rensa", "datasketch"), default="rensa")
    parser.add_argument("--permutations", type=int, default=128, metavar="N")
    parser.add_argument("--bands", type=int, default=16, metavar="N")
    parser.add_argument("--similarity", type=float, default=.8, metavar="X")
    parser.add_argument("--verify", action="store_true", help="compare the sets of shingles")
    parser.add_argument("--text-field", default="text", metavar="NAME")
    parser.add_argument("--dups", metavar="FILE")
    options = parser.parse_args()
    try:
        engine = {"rensa": Rensa, "datasketch": Datasketch}[options.engine](options)
    except ImportError as error:
        sys.exit(f"minhash.py: {error}: pip install {options.engine}")
    rows, kept = run(options, engine)
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime
    print(json.dumps({"bench": "dedup_peer", "with": options.engine, "verify": options.verify,
                      "permutations": options.permutations, "bands": options.bands, "rows": rows,
                      "kept": kept, "cpu_s": round(cpu, 2), "rows_s": round(rows / cpu),
                      "mb": used.ru_maxrss // 1024}), file=sys.stderr)


if __name__ == "__main__":
    main()
