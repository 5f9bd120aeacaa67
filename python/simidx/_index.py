# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""An index of fingerprints or texts."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import index as whole
from os import PathLike, fspath
from os.path import abspath
from types import TracebackType
from typing import Any, NamedTuple

from . import _simidx
from ._errors import ArgumentError, StateError
from ._tables import Clusters, Pairs, Stream, arrays, is_arrow

# As simidx.h has them.
_READ_ONLY, _UNTRUSTED, _OPEN_CREATE = 1, 8, 32
_NO_IDS, _FP2, _TIMES, NOTES = 2, 4, 16, 32
_NO_ID = 2**64 - 1
_LINKS = ("star", "single")
_DUPLICATES = ("refuse", "first", "last")
_KEEP = ("smallest_id", "largest_id", "smallest_label")


class Match(NamedTuple):
    """A document that was found, and how far it is from what was looked for."""

    id: int
    """2**64 - 1 where the index keeps no ids"""
    fingerprint: int
    bits: int
    """bits of the first fingerprint that differ"""
    distance: int
    """what decided: the same for fingerprints; of texts the weight of these bits"""


class Document(NamedTuple):
    """A document of an index; what it has not is None."""

    id: int | None
    fingerprint: int
    label: str | bytes | None
    time: int | None
    """seconds since 1970"""


class Matches(NamedTuple):
    """What many queries have found: those of query i are at offsets[i] up to offsets[i + 1]."""

    offsets: memoryview
    """n + 1 numbers of 64 bits"""
    ids: memoryview
    """64 bits, as in Match"""
    fingerprints: memoryview
    """64 bits"""
    bits: memoryview
    """32 bits, as in Match"""
    distances: memoryview
    """32 bits"""

    def of(self, i: int) -> list[Match]:
        """The matches of query i, the nearest first."""
        where = slice(self.offsets[i], self.offsets[i + 1])
        columns = (self.ids, self.fingerprints, self.bits, self.distances)
        return [Match(*row) for row in zip(*(column[where] for column in columns))]


class IfNew(NamedTuple):
    """What became of documents that were to be added if they are new."""

    is_new: memoryview
    """a byte each: 1 = it was added"""
    ids: memoryview
    """64 bits: of the document, or of the nearest one that is there"""
    distances: memoryview
    """32 bits: to that one; 0xffffffff of what was added"""


def _u64(data: bytes) -> memoryview:
    return memoryview(data).cast("Q")


def _u32(data: bytes) -> memoryview:
    return memoryview(data).cast("I")


def _numbers(name: str, values: Any, code: str) -> Any:
    """Arrow arrays as they are, buffers of numbers as bytes, and what else has numbers, too."""
    if values is None:
        return None
    if is_arrow(values):
        return arrays(values)
    bits = 64 if code == "Q" else 32
    wanted = f"{name}: {bits}-bit integers are expected, such as in a NumPy array or array.array"
    try:
        view = memoryview(values)
    except TypeError:
        view = memoryview(array(code, values))
    except ValueError as error:  # NumPy has types that no buffer has, such as times
        raise ArgumentError(f"{wanted}: {error}") from None
    if view.ndim != 1 or view.itemsize * 8 != bits or view.format.strip("@=<") not in set("qQlLiI"):
        raise ArgumentError(
            f'{wanted}, not {view.ndim} dimensions with items of {view.itemsize * 8} bits, "'
            f'{view.format}"'
        )
    return view if view.c_contiguous else memoryview(view.tobytes())


def _number(name: str, value: Any, most: int = 2**31 - 1) -> int:
    """A whole number from 0 on, also one of NumPy: the module takes others for other numbers."""
    try:
        number = whole(value)
    except TypeError:
        raise ArgumentError(f"{name}: a whole number is expected, not {value!r}") from None
    if not 0 <= number <= most:
        raise ArgumentError(f"{name}: a number from 0 to {most} is expected, not {number}")
    return number


def thread_count(value: Any) -> int:
    return min(_number("threads", value), 256)


