#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Makes a large collection for bn_label and bn_quality from files of Debian packages: --help.
"""Cut a large collection for bn_label and bn_quality from files of Debian packages.

Writes PREFIX-tune.jsonl and PREFIX-kept.jsonl with half of the documents each, which come from
different files. Choose settings with the first, and look at the second in the end only. A row has
"id", "text" and "source". Documents are passages of 80 to 1,500 words, and 15 % of them are edited
copies of others: the id of a copy is that of its original, "~" and the kind of edit, and "rate" is
the share of the words that it was made for, .01 to .20. No two documents have the same words.

The files are those of the DEBs, which are unpacked into a temporary folder, or else of the packages
below as they are installed. They are documentation, manual pages, and programs in Python, Perl and
C; tags of HTML are left out. The same packages and seed give the same collection. Examples:

  mkdir debs && (cd debs && make_set.py --list | xargs apt-get download)
  make_set.py --documents 100000 big debs/*.deb
  cat big-tune.jsonl big-kept.jsonl >big.jsonl
  bn_label --least 30 big >big.pairs.tsv
  bn_quality --usual big

There is text for about 300,000 documents. For more, other packages come after these (--list), and for
10^6 passages must be shorter: --documents 1000000 --most 300.
"""

import argparse
import gzip
import hashlib
import html
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import tempfile

PACKAGES = """git-doc glibc-doc manpages manpages-de manpages-dev manpages-fr perl-doc
postgresql-doc-15 python3-django python3-numpy python3-scipy python3-sympy python3.11-doc
sqlite3-doc linux-source-6.1""".split()

# What comes after all files of these, where more than 300,000 documents are wanted.
MORE_FROM = 300000
MORE_PACKAGES = """ansible binutils-source erlang-doc gcc-12-source gdb-source glibc-source
linux-doc-6.1 openjdk-17-doc qtbase5-doc-html rust-doc sagemath-doc""".split()

LEAST = 80              # words of a passage
COPIES = 15             # percent of the documents
OF_A_FILE = 20          # passages at most, of 100,000 documents
LARGEST = 4 << 20       # bytes of a file
POOL = 1000             # passages whose words are put into others

WORD = re.compile(r"\w+")
TAG = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
NAME = re.compile(
    r"\.(txt|rst|md|html?|pod|pm|pl|py|c|h|[1-8][a-z]*)$|/(changelog|copyright|NEWS|README)[^/]*$",
    re.IGNORECASE)


def fail(text):
    sys.exit("make_set.py: " + text)


# ---- files ----

def files_below(folder):
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            yield os.path.join(place, name)


def unpack_archives(paths, folder):
    """Sources of Debian packages are archives in them."""
    for path in paths:
        if path.endswith(".tar.xz"):
            subprocess.run(["tar", "-xJf", path, "-C", folder], check=True)


def files_of_debs(debs, folder):
    """For each package the folder it was unpacked to, and its files."""
    for deb in sorted(debs):
        name = os.path.basename(deb).split("_")[0]
        to = os.path.join(folder, name)
        subprocess.run(["dpkg-deb", "-x", deb, to], check=True)
        unpack_archives(list(files_below(to)), to)
        yield name, to, list(files_below(to))


def packages_for(n):
    return PACKAGES + (MORE_PACKAGES if n > MORE_FROM else [])


def files_of_installed(folder, n):
    for name in packages_for(n):
        done = subprocess.run(["dpkg-query", "-L", name], capture_output=True, text=True)
        paths = [path for path in done.stdout.split("\n") if os.path.isfile(path)]
        if done.returncode or not paths:
            fail("the package %s is not installed; see --help for DEBs" % name)
        to = os.path.join(folder, name)
        os.mkdir(to)
        unpack_archives(paths, to)
        yield name, "", sorted(paths)
        yield name, to, list(files_below(to))


