# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Batches in and out, of all types that rows can be taken of."""

import random

import arrow_rows
import pytest
import simidx
from simidx import _tables

KINDS = ["u", "U", "vu", "l", "g", "b", "+l", "+s"]


def value(rng, kind):
    if rng.random() < 0.2:
        return None
    if kind in ("u", "U", "vu"):
        return "é" * rng.choice([0, 1, 6, 7, 40])
    if kind == "l":
        return rng.randrange(-(2**63), 2**63)
    if kind == "g":
        return rng.random()
    if kind == "b":
        return rng.random() < 0.5
    if kind == "+l":
        return [rng.randrange(9) for _ in range(rng.randrange(4))]
    return (rng.randrange(9), "x" * rng.randrange(5))


@pytest.mark.parametrize("before", [0, 1, 9])
@pytest.mark.parametrize("n", [1, 8, 100])
def test_rows_are_taken_of_each_type(n, before):
    rng = random.Random(n + before)
    columns = [(kind, kind, [value(rng, kind) for _ in range(n)]) for kind in KINDS]
    (batch,) = _tables.Stream(arrow_rows.Producer([columns], before))
    assert arrow_rows.rows(batch) == {name: values for name, _, values in columns}
    for share in (0, 0.3, 1):
        keep = bytes(rng.random() < share for _ in range(n))
        taken = batch.take(keep)
        assert len(taken) == sum(keep)
        assert arrow_rows.rows(taken) == {
            name: [v for v, k in zip(values, keep) if k] for name, _, values in columns
        }


def test_rows_of_rows_that_were_taken():
    columns = [("n", "l", list(range(50))), ("s", "vu", [str(i) * 9 for i in range(50)])]
    (batch,) = _tables.Stream(arrow_rows.Producer([columns], 3))
    for _ in range(4):
        batch = batch.take(bytes(i % 2 for i in range(len(batch))))
    assert arrow_rows.rows(batch)["n"] == [15, 31, 47]
    assert arrow_rows.rows(batch)["s"] == ["15" * 9, "31" * 9, "47" * 9]


def test_arrays_are_given_back():
    before = arrow_rows.released
    columns = [("n", "l", [1, 2, 3])]
    for batch in _tables.Stream(arrow_rows.Producer([columns] * 5)):
        arrow_rows.rows(batch.take(b"\1\0\1"))
    del batch
    assert arrow_rows.released == before + 5


def test_what_does_not_fit_is_refused():
    columns = [("n", "l", [1, 2, 3])]
    (batch,) = _tables.Stream(arrow_rows.Producer([columns]))
    with pytest.raises(simidx.ArgumentError, match="2 bytes for 3 rows"):
        batch.take(b"\0\0")
    with pytest.raises(AttributeError, match="__arrow_c_stream__"):
        simidx.dedup([1, 2])
    with pytest.raises(simidx.ArgumentError, match='no column "text"'):
        list(simidx.dedup(arrow_rows.Producer([columns])))
    with pytest.raises(simidx.ArgumentError, match='Arrow type "l"'):
        list(simidx.dedup(arrow_rows.Producer([columns]), text="n"))
    with pytest.raises(simidx.ArgumentError, match="the producer has had enough"):
        list(_tables.Stream(arrow_rows.Producer([columns] * 3, fail_after=2)))


def test_pyarrow_has_the_same_rows():
    pa = pytest.importorskip("pyarrow")
    rng = random.Random(1)
    n = 500
    table = pa.table(
        {
            "text": pa.array([f"row {i} of some words that no other row has" for i in range(n)]),
            "large": pa.array([str(i) for i in range(n)], pa.large_string()),
            "bytes": pa.array([bytes([i % 256]) * 3 for i in range(n)], pa.binary(3)),
            "decimal": pa.array([i if i % 3 else None for i in range(n)], pa.int64()).cast(
                pa.decimal128(30, 2)
            ),
            "time": pa.array([i * 1000 for i in range(n)], pa.timestamp("ms")),
            "day": pa.array(list(range(n)), pa.date32()),
            "half": pa.array([None] * n, pa.null()),
            "bool": pa.array([rng.choice([True, False, None]) for _ in range(n)]),
            "list": pa.array([[{"a": i, "b": [str(i)]}] * (i % 4) for i in range(n)]),
            "fixed": pa.array([[i, None] for i in range(n)], pa.list_(pa.int16(), 2)),
            "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
            "dictionary": pa.array([f"d{i % 7}" for i in range(n)]).dictionary_encode(),
        }
    )
    mask = [rng.random() < 0.4 for _ in range(n)]
    source = table.slice(0).to_reader(max_chunksize=64)
    at = 0
    for batch in _tables.Stream(source):
        keep = bytes(mask[at : at + len(batch)])
        mine = pa.record_batch(batch.take(keep))
        theirs = table.slice(at, len(batch)).filter(pa.array([bool(k) for k in keep]))
        mine.validate(full=True)
        assert pa.Table.from_batches([mine]).to_pylist() == theirs.to_pylist()
        at += len(batch)
    assert at == n


def test_polars_and_duckdb_take_what_stays():
    texts = ["one two three four five six", "seven eight nine", "One two three four five six!"]
    columns = [("n", "l", [1, 2, 3]), ("text", "U", texts)]
    for name in ("polars", "duckdb"):
        library = pytest.importorskip(name)
        kept = simidx.dedup(arrow_rows.Producer([columns]))
        if name == "polars":
            assert library.DataFrame(kept)["n"].to_list() == [1, 2]
        else:
            assert library.sql("select n from kept").fetchall() == [(1,), (2,)]
