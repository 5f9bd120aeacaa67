# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Temporary directories and files. What is forgotten goes without a warning, and no child of fork()
removes what is its parent's."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import BinaryIO, cast


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


def temporary_file(user: object, tmpdir: str | os.PathLike[str] | None) -> BinaryIO:
    """A file without a name, which is closed with `user`."""
    file = cast(BinaryIO, tempfile.TemporaryFile(prefix="simidx-", dir=tmpdir))
    weakref.finalize(user, file.close)
    return file
