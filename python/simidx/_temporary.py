# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Temporary directories and files. What is forgotten goes without a warning, and no child of fork()
removes what is its parent's."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref


def _remove(path: str, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(path, ignore_errors=True)


class TemporaryDirectory:
    """A directory until remove(), or until this is forgotten, or until Python ends."""

    def __init__(self, tmpdir: str | os.PathLike[str] | None) -> None:
        self.path = tempfile.mkdtemp(prefix="simidx-", dir=tmpdir)
        self._end = weakref.finalize(self, _remove, self.path, os.getpid())

    def remove(self) -> None:
        self._end()


class TemporaryFile:
    """A file without a name, until close(), or until this is forgotten. A child of fork() may read
    it at the same time: there is no place in it that both have."""

    def __init__(self, tmpdir: str | os.PathLike[str] | None) -> None:
        file = tempfile.TemporaryFile(prefix="simidx-", dir=tmpdir, buffering=0)
        self.close = weakref.finalize(self, file.close)
        self.size = 0
        self._fd = file.fileno()

    def append(self, data: bytes) -> None:
        at = self.size
        while data:
            n = os.pwrite(self._fd, data, at)
            at += n
            data = data[n:]
        self.size = at

    def read(self, start: int, end: int) -> bytes:
        return os.pread(self._fd, end - start, start)