def _radius(value: Any, default: int) -> int:
    return default if value is None else _number("radius", value)


def _texts(values: Any) -> Any:
    """Arrow arrays as they are, and what else has texts as a list."""
    if values is None or isinstance(values, (str, bytes)):
        return values  # which the module refuses where several are expected
    return arrays(values) if is_arrow(values) else list(values)


def _is_texts(items: Any) -> bool:
    if isinstance(items, (str, bytes)):
        return True  # as _texts()
    try:
        # NumPy has buffers of strings and of objects, too.
        return (memoryview(items).format or "")[-1:] in ("w", "s", "O")
    except (TypeError, ValueError):
        if not len(items):
            return False
    first = next(iter(items))
    if (
        first is not None
        and not isinstance(first, (str, bytes))
        and not hasattr(first, "__index__")
    ):
        raise TypeError(f"fingerprints or texts are expected, not {type(first).__name__}")
    return not hasattr(first, "__index__")


def _main(items: Any) -> tuple[Any, Any]:
    """Fingerprints or texts, and None for the other one."""
    if is_arrow(items):
        items = arrays(items)
        kind = _simidx.arrow_format(items) or "L"
        if kind.startswith("+"):
            raise ArgumentError('one column is expected, such as table["text"], and not all')
        is_texts = kind in ("u", "U", "vu", "z", "Z", "vz", "n", "dictionary")
        return (None, items) if is_texts else (items, None)
    if not (hasattr(items, "__len__") and hasattr(items, "__getitem__")):
        items = list(items)
    return (
        (None, _texts(items)) if _is_texts(items) else (_numbers("fingerprints", items, "Q"), None)
    )


def _columns(items: Any, ids: Any = None, labels: Any = None, times: Any = None) -> Any:
    """What the module takes of documents: fingerprints or texts, the other one None, and more."""
    numbers = (_numbers("ids", ids, "Q"), _texts(labels), _numbers("times", times, "I"))
    return (*_main(items), *numbers)


def _choice(name: str, value: str, choices: tuple[str, ...]) -> int:
    """The number of a choice."""
    if value not in choices:
        raise ArgumentError(f"{name}: {', '.join(choices)}, not {value!r}")
    return choices.index(value)


def decode_label(label: bytes | None) -> str | bytes | None:
    if label is None:
        return None
    try:
        return label.decode()
    except UnicodeDecodeError:
        return label


