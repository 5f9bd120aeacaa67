# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Batches in and out, of all types that rows can be taken of."""

import contextlib
import importlib
import random

import arrow_rows
import pytest
import simidx
from simidx import _simidx, _tables

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
    with pytest.raises(simidx.ArgumentError, match="__arrow_c_stream__.*not list"):
        simidx.dedup([1, 2])
    with pytest.raises(simidx.ArgumentError, match='no column "text"'):
        list(simidx.dedup(arrow_rows.Producer([columns])))
    with pytest.raises(simidx.ArgumentError, match='Arrow type is "l"'):
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
            "instant": pa.array([i * 86_400_000 for i in range(n)], pa.date64()),
            "second": pa.array(list(range(n)), pa.time32("s")),
            "milli": pa.array(list(range(n)), pa.time32("ms")),
            "micro": pa.array(list(range(n)), pa.time64("us")),
            "while": pa.array(list(range(n)), pa.duration("s")),
            "wide": pa.array(list(range(n)), pa.int64()).cast(pa.decimal256(40, 1)),
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


class Column:
    """A column in chunks, as that of a table: a stream of arrays. `dtype` says what it holds."""

    def __init__(self, format, values, sizes, before=0):
        self.dtype = {"l": "int64", "L": "uint64", "I": "uint32"}.get(format, "string")
        pieces, at = [], 0
        for size in sizes:
            pieces.append([("it", format, values[at : at + size])])
            at += size
        assert at == len(values)
        source = _tables.Stream(arrow_rows.Producer(pieces, before))
        self.chunks = [batch.column("it") for batch in source]
        self.like = self.chunks[0]

    def __arrow_c_stream__(self, requested_schema=None):
        return _simidx.export_stream(iter(self.chunks), self.like)


@pytest.mark.parametrize("sizes", [[60], [20, 0, 40], [0, 1, 58, 1, 0]])
def test_columns_in_chunks(where, sizes):
    rng = random.Random(len(sizes))
    fps = [rng.getrandbits(64) for _ in range(60)]
    ids = rng.sample(range(1000), 60)
    labels = [rng.choice([None, f"/{i}", "é" * 20 + str(i)]) for i in range(60)]
    times = [rng.getrandbits(32) for _ in range(60)]
    with simidx.Index(where, create=True, times=True) as index:
        index.add(
            Column("L", fps, sizes, 3),
            ids=Column("L", ids, sizes),
            labels=Column("vu", labels, sizes, 3),
            times=Column("I", times, [59, 1]),
        )
        assert list(index) == sorted(zip(ids, fps, labels, times))
        found = index.search_many(Column("l", [fps[3] - 2**64 * (fps[3] >> 63), 5], [1, 1]))
        assert list(found.ids) == [ids[3]]
        empty = Column("L", [], [0])
        empty.chunks = []
        assert list(index.search_many(empty).offsets) == [0]
        assert index.delete(ids=Column("L", ids[:2], [1, 1])) == 2
        named = [label for label in labels[2:] if label]
        assert index.delete(labels=Column("u", named, [1, len(named) - 1])) == len(named)
        assert len(index) == labels[2:].count(None)
    texts = [f"{i} of {i * i} or {i % 7}" for i in range(60)]
    assert list(simidx.fingerprints(Column("U", texts, sizes, 1))) == [
        simidx.fingerprint(text) for text in texts
    ]


def test_columns_in_chunks_of_other_kinds(where):
    with simidx.Index(where, create=True, texts=True) as index:
        with pytest.raises(simidx.ArgumentError, match='fingerprints: .*64-bit.* "g"'):
            index.add(Column("g", [1.0, 2.0], [1, 1]))
        with pytest.raises(simidx.ArgumentError, match="64-bit integers without nulls.*with nulls"):
            index.add(Column("L", [1, 2, None], [2, 1]))
        with pytest.raises(simidx.ArgumentError, match='not one of type "I"$'):
            index.search_many(Column("I", [1, 2], [1, 1]))
        with pytest.raises(simidx.ArgumentError, match="ids: .*64-bit"):
            index.add(["a", "b"], ids=Column("u", ["1", "2"], [1, 1]))
        mixed = (Column("u", ["a"], [1]).chunks[0], "b")
        with pytest.raises(TypeError, match="no Batch"):
            index._index.put(False, (None, mixed, None, None, None))
        with pytest.raises(simidx.ArgumentError, match="text 1 is None"):
            index.add(Column("u", ["a", None], [1, 1]))
        assert len(index) == 0
    with pytest.raises(simidx.ArgumentError, match="no rows of columns"):
        list(simidx.dedup(Column("u", ["a", "b"], [1, 1])))


def test_a_dictionary_is_no_column_of_numbers(where):
    """Its array has the numbers of its values, of the same width as ids."""
    pa = pytest.importorskip("pyarrow")
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([700, 800]))
    with simidx.Index(where, create=True) as index:
        with pytest.raises(simidx.ArgumentError, match="^ids: .* with a dictionary"):
            index.add([1, 2], ids=ids)
        assert len(index) == 0


def test_columns_of_other_libraries(where):
    numpy = pytest.importorskip("numpy")
    texts = ["one two three four", "five six seven"]
    want = list(simidx.fingerprints(texts))
    given = [numpy.array(texts), numpy.array(texts, dtype=object), tuple(texts), iter(texts)]
    for name, make in (
        ("polars", lambda polars: polars.Series(texts)),
        ("pandas", lambda pandas: pandas.Series(texts)),
        ("pyarrow", lambda pyarrow: pyarrow.chunked_array([texts[:1], texts[1:]])),
    ):
        with contextlib.suppress(ImportError):
            given.append(make(importlib.import_module(name)))
    for i, column in enumerate(given):
        with simidx.Index(f"{where}{i}", create=True, texts=True) as index:
            index.add(column)
            assert [document.fingerprint for document in index] == want
        if not hasattr(column, "__next__"):
            assert list(simidx.fingerprints(column)) == want
