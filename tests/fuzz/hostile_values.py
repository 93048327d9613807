"""Values of parameters and arguments: some that suit the name of a parameter, and some that suit none."""

from __future__ import annotations

import copy
import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
from scipy import sparse, stats

from sklearn_subanneal import annealing, partitions, tempering, variational
from sklearn_subanneal.mixtures import Gibbs, Slice, SplitMerge
from sklearn_subanneal.trees import TreeGuided
from sklearn_subanneal.views import ColumnBlocks, ColumnGibbs, ColumnGroups, ColumnPacing, ViewSplitMerge

NAN, INF = np.nan, np.inf
SMALL = [1, 2, np.int64(2), np.int8(3), 5]
SHARES = [0.0, 0.1, 0.5, 1.0, 1, np.float32(0.25), 5e-324, 1.0 - 2**-53]
COLUMNS = [0, 1, "x0", "column a", [0], ["column a"], [0, 1], (1,), "column b", np.int64(0), [0, 0], 7, -1, "x9"]
SEEDS = [0, 1, None, np.random.RandomState(0), np.random.default_rng(0), 2**32 - 1, 2**32, np.int64(3)]

# Values for any parameter.
ANYTHING = [
    None, True, False, 0, 1, -1, 2**31, 10**18, 2**63, 10**400, -(10**400), 0.5, -0.5, 1.5, NAN, INF, -INF, 1e308,
    -1e308, 5e-324, "", "no", "auto", "learn", b"x", [], (), {}, [0], [[0]], [None], [NAN], ["a"], [1, 2, 3],
    [[1, 2], [3]], {"a": 1}, {0: 1}, {None: None}, {"x0": None}, {"x0": NAN}, set(), {1, 2}, np.array([]),
    np.array(1), np.array("a"), np.zeros((2, 2, 2)), np.array([True, False]), np.array([1, None], object),
    np.int64(-5), np.float32(NAN), np.float16(6e4), np.datetime64("NaT"), np.bool_(True), 1j, Decimal("NaN"),
    Decimal("1.5"), Fraction(1, 3), Fraction(10**400, 3), pd.NA, pd.NaT, datetime.date(2020, 1, 1), object, object(),
    len, range(3), slice(None), np.ma.masked, iter([1, 2]), Ellipsis, NotImplemented, ValueError("x"),
    pd.Series([1, 2]), pd.DataFrame({"a": [1]}), sparse.csr_array(np.eye(2)), np.random.default_rng(0), float, "x0",
    "\0", "\ud800", "x" * 10_000, frozenset({"x0"}), bytearray(b"ab"), type, np.float64,
]  # fmt: skip

