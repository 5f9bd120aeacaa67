#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Runs simidx-dedup beside MinHash in Python, with the same rows: --help.
"""Compare simidx-dedup with MinHash in Python, by the same rows and in one run.

Prints a table of the CPU time (the median of the rounds, which take turns), how many times as fast
as the slowest that is, the most memory, and what bn_dups says of the decisions: rows left out,
though no kept row is similar, and rows let through. "load" is simidx-load of the same rows, which decides
nothing. Rivals that are not installed are named and left out; the interpreter that runs this must
have them. Rows come from bn_rows, make_set.py, or anywhere.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def commands(build, rows):
    """What is run: names and arguments."""
    tool = os.path.join(build, "tools")
    minhash = [sys.executable, os.path.join(HERE, "minhash.py"), "--dups", "dups"]
    runs = {
        "load": [tool + "/simidx-load", "-q", "--threads", "1", "index", rows],
        "dedup": [tool + "/simidx-dedup", "-q", "--threads", "1", "--stream", "--dups", "dups",
                  rows],
    }
    if importlib.util.find_spec("rensa"):
        runs["rensa"] = minhash + [rows]
        runs["rensa, verified"] = minhash + ["--permutations", "256", "--bands", "32", "--verify",
                                             rows]
    if importlib.util.find_spec("datasketch"):
        runs["datasketch"] = minhash + ["--with", "datasketch", rows]
    if importlib.util.find_spec("text_dedup"):
        runs["text-dedup"] = [sys.executable, os.path.join(HERE, "text-dedup.py"), "--dups", "dups",
                              "--ordered", "ordered", rows]
    for peer in "rensa", "datasketch", "text-dedup":
        if peer not in runs:
            print(f"not here: {peer} ({sys.executable} -m pip install {peer})", file=sys.stderr)
    return runs


def measure(arguments):
    """Run it. Returns its CPU seconds and the most memory in MB."""
    with open("kept", "wb") as kept:
        child = subprocess.Popen(arguments, stdout=kept, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{arguments[0]} has failed: {said.decode(errors='replace')}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", help="the directory where make was run")
    parser.add_argument("rows", metavar="ROWS.jsonl")
    parser.add_argument("-r", "--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--only", metavar="NAME,...",
                        help="such as load,dedup,rensa (10^6 rows, verified: over 19 GB)")
    options = parser.parse_args()
    build, rows = os.path.abspath(options.build), os.path.abspath(options.rows)
    runs = commands(build, rows)
    if options.only:
        names = options.only.split(",")
        if not set(names) <= set(runs):
            parser.error(f"--only {options.only}: there are {', '.join(runs)}")
        runs = {name: runs[name] for name in names}
    times = {name: [] for name in runs}
    memory, judged = {}, {}
    directory = tempfile.mkdtemp(prefix="peers-")
    try:
        os.chdir(directory)
        for _ in range(options.rounds):
            for name, arguments in runs.items():
                shutil.rmtree("index", ignore_errors=True)
                for file in "dups", "ordered":
                    if os.path.exists(file):
                        os.remove(file)
                seconds, memory[name] = measure(arguments)
                times[name].append(seconds)
                if os.path.exists("dups") and name not in judged:
                    decided = "ordered" if os.path.exists("ordered") else rows
                    judged[name] = json.loads(subprocess.check_output(
                        [os.path.join(build, "bench", "bn_dups"), decided, "dups"]))
    finally:
        shutil.rmtree(directory)
    slowest = max(statistics.median(seconds) for seconds in times.values())
    print(f"{'':16}{'CPU s':>8}{'faster':>8}{'MB':>7}{'left out':>10}{'wrongly':>9}"
          f"{'let through':>13}")
    for name, seconds in times.items():
        median = statistics.median(seconds)
        errors = ""
        if name in judged:
            j = judged[name]
            errors = f"{j['left_out']:10,}{j['wrongly']:9,}{j['let_through']:13,}"
        print(f"{name:16}{median:8.2f}{slowest / median:8.1f}{memory[name]:7,}{errors}")


if __name__ == "__main__":
    main()
