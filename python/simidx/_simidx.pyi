# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""What the module in C has. The classes of _index.py and _dedup.py are for people."""

from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any

# Fingerprints, texts, ids, labels, times; or None.
Columns = tuple[Any, Any, Any, Any, Any]

version: str
build_info: str

SIMIDX_E_ARG: int
SIMIDX_E_NOMEM: int
SIMIDX_E_STATE: int
SIMIDX_E_NOT_FOUND: int
SIMIDX_E_END: int
SIMIDX_E_EXISTS: int
SIMIDX_E_DUPLICATE: int
SIMIDX_E_RANGE: int
SIMIDX_E_MISMATCH: int
SIMIDX_E_NOT_INDEX: int
SIMIDX_E_VERSION: int
SIMIDX_E_CORRUPT: int
SIMIDX_E_IO: int
SIMIDX_E_NO_SPACE: int
SIMIDX_E_MAP_FULL: int
SIMIDX_E_PERMISSION: int
SIMIDX_E_READ_ONLY: int
SIMIDX_E_BUSY: int
SIMIDX_E_MOVED: int
SIMIDX_E_FORK: int
SIMIDX_E_UNSUPPORTED: int
SIMIDX_E_STOPPED: int
SIMIDX_E_UNKNOWN: int

def set_errors(classes: Mapping[int, type[Exception]]) -> None: ...

class Batch:
    def __len__(self) -> int: ...
    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]: ...
    def column(self, name: str, optional: bool = False) -> Any: ...
    def take(self, keep: bytes) -> Batch: ...

def export_stream(batches: Iterator[Batch], like: object) -> object: ...
def next_batch(capsule: object) -> Batch | None: ...
def arrow_format(column: object) -> str | None: ...
def make_batch(rows: int, columns: tuple[tuple[str, str, int, tuple[Any, ...]], ...]) -> Batch: ...
def fingerprints(texts: object, extractor: str | None, threads: int) -> tuple[bytes]: ...

class Index:
    def __new__(
        cls,
        path: str | PathLike[str],
        open_flags: int,
        create_flags: int,
        bits: int,
        plan: str | None,
        expect: int,
        extractor: str | None,
    ) -> Index: ...
    def close(self) -> None: ...
    def info(self) -> dict[str, Any]: ...
    def verify(self) -> bytes: ...
    def backup(self, path: str | PathLike[str]) -> None: ...
    def search(
        self, columns: Columns, radius: int, limit: int, threads: int
    ) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
    def get(
        self, id: int, label: bytes | None
    ) -> tuple[int | None, int, bytes | None, int | None] | None: ...
    def pairs(self, radius: int, threads: int) -> tuple[bytes, bytes, bytes]: ...
    def clusters(
        self, radius: int, threads: int, link: int, keep: int, max_size: int
    ) -> tuple[bytes, bytes, bytes, bytes, bytes]: ...
    def walk(self) -> object: ...
    def walk_next(self, walk: object) -> list[tuple[int | None, int, bytes | None, int | None]]: ...
    def put(self, replaces: bool, columns: Columns) -> tuple[bytes]: ...
    def put_if_new(self, columns: Columns, radius: int) -> tuple[bytes, bytes, bytes]: ...
    def load(
        self,
        batches: Iterator[Columns],
        path: str | PathLike[str],
        duplicates: int,
        flags: int,
        threads: int,
        memory: int,
        tmpdir: str | None,
    ) -> int: ...
    def delete(self, ids: object, labels: object) -> int: ...
    def delete_older(self, time: int) -> int: ...

class Dedup:
    def __new__(
        cls,
        index: Index,
        against: Sequence[Index],
        similarity: float,
        flags: int,
        threads: int,
        remember: int,
        tmpdir: str | None,
    ) -> Dedup: ...
    def add(self, texts: Batch | Sequence[str | bytes | None], labels: Any) -> None: ...
    def flush(self, merge: bool) -> None: ...
    def take(self) -> tuple[bytes, bytes]: ...
    def close(self) -> None: ...
