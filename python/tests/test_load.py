# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""load() stores what add() stores."""

import os
import random

import arrow_rows
import pytest
import simidx

WORDS = [f"w{i}" for i in range(200)]


def batches(columns, size):
    """(name, format, values) of each column, cut into batches."""
    n = len(columns[0][2])
    return [
        [(name, kind, values[i : i + size]) for name, kind, values in columns]
        for i in range(0, n, size)
    ]


def everything(index):
    return list(index), {k: v for k, v in index.stats().items() if k in ("profile", "next_id")}


@pytest.mark.parametrize("size, before", [(1, 0), (7, 3), (1000, 0)])
@pytest.mark.parametrize("first", [0, 40])
def test_fingerprints_are_stored_as_add_does(where, size, before, first):
    rng = random.Random(size)
    fps = [rng.getrandbits(63) for _ in range(300)]
    labels = [f"/{i}" if i % 3 else None for i in range(300)]
    ids = rng.sample(range(100, 9000), 300)
    times = [rng.getrandbits(30) for _ in fps]
    columns = [("fp", "l", fps), ("label", "u", labels), ("id", "l", ids), ("time", "I", times)]
    with (
        simidx.Index(where, create=True, times=True) as loaded,
        simidx.Index(where + "2", create=True, times=True) as added,
    ):
        for index in (loaded, added):
            index.add(range(first))
        assert loaded.load(arrow_rows.Producer(batches(columns, size), before)) == 300
        added.add(fps, ids=ids, labels=labels, times=times)
        assert everything(loaded)[1] == everything(added)[1]
        mine, theirs = (everything(index)[0] for index in (loaded, added))
        assert [d[:3] for d in mine[:first]] == [d[:3] for d in theirs[:first]]
        assert mine[first:] == theirs[first:] and len(mine) == first + 300
        for query in fps[:20] + [0, 5]:
            assert loaded.search(query, radius=8) == added.search(query, radius=8)
        assert loaded.verify() == []
        assert list(loaded.add([1])) == list(added.add([1]))


def test_texts_are_stored_as_add_does(where):
    rng = random.Random(4)
    texts = [" ".join(rng.choices(WORDS, k=30)) for _ in range(200)]
    texts += [text.replace("w7", "w8") for text in texts[:50]] + ["", "été 東京"]
    columns = [("body", "vu", texts), ("id", "u", [str(i) for i in range(len(texts))])]
    with (
        simidx.Index(where, create=True, texts=True) as loaded,
        simidx.Index(where + "2", create=True, texts=True) as added,
    ):
        rows = arrow_rows.Producer(batches(columns, 60), 1)
        assert loaded.load(rows, text="body", id="none", label="id") == len(texts)
        added.add(texts, labels=columns[1][2])
        assert everything(loaded) == everything(added)
        found, want = loaded.search_many(texts), added.search_many(texts)
        assert found == want


def test_what_is_refused_changes_nothing(where):
    def load(kind, values, **more):
        columns = [("fp", kind, values), *((k, *v) for k, v in more.items())]
        return index.load(arrow_rows.Producer(batches(columns, 2)))

    with simidx.Index(where, create=True) as index:
        index.add([1, 2], labels=["/a", None])
        with pytest.raises(simidx.ArgumentError, match='fingerprints: .* not one of type "g"'):
            load("g", [1.5])
        with pytest.raises(simidx.ArgumentError, match="fingerprints: .* without nulls"):
            load("l", [3, 4, 5, None])
        with pytest.raises(simidx.ArgumentError, match="ids: .* 64-bit integers"):
            load("l", [3], id=("u", ["3"]))
        with pytest.raises(simidx.ArgumentError, match='labels: .* Arrow type is "l"'):
            load("l", [3], label=("l", [3]))
        with pytest.raises(simidx.MismatchError, match="time"):
            load("l", [3], time=("I", [3]))
        with pytest.raises(simidx.ArgumentError, match="label"):
            load("l", [3], label=("u", ["x" * 70000]))
        with pytest.raises(simidx.ArgumentError, match='no column "fp"'):
            index.load(arrow_rows.Producer([[("fps", "l", [1])]]))
        with pytest.raises(simidx.ArgumentError, match="had enough"):
            index.load(arrow_rows.Producer([[("fp", "l", [1])]] * 3, fail_after=2))
        with pytest.raises(simidx.ArgumentError, match="memory"):
            index.load(arrow_rows.Producer([[("fp", "l", [1])]]), memory=5)
        with pytest.raises(simidx.ArgumentError, match="duplicates: refuse, first, last"):
            index.load(arrow_rows.Producer([[("fp", "l", [1])]]), duplicates="all")
        assert [d.fingerprint for d in index] == [1, 2] and index.verify() == []
    assert sorted(os.listdir(os.path.dirname(where))) == ["index"], "nothing is left beside it"
    with simidx.Index(where, read_only=True) as index:
        with pytest.raises(simidx.StateError, match="read-only"):
            load("l", [3])
    with simidx.Index(where + "2", create=True, texts=True) as index:
        with pytest.raises(simidx.ArgumentError, match="text 1 is None"):
            index.load(arrow_rows.Producer([[("text", "u", ["a", None])]]))
        assert len(index) == 0


def test_duplicates(where):
    columns = [("fp", "l", [7, 8, 9]), ("label", "u", ["/b", "/a", "/b"])]
    rows = arrow_rows.Producer(batches(columns, 2))
    with simidx.Index(where, create=True) as index:
        index.add([1], labels=["/a"])
        with pytest.raises(simidx.DuplicateError, match="row 1: .*label"):
            index.load(rows)
        assert len(index) == 1
        assert index.load(rows, duplicates="first") == 1
        assert {d.label: d.fingerprint for d in index} == {"/a": 1, "/b": 7}
        assert index.load(rows, duplicates="last") == 2
        assert {d.label: d.fingerprint for d in index} == {"/a": 8, "/b": 9}


def test_who_reads_meanwhile_goes_on(where):
    with simidx.Index(where, create=True) as index:
        index.add(range(3000))
        documents = iter(index)
        first = next(documents)
        index.load(arrow_rows.Producer([[("fp", "l", list(range(5000, 5010)))]]))
        assert len([first, *documents]) == 3000
        assert len(index) == 3010
    with pytest.raises(simidx.StateError, match="closed"):
        index.search(1)


def test_tables_of_other_libraries(where):
    rows = {"fp": [3, 2**63, 5], "id": [30, 20, 10], "label": ["/x", None, "/z"]}
    for name in ("pyarrow", "polars", "duckdb"):
        library = pytest.importorskip(name)
        if name == "pyarrow":
            fp = library.array(rows["fp"], library.uint64())
            table = library.table(rows | {"fp": fp}).slice(1)
        elif name == "polars":
            table = library.DataFrame(rows, schema_overrides={"fp": library.UInt64})[1:]
        else:
            table = library.sql(
                "select 9223372036854775808::ubigint fp, 20::bigint id, null::varchar as label"
                " union all select 5::ubigint, 10, '/z'"
            )
        with simidx.Index(where + name, create=True) as index:
            assert index.load(table) == 2
            assert [d[:3] for d in index] == [(10, 5, "/z"), (20, 2**63, None)]