class Index:
    """An index on disk: a directory. Threads may share it; after fork() open it again.

    len() is the number of its documents, so an empty one is false, as an empty list is.

    Args:
        path: the directory, or a URI of an engine that is built in.
        create: make it if nothing is there. What it is like follows from the other arguments,
            which say nothing of one that is there.
        texts: it is for texts; their fingerprints are made by `extractor`.
        extractor: how, such as "words12" (the default), "words1", "han12".
        bits: of a fingerprint, 16 to 64.
        plan: of the tables, such as "4x16" or "3x22"; None = by `expect`.
        expect: how many documents there will be; 0 = not known.
        times: keep a time with each document, for `delete_older`.
        ids: False: only distinct fingerprints, in a third of the bytes.
        read_only: refuse changes.
        untrusted: check the pages of a file that others could write.

    >>> import simidx, tempfile
    >>> where = tempfile.TemporaryDirectory()
    >>> with Index(where.name + "/news", create=True, texts=True) as index:
    ...     _ = index.add(["The old bridge is closed for two years of repair."], labels=["/1"])
    ...     index.search("The old bridge is closed for two years of repairs.")[0].id
    0
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        create: bool = False,
        texts: bool = False,
        extractor: str = "",
        bits: int = 64,
        plan: str | None = None,
        expect: int = 0,
        times: bool = False,
        ids: bool = True,
        read_only: bool = False,
        untrusted: bool = False,
        _notes: bool = False,
    ) -> None:
        open_flags = _OPEN_CREATE * create + _READ_ONLY * read_only + _UNTRUSTED * untrusted
        create_flags = _TIMES * times + _NO_IDS * (not ids) + NOTES * _notes
        made_by = extractor if texts or extractor else None
        bits, expect = _number("bits", bits), _number("expect", expect, 2**63 - 1)
        self._index = _simidx.Index(path, open_flags, create_flags, bits, plan, expect, made_by)
        self._open_flags = open_flags & ~_OPEN_CREATE
        self._is_closed = False
        self.path = path
        # For load(), when the process may be in another directory.
        self._at = path if "://" in str(path) else abspath(path)

    def __enter__(self) -> Index:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.close()
        except StateError:
            # What has happened before says more than that a deduplication still uses it.
            if kind is None:
                raise

    def __repr__(self) -> str:
        return f"simidx.Index({str(self.path)!r})"

    def __reduce__(self) -> Any:
        raise TypeError("an Index cannot be copied or pickled: open its path again")

    def __len__(self) -> int:
        return int(self.stats()["documents"])

    def close(self) -> None:
        """Close it. Calls of other threads end first; what comes later raises StateError."""
        self._index.close()
        self._is_closed = True

    def stats(self) -> dict[str, Any]:
        """What it is and holds: plan, bits, profile, documents, file_bytes and others."""
        return self._index.info()

    def verify(self) -> list[str]:
        """Look at every byte. Returns the first problems; [] = it is sound."""
        return [text.decode(errors="replace") for text in self._index.verify().split(b"\0")[:-1]]

    def backup(self, path: str | PathLike[str]) -> None:
        """Copy it to a new directory, while it is in use, and check the copy."""
        self._index.backup(path)

    # ---- searching ----

    def search(
        self, item: int | str | bytes, *, radius: int | None = None, limit: int = 0
    ) -> list[Match]:
        """The documents near to a fingerprint or a text, the nearest first.

        Args:
            item: a fingerprint, or a text where the index is of texts.
            radius: bits that may differ, 3 if None; of a text with None the weights decide.
            limit: at most so many; 0 = all.
        """
        return self.search_many([item], radius=radius, limit=limit, threads=1).of(0)

    def search_many(
        self,
        items: Any,
        *,
        radius: int | None = None,
        limit: int = 0,
        threads: int = 0,
    ) -> Matches:
        """The documents near to each of many fingerprints or texts.

        Args:
            threads: 0 = one a core.

        >>> import simidx, tempfile
        >>> where = tempfile.TemporaryDirectory()
        >>> index = Index(where.name + "/fps", create=True)
        >>> _ = index.add([7, 8, 1 << 40])
        >>> list(index.search_many([7, 9], radius=1).offsets)
        [0, 1, 2]
        """
        columns = _columns(items)
        found = self._index.search(
            columns,
            _radius(radius, 3 if columns[1] is None else -1),
            _number("limit", limit, 2**64 - 1),
            thread_count(threads),
        )
        return Matches(*map(_u64, found[:3]), *map(_u32, found[3:]))

    def get(self, *, id: int | None = None, label: str | bytes | None = None) -> Document | None:
        """The document with an id or a label, or None."""
        if (id is None) == (label is None):
            raise ArgumentError("get() takes an id or a label")
        if isinstance(label, str):
            label = label.encode()
        found = self._index.get(0 if id is None else _number("id", id, 2**64 - 1), label)
        return found and Document(found[0], found[1], decode_label(found[2]), found[3])

    def __iter__(self) -> Iterator[Document]:
        """All documents, by their ids. The file grows by what is written meanwhile."""
        index = self._index
        walk = index.walk()
        while some := index.walk_next(walk):
            for id, fingerprint, label, time in some:
                yield Document(id, fingerprint, decode_label(label), time)

    def pairs(self, *, radius: int | None = None, threads: int = 0) -> Pairs:
        """All pairs of documents that are near to each other.

        Args:
            radius: bits of the first fingerprint that may differ; None = 3, and of texts 7.
            threads: 0 = one a core.

        Returns:
            Pairs: three columns of the same length, by the smaller fingerprint and then the larger.

        >>> import simidx, tempfile
        >>> where = tempfile.TemporaryDirectory()
        >>> index = Index(where.name + "/fps", create=True)
        >>> _ = index.add([7, 6, 1 << 40])
        >>> pairs = index.pairs(radius=1)
        >>> list(zip(pairs.first, pairs.second, pairs.bits))
        [(0, 1, 1)]
        """
        threads = thread_count(threads)
        first, second, bits = self._index.pairs(_radius(radius, -1), threads)
        return Pairs(_u64(first), _u64(second), _u32(bits))

    def clusters(
        self,
        *,
        radius: int | None = None,
        link: str = "star",
        keep: str = "smallest_id",
        max_size: int = 0,
        threads: int = 0,
    ) -> Clusters:
        """Put documents that are near to each other into clusters, each with one that is to stay.

        A document that is near to none is in no cluster.

        Args:
            radius: bits of the first fingerprint that may differ; None = 3, and of texts 7.
            link: "star": each document of a cluster is near to its keeper. "single": each is near
                to another one of it, so chains may lead far.
            keep: which one is the keeper: "smallest_id", "largest_id", or "smallest_label".
            max_size: at most so many documents in a cluster; 0 = any number.
            threads: 0 = one a core.

        Returns:
            Clusters: five columns of the same length, a place for each document of a cluster.

        >>> import simidx, tempfile
        >>> where = tempfile.TemporaryDirectory()
        >>> index = Index(where.name + "/fps", create=True)
        >>> _ = index.add([0, 1, 3, 7, 0xff << 40])
        >>> chain = index.clusters(radius=1, link="single")
        >>> list(chain.cluster), list(chain.id), list(chain.is_keeper)
        ([0, 0, 0, 0], [0, 1, 2, 3], [1, 0, 0, 0])
        >>> list(index.clusters(radius=1).cluster)
        [0, 0, 2, 2]
        """
        cluster, id, fingerprint, bits, is_keeper = self._index.clusters(
            _radius(radius, -1),
            thread_count(threads),
            _choice("link", link, _LINKS),
            _choice("keep", keep, _KEEP),
            _number("max_size", max_size, 2**64 - 1),
        )
        columns = (_u64(cluster), _u64(id), _u64(fingerprint), _u32(bits))
        return Clusters(*columns, memoryview(is_keeper))

    # ---- changes: each call is stored as a whole, or not at all ----

    def add(
        self, items: Any, *, ids: Any = None, labels: Any = None, times: Any = None
    ) -> memoryview:
        """Add documents. Returns their ids.

        Args:
            items: fingerprints or texts.
            ids: numbers below 2**63; None = the next ones.
            labels: str or bytes, of 1 to 65535 bytes; None for one without.
            times: seconds since 1970, where the index keeps times; None = now.
        """
        return _u64(self._index.put(False, _columns(items, ids, labels, times))[0])

    def replace(
        self, items: Any, *, ids: Any = None, labels: Any = None, times: Any = None
    ) -> memoryview:
        """Put documents in the place of those with these ids or labels, or add them."""
        return _u64(self._index.put(True, _columns(items, ids, labels, times))[0])

    def add_if_new(
        self,
        items: Any,
        *,
        ids: Any = None,
        labels: Any = None,
        times: Any = None,
        radius: int | None = None,
    ) -> IfNew:
        """Add each document unless one that is near is there, or comes before it.

        >>> import simidx, tempfile
        >>> where = tempfile.TemporaryDirectory()
        >>> index = Index(where.name + "/seen", create=True)
        >>> list(index.add_if_new([5, 4, 0xff << 40]).is_new)
        [1, 0, 1]
        """
        columns = _columns(items, ids, labels, times)
        near = _radius(radius, 3 if columns[1] is None else -1)
        new, found, distances = self._index.put_if_new(columns, near)
        return IfNew(memoryview(new), _u64(found), _u32(distances))

    def load(
        self,
        rows: Any,
        *,
        fp: str = "fp",
        text: str = "text",
        id: str = "id",
        label: str = "label",
        time: str = "time",
        duplicates: str = "refuse",
        threads: int = 0,
        memory: int = 0,
        tmpdir: str | PathLike[str] | None = None,
    ) -> int:
        """Add many documents at once: the index is built anew, with them, and put in its place.

        This is faster than add() for more rows than the index has. It needs space on the disk for
        a second index and for temporary files. All is stored, or nothing. Searches go on with the
        old index meanwhile, and those of other threads and processes that come in the moment of
        the exchange raise MovedError. So do other processes that have the index open from then on.

        Args:
            rows: anything with __arrow_c_stream__(), with a column of fingerprints (64-bit
                integers) or, in an index of texts, of texts; ids (64-bit integers), labels
                (strings, a null for one without) and times (32-bit integers, seconds since 1970)
                are taken where there is such a column. None of the numbers may be a null.
            fp: name of the column with fingerprints; in an index of texts it is not read.
            text: name of the column with texts.
            id: name of the column with ids; if there is none, documents get the next ids.
            label: name of the column with labels.
            time: name of the column with times, if the index keeps times; without it is now.
            duplicates: what a row with an id or label does that is there: "refuse" raises
                DuplicateError, "first" and "last" say which document stays.
            threads: of sorting; 0 = one a core, two at most.
            memory: bytes to work in, at least 64 MiB; 0 = 1 GiB.
            tmpdir: for temporary files; None = beside the index.

        Returns:
            int: how many of the rows are in the index now.

        >>> import simidx, tempfile
        >>> where = tempfile.TemporaryDirectory()
        >>> index = Index(where.name + "/fps", create=True)
        >>> _ = index.add([7, 7, 1 << 40])
        >>> near = Index(where.name + "/near", create=True)
        >>> near.load(index.clusters(), fp="fingerprint")
        2
        >>> near.get(id=1).fingerprint
        7
        """
        if self._open_flags & _READ_ONLY:
            raise StateError("the index was opened read-only")
        choice = _choice("duplicates", duplicates, _DUPLICATES)
        batches = Stream(rows)
        is_texts = bool(self.stats()["profile"])

        def columns() -> Iterator[_simidx.Columns]:
            for batch in batches:
                ids, labels, times = (batch.column(name, True) for name in (id, label, time))
                main = batch.column(text if is_texts else fp)
                yield (*((None, main) if is_texts else (main, None)), ids, labels, times)

        n = self._index.load(
            columns(),
            self._at,
            choice,
            self._open_flags & _UNTRUSTED,
            thread_count(threads),
            _number("memory", memory, 2**64 - 1),
            fspath(tmpdir) if tmpdir else None,
        )
        # Who uses the old one, such as an iteration, has a reference to it.
        self._index = _simidx.Index(self._at, self._open_flags, 0, 64, None, 0, None)
        if self._is_closed:
            self._index.close()
        return n

    def delete(self, *, ids: Any = None, labels: Sequence[str | bytes] | None = None) -> int:
        """Delete documents by their ids or labels. Returns how many were there."""
        if (ids is None) == (labels is None):
            raise ArgumentError("delete() takes ids or labels")
        return self._index.delete(_numbers("ids", ids, "Q"), _texts(labels))

    def delete_older(self, time: int) -> int:
        """Delete what is older than a time, in seconds since 1970. Returns how many."""
        return self._index.delete_older(_number("time", time, 2**32 - 1))


def fingerprints(texts: Any, *, extractor: str | None = None, threads: int = 0) -> memoryview:
    """The fingerprints of texts: a number of 64 bits each.

    >>> len(fingerprints(["one text", "another text"]))
    2
    """
    if texts is None:
        raise ArgumentError("texts are expected, not None")
    return _u64(_simidx.fingerprints(_texts(texts), extractor, thread_count(threads))[0])


def fingerprint(text: str | bytes, *, extractor: str | None = None) -> int:
    """The fingerprint of a text.

    >>> fingerprint("one two") == fingerprint("ONE two!")
    True
    """
    return int(fingerprints([text], extractor=extractor, threads=1)[0])