PARTITIONS = [
    "dp", "pitman-yor", "nggp", "nig", partitions.CRP(1.0), partitions.CRP(1e308), partitions.CRP(5e-324),
    partitions.CRP(NAN), partitions.CRP(0), partitions.CRP("many"), partitions.CRP(10**400), partitions.CRP([1.0]),
    partitions.CRP(concentration_grid=[1e308, 1.0]), partitions.CRP(concentration_grid=["a"]),
    partitions.CRP(concentration_grid=5), partitions.CRP(concentration_start="a"),
    partitions.CRP(concentration_start=1e308),
    partitions.PitmanYor(1e308, 0.5), partitions.PitmanYor(-0.4, 0.5), partitions.PitmanYor(1.0, 1.0),
    partitions.PitmanYor(1.0, 1 - 2**-53), partitions.PitmanYor(discount_grid=[]), partitions.PitmanYor(1.0, "x"),
    partitions.PitmanYor(discount_start=NAN), partitions.PitmanYor(concentration_start=10**400),
    partitions.PitmanYor(discount_grid={}), partitions.PitmanYor(np.array([1.0])), partitions.PitmanYor(1e-320),
    partitions.NGGP(), partitions.NGGP(1e308), partitions.NGGP(1e-300), partitions.NGGP(None, 1.0),
    partitions.NGGP(1.0, 0.999999), partitions.NGGP("a"), partitions.NGGP(10**400), partitions.NIG(1e300),
    partitions.NIG(NAN), partitions.NIG(1.0), partitions.NIG(), partitions.CRP,
]  # fmt: skip
SCHEDULES = [
    *annealing.schedules.NAMED, "auto", annealing.SubsampleAnneal(1.0), annealing.SubsampleAnneal(1e18),
    annealing.SubsampleAnneal(NAN), annealing.SubsampleAnneal("a"), annealing.SubsampleAnneal(10**400),
    annealing.Accelerating(2.0, 3, 1), annealing.Accelerating(1e300), annealing.Accelerating(4.0, 1e308, 1),
    annealing.Accelerating(n_small=10**400), annealing.Accelerating(n_first=None), annealing.Accelerating,
    annealing.schedules.PriorGibbs(2), annealing.schedules.EnergyAnneal(), annealing.schedules.SequentialGibbs(2),
]  # fmt: skip
MOVES = [
    "default", [Gibbs()], [Slice()], [SplitMerge()], [Gibbs(), SplitMerge()], [TreeGuided()], [Gibbs, SplitMerge],
    [Gibbs(), ColumnGibbs()], [Gibbs(), ColumnGroups()], [Gibbs(), ColumnBlocks()], [Slice(), ViewSplitMerge()], [],
    [Gibbs(), Gibbs()], [None], ["gibbs"], (Gibbs(),), Gibbs(), [Gibbs(), ColumnGibbs(), ViewSplitMerge()],
]  # fmt: skip
TYPES = [
    "real", "categorical", "boolean", "count", "cyclic", "ordinal", "datetime", "auto", "from_dtype", "skewed",
    "semicontinuous", "gaussian", "bag-of-words", "Real", None, 5, "", ["real"],
]  # fmt: skip
CELLS = [0.0, 1.0, NAN, None, INF, -1e300, 1e300, 5e-324, "red", "stranger", True, 10**400, pd.NA, [1], {}, 1j, b"a"]
EVENTS = [
    "`column a` > 0", "x0 > 0", "x0 < 1e400", "x0 == 0 and x1 == 0", "x0 in (0, 1)", "x0 is missing", "not x0 > 1",
    "x0 >", "", "x9 == 1", "x0 == 'a'", "x0 is true", "((((x0 > 1))))", "x0 > nan", "x0 > -inf", "0 < x0 < 1", "\0",
    "x0 in ()", "(" * 2000 + "x0 > 1" + ")" * 2000, ["x0 > 0", "x1 > 0"], [], "not " * 3000 + "x0 > 1",
    "x0 > 1 or x0 <= 1", "x0 = 1", "x0 > x1", "x0 > 0xff", "x0 > 1_0", "__import__('os')", "column a > 0",
]  # fmt: skip


def _bell(*values, **named):
    """A log density of an array, of many arrays, or of parameters by their names."""
    return -0.5 * sum(np.sum(np.square(value), axis=-1) for value in (*values, *named.values()))


