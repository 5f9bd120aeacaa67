# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Find near-duplicates among billions of fingerprints or texts.

>>> import simidx, tempfile
>>> where = tempfile.TemporaryDirectory()
>>> with simidx.Index(where.name + "/seen", create=True) as index:
...     added = index.add([0x0123456789abcdef, 0xffff0000ffff0000])
...     index.search(0x0123456789abcdee)
[Match(id=0, fingerprint=81985529216486895, bits=1, distance=1)]

Fingerprints are numbers of 64 bits: a list, or any buffer of them (NumPy, array.array), or an Arrow
array. Texts are a list of str, or an Arrow array of strings, which is faster. What comes back as
many numbers is a memoryview: numpy.asarray() takes it without a copy.
"""

from ._dedup import Deduplication, dedup, dedup_texts
from ._errors import (
    ArgumentError,
    BusyError,
    DamageError,
    DuplicateError,
    Error,
    ExistsError,
    IOError,
    MismatchError,
    MovedError,
    NotFoundError,
    NotIndexError,
    PermissionError,
    SpaceError,
    StateError,
    StoppedError,
    UnknownError,
    UnsupportedError,
)
from ._evidence import Evidence, Row
from ._index import Document, IfNew, Index, Match, Matches, fingerprint, fingerprints
from ._simidx import Batch
from ._simidx import version as __version__
from ._tables import Clusters, Pairs

__all__ = [
    "ArgumentError",
    "Batch",
    "BusyError",
    "Clusters",
    "DamageError",
    "Deduplication",
    "Document",
    "DuplicateError",
    "Error",
    "Evidence",
    "ExistsError",
    "IOError",
    "IfNew",
    "Index",
    "Match",
    "Matches",
    "MismatchError",
    "MovedError",
    "NotFoundError",
    "NotIndexError",
    "Pairs",
    "PermissionError",
    "Row",
    "SpaceError",
    "StateError",
    "StoppedError",
    "UnknownError",
    "UnsupportedError",
    "__version__",
    "dedup",
    "dedup_texts",
    "fingerprint",
    "fingerprints",
]
