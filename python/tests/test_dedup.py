# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""dedup() decides as simidx-dedup does."""

import concurrent.futures
import gc
import json
import os
import pathlib
import random
import subprocess
import warnings

import arrow_rows
import pytest
import simidx
from simidx import _tables

TOOL = os.path.join(os.environ.get("SX_BUILDDIR", ""), "tools", "simidx-dedup")


def make_rows(seed, n):
    """Texts of 60 words, a third of them earlier ones in which words are replaced."""
    rng = random.Random(seed)
    texts = []
    for _ in range(n):
        if texts and rng.random() < 0.35:
            words = rng.choice(texts).split()
            for _ in range(rng.choice([0, 0, 1, 2, 4])):
                words[rng.randrange(len(words))] = f"n{rng.randrange(9999)}"
        else:
            words = [f"w{rng.randrange(5000)}" for _ in range(60)]
        texts.append(" ".join(words))
    return texts


def batches(texts, size):
    numbers = list(range(len(texts)))
    return [
        [("n", "l", numbers[i : i + size]), ("text", "u", texts[i : i + size])]
        for i in range(0, len(texts), size)
    ]


def kept_of(result):
    return [n for batch in result for n in arrow_rows.rows(batch)["n"]]


def tool(tmp_path, texts, *options):
    """The numbers of the rows that the program lets through."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"n": n, "text": t}) + "\n" for n, t in enumerate(texts)))
    done = subprocess.run([TOOL, "-q", "--stream", *options, rows], capture_output=True, check=True)
    return [json.loads(line)["n"] for line in done.stdout.splitlines()]


@pytest.mark.skipif(not os.path.exists(TOOL), reason="the tools are not built here")
@pytest.mark.parametrize("size", [1, 100, 5000])
@pytest.mark.parametrize("threads", [1, 3])
def test_decisions_are_those_of_the_tool(tmp_path, size, threads):
    texts = make_rows(size, 5000)
    why = []
    result = simidx.dedup(
        arrow_rows.Producer(batches(texts, size)), threads=threads, evidence=why.append
    )
    kept = kept_of(result)
    assert kept == tool(tmp_path, texts)
    assert (result.rows, result.kept) == (5000, len(kept))
    assert [row.row for row in why] == sorted(set(range(5000)) - set(kept))
    for row in why[:200]:
        assert row.rule == ("equal" if texts[row.row] == texts[row.keeper] else "text")
        assert row.keeper in kept and row.similarity == pytest.approx(
            jaccard(texts[row.row], texts[row.keeper])
        )


def jaccard(a, b):
    both = a.split(), b.split()
    first, second = ({tuple(w[i : i + 5]) for i in range(len(w) - 4)} for w in both)
    return len(first & second) / len(first | second)


@pytest.mark.skipif(not os.path.exists(TOOL), reason="the tools are not built here")
def test_what_was_seen_lasts(where):
    seen = pathlib.Path(where, "dedup.seen")
    assert list(simidx.dedup_texts(make_rows(1, 100), index=where)) and seen.exists()
    day = pathlib.Path(where + ".jsonl")
    day.write_text("".join(json.dumps({"text": text}) + "\n" for text in make_rows(5, 100)))
    run = [TOOL, "-q", "--stream", "--index", where, "--summary", where + ".summary", day]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    assert json.loads(pathlib.Path(where + ".summary").read_text())["unsearched"] > 50
    assert list(simidx.dedup_texts(make_rows(6, 100), index=where)) and seen.exists()
    # What is put otherwise is not in the file.
    with simidx.Index(where) as index:
        index.add(["A text of some words that nobody has written before."])
        assert list(simidx.dedup_texts(make_rows(7, 100), index=index)) and not seen.exists()


def test_a_second_day(where):
    first, second = make_rows(1, 800), make_rows(1, 1000)[700:]
    assert kept_of(simidx.dedup(arrow_rows.Producer(batches(first, 90)), index=where))
    with simidx.Index(where) as index:
        why = []
        again = simidx.dedup(
            arrow_rows.Producer(batches(first, 70)), index=index, evidence=why.append
        )
        assert kept_of(again) == []
        assert {row.rule for row in why} <= {"sketch", "equal", "text"} and why[0].keeper is None
        n = len(index)
        new = kept_of(simidx.dedup(arrow_rows.Producer(batches(second, 70)), index=index))
        assert 0 < len(new) < 250 and len(index) >= n + len(new)


def evidence_of(seed, where, **how):
    """Rows with ids, what stays, and the evidence, both as an iterator and as a stream."""
    texts = make_rows(seed, 1500)
    columns = [("text", "u", texts), ("key", "U", [f"r{i}" for i in range(len(texts))])]
    parts = [[(n, k, v[i : i + 70]) for n, k, v in columns] for i in range(0, len(texts), 70)]
    evidence = simidx.Evidence()
    result = simidx.dedup(arrow_rows.Producer(parts), id="key", evidence=evidence, **how)
    kept = [key for batch in result for key in arrow_rows.rows(batch)["key"]]
    batches = [arrow_rows.rows(batch) for batch in evidence]
    assert batches == [arrow_rows.rows(batch) for batch in _tables.Stream(evidence)]
    rows = [row for batch in batches for row in zip(*batch.values())]
    assert list(batches[0]) == list(simidx.Row._fields) and len(rows) == len(evidence)
    return texts, kept, [simidx.Row(*row) for row in rows]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("is_lasting", [False, True])
def test_evidence_as_arrow(where, threads, is_lasting):
    how = {"index": where} if is_lasting else {}
    texts, kept, rows = evidence_of(7, where, threads=threads, **how)
    assert sorted(kept + [row.id for row in rows]) == sorted(f"r{i}" for i in range(len(texts)))
    for row in rows:
        assert row.id == f"r{row.row}" and row.keeper_id == f"r{row.keeper}" in kept
        assert row.document is None and row.against is None
        assert row.similarity == pytest.approx(jaccard(texts[row.row], texts[row.keeper]))
        assert row.rule == ("equal" if texts[row.row] == texts[row.keeper] else "text")
    if is_lasting:
        _, again, rows = evidence_of(7, where, index=where)
        assert again == [] and [row.row for row in rows] == list(range(1500))
        with simidx.Index(where) as index:
            for row in rows:
                label = index.get(id=row.document).label
                assert row.keeper is None and row.keeper_id == label
            _, again, rows = evidence_of(7, where, against=[index])
            assert again == [] and {row.against for row in rows} == {0}
            assert {row.keeper_id for row in rows if row.keeper_id} == set(kept)


def test_evidence_is_there_during_the_run():
    texts = make_rows(2, 30000)
    evidence = simidx.Evidence()
    result = simidx.dedup(arrow_rows.Producer(batches(texts, 5000)), evidence=evidence)
    seen = [len(evidence) for _ in result]
    assert seen == sorted(seen) and 0 < seen[0] < seen[-1] == 30000 - result.kept
    assert max(len(batch) for batch in evidence) <= 4096
    assert sum(len(batch) for batch in evidence) == len(evidence)
    assert all(v is None for v in arrow_rows.rows(next(iter(evidence)))["keeper_id"])


def test_evidence_for_other_libraries():
    evidence = simidx.Evidence()
    row = simidx.Row(1, b"\xff\xc3\xa9", 0, "zero", None, None, None, "fingerprint")
    want = row._replace(id="\ufffd\u00e9")._asdict()
    pyarrow = pytest.importorskip("pyarrow")
    assert pyarrow.table(evidence).to_pylist() == []
    evidence.add([row] * 5000)
    pyarrow.table(evidence).validate(full=True)
    assert pyarrow.table(evidence).to_pylist() == [want] * 5000
    assert pytest.importorskip("polars").DataFrame(evidence).to_dicts() == [want] * 5000
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select distinct keeper_id from evidence").fetchall() == [("zero",)]


def test_against_another_index(tmp_path, where):
    texts = make_rows(4, 600)
    kept_of(simidx.dedup(arrow_rows.Producer(batches(texts[:200], 50)), index=where))
    with simidx.Index(where, read_only=True) as test_set:
        why = []
        clean = simidx.dedup(
            arrow_rows.Producer(batches(texts, 64)), against=[test_set], evidence=why.append
        )
        assert min(kept_of(clean)) >= 200
        assert [row.against for row in why[:200]] == [0] * 200
        clean = simidx.dedup(arrow_rows.Producer(batches(texts, 64)), against=[test_set])
        next(clean)
        with pytest.raises(simidx.StateError, match="uses the index"):
            test_set.close()
        clean.close()


def test_nulls_and_empty_texts_stay():
    texts = [None, "", None, "one two", "ONE two", "!", "?"]
    assert kept_of(simidx.dedup(arrow_rows.Producer(batches(texts, 3)))) == [0, 1, 2, 3, 5, 6]


def test_it_can_end_early_and_leaves_nothing(tmp_path):
    result = simidx.dedup(arrow_rows.Producer(batches(make_rows(9, 300), 10)), tmpdir=str(tmp_path))
    assert list(tmp_path.iterdir())
    result.close()
    assert not list(tmp_path.iterdir())
    assert list(result) == []


def test_an_error_of_the_stream_comes_through(tmp_path):
    source = arrow_rows.Producer(batches(make_rows(9, 300), 10), fail_after=3)
    with pytest.raises(simidx.ArgumentError, match="had enough"):
        list(simidx.dedup(source, tmpdir=str(tmp_path)))
    assert not list(pathlib.Path(tmp_path).iterdir())


def test_options_that_make_no_sense(where):
    stream = arrow_rows.Producer(batches(["a"], 1))
    with pytest.raises(simidx.ArgumentError, match="similarity"):
        simidx.dedup(stream, similarity=1.5)
    with pytest.raises(simidx.ArgumentError, match="remember"):
        simidx.dedup(stream, remember="all")
    with simidx.Index(where, create=True) as index, pytest.raises(simidx.MismatchError):
        simidx.dedup(stream, index=index)
    numbered = arrow_rows.Producer([[("text", "u", ["a"]), ("n", "l", [1])]])
    with pytest.raises(simidx.ArgumentError, match='ids: strings are expected.* "l": cast it'):
        list(simidx.dedup(numbered, id="n"))


def test_texts_of_python_are_decided_as_rows_are(where):
    texts = make_rows(11, 3000)
    kept = kept_of(simidx.dedup(arrow_rows.Producer(batches(texts, 500))))
    assert list(simidx.dedup_texts(iter(texts), threads=2)) == [(n, texts[n]) for n in kept]
    assert [n for n, _ in simidx.dedup_texts([t.encode() for t in texts], index=where)] == kept
    assert list(simidx.dedup_texts(texts[:100], index=where)) == []
    with pytest.raises(TypeError, match="neither str nor bytes"):
        list(simidx.dedup_texts(["a", 5]))
    # Refused at once, not with the first row.
    with pytest.raises(simidx.ArgumentError, match="one text where several"):
        simidx.dedup_texts("abc")
    with pytest.raises(simidx.ArgumentError, match="similarity"):
        simidx.dedup_texts(["a"], similarity=3)


def test_a_refused_choice_makes_no_index(tmp_path: pathlib.Path) -> None:
    with pytest.raises(simidx.ArgumentError, match="remember: fingerprint, sketch, text"):
        simidx.dedup_texts(["One."], index=str(tmp_path / "no"), remember="all").__next__()
    assert not list(tmp_path.iterdir())


def test_rows_come_once(where):
    texts = ["one two three four five six", "seven eight nine ten eleven"]
    kept = simidx.dedup(arrow_rows.Producer(batches(texts, 5)))
    assert sum(len(batch) for batch in kept) == 2
    assert list(kept) == []
    with pytest.raises(simidx.StateError, match="it has ended"):
        kept.__arrow_c_stream__()
    with simidx.dedup(arrow_rows.Producer(batches(texts, 5)), index=pathlib.Path(where)) as kept:
        next(kept)
    with pytest.raises(simidx.StateError, match="it was closed"):
        kept.__arrow_c_stream__()
    with pytest.raises(simidx.ArgumentError, match="evidence"):
        simidx.dedup(arrow_rows.Producer(batches(texts, 5)), evidence=[])


def test_one_that_has_failed_gives_no_more(where):
    def why(_row):
        raise ValueError("of the caller")

    text = "one two three four five six seven eight nine"
    kept = simidx.dedup(arrow_rows.Producer(batches([text, text], 5)), evidence=why)
    with pytest.raises(ValueError, match="of the caller"):
        list(kept)
    with pytest.raises(simidx.StateError, match="it has failed"):
        next(kept)
    with (
        pytest.raises(ValueError, match="of the caller"),
        simidx.Index(where, create=True, texts=True) as index,
    ):
        held = simidx.dedup(arrow_rows.Producer(batches([text], 5)), index=index)
        why(held)


def test_one_that_is_forgotten_lets_go(where, tmp_path):
    """At once, without a warning, and without waiting for the collector of cycles."""
    texts = ["one two three four five six", "seven eight nine ten eleven"]
    index = simidx.Index(where, create=True, texts=True)
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            evidence = simidx.Evidence(tmpdir=tmp_path)
            kept = simidx.dedup(
                arrow_rows.Producer(batches(texts, 1)), index=index, evidence=evidence
            )
            next(kept)
            del kept, evidence
            index.close()
            kept = simidx.dedup(arrow_rows.Producer(batches(texts, 1)), tmpdir=tmp_path)
            next(kept)
            assert list(tmp_path.glob("simidx-*"))
            del kept
            simidx.dedup_texts(texts, tmpdir=tmp_path)
            assert not list(tmp_path.glob("simidx-*"))
    finally:
        gc.enable()


def test_a_child_of_fork_leaves_the_files_of_its_parent(tmp_path):
    texts = [f"{i} of {i * i} and {i % 7} or {i // 3}" for i in range(3000)]
    kept = simidx.dedup(arrow_rows.Producer(batches(texts, 100)), tmpdir=tmp_path, evidence=print)
    n = len(next(kept))
    if not (child := os.fork()):
        kept.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert list(tmp_path.glob("simidx-*"))
    assert n + sum(map(len, kept)) == len(texts)
    assert not list(tmp_path.glob("simidx-*"))


def test_evidence_has_every_id(where):
    text = "one two three four five six seven eight nine"
    with simidx.Index(where, create=True, texts=True) as index:
        index.add([text], ids=[2**63 - 1], labels=["/largest"])
        evidence = simidx.Evidence()
        assert not list(
            simidx.dedup(arrow_rows.Producer(batches([text], 5)), index=index, evidence=evidence)
        )
        (batch,) = evidence
        assert arrow_rows.rows(batch)["document"] == [2**63 - 1]
        assert arrow_rows.rows(batch)["keeper_id"] == ["/largest"]


@pytest.mark.parametrize("rows", [100, 3000])
def test_threads_that_read_in_turns(where, rows):
    """As those of DuckDB do. Each of them lives on."""
    texts = make_rows(5, 12000)
    kept = simidx.dedup(arrow_rows.Producer(batches(texts, rows)), threads=2)
    n = 0
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for one, other in zip(kept, iter(lambda: pool.submit(next, kept, b"").result(60), None)):
            n += len(one) + len(other)
    n += sum(map(len, kept))
    assert n == len(kept_of(simidx.dedup(arrow_rows.Producer(batches(texts, rows)))))


def test_duckdb_reads_with_its_threads(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    texts = make_rows(6, 20000)
    kept = simidx.dedup(arrow_rows.Producer(batches(texts, 1000)))
    with duckdb.connect() as connection:
        connection.sql(f"copy (from kept) to '{tmp_path}/kept.parquet'")
        ((n,),) = connection.sql(f"select count(*) from '{tmp_path}/kept.parquet'").fetchall()
    assert n == kept.kept > 0


def test_states_of_one_that_has_ended(where):
    texts = ["one two three four five six", "seven eight nine ten eleven"]

    def begin(**more):
        return simidx.dedup(arrow_rows.Producer(batches(texts * 2, 1)), **more)

    def close_it(_row):
        with pytest.raises(simidx.StateError, match="at work"):
            kept.close()

    kept = begin(evidence=close_it)
    assert sum(map(len, kept)) == 2
    for rows in (0, 1):
        kept = begin()
        assert len([next(kept) for _ in range(rows)]) == rows
        kept.close()
        assert list(kept) == []
    with pytest.raises(simidx.StateError, match="it was closed"):
        kept.__arrow_c_stream__()
    kept = begin(evidence=lambda row: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(kept)
    kept.close()
    with pytest.raises(simidx.StateError, match="it has failed"):
        next(kept)
    with simidx.Index(where, create=True, texts=True) as index:
        with begin(index=index) as kept, pytest.raises(simidx.StateError, match="deduplication"):
            index.load(kept)
        # Its own streams keep the class of an exception.
        with pytest.raises(ZeroDivisionError):
            index.load(begin(evidence=lambda row: 1 / 0))
        assert index.load(begin()) == 2


def test_against_is_an_index_or_a_path_or_several(where):
    texts = ["one two three four five six", "seven eight nine ten eleven"]

    def left(against):
        return kept_of(simidx.dedup(arrow_rows.Producer(batches(texts, 5)), against=against))

    with simidx.Index(where, create=True, texts=True) as index:
        assert left(index) == [0, 1]
        index.add(texts[:1])
        assert left(index) == left([index]) == left(where) == left([pathlib.Path(where)]) == [1]
        with pytest.raises(simidx.ArgumentError, match="against: an Index or its path"):
            left([5])
    with pytest.raises(simidx.NotFoundError):
        left(where + "no")


def test_evidence_is_read_by_parent_and_child(tmp_path):
    evidence = simidx.Evidence(tmpdir=tmp_path)
    row = simidx.Row(1, "a", 0, "b", None, None, 0.5, "text")
    for n in (4096, 4096, 3):
        evidence.add([row] * n)
    batches_of_it = iter(evidence)
    first = len(next(batches_of_it))
    if not (child := os.fork()):
        list(evidence)
        del evidence
        gc.collect()
        os._exit(0)
    assert first + sum(map(len, batches_of_it)) == len(evidence) == 8195
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert sum(map(len, evidence)) == 8195
