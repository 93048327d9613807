"""Tree-guided moves leave the posterior exactly as it is: by transition matrices, and the kernels by sampling."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.enumeration import canonical, partitions
from oracles.reference_chain import (
    effective_draws,
    noise_floor,
    partition_codes,
    partition_counts,
    total_variation,
)
from oracles.reference_guided import Model, Move, transition_matrix
from scipy import stats
from support.column_examples import BY_NAME
from support.small_tables import BLOCK, CASES, MIXED, exact, statistics

from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.trees._tree_guided import TreeGuidedKernel
from sklearn_subanneal.trees._tree_guided_similar import TreeGuidedSimilarKernel

# Four rows of an example, spread over its clusters.
ROWS = {"gaussian": [0, 24, 25, 40], "categorical": [0, 8, 15, 16]}
PROCESSES = {"dp": (0.0, 1.0, 0.0), "nggp": (-0.5, 0.8, 0.0), "pitman-yor": (-0.3, 0.7, 0.3)}
MOVES = {
    "similar": {},
    "similar-evidence": {"by_evidence": True},
    "similar-3": {"subset_size": 3},
    "similar-2": {"subset_size": 2},
    "pilot": {"kind": "pilot", "by_evidence": True, "effort": 0.1},
    "pilot-3": {"kind": "pilot", "subset_size": 3, "effort": 0.05},
    "pilot-2": {"kind": "pilot", "subset_size": 2, "even": 0.2, "share": 0.6},
    "near-3": {"kind": "pilot", "subset_size": 3, "near": 0.9, "effort": 0.2, "blind": 0.4},
    "near-2": {"kind": "pilot", "subset_size": 2, "near": 1.0, "by_evidence": True, "effort": 0.5},
}
SOME = [("gaussian", "nggp", "similar-2"), ("categorical", "dp", "pilot")]
ALL = [(name, process, move) for name in ROWS for process in PROCESSES for move in MOVES]
cases = pytest.mark.parametrize(
    ("name", "process", "move"),
    [pytest.param(*case, marks=[] if case in SOME else pytest.mark.slow) for case in ALL],
)


def move_of(name, process, move, **options):
    def log_marginal(rows):
        return BY_NAME[name].log_marginal([ROWS[name][row] for row in rows])

    return Move(Model(log_marginal, *PROCESSES[process]), **{**MOVES[move], **options})


# --- The moves themselves ---------------------------------------------------------------------------------------


@cases
def test_the_posterior_stays_as_it_is(name, process, move):
    p, transition = transition_matrix(move_of(name, process, move), 4)
    np.testing.assert_allclose(transition.sum(1), 1.0, atol=1e-12)
    np.testing.assert_allclose(p @ transition, p, atol=1e-12)
    # Every partition is reached from every other, in some steps.
    assert (np.linalg.matrix_power(transition, 8) > 0).all()


@pytest.mark.slow
def test_scans_before_the_last_change_nothing():
    p, transition = transition_matrix(move_of("gaussian", "nggp", "similar-3", n_scans=1), 4)
    np.testing.assert_allclose(p @ transition, p, atol=1e-12)


@pytest.mark.parametrize(
    ("move", "without"),
    [
        pytest.param("similar-2", "rows apart", marks=pytest.mark.slow),
        pytest.param("similar-2", "subset", marks=pytest.mark.slow),
        pytest.param("near-3", "rows apart", marks=pytest.mark.slow),
        pytest.param("near-3", "screen", marks=pytest.mark.slow),
        ("near-2", "rank"),
    ],
)
def test_a_factor_left_out_is_seen(move, without):
    p, transition = transition_matrix(move_of("gaussian", "dp", move, without=without), 4)
    assert np.abs(p @ transition - p).max() > 1e-2


# --- The kernels against them -----------------------------------------------------------------------------------


def kernel_of(move, columns, n_rows, **options):
    options = {**MOVES[move], **options}
    if options.pop("kind", "") == "pilot":
        return TreeGuidedKernel(columns, n_rows, **{"by_evidence": False, "near": 0.0, "blind": 0.0, **options})
    return TreeGuidedSimilarKernel(columns, n_rows, **{"n_scans": 0, **options})


def mixture_of(columns, concentration, discount, labels):
    generator = np.random.Generator(np.random.PCG64(0))
    mixture = Mixture(columns, PitmanYor(concentration, discount).bind(learn=False), len(labels))
    mixture.set_labels(np.asarray(labels, np.int32), generator)
    return mixture, generator


@pytest.mark.parametrize(
    "move",
    [
        "near-3",
        *(
            pytest.param(move, marks=pytest.mark.slow)
            for move in ("similar-2", "similar-3", "pilot", "pilot-2", "pilot-3", "near-2")
        ),
    ],
)
def test_kernels_have_the_transition_probabilities_of_the_reference(move, n_draws=1200):
    example, rows = BY_NAME["gaussian"], ROWS["gaussian"]
    _, transition = transition_matrix(move_of("gaussian", "pitman-yor", move), 4)
    # The other rows stay out.
    labels = np.full(example.n_rows, -1, np.int32)
    labels[rows] = 0
    mixture, generator = mixture_of([example.statistics()], 0.7, 0.3, labels)
    moves = kernel_of(move, mixture.columns, example.n_rows)
    place = {labels: i for i, labels in enumerate(partitions(4))}
    statistic = degrees = 0.0
    for i, start in enumerate(partitions(4)):
        counts = np.zeros(len(place))
        labels[rows] = start
        for _ in range(n_draws):
            mixture.set_labels(labels, generator)
            moves.propose(mixture, 1, 1.0, generator)
            counts[place[canonical(mixture.labels[rows])]] += 1
        expected = n_draws * transition[i]
        assert (expected[counts > 0] > 0).all()
        common = expected > 5
        seen = np.append(counts[common], counts[~common].sum())
        right = np.append(expected[common], expected[~common].sum())
        right, seen = right[right > 0], seen[right > 0]
        statistic += ((seen - right) ** 2 / right).sum()
        degrees += len(right) - 1
    assert stats.chi2.sf(statistic, degrees) > 1e-4


def sample(move, columns, concentration, discount, beta, n_draws, with_gibbs, **options):
    n_rows = len(columns[0][1])
    mixture, generator = mixture_of(statistics(columns), concentration, discount, np.zeros(n_rows))
    moves, rows = kernel_of(move, mixture.columns, n_rows, **options), np.arange(n_rows, dtype=np.int32)
    draws = np.empty((n_draws, n_rows), np.int32)
    for t in range(n_draws):
        moves.propose(mixture, 10, beta, generator)
        if with_gibbs:
            churn(mixture, rows, rows, beta, generator)
        draws[t] = mixture.labels
    assert moves.n_accepted > n_draws / 2 and moves.n_accepted < moves.n_proposed <= 10 * n_draws
    return draws


SAMPLED = [(move, case) for move in ("similar", "similar-3", "pilot", "near-3") for case in CASES]
# Each move with two of the cases, and each case.
SOME_SAMPLED = [
    ("similar", "block-gibbs"),
    ("similar-3", "pitman-yor-mixed"),
    ("pilot", "crp-mixed-gibbs"),
    ("pilot", "heated"),
    ("near-3", "pitman-yor-mixed"),
    ("near-3", "block-gibbs"),
]


@pytest.mark.parametrize(
    ("move", "case", "n_draws"),
    [(*case, 8_000) for case in SOME_SAMPLED]
    + [pytest.param(*case, 110_000, marks=pytest.mark.slow) for case in SAMPLED],
)
def test_enumeration(case, move, n_draws):
    columns, concentration, discount, beta, with_gibbs = CASES[case]
    posterior = exact(columns, concentration, discount, beta)
    draws = sample(move, columns, concentration, discount, beta, n_draws, with_gibbs)
    floor = noise_floor(posterior, int(effective_draws(partition_codes(draws))), rng=np.random.default_rng(0))
    assert total_variation(posterior, partition_counts(draws)) <= 1.5 * floor


# --- What else is promised --------------------------------------------------------------------------------------

kernels = pytest.mark.parametrize("move", ["similar", "near-3"])


@kernels
def test_unassigned_rows_stay_out(move):
    mixture, generator = mixture_of(statistics(MIXED), 1.0, 0.0, [0, -1, 1, -1, 0])
    kernel_of(move, mixture.columns, 5).propose(mixture, 200, 1.0, generator)
    np.testing.assert_array_equal(mixture.labels < 0, [False, True, False, True, False])
    assert mixture.n_assigned == 3 and mixture.sizes.sum() == 3


@kernels
@pytest.mark.parametrize("n_assigned", [0, 1])
def test_nothing_to_split_or_merge(move, n_assigned):
    mixture, generator = mixture_of(statistics(MIXED), 1.0, 0.0, [0] * n_assigned + [-1] * (5 - n_assigned))
    assert kernel_of(move, mixture.columns, 5).propose(mixture, 10, 1.0, generator) == 0


@kernels
def test_statistics_after_accepted_moves_are_those_of_the_partition(move):
    mixture, generator = mixture_of(statistics(MIXED), 1.0, 0.3, np.zeros(5))
    kernel_of(move, mixture.columns, 5).propose(mixture, 101, 1.0, generator)
    other, _ = mixture_of(statistics(MIXED), 1.0, 0.3, mixture.labels)
    assert mixture.log_joint() == pytest.approx(other.log_joint(), abs=1e-9)


@kernels
def test_same_seed_same_moves(move):
    labels = []
    for _ in range(2):
        mixture, generator = mixture_of(statistics(BLOCK), 1.0, 0.2, np.zeros(5))
        kernel_of(move, mixture.columns, 5).propose(mixture, 301, 1.0, generator)
        labels.append(mixture.labels)
    np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize(("move", "n_clusters"), [("similar", 20), ("pilot", 1), ("near-3", 1)])
def test_more_clusters_than_there_was_room_for(move, n_clusters):
    # New clusters are all but free.
    example = BY_NAME["real"]
    labels = np.arange(example.n_rows, dtype=np.int32) % n_clusters
    mixture, generator = mixture_of([example.statistics()], 1e6, 0.0, labels)
    kernel_of(move, mixture.columns, example.n_rows).propose(mixture, 3000, 1.0, generator)
    assert mixture.n_clusters > 20 and mixture.sizes.sum() == example.n_rows


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset_size": 1}, "subset_size is 1"),
        ({"share": 1.0}, "share is 1.0"),
        ({"effort": 0.0}, "effort is 0.0"),
        ({"near": 1.5}, "near is 1.5"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        TreeGuidedKernel(statistics(MIXED), 5, **options)
