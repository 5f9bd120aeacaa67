# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Pairs and clusters against loops over all pairs, and as Arrow."""

import random

import arrow_rows
import pytest
import simidx
from simidx import _tables


def make_fps(seed, n):
    rng = random.Random(seed)
    fps = [rng.getrandbits(64) for _ in range(n)]
    for i in range((n + 1) // 2, n):
        fps[i] = fps[rng.randrange(i)] ^ (1 << rng.randrange(64)) ^ (1 << rng.randrange(64))
    return fps


def near_to(fps, radius):
    """Of each document the others within the radius."""
    return [
        [b for b, other in enumerate(fps) if b != a and (fp ^ other).bit_count() <= radius]
        for a, fp in enumerate(fps)
    ]


def chains(fps, radius):
    """Members of each document's cluster: whatever a chain of near ones leads to."""
    near, cluster = near_to(fps, radius), {}
    for first in range(len(fps)):
        reached = [first] if first not in cluster and near[first] else []
        for id in reached:
            if id not in cluster:
                cluster[id] = first
                reached += near[id]
    return cluster


def stars(fps, radius, order):
    """The keeper of each document."""
    near, keeper = near_to(fps, radius), {}
    for id in order:
        members = [id, *near[id]] if id not in keeper else []
        fresh = [member for member in members if member not in keeper]
        if len(fresh) > 1:
            keeper.update((member, id) for member in fresh)
    return keeper


@pytest.mark.parametrize("radius", [0, 3, 9])
@pytest.mark.parametrize("seed, n", [(1, 400), (2, 150), (3, 0), (4, 1)])
def test_clusters_are_unions_of_pairs(where, seed, n, radius):
    fps = make_fps(seed, n) + [5, 5, 5] * (n > 100)
    with simidx.Index(where, create=True) as index:
        index.add(fps)
        single = index.clusters(radius=radius, link="single", threads=2)
        assert dict(zip(single.id, single.cluster)) == chains(fps, radius)
        assert len(single) == len(set(single.id)), "in one cluster at most"
        for keep, order in (("smallest_id", 1), ("largest_id", -1)):
            star = index.clusters(radius=radius, keep=keep)
            want = stars(fps, radius, range(len(fps))[::order])
            keeper, got = None, {}
            for row in zip(*vars(star).values()):
                cluster, id, fp, bits, is_keeper = row
                keeper = id if is_keeper else keeper
                got[id] = keeper
                assert fp == fps[id] and bits == (fp ^ fps[keeper]).bit_count() <= radius
                assert cluster == min(i for i, k in want.items() if k == keeper)
            assert got == want
        large = index.clusters(radius=radius, link="single", max_size=2)
        assert all(list(large.cluster).count(cluster) == 2 for cluster in large.cluster)


def test_clusters_keep_by_labels(where):
    with simidx.Index(where, create=True) as index:
        index.add([1, 1, 1], labels=["/c", None, "/a"])
        kept = index.clusters(keep="smallest_label")
        assert list(zip(kept.id, kept.is_keeper)) == [(2, 1), (0, 0), (1, 0)]
        with pytest.raises(simidx.ArgumentError, match="keep: smallest_id, largest_id, small"):
            index.clusters(keep="first")
        with pytest.raises(simidx.ArgumentError, match="link: star, single, not 'complete'"):
            index.clusters(link="complete")
        with pytest.raises(simidx.ArgumentError, match="radius"):
            index.clusters(radius=65)
        with pytest.raises(simidx.ArgumentError, match="max_size"):
            index.clusters(max_size=1)


def test_texts_have_clusters(where):
    bridge = " ".join(f"word{i} of the bridge" for i in range(60))
    with simidx.Index(where, create=True, texts=True) as index:
        index.add([bridge, "Three ships from the north.", bridge + ".", "", ""])
        assert list(index.clusters().id) == [0, 2]


@pytest.mark.parametrize("n", [0, 1, 2, 9, 300])
def test_they_are_streams_of_arrow(where, n):
    with simidx.Index(where, create=True) as index:
        index.add([i // 3 << 20 for i in range(n)])
        for table in (index.pairs(radius=0), index.clusters(radius=0)):
            (batch,) = _tables.Stream(table)
            want = {name: list(values) for name, values in vars(table).items()}
            assert arrow_rows.rows(batch) == want
            assert len(batch) == len(table)
            half = batch.take(bytes(i % 2 for i in range(len(batch))))
            assert arrow_rows.rows(half) == {name: v[1::2] for name, v in want.items()}


def test_other_libraries_take_them(where):
    with simidx.Index(where, create=True) as index:
        index.add([7, 8, 7, 8, 7])
        clusters = index.clusters(radius=0)
    want = {name: list(values) for name, values in vars(clusters).items()}
    assert want["is_keeper"] == [1, 0, 0, 1, 0]
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(clusters)
    table.validate(full=True)
    assert table.to_pydict() == want
    assert pytest.importorskip("polars").DataFrame(clusters).to_dict(as_series=False) == want
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql("select count(*) from clusters where is_keeper").fetchall() == [(2,)]