# Log densities: as they should be, constant, of a wide range, nowhere, not numbers, of another shape, and ill.
TARGETS = [
    _bell, _bell, _bell, lambda *x, **of: 0.0, lambda *x, **of: 1e300 * _bell(*x, **of), lambda *x, **of: -INF,
    lambda *x, **of: NAN, lambda *x, **of: INF, lambda *x, **of: "high", lambda *x, **of: None,
    lambda *x, **of: np.zeros((3, 2)), lambda *x, **of: 10**400, lambda *x, **of: 1j,
    lambda *x, **of: 1e-300 * _bell(*x, **of), lambda *x, **of: np.where(_bell(*x, **of) > -2.0, 0.0, -INF),
    (_bell, _bell), (_bell,), (_bell, None), "model.txt", lambda *x, **of: np.longdouble(-1.0),
]  # fmt: skip
REFERENCES = [
    None, (0.0, 1.0), (0.0, 0.0), (0.0, -1.0), (NAN, 1.0), (0.0, INF), (1e300, 1e300), ([0.0, 0.0], 1.0), (0.0,),
    ([0.0, 0.0], [1.0, 1.0, 1.0]), ([[0.0]], 1.0), ("a", "b"), "variational", "normal", {"a": (0.0, 1.0)}, {},
    {"a": stats.norm(), "b": stats.norm()}, {"a": (stats.uniform(0.0, 1.0), 2)}, {"a": stats.poisson(1.0)},
    {"a": (stats.norm(), 0)}, {1: stats.norm()}, {"a": stats.cauchy()}, {"a": stats.beta(1e-3, 1e-3)}, (0.0, 1e-300),
    {"a": stats.norm}, stats.norm(), (10**400, 1.0), {"a": stats.expon(scale=1e300)},
]  # fmt: skip
SPACES = [
    None, {"a": 2}, {"a": "real"}, {"a": "positive"}, {"a": (0.0, 1.0)}, {"a": ("simplex", 3)}, {"a": ("simplex", 1)},
    {"a": (1.0, 0.0)}, {"a": (0.0, INF)}, {"a": (-INF, INF)}, {"a": (NAN, 1.0)}, {"a": 0}, {"a": -1}, {"a": "square"},
    {"a": ("positive", 2), "b": ((0.0, 1.0), 1)}, {"a": 10**400}, {0: 2}, ["a"], {"a": ("real", 0)}, {"": 1},
    {}, {"a b": 1}, {"a": (0.0, 5e-324)}, {"a": (-1e308, 1e308)}, {"a": None},
]  # fmt: skip


def chosen(rng, values):
    """One of the values; a copy, as generators and iterators move on when they are used."""
    return copy.deepcopy(values[rng.integers(len(values))])


def _typed(rng):
    keys = ["x0", "x1", "column a", "column b", 0, 1, 5, "x9", None]
    form = rng.integers(4)
    if form == 0:
        return str(chosen(rng, ["auto", "from_dtype", "real"]))
    if form == 1:
        return [chosen(rng, TYPES) for _ in range(rng.integers(1, 4))]
    return {chosen(rng, keys): chosen(rng, TYPES) for _ in range(rng.integers(1, 3))}


def _feature_params(rng):
    names = ["mu", "kappa", "sigma2", "nu", "alpha", "beta", "shape", "rate", "dispersion", "psi", "period"]
    keys = ["real", "categorical", "boolean", "count", "cyclic", "gaussian", "ordinal", "x0", "column a", "nothing", 0]
    values = [1.0, 0.0, -1.0, NAN, INF, 1e308, 5e-324, 10**400, "a", None, [1.0], [1.0, 2.0], [[1.0]], np.eye(2), {}]
    return {
        chosen(rng, keys): {chosen(rng, names): chosen(rng, values) for _ in range(rng.integers(0, 3))}
        if rng.random() < 0.9
        else chosen(rng, values)
    }


def _feature_grids(rng):
    params = _feature_params(rng)
    return {
        key: {k: [v] for k, v in value.items()} if isinstance(value, dict) else value for key, value in params.items()
    }


def _given(rng):
    keys = ["x0", "x1", "column a", 0, 1, np.int64(1), 7, None, "x9"]
    return {chosen(rng, keys): chosen(rng, CELLS) for _ in range(rng.integers(0, 3))}


def _numbers(rng, n):
    """Weights or another list of so many numbers."""
    pool = [
        np.ones(n), np.zeros(n), np.arange(n), -np.ones(n), np.full(n, 0.5), np.full(n, NAN), np.full(n, INF),
        np.full(n, 1e300), [10**400] * n, ["a"] * n, np.ones(n + 1), np.ones((n, 1)), np.ones(n, bool),
        np.arange(n) % 2, pd.Series(np.arange(n) % 3), [None] * n, np.ones(n, np.uint8), [2**62] * n, np.full(n, 1e18),
    ]  # fmt: skip
    return chosen(rng, pool)


