# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Remove near-duplicates from a stream of rows, as simidx-dedup --stream does."""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from typing import Any

from . import _simidx
from ._errors import ArgumentError, StateError
from ._evidence import Evidence, Keepers, Row
from ._index import NOTES, Index, decode_label, thread_count
from ._tables import Stream
from ._temporary import TemporaryDirectory

_Indexes = Index | str | os.PathLike[str] | Sequence[Index | str | os.PathLike[str]]

_AT_ONCE = 1000
_LASTING = 8
_REMEMBER = {"fingerprint": 0, "sketch": 1, "text": 2}
_FAILED = "it has failed"
_CLOSED = "it was closed"
_RULES = ("kept", "equal", "text", "sketch", "fingerprint")


# Similarity, keeper, id, other index, rule and size of the label of each row.
_DECISION = struct.Struct("dqQiiq")


def _keep(data: bytes) -> bytes:
    """A byte for each decision: 1 = the row stays."""
    numbers = memoryview(data).cast("i")
    return bytes(rule <= 0 for rule in numbers[7 :: _DECISION.size // 4])


class _Run:
    """A deduplication while it goes on: its batches come from a generator, which has no more."""

    def __init__(
        self,
        stream: Stream,
        decider: _simidx.Dedup,
        text: str,
        id: str | None,
        evidence: Evidence | Callable[[Row], object] | None,
        keepers: Keepers | None,
        indexes: Sequence[_simidx.Index],
        opened: ExitStack,
    ) -> None:
        self.rows = 0
        self.kept = 0
        self.stream = stream
        self.opened = opened
        self.end: str | None = None  # why nothing more comes
        self._decider = decider
        self._text = text
        self._id = id
        self._evidence = evidence
        self._keepers = keepers
        self._indexes = indexes

    def batches(self) -> Generator[_simidx.Batch, None, None]:
        waiting: deque[_simidx.Batch] = deque()
        keep = bytearray()
        try:
            for batch in self.stream:
                self._decider.add(batch.column(self._text), self._id and batch.column(self._id))
                waiting.append(batch)
                self._take(keep)
                yield from self._ready(waiting, keep)
                self._decider.flush(True)
            self._decider.flush(False)
            self._take(keep)
            yield from self._ready(waiting, keep)
            self._decider.flush(True)
            self.end = "it has ended"
        except GeneratorExit:
            self.end = _CLOSED
            raise
        finally:
            self.end = self.end or _FAILED
            self.opened.close()

    def _take(self, keep: bytearray) -> None:
        """What was decided since the last call."""
        data, labels = self._decider.take()
        mine = _keep(data)
        keep += mine
        if self._keepers:
            why = self._why(self._keepers, data, labels)
            if isinstance(self._evidence, Evidence):
                self._evidence.add(why)
            elif self._evidence:
                for row in why:
                    self._evidence(row)
        self.rows += len(mine)
        self.kept += sum(mine)

    def _why(self, keepers: Keepers, data: bytes, labels: bytes) -> list[Row]:
        """Of each row that is left out."""
        rows, names, why, at = [], [], [], 0
        decisions = enumerate(_DECISION.iter_unpack(data), self.rows)
        for row, (similarity, keeper, id, other, rule, size) in decisions:
            label = labels[at : at + size]
            at += size
            if rule == 0:
                rows.append(row)
                names.append(label)
            elif rule > 0:
                why.append((row, label or None, keeper, id, other, similarity, rule))
        keepers.add(rows, names)
        return [
            Row(
                row,
                decode_label(label),
                keepers.row(keeper) if keeper >= 0 else None,
                keepers.label(keeper) if keeper >= 0 else self._label_of(other, id),
                id if keeper < 0 else None,
                other if other >= 0 else None,
                similarity if similarity >= 0 else None,
                _RULES[rule],
            )
            for row, label, keeper, id, other, similarity, rule in why
        ]

    def _label_of(self, other: int, id: int) -> str | bytes | None:
        """Of a document of `index` (-1) or another one, if it is still there."""
        found = self._indexes[other + 1].get(id, None)
        return decode_label(found[2]) if found else None

    @staticmethod
    def _ready(waiting: deque[_simidx.Batch], keep: bytearray) -> Iterator[_simidx.Batch]:
        """The batches whose rows are all decided."""
        while waiting and len(waiting[0]) <= len(keep):
            batch = waiting.popleft()
            mine = bytes(keep[: len(batch)])
            del keep[: len(batch)]
            if any(mine):
                yield batch.take(mine)


class Deduplication:
    """What dedup() returns: the batches that stay, once.

    It is an iterator of Batch, each of which other libraries take by __arrow_c_array__(). All of it
    is a stream for them: `pyarrow.table(d)`, `polars.DataFrame(d)`, `duckdb.sql("from d")`. Who
    does not take all of it calls close(), or uses it in a `with`: until then, or until it is
    forgotten, it holds its index.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._batches = run.batches()

    @property
    def rows(self) -> int:
        """How many were decided so far."""
        return self._run.rows

    @property
    def kept(self) -> int:
        """How many of these stay."""
        return self._run.kept

    def __enter__(self) -> Deduplication:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[_simidx.Batch]:
        return self

    def __next__(self) -> _simidx.Batch:
        if self._run.end == _FAILED:
            raise StateError(f"dedup(): {_FAILED}, and gives no more rows")
        return next(self._batches)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        if self._run.end:
            raise StateError(f"dedup(): {self._run.end}, and its rows come once")
        return _simidx.export_stream(self._batches, self._run.stream.capsule)

    def close(self) -> None:
        """End early: what was not decided is forgotten, and nothing of it is in `index`."""
        try:
            self._batches.close()
        except ValueError:
            raise StateError("dedup(): it is at work, here or in another thread") from None
        self._run.opened.close()
        self._run.end = self._run.end or _CLOSED


def _list_of(against: _Indexes) -> Sequence[Index | str | os.PathLike[str]]:
    return [against] if isinstance(against, (Index, str, os.PathLike)) else against


def _open_other(other: Index | str | os.PathLike[str], opened: ExitStack) -> _simidx.Index:
    if isinstance(other, (str, os.PathLike)):
        other = Index(other, read_only=True)
        opened.callback(other.close)
    if not isinstance(other, Index):
        raise ArgumentError(f"against: an Index or its path is expected, not {other!r}")
    return other._index


def _open(
    index: Index | str | os.PathLike[str] | None,
    remember: str | None,
    against: _Indexes,
    similarity: float,
    threads: int,
    tmpdir: str | os.PathLike[str] | None,
) -> tuple[_simidx.Dedup, Sequence[_simidx.Index], ExitStack]:
    """What decides, its index and the others, and what closes all that was opened for it."""
    if remember is not None and remember not in _REMEMBER:
        raise ArgumentError(f"remember: {', '.join(_REMEMBER)}, not {remember!r}")
    threads = thread_count(threads)
    flags = 0 if index is None else _LASTING
    with ExitStack() as opened:
        if index is None:
            where = TemporaryDirectory(tmpdir)
            opened.callback(where.remove)
            index = Index(where.path + "/index", create=True, texts=True)
            opened.callback(index.close)
        elif isinstance(index, (str, os.PathLike)):
            index = Index(index, create=True, texts=True, _notes=remember != "fingerprint")
            opened.callback(index.close)
        what = remember or ("sketch" if index.stats()["flags"] & NOTES else "fingerprint")
        kept_of_each = _REMEMBER[what] if flags else 0
        others = [_open_other(other, opened) for other in _list_of(against)]
        decider = _simidx.Dedup(
            index._index,
            others,
            similarity,
            flags,
            threads,
            kept_of_each,
            os.fspath(tmpdir) if tmpdir else None,
        )
        opened.callback(decider.close)
        return decider, [index._index, *others], opened.pop_all()


def dedup(
    stream: Any,
    *,
    text: str = "text",
    id: str | None = None,
    similarity: float = 0.8,
    index: Index | str | os.PathLike[str] | None = None,
    remember: str | None = None,
    against: _Indexes = (),
    evidence: Evidence | Callable[[Row], object] | None = None,
    threads: int = 0,
    tmpdir: str | os.PathLike[str] | None = None,
) -> Deduplication:
    """Leave out the rows that are near to an earlier one.

    The first of near rows stays. Two texts are near if the Jaccard similarity of their runs of five
    words is at least `similarity`: the texts themselves are compared. Memory does not grow with the
    texts: those that are kept lie in a temporary file, compressed.

    Args:
        stream: anything with __arrow_c_stream__(): a table, data frame, reader, or data set.
        text: the column with the texts. A null is an empty text, and stays.
        id: a column of strings that are the labels of rows in `index`.
        similarity: above 0, at most 1.
        index: an Index of texts, or where one is made: remembers what stays for the next call.
        remember: what it remembers of a text: "sketch" (the default of a new one, 200 bytes),
            "text" or "fingerprint".
        against: an index of texts or several, or their paths: what is near to one of their
            documents is left out, too.
        evidence: an Evidence that takes the reasons for the rows that are left out; or what is
            called with a Row for each of them, in their order.
        threads: 0 = one a core.
        tmpdir: for temporary files; None = $TMPDIR, or /tmp.

    Returns:
        Deduplication: an iterator of the batches with the rows that stay, and a stream of Arrow.

    >>> import pyarrow, simidx
    >>> rows = pyarrow.table({"n": [1, 2, 3], "text": ["One two.", "Four five.", "one TWO"]})
    >>> evidence = simidx.Evidence()
    >>> pyarrow.table(dedup(rows, evidence=evidence))["n"].to_pylist()
    [1, 2]
    >>> [(row["row"], row["keeper"], row["rule"]) for row in pyarrow.table(evidence).to_pylist()]
    [(2, 0, 'text')]
    """
    if evidence is not None and not isinstance(evidence, Evidence) and not callable(evidence):
        raise ArgumentError(f"evidence: an Evidence or a callable, not {evidence!r}")
    source = Stream(stream)
    decider, indexes, opened = _open(index, remember, against, similarity, threads, tmpdir)
    keepers = Keepers(tmpdir) if evidence is not None else None
    if keepers:
        opened.callback(keepers.close)
    return Deduplication(_Run(source, decider, text, id, evidence, keepers, indexes, opened))


def dedup_texts(
    texts: Iterable[str | bytes | None],
    *,
    similarity: float = 0.8,
    index: Index | str | os.PathLike[str] | None = None,
    remember: str | None = None,
    against: _Indexes = (),
    threads: int = 0,
    tmpdir: str | os.PathLike[str] | None = None,
) -> Iterator[tuple[int, str | bytes | None]]:
    """The same for texts of Python, which is slower: the numbers and texts of those that stay.

    Args:
        texts: read as far as is needed; a generator will do.

    >>> bridge = "The old bridge is closed for two years of repair, said the mayor."
    >>> [n for n, _ in dedup_texts([bridge, "A ship came.", bridge.upper()])]
    [0, 1]
    """
    if isinstance(texts, (str, bytes)):
        raise ArgumentError("texts: one text where several are expected: put it into a list")
    decider, _, opened = _open(index, remember, against, similarity, threads, tmpdir)
    return _kept(iter(texts), decider, opened)


def _kept(
    texts: Iterator[str | bytes | None], decider: _simidx.Dedup, opened: ExitStack
) -> Iterator[tuple[int, str | bytes | None]]:
    waiting: deque[str | bytes | None] = deque()
    at = 0

    def decided() -> Iterator[tuple[int, str | bytes | None]]:
        nonlocal at
        for stays in _keep(decider.take()[0]):
            text = waiting.popleft()
            if stays:
                yield at, text
            at += 1

    with opened:
        while some := list(islice(texts, _AT_ONCE)):
            decider.add(some, None)
            waiting.extend(some)
            yield from decided()
            decider.flush(True)
        decider.flush(False)
        yield from decided()
        decider.flush(True)
