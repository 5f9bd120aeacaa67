# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

import pathlib

import pytest


@pytest.fixture
def where(tmp_path: pathlib.Path) -> str:
    """A path at which nothing is, in a directory of the test's own."""
    return str(tmp_path / "index")
