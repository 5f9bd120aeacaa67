# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Why rows were left out."""

from __future__ import annotations

import marshal
import os
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock
from typing import Any, NamedTuple

from . import _simidx
from ._index import decode_label
from ._tables import column
from ._temporary import TemporaryFile

_AT_ONCE = 4096


class Row(NamedTuple):
    """Why a row was left out."""

    row: int
    """its number in the stream, from 0"""
    id: str | bytes | None
    """of the row, where dedup() was told of a column with ids"""
    keeper: int | None
    """the row that stays for it; None: a document of an index"""
    keeper_id: str | bytes | None
    """of that row, or the label of that document"""
    document: int | None
    """which document it is; None where a row of the stream stays"""
    against: int | None
    """which index of `against` that is in; None: `index`, or a row of the stream stays"""
    similarity: float | None
    """from 0 to 1; None where fingerprints decided"""
    rule: str
    """equal, text, sketch or fingerprint: by what it was decided"""


def _numbers(name: str, format: str, code: str, values: Sequence[Any]) -> Any:
    there = [value is not None for value in values]
    return column(name, format, array(code, [v or 0 for v in values]).tobytes(), there=there)


def _strings(name: str, values: Sequence[str | bytes | None]) -> Any:
    there = [value is not None for value in values]
    # Bytes that are no UTF-8 may be in a label, and not in a string of Arrow.
    texts = [v.decode(errors="replace") if isinstance(v, bytes) else v or "" for v in values]
    encoded = [text.encode() for text in texts]
    offsets = array("i", accumulate(map(len, encoded), initial=0))
    return column(name, "u", offsets.tobytes(), b"".join(encoded), there=there)


def _columns(rows: Sequence[Row]) -> Any:
    row, id, keeper, keeper_id, document, against, similarity, rule = (
        zip(*rows) if rows else [()] * 8
    )
    return (
        _numbers("row", "l", "q", row),
        _strings("id", id),
        _numbers("keeper", "l", "q", keeper),
        _strings("keeper_id", keeper_id),
        _numbers("document", "l", "q", document),
        _numbers("against", "i", "i", against),
        _numbers("similarity", "g", "d", similarity),
        _strings("rule", rule),
    )


class Evidence:
    """Why rows were left out, as a stream of Arrow: a row for each, in their order.

    dedup() fills it. Other libraries take what is in it so far, during the run or after it, and as
    often as they like: `pyarrow.table(evidence)`, `polars.DataFrame(evidence)`,
    `duckdb.sql("from evidence")`. The columns are those of Row.

    In memory are at most 4096 rows. The others lie in a temporary file without a name, of about 70
    bytes a row and the ids; it goes with the object.

    Args:
        tmpdir: where the file is; None = $TMPDIR, or /tmp.

    >>> import simidx
    >>> evidence = Evidence()
    >>> len(evidence)
    0
    """

    def __init__(self, *, tmpdir: str | os.PathLike[str] | None = None) -> None:
        self._file = TemporaryFile(tmpdir)
        self._lock = Lock()
        self._ends = array("q", [0])  # of the batches in the file
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def add(self, rows: Sequence[Row]) -> None:
        """Put rows behind those that are there."""
        for i in range(0, len(rows), _AT_ONCE):
            some = rows[i : i + _AT_ONCE]
            with self._lock:
                self._file.append(marshal.dumps((len(some), _columns(some))))
                self._ends.append(self._file.size)
                self._rows += len(some)

    def __iter__(self) -> Iterator[_simidx.Batch]:
        """The batches so far."""
        for i in range(1, len(self._ends)):
            n, columns = marshal.loads(self._file.read(self._ends[i - 1], self._ends[i]))
            yield _simidx.make_batch(n, columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return _simidx.export_stream(iter(self), _simidx.make_batch(0, _columns([])))


class Keepers:
    """Numbers and labels of rows that stay. Labels lie in a temporary file."""

    def __init__(self, tmpdir: str | os.PathLike[str] | None) -> None:
        self._file = TemporaryFile(tmpdir)
        self._rows = array("q")
        self._ends = array("q", [0])

    def add(self, rows: Sequence[int], labels: Sequence[bytes]) -> None:
        self._file.append(b"".join(labels))
        self._rows.extend(rows)
        self._ends.extend(list(accumulate(map(len, labels), initial=self._ends[-1]))[1:])

    def row(self, keeper: int) -> int:
        return self._rows[keeper]

    def label(self, keeper: int) -> str | bytes | None:
        start, end = self._ends[keeper], self._ends[keeper + 1]
        if start == end:
            return None
        return decode_label(self._file.read(start, end))

    def close(self) -> None:
        self._file.close()
