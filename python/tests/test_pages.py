# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Each program of doc/python.md prints what stands behind it."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

PAGE = pathlib.Path(__file__).parents[2] / "doc" / "python.md"
PROGRAMS = re.findall(r"```python (\S+)\n(.*?)```\n+```text\n(.*?)```", PAGE.read_text(), re.DOTALL)


def make_data(where, has_parquet):
    """What the programs read: each of 1000 texts comes twice, in two languages they say."""
    texts = [" ".join(f"word{(i + 1) * (k + 1) % 1009}" for k in range(20)) for i in range(1000)]
    rows = [
        {"url": f"/{language}/{i}", "text": text + "!" * (language == "fr"), "language": language}
        for language in ("en", "fr")
        for i, text in enumerate(texts)
    ]
    (where / "crawl.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    if has_parquet:
        import pyarrow
        import pyarrow.parquet

        (where / "data").mkdir()
        for part in range(4):
            table = pyarrow.Table.from_pylist(rows[500 * part : 500 * (part + 1)])
            pyarrow.parquet.write_table(table, where / "data" / f"part-{part}.parquet")


def test_each_program_of_the_page_is_found():
    assert len(PROGRAMS) == PAGE.read_text().count("```python")


@pytest.mark.parametrize("name, code, output", PROGRAMS, ids=[name for name, _, _ in PROGRAMS])
def test_a_program_of_the_page(tmp_path, name, code, output):
    for library in re.findall(r"^import (\w+)", code, re.MULTILINE):
        pytest.importorskip(library)
    if "parquet" in code:
        pytest.importorskip("pyarrow")
    make_data(tmp_path, "parquet" in code)
    (tmp_path / name).write_text(code)
    quiet = {
        "HF_HOME": str(tmp_path),
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    }
    done = subprocess.run(
        [sys.executable, name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | quiet,
        check=False,
    )
    assert (done.stdout, done.stderr) == (output, "")
