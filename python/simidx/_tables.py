# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Columns that belong together, as memoryviews and as a stream of Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from . import _simidx
from ._errors import ArgumentError

_FORMATS = {"Q": "L", "I": "I", "B": "b"}


def bits(marks: bytes) -> bytes:
    """A bitmap of Arrow of as many bytes, each 0 or 1: the first is the lowest bit."""
    digits = marks[::-1].translate(b"01" + bytes(254)) or b"0"
    return int(digits, 2).to_bytes(len(marks) // 8 + 1, "little")


def column(name: str, format: str, *buffers: Any, there: Sequence[bool] | None = None) -> Any:
    """A column for make_batch(). `there` says of each value whether it is one, or a null."""
    if there is None or all(there):
        return name, format, 0, (None, *buffers)
    return name, format, len(there) - sum(there), (bits(bytes(there)), *buffers)


class Stream:
    """The batches of anything with __arrow_c_stream__(), once; of a column its chunks."""

    def __init__(self, source: Any) -> None:
        if not hasattr(source, "__arrow_c_stream__"):
            raise ArgumentError(
                "a table, data frame, or another object with __arrow_c_stream__() is expected, "
                f"not {type(source).__name__}: doc/python.md has examples"
            )
        self.capsule = source.__arrow_c_stream__()

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> _simidx.Batch:
        batch = _simidx.next_batch(self.capsule)
        if batch is None:
            raise StopIteration
        return batch


def is_arrow(values: Any) -> bool:
    return hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__")


def arrays(values: Any) -> Any:
    """An Arrow array as it is, and of one in several chunks a tuple of these."""
    if hasattr(values, "__arrow_c_array__"):
        return values
    chunks = tuple(Stream(values))
    return chunks[0] if len(chunks) == 1 else chunks


class Table:
    """Columns of numbers. Other libraries take all of them as a stream of Arrow, without a copy."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))  # type: ignore[arg-type]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        columns = []
        for field in fields(self):  # type: ignore[arg-type]
            values = getattr(self, field.name)
            data = bits(bytes(values)) if values.format == "B" else values
            columns.append(column(field.name, _FORMATS[values.format], data))
        batch = _simidx.make_batch(len(self), tuple(columns))
        return _simidx.export_stream(iter([batch]), batch)


@dataclass(frozen=True, eq=False)
class Pairs(Table):
    """Documents that are near to each other: a pair at each place.

    `pyarrow.table(pairs)`, `polars.DataFrame(pairs)` and `duckdb.sql("from pairs")` take it.
    """

    first: memoryview
    """64 bits: the smaller id"""
    second: memoryview
    """64 bits"""
    bits: memoryview
    """32 bits: how many of the first fingerprint differ"""


@dataclass(frozen=True, eq=False)
class Clusters(Table):
    """Documents that are near to others: one at each place, cluster by cluster, the keeper first.

    `pyarrow.table(clusters)`, `polars.DataFrame(clusters)` and `duckdb.sql("from clusters")` take
    it.
    """

    cluster: memoryview
    """64 bits: the smallest id in it"""
    id: memoryview
    """64 bits"""
    fingerprint: memoryview
    """64 bits"""
    bits: memoryview
    """32 bits: how many differ from the keeper's"""
    is_keeper: memoryview
    """a byte each: 1 = it stays for the others of its cluster"""
