# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Each program of doc/python.md prints what stands behind it."""

import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "doc" / "python.md"
PROGRAMS = re.findall(r"```python (\S+)\n(.*?)```\n+```text\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_each_program_of_the_page_is_found():
    assert len(PROGRAMS) == PAGE.read_text().count("```python")


@pytest.mark.parametrize("name, code, output", PROGRAMS, ids=[name for name, _, _ in PROGRAMS])
def test_a_program_of_the_page(tmp_path, name, code, output):
    for library in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(library)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert (done.stdout, done.stderr) == (output, "")
