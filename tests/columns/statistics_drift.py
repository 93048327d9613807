"""Drift of running statistics: after very many rows taken out and added, they are those of a rebuild.

    python tests/columns/statistics_drift.py --pairs 1e9
    python tests/columns/statistics_drift.py --pairs 1e7 --case real-tails

Rows are taken from one slot and added to another, at random, without a single rebuild on the way; a chain rebuilds
after every cycle. For each statistic the largest difference from a rebuild is told, in units of the sum of the absolute
values of all rows ("column"), and of the rows of the slot ("slot"); then that of the log marginal likelihoods per row,
without the factorials of counts, and of the float32 scores.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse

from sklearn_subanneal.columns.binding import bind_bags, bind_columns
from sklearn_subanneal.tables.documents import Documents

N_ROWS, N_SLOTS, PART = 600, 4, 1_000_000
# The bar: in units of the column.
BAR = 1e-9


def tails(rng):
    """Ordinary values, and one a million times as large."""
    cells = rng.normal(size=N_ROWS)
    cells[7] = 1e6
    return cells


def block(cells):
    """Three correlated columns of such cells."""
    return lambda rng: [own := cells(rng), own + 0.3 * cells(rng), cells(rng)]


def narrow(rng):
    """Three columns that are nearly one."""
    own = rng.normal(size=N_ROWS)
    return [own, own + 1e-4 * rng.normal(size=N_ROWS), own - 1e-4 * rng.normal(size=N_ROWS)]


def one_slot(rng):
    return rng.normal(size=N_ROWS)


# Kind, number of categories, cells; the name of a case ends with "one" if all rows are in one slot.
CASES: dict[str, tuple[str, int, Callable]] = {
    "real": ("real", 0, lambda rng: rng.normal(size=N_ROWS)),
    "real-offset": ("real", 0, lambda rng: 1e9 + rng.choice([-1.0, 0.25, 1.0], N_ROWS)),
    "real-tiny": ("real", 0, lambda rng: 1e-30 * rng.normal(size=N_ROWS)),
    "real-tails": ("real", 0, tails),
    "real-one": ("real", 0, one_slot),
    "skewed": ("skewed", 0, lambda rng: np.exp(2.0 * rng.normal(size=N_ROWS))),
    "skewed-tails": ("skewed", 0, lambda rng: np.abs(tails(rng)) + 0.1),
    "semicontinuous": ("semicontinuous", 0, lambda rng: np.maximum(rng.normal(size=N_ROWS), 0.0)),
    "semicontinuous-tails": ("semicontinuous", 0, lambda rng: np.maximum(tails(rng), 0.0)),
    "categorical": ("categorical", 5, lambda rng: rng.integers(5, size=N_ROWS).astype(np.int8)),
    "boolean": ("boolean", 2, lambda rng: rng.integers(2, size=N_ROWS).astype(np.int8)),
    "count": ("count", 0, lambda rng: rng.poisson(3.0, N_ROWS).astype(np.int32)),
    "count-tails": ("count", 0, lambda rng: np.append(rng.poisson(3.0, N_ROWS - 1), 3_000_000).astype(np.int32)),
    "cyclic": ("cyclic", 0, lambda rng: rng.vonmises(1.0, 2.0, N_ROWS) % (2.0 * np.pi)),
    "cyclic-one": ("cyclic", 0, lambda rng: rng.vonmises(1.0, 1e6, N_ROWS) % (2.0 * np.pi)),
    "ordinal": ("ordinal", 5, lambda rng: rng.integers(5, size=N_ROWS).astype(np.int8)),
    "block": ("block", 0, block(lambda rng: rng.normal(size=N_ROWS))),
    "block-offset": ("block", 0, block(lambda rng: 1e9 + rng.normal(size=N_ROWS))),
    "block-tiny": ("block", 0, block(lambda rng: 1e-30 * rng.normal(size=N_ROWS))),
    "block-tails": ("block", 0, block(tails)),
    "block-one": ("block", 0, block(one_slot)),
    "block-narrow": ("block", 0, narrow),
    "bag-of-words": ("bag-of-words", 0, lambda rng: rng.poisson(0.7, (N_ROWS, 6)).astype(float)),
}


def statistics_of(case: str):
    """The kernel of a case over its rows, in the units in which a chain has them."""
    kind, n_categories, make = CASES[case]
    cells = make(np.random.default_rng(3))
    if kind == "bag-of-words":
        (model,) = bind_bags(cells.shape[1])
        return model.statistics(model.data([Documents(sparse.csr_array(cells))]))
    arrays = cells if kind == "block" else [cells]
    kinds = ["real"] * 3 if kind == "block" else [kind]
    (model,) = bind_columns(
        list("abc")[: len(arrays)], kinds, [n_categories] * len(arrays), arrays,
        covariance_type="full" if kind == "block" else "diag",
    )  # fmt: skip
    return model.statistics(model.data(arrays))


def sums_of(statistics) -> dict[str, np.ndarray]:
    """The statistics of all slots, as arrays with an axis for the slots first."""
    state = statistics.get_state(N_SLOTS)
    if "word" in state:
        bags = sparse.csr_array((state["times"], state["word"], state["start"]), (N_SLOTS, statistics.width))
        return {"words": bags.toarray().astype(float)}
    sums = {name: np.asarray(value, float) for name, value in state.items() if name != "parameters"}
    if "counts" in sums:
        sums["counts"] = sums["counts"].T
    for name in [name for name in sums if name.endswith("_rest")]:
        sums[name.removesuffix("_rest")] += sums.pop(name)
    # Of a symmetric matrix only the lower triangle is kept.
    return {name: np.tril(value) if value.ndim == 3 else value for name, value in sums.items()}


def drift_of(case: str, n_pairs: int) -> dict[str, float]:
    """Largest differences from a rebuild after so many rows were taken out and added.

    Parameters
    ----------
    case : str
        A key of ``CASES``.
    n_pairs : int

    Returns
    -------
    found : dict of str to float
        "column" and "slot", of the sums; "marginal", of log marginal likelihoods per row, without factorials;
        "score", of scores;
        "nanoseconds" of CPU time per pair.
    """
    rng, statistics = np.random.default_rng(4), statistics_of(case)
    # One row of each slot is never taken out: a slot without rows is cleared, and begins anew.
    n_slots = 1 if case.endswith("-one") else N_SLOTS
    slots = (np.arange(N_ROWS) % n_slots).astype(np.int32)
    statistics.rebuild(np.append(slots[:-1], N_SLOTS - 1) if n_slots == 1 else slots)
    statistics.rebuild(slots)
    clock, left = time.process_time(), n_pairs
    size = min(n_pairs, PART)
    rows = rng.integers(n_slots, N_ROWS, size).astype(np.int32)
    targets = rng.integers(n_slots, size=size).astype(np.int32)
    while left:
        n = min(left, size)
        # Another order in each part, at little cost.
        shift, stride = int(rng.integers(size)), 2 * int(rng.integers(size // 2)) + 1
        order = (shift + stride * np.arange(n)) % size
        statistics.reassign_rows(rows[order], targets[order[::-1]], slots)
        left -= n
    seconds = time.process_time() - clock
    drifted, marginals, scores = sums_of(statistics), statistics.log_marginals(n_slots), scores_of(statistics, n_slots)
    statistics.rebuild(slots)
    fresh, exact, again = sums_of(statistics), statistics.log_marginals(n_slots), scores_of(statistics, n_slots)
    found = {"column": 0.0, "slot": 0.0}
    for name, own in sizes_of(statistics, slots).items():
        off = np.abs(drifted[name] - fresh[name])
        found["column"] = max(found["column"], _largest(off, own.sum(axis=0)))
        found["slot"] = max(found["slot"], _largest(off, own))
    # Factorials of counts are the same in all partitions. The logarithm of that of three millions is 4e7, which
    # float64 rounds by 4e-9 whenever a row comes or goes: their drift is that of a sum, told in units of the column.
    factorials = drifted.get("log_factorials", 0.0), fresh.get("log_factorials", 0.0)
    found["marginal"] = float(np.abs(marginals + factorials[0] - (exact + factorials[1])).max() / N_ROWS)
    found["score"] = float(np.abs(scores - again).max())
    return found | {"nanoseconds": 1e9 * seconds / n_pairs}


def scores_of(statistics, n_slots) -> np.ndarray:
    """The scores of all rows in all slots."""
    return np.array([statistics.scores(row, n_slots) for row in range(N_ROWS)])


def sizes_of(statistics, slots) -> dict[str, np.ndarray]:
    """Of each statistic of each slot, the sum of the absolute values that its rows add."""
    each, sizes = statistics.twin(), {}
    for row, slot in enumerate(slots):
        each.rebuild(np.where(np.arange(N_ROWS) == row, 0, -1))
        for name, value in sums_of(each).items():
            sizes.setdefault(name, np.zeros(value.shape))[slot] += np.abs(value[0])
    return sizes


def _largest(off, scale) -> float:
    scale = np.broadcast_to(scale, off.shape)
    return float(np.max(np.divide(off, scale, out=np.zeros_like(off), where=scale > 0.0), initial=0.0))


def main(arguments: list[str] | None = None) -> int:
    """The command line; returns 1 if statistics drift further than the bar."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=float, default=1e7, help="rows taken out and added (default: %(default)g)")
    parser.add_argument("--case", action="append", choices=CASES, help="only these (default: all)")
    chosen = parser.parse_args(arguments)
    worst = 0.0
    for case in chosen.case or CASES:
        found = drift_of(case, int(chosen.pairs))
        worst = max(worst, found["column"])
        print(f"{case:22s}", *(f"{name} {value:9.3g}" for name, value in found.items()), flush=True)
    return int(worst > BAR)


if __name__ == "__main__":
    raise SystemExit(main())