def _labels(rng, n):
    pool = [
        np.arange(n) % 2, np.arange(n) % 3, rng.normal(size=n), ["ab"[i % 2] for i in range(n)], np.zeros(n),
        np.full(n, NAN), np.where(np.arange(n) % 2, NAN, 1.0), 1e300 * rng.normal(size=n), np.full(n, INF),
        np.column_stack([np.arange(n) % 2, rng.normal(size=n)]), np.arange(n + 1), np.ones((n, 1)),
        pd.Series(pd.Categorical(["ab"[i % 2] for i in range(n)])), pd.Series(np.arange(n) % 2 == 0, dtype="boolean"),
        [None] * n, [10**400] * n, [1, "a"] * (n // 2) + [1] * (n % 2), np.full(n, 5e-324), np.zeros((n, 0)),
        pd.DataFrame({"x0": np.arange(n) % 2}), np.arange(n) * 1j, [[1]] * n, pd.Series(rng.normal(size=n), name="x0"),
        np.datetime64("2020-01-01") + np.arange(n), rng.poisson(3, n), np.zeros((n, 2, 2)),
        pd.Series([None, "a"] * (n // 2) + [None] * (n % 2)), np.arange(n, dtype=np.uint64) + 2**63,
        rng.normal(size=n).astype(np.float16), np.where(np.arange(n) % 2, 1.7e308, -1.7e308),
    ]  # fmt: skip
    return chosen(rng, pool)


# Functions of a random generator and the number of rows of the last table, by the name of a parameter.
SUITABLE = {
    "partition": lambda rng, n: chosen(rng, PARTITIONS),
    "row_partition": lambda rng, n: chosen(rng, PARTITIONS),
    "column_partition": lambda rng, n: chosen(rng, PARTITIONS),
    "covariance_type": lambda rng, n: chosen(rng, ["auto", "diag", "full", "tied"]),
    "moves": lambda rng, n: chosen(rng, MOVES),
    "column_start": lambda rng, n: chosen(rng, [None, "together", "apart", "correlation", "prior"]),
    "column_pacing": lambda rng, n: chosen(rng, [None, ColumnPacing(), ColumnPacing]),
    "schedule": lambda rng, n: chosen(rng, SCHEDULES),
    "subsampling": lambda rng, n: chosen(
        rng, ["cyclic", "random", annealing.StratifiedSubsampling(0), annealing.StratifiedSubsampling(9)]
    ),
    "feature_types": lambda rng, n: _typed(rng),
    "feature_params": lambda rng, n: _feature_params(rng),
    "feature_grids": lambda rng, n: _feature_grids(rng),
    "grids": lambda rng, n: chosen(rng, ["data", "fixed"]),
    "missing_indicator": lambda rng, n: chosen(rng, ["missing-only", None, [0], ["x0"], ["x9"], [0, 0], [True], {0}]),
    # A folder would be left behind.
    "checkpoint": lambda rng, n: None,
    "client": lambda rng, n: None,
    "unseen": lambda rng, n: chosen(rng, ["novel", "missing", "error"]),
    "given": lambda rng, n: _given(rng),
    "event": lambda rng, n: chosen(rng, EVENTS),
    "y": _labels,
    "sample_weight": _numbers,
    "strata": lambda rng, n: _numbers(rng, n) if rng.random() < 0.5 else _labels(rng, n),
    "rows": lambda rng, n: chosen(
        rng, [[0], [0, 0], np.arange(n), np.ones(n, bool), np.zeros(n, bool), [n], [-1], [0.5], [[0]], 0, [], None, n]
    ),
    "others": lambda rng, n: chosen(rng, [None, [0], np.arange(n), [n], np.ones(n, bool), []]),
    "quantiles": lambda rng, n: chosen(
        rng, [[0.5], (0.1, 0.9), [0.9, 0.1], [0.0], [1.0], 0.5, [5e-324], [1 - 2**-53], [NAN], ["a"], [[0.5]], []]
    ),
    "theta": lambda rng, n: chosen(rng, [None, [0.0, 0.0, 0.0], [1e3] * 3, [-1e3] * 3, [NAN] * 3, [0.0], np.zeros(5)]),
    "feature_names": lambda rng, n: chosen(rng, [None, ["a"], ["a", "b"], ["a"] * 5, [1, 2], np.array(["a", "b"])]),
    "input_features": lambda rng, n: chosen(rng, [None, ["x0"], ["x0", "x1"], ["column a"], ["a", "b", "c"]]),
    "temperatures": lambda rng, n: chosen(
        rng, [None, [1.0, 2.0], [2.0, 1.0], [1.0], [0.5, 1.0], [1.0, INF], [1.0, 1.0], [1.0, 1e300], [[1.0, 2.0]]]
    ),
    "temperature_schedule": lambda rng, n: chosen(
        rng,
        [None, variational.LinearCooling(2.0, 0.5), variational.LinearCooling(NAN, 0.5), variational.LinearCooling,
         variational.LinearCooling(1e308, 0.5), variational.LinearCooling(2.0, "a"), variational.LinearCooling(0.5)],
    ),
    "step_size": lambda rng, n: chosen(rng, [None, variational.RobbinsMonro(), variational.PassFraction(0.5, 0.1)]),
    "inverse_temperatures": lambda rng, n: chosen(
        rng, [None, [1.0], [1.0, 0.5], [1.0, 0.0], [0.5, 1.0], [1.0, 1.0], [1.0, NAN], [1.0, 5e-324], [[1.0, 0.5]]]
    ),
    "length_scale_prior": lambda rng, n: chosen(rng, [(0.5, 1.0), (0.0, 1.0), (1e308, 1.0), (1.0,), (NAN, 1.0)]),
    "signal_prior": lambda rng, n: chosen(rng, [(4.0, 1.0), (-1.0, 1.0), (1.0, 1e308), (5e-324, 1.0), ("a", 1)]),
    "noise_prior": lambda rng, n: chosen(rng, [(2.0, 2.0), (1e-300, 1e-300), (INF, 1.0), [[1.0, 1.0]]]),
    "a": lambda rng, n: chosen(rng, COLUMNS),
    "b": lambda rng, n: chosen(rng, COLUMNS),
    "column": lambda rng, n: chosen(rng, COLUMNS),
    "columns": lambda rng, n: chosen(rng, [None, *COLUMNS]),
    "random_state": lambda rng, n: chosen(rng, SEEDS),
    "tempering": lambda rng, n: chosen(rng, ["annealed", "global", "local", "none", "global-paper", "local-paper"]),
    "init": lambda rng, n: chosen(rng, ["documents", "random", "ica"]),
    "topic_update": lambda rng, n: chosen(rng, ["plug-in", "variational"]),
    "doc_topic_prior": lambda rng, n: chosen(rng, [None, 0.1, "learn", 1e308, 5e-324, [0.1, 0.1], [[0.1]], [0.0, 1.0]]),
    "topic_word_prior": lambda rng, n: chosen(rng, [None, 0.1, 1e308, 5e-324, [0.1, 0.1], np.ones((2, 3)), [-1, 1]]),
    "learning_method": lambda rng, n: chosen(rng, ["batch", "online"]),
    "component_update": lambda rng, n: chosen(rng, ["joint", "cyclic"]),
    "activation_probability": lambda rng, n: chosen(rng, ["learn", 0.5, 5e-324, 1 - 2**-53]),
    "noise_variance": lambda rng, n: chosen(rng, ["learn", 1.0, 1e308, 5e-324]),
    "measure": lambda rng, n: chosen(rng, ["npmi", "umass", "c_v", "uci"]),
    "sampler": lambda rng, n: chosen(rng, ["none", "parallel-tempering", "tempered-transitions"]),
    "inner": lambda rng, n: chosen(rng, ["hmc", "mh", None]),
    "target": lambda rng, n: chosen(rng, TARGETS),
    "prior": lambda rng, n: chosen(rng, REFERENCES),
    "reference": lambda rng, n: chosen(rng, REFERENCES),
    "parameters": lambda rng, n: chosen(rng, SPACES),
    "initial": lambda rng, n: chosen(
        rng, [None, [0.0, 0.0], np.eye(2), [], [NAN, 0.0], [INF, 0.0], [[0.0, 1.0]] * 5, {"a": 1.0}, {"a": -1.0}, 0.0,
              [1e300] * 2]
    ),
    "gradient": lambda rng, n: chosen(
        rng, [None, lambda x: -x, lambda x: 0.0, lambda x: [NAN] * len(x), lambda x: x[:0], lambda **of: of,
              lambda x: "a"]
    ),
    "levels": lambda rng, n: chosen(rng, ["auto", "powers", "subsets"]),
    "explorer": lambda rng, n: chosen(
        rng, ["slice", "hmc", "mh", None, tempering.MetropolisHastings(), tempering.SliceSampling(),
              tempering.SliceSampling, tempering.HamiltonianMonteCarlo(NAN), tempering.GuidedHamiltonianMonteCarlo(),
              tempering.MetropolisHastings(1e300), tempering.HamiltonianMonteCarlo(1e300)]
    ),
    "swaps": lambda rng, n: chosen(rng, ["even-odd", "systematic"]),
    "subsets": lambda rng, n: chosen(rng, ["nested", "independent"]),
    "transform": lambda rng, n: chosen(rng, ["default", "pandas", "polars", None]),
    "n_components": lambda rng, n: chosen(rng, [1, 2, 3, 7, "learn"]),
    "kernel": lambda rng, n: rng.choice(["auto", "squared-exponential", "matern-3/2", "matern-5/2"]),
}  # fmt: skip
FLAGS = (
    "keep_missing return_uncertainty seen sub_sampling normalize return_std return_cov learn_hyperparameters "
    "warm_start sparse_output shuffle sample_posterior add_indicator subsample refresh adapt_ladder vectorized"
).split()
WHOLE = (
    "n_chains n_draws thin learn_from max_sweeps n_jobs max_rows n_samples n_rows n_groups view n_imputations "
    "n_reasons n_refits n_calibration n_words n_sweeps n_init batch_size max_iter max_doc_update_iter evaluate_every "
    "max_components n_levels n_warmup n_averaged n_inducing n_parameters verbose window"
).split()
REAL = (
    "effort max_loss min_overlap coverage contamination time_limit tol perp_tol mean_change_tol learning_decay "
    "learning_offset total_samples partition_function_prior temperature_step component_variance min_inverse_temperature"
).split()


def anything(rng, name: str):
    """A value for any parameter, but no limit of time that would be kept, and no work that would take long."""
    value = chosen(rng, ANYTHING)
    takes_time = name in ("time_limit", "effort") and isinstance(value, int | float | np.floating)
    return -1.0 if takes_time and value > (1 if name == "time_limit" else 5) else value


def suitable(rng, name: str, n_rows: int):
    """A value that a parameter of this name may have, or nearly.

    Raises
    ------
    KeyError
        If nothing is known of the name: it belongs in one of the lists above.
    """
    if name in FLAGS:
        return bool(rng.integers(2))
    if name in WHOLE:
        return chosen(rng, SMALL)
    if name in REAL:
        return chosen(rng, SHARES)
    return SUITABLE[name](rng, n_rows)


def described(value) -> str:
    """A value in few characters."""
    if isinstance(value, int) and abs(value) > 10**30:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = " ".join(repr(value).encode("ascii", "backslashreplace").decode().split())
    except Exception as error:
        text = f"{type(value).__name__} without repr ({type(error).__name__})"
    return text if len(text) <= 90 else f"{text[:87]}..."
