#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Runs text-dedup on rows, and writes what simidx-dedup writes: --help.
"""Filter JSON lines by text-dedup's minhash, and write what simidx-dedup --stream --dups writes.

text-dedup (https://pypi.org/project/text-dedup/) puts rows that share a band of their MinHashes into one
cluster, and keeps one row of each, which need not be the first one. So that bn_dups can judge this, all
rows are written to --ordered, those that are kept first. It does not say for which row one is left out:
all lines of --dups name the first one. Example:

  text-dedup.py --ordered ordered --dups dups rows.jsonl
  bn_dups ordered dups
"""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile


def deduplicate(options, directory):
    """Run it with one process. Returns the texts of the rows that it keeps, in their order."""
    kept = os.path.join(directory, "kept")
    subprocess.run(
        [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--split", "train",
         "--data_files", os.path.abspath(options.rows), "--column", options.text_field,
         "--cache_dir", os.path.join(directory, "cache"), "--output", kept, "--ngram", "5",
         "--min_length", "1", "--threshold", str(options.similarity), "--num_perm",
         str(options.permutations), "--num_proc", "1"],
        check=True, stdout=sys.stderr, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    import datasets
    for batch in datasets.load_from_disk(kept).iter(1000):
        yield from batch[options.text_field]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", metavar="ROWS.jsonl")
    parser.add_argument("--permutations", type=int, default=128, metavar="N")
    parser.add_argument("--similarity", type=float, default=.8, metavar="X")
    parser.add_argument("--text-field", default="text", metavar="NAME")
    parser.add_argument("--dups", metavar="FILE", required=True)
    parser.add_argument("--ordered", metavar="FILE", required=True)
    options = parser.parse_args()
    if not importlib.util.find_spec("text_dedup"):
        sys.exit("text-dedup.py: pip install text-dedup")
    left_out, n = [], 0
    with tempfile.TemporaryDirectory(prefix="text-dedup-") as directory:
        texts = deduplicate(options, directory)
        kept = next(texts, None)
        with open(options.rows, encoding="utf-8") as lines, \
                open(options.ordered, "w", encoding="utf-8") as ordered:
            for line in lines:
                if json.loads(line)[options.text_field] == kept:
                    ordered.write(line)
                    n += 1
                    kept = next(texts, None)
                else:
                    left_out.append(line)
            ordered.writelines(left_out)
        if kept is not None:
            sys.exit("text-dedup.py: the texts that are kept are not in the order of the rows")
    with open(options.dups, "w", encoding="utf-8") as dups:
        for number in range(n + 1, n + 1 + len(left_out)):
            dups.write(f"fp\t{options.ordered}:{number}\t{options.ordered}:1\n")


if __name__ == "__main__":
    main()