def read(path):
    """The text of a file, or nothing if it is none."""
    if os.path.islink(path) or os.path.getsize(path) > LARGEST:
        return ""
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST or b"\0" in data:
        return ""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return ""
    if re.search(r"\.html?(\.gz)?$", path):
        text = html.unescape(TAG.sub(" ", text)).replace("\0", "")
    return text


def by_hash(seed, name):
    return hashlib.blake2b(("%d %s" % (seed, name)).encode("utf-8", "surrogateescape"),
                           digest_size=8).digest()


def choose_files(packages, seed):
    """The files of each half: of the packages in turn, in the order of a hash."""
    halves = (([], []), ([], []))
    for name, root, paths in packages:
        chosen = sorted((by_hash(seed, name + path[len(root):]), name, path, root)
                        for path in paths if NAME.search(re.sub(r"\.gz$", "", path)))
        for which in 0, 1:
            halves[which][name in MORE_PACKAGES].append(
                [file for file in chosen if file[0][-1] & 1 == which])
    return [[file for lists in half for turn in itertools.zip_longest(*lists) for file in turn
             if file] for half in halves]


# ---- passages ----

def cut(text, most, rng):
    """Passages of whole lines, of up to `most` words."""
    lines, n, wanted = [], 0, 0
    for line in text.splitlines(keepends=True):
        if not lines:
            wanted = LEAST * (most / LEAST) ** rng.random()
        lines.append(line)
        n += len(WORD.findall(line))
        if n >= wanted:
            if n <= most:
                yield "".join(lines)
            lines, n = [], 0
    if LEAST <= n <= most:
        yield "".join(lines)


