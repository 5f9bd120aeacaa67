# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""A class for each kind of error. The message is that of the library."""

from . import _simidx as c


class Error(Exception):
    """What went wrong in libsimidx."""


class ArgumentError(Error):
    """A value is not allowed, or does not fit others."""


class StateError(Error):
    """The index is closed, read-only, or was opened before fork()."""


class NotFoundError(Error):
    """There is no such index or document."""


class ExistsError(Error):
    """Something is there already."""


class DuplicateError(Error):
    """Another document has the id or label."""


class MismatchError(Error):
    """This does not fit what the index holds."""


class NotIndexError(Error):
    """What is at the path is no index, or one of another version."""


class DamageError(Error):
    """The index is damaged."""


class SpaceError(Error):
    """No space is left, on the disk or in the address space."""


class PermissionError(Error):
    """It is not permitted."""


class BusyError(Error):
    """Another writer has the lock."""


class MovedError(Error):
    """Another index has taken its place: open it again."""


class UnsupportedError(Error):
    """Not supported here."""


class StoppedError(Error):
    """It was stopped."""


class IOError(Error):
    """Reading or writing failed."""


class UnknownError(Error):
    """Whether a commit is stored is not known."""


# Short memory is Python's MemoryError.
BY_CODE: dict[int, type[Error]] = {
    c.SIMIDX_E_ARG: ArgumentError,
    c.SIMIDX_E_STATE: StateError,
    c.SIMIDX_E_NOT_FOUND: NotFoundError,
    c.SIMIDX_E_END: NotFoundError,
    c.SIMIDX_E_EXISTS: ExistsError,
    c.SIMIDX_E_DUPLICATE: DuplicateError,
    c.SIMIDX_E_RANGE: ArgumentError,
    c.SIMIDX_E_MISMATCH: MismatchError,
    c.SIMIDX_E_NOT_INDEX: NotIndexError,
    c.SIMIDX_E_VERSION: NotIndexError,
    c.SIMIDX_E_CORRUPT: DamageError,
    c.SIMIDX_E_IO: IOError,
    c.SIMIDX_E_NO_SPACE: SpaceError,
    c.SIMIDX_E_MAP_FULL: SpaceError,
    c.SIMIDX_E_PERMISSION: PermissionError,
    c.SIMIDX_E_READ_ONLY: StateError,
    c.SIMIDX_E_BUSY: BusyError,
    c.SIMIDX_E_MOVED: MovedError,
    c.SIMIDX_E_FORK: StateError,
    c.SIMIDX_E_UNSUPPORTED: UnsupportedError,
    c.SIMIDX_E_STOPPED: StoppedError,
    c.SIMIDX_E_UNKNOWN: UnknownError,
}
c.set_errors(BY_CODE)