class Seen:
    """Whether the words of a text were there before."""
    def __init__(self):
        self.digests = set()

    def is_new(self, text):
        words = " ".join(WORD.findall(text.casefold()))
        digest = hashlib.blake2b(words.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        if digest in self.digests:
            return False
        self.digests.add(digest)
        return True


def passages(files, of_a_file, most, seed, seen):
    for _, name, path, root in files:
        source = name + ":" + path[len(root):]
        rng = random.Random("%d %s" % (seed, source))
        for text in itertools.islice(cut(read(path), most, rng), of_a_file):
            if seen.is_new(text):
                yield source, text


# ---- edits: of a list of words and of what is between them, words at the odd places ----

def split(text):
    return re.split(r"(\w+)", text)


def some(parts, n, rng, matching=None):
    """Places of n words at random."""
    places = [i for i in range(1, len(parts), 2) if not matching or matching.search(parts[i])]
    return sorted(rng.sample(places, min(n, len(places))))


def other_words(pool, rng):
    words = WORD.findall(rng.choice(pool))
    while True:
        yield rng.choice(words)


def replace(parts, n, rng, pool):
    for place, word in zip(some(parts, n, rng), other_words(pool, rng)):
        parts[place] = word


def delete(parts, n, rng, pool):
    for place in reversed(some(parts, n, rng)):
        del parts[place:place + 2]


def insert(parts, n, rng, pool):
    for place, word in zip(reversed(some(parts, n, rng)), other_words(pool, rng)):
        parts[place:place] = [word, " "]


def typos(parts, n, rng, pool):
    for place in some(parts, n, rng):
        word = parts[place]
        at = rng.randrange(len(word))
        parts[place] = word[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1:]


def numbers(parts, n, rng, pool):
    """Numbers become others; in texts with few, words become numbers."""
    places = some(parts, n, rng, re.compile(r"^\d+$"))
    for place in places + some(parts, n - len(places), rng):
        parts[place] = str(rng.randrange(10 ** min(len(parts[place]), 9)))


def names(parts, n, rng, pool):
    """Words are replaced wherever they occur, until n places are other ones."""
    for word in other_words(pool, rng):
        old = parts[rng.randrange(1, len(parts), 2)]
        for place in range(1, len(parts), 2):
            if parts[place] == old:
                parts[place] = word
                n -= 1
        if n <= 0:
            return


def cut_end(parts, n, rng, pool):
    del parts[-2 * n:]


def cut_start(parts, n, rng, pool):
    del parts[:2 * n]


def cut_middle(parts, n, rng, pool):
    at = 2 * rng.randrange(len(parts) // 2 - n + 1)
    del parts[at:at + 2 * n]


def run_of(text, n):
    """n words of a text in a row, and what is between them."""
    parts = split(text)
    return (parts * (1 + 2 * n // len(parts)))[:2 * n]


def boilerplate(parts, n, rng, pool):
    """One of a few texts at the end."""
    parts.extend(["\n"] + run_of(pool[rng.randrange(10)], n))


def advertisement(parts, n, rng, pool):
    """A part of any other text in the middle."""
    at = 2 * rng.randrange(len(parts) // 2)
    parts[at:at] = run_of(rng.choice(pool), n)


def moved(parts, n, rng, pool):
    """A run of words stands at another place."""
    at = 2 * rng.randrange(len(parts) // 2 - n + 1)
    run = parts[at:at + 2 * n]
    del parts[at:at + 2 * n]
    at = 2 * rng.randrange(len(parts) // 2 + 1)
    parts[at:at] = run


KINDS = [replace, delete, insert, typos, numbers, names, cut_end, cut_start, cut_middle,
         boilerplate, advertisement, moved]


def edited(text, kind, rate, rng, pool):
    parts = split(text)
    kind(parts, max(1, round(rate * (len(parts) // 2))), rng, pool)
    return "".join(parts)


# ---- collections ----

def documents(half, files, n, most, seed, seen):
    """The n rows of a half: passages, and after some of them an edited copy."""
    rng = random.Random("%d %s" % (seed, half))
    copies = n * COPIES // 100
    left, made, pool = n - copies, 0, []
    of_a_file = OF_A_FILE * max(1, 2 * n // 100000)
    for source, text in passages(files, of_a_file, most, seed, seen):
        if not left:
            return
        row = {"id": "%s-%d" % (half, left), "text": text, "source": source}
        yield row
        if len(pool) == POOL:
            pool[rng.randrange(10, POOL)] = text
        else:
            pool.append(text)
        # Each of the passages that are left is as likely to have a copy.
        if len(pool) > 10 and rng.random() * left < copies - made:
            kind, rate = KINDS[made % len(KINDS)], rng.uniform(.01, .20)
            copy = edited(text, kind, rate, rng, pool)
            if seen.is_new(copy):
                name = kind.__name__.replace("_", "-")
                yield {"id": row["id"] + "~" + name, "text": copy, "source": source,
                       "rate": round(rate, 4)}
                made += 1
        left -= 1
    fail("the files have %d passages too few in the half '%s'" % (left, half))


def write(prefix, halves, n, most, seed):
    seen = Seen()
    for half, files in zip(("tune", "kept"), halves):
        with open("%s-%s.jsonl" % (prefix, half), "w", encoding="utf-8") as file:
            for row in documents(half, files, n // 2, most, seed, seen):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="The packages: " + " ".join(PACKAGES))
    parser.add_argument("--documents", type=int, default=100000, metavar="N", help="(100000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="(1)")
    parser.add_argument("--most", type=int, default=1500, metavar="WORDS",
                        help="of a passage (1500)")
    parser.add_argument("--list", action="store_true", help="only print the packages")
    parser.add_argument("prefix", nargs="?", metavar="PREFIX")
    parser.add_argument("debs", nargs="*", metavar="DEB")
    options = parser.parse_args()
    if options.list:
        print("\n".join(packages_for(options.documents)))
        return
    if not options.prefix:
        parser.error("PREFIX expected")
    if options.documents < 200:
        parser.error("--documents: at least 200")
    if options.most <= LEAST:
        parser.error("--most: more than %d words" % LEAST)
    with tempfile.TemporaryDirectory() as folder:
        packages = list(files_of_debs(options.debs, folder) if options.debs
                        else files_of_installed(folder, options.documents))
        write(options.prefix, choose_files(packages, options.seed), options.documents,
              options.most, options.seed)


if __name__ == "__main__":
    main()
