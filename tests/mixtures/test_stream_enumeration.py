"""Sequential Monte Carlo over five rows: evidences, partitions and moves against the sum over all partitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from oracles.reference_chain import partition_codes
from support.enumerated_chains import N_ROWS, TABLES, check_distance
from support.estimates import check_estimates
from support.exact_mixtures import exact_law, exact_mixture
from support.streams import StreamedExample

from sklearn_subanneal.mixtures.stream import _draw_anew

# Rows that have left: their clusters are fixed.
ELSEWHERE = 2


@dataclass(frozen=True)
class Case:
    table: str
    prior: str
    learned: bool = False
    window: int = N_ROWS

    def __str__(self):
        learned = "learned" if self.learned else "fixed"
        return f"{self.table}-{self.prior}-{learned}-{self.window}"


def check_run(case, n_runs, most_error):
    exact = exact_mixture(case.table, case.prior, case.learned, 1.0)
    found = StreamedExample(case.table, case.prior, case.learned, window=case.window).runs(n_runs)
    check_estimates(found, exact.log_evidence, np.array(list(exact.posterior().values())), most_error)


NAMES = [name for name in TABLES if name != "none"]
PRIORS = ("crp", "pitman-yor")
# Rows that leave take part of the statistics of their columns with them, whose type matters; without them it is as in
# the chains.
FIXED = [Case(name, PRIORS[i % 2], window=ELSEWHERE) for i, name in enumerate(NAMES)]
FIXED += [Case("real", prior) for prior in PRIORS]
LEARNED = [Case(name, PRIORS[i % 2], True, 3) for i, name in enumerate(NAMES) if name != "mixed"]


def test_evidence_given_hyperparameters():
    check_run(Case("gaussian-missing", "pitman-yor", window=2), 500, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize("case", FIXED, ids=str)
def test_evidence_given_hyperparameters_complete(case):
    # Estimates of the evidence of all types together are spread more.
    check_run(case, 8000 if case.table == "mixed" else 4000, 0.006)


def test_evidence_with_hyperparameters_of_the_grids():
    check_run(Case("count", "pitman-yor", True, 3), 500, 0.03)


@pytest.mark.slow
@pytest.mark.parametrize("case", LEARNED, ids=str)
def test_evidence_with_hyperparameters_of_the_grids_complete(case):
    check_run(case, 10_000, 0.01)


def check_invariance(case, n_draws, make):
    """Draws of the posterior are draws of the posterior after moves of the rows at hand."""
    law = exact_law(case.table, case.prior, False)
    states = [np.array(state) for state in law]
    rng = np.random.default_rng(3)
    starts = rng.choice(len(states), n_draws, p=np.array(list(law.values())))
    particle = StreamedExample(case.table, case.prior).run(np.random.SeedSequence(1).spawn(5))[1][0]
    labels = np.empty((n_draws, N_ROWS), np.int32)
    for i, start in enumerate(starts):
        particle.mixture.set_labels(states[start], rng)
        make(particle)
        labels[i] = particle.labels(0, N_ROWS)
    codes = partition_codes(labels)
    assert np.mean(codes != starts) > 0.02
    # Rows that have left stay together, or apart.
    before = np.array(states)[starts]
    assert ((before[:, 0] == before[:, 1]) == (labels[:, 0] == labels[:, 1])).all()
    check_distance(law, codes, n_draws)
    # The statistics are those of the labels.
    for column, example in zip(particle.columns, TABLES[case.table], strict=True):
        expected = example.statistics()
        expected.rebuild(particle.mixture.labels)
        n_clusters = particle.mixture.n_clusters
        np.testing.assert_allclose(column.log_marginals(n_clusters), expected.log_marginals(n_clusters), atol=1e-6)


def detach(particle):
    rows = np.arange(ELSEWHERE, N_ROWS, dtype=np.int32)
    particle._detachments.propose(particle.mixture, 2, 1.0, particle.generator, rows)


def move(particle):
    particle.move(ELSEWHERE, N_ROWS, learn=False)


MOVES = {"detach": detach, "all": move}
INVARIANCES = [
    (Case(name, PRIORS[(i + j) % 2]), kind)
    for i, name in enumerate(NAMES)
    if name not in ("gaussian-missing", "mixed")
    for j, kind in enumerate(MOVES)
]


@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (Case("real", "pitman-yor"), "detach"),
        (Case("categorical", "crp"), "detach"),
        (Case("gaussian", "pitman-yor"), "detach"),
        (Case("ordinal", "crp"), "all"),
    ],
    ids=str,
)
def test_moves_leave_the_posterior_as_it_is(case, kind):
    check_invariance(case, 3000, MOVES[kind])


@pytest.mark.slow
@pytest.mark.parametrize(("case", "kind"), INVARIANCES, ids=str)
def test_moves_leave_the_posterior_as_it_is_complete(case, kind):
    check_invariance(case, 20_000, MOVES[kind])


@pytest.mark.parametrize("table", ["real", "count", "semicontinuous", "ordinal"])
def test_chunks_do_not_matter(table):
    """The same bits however the rows are cut into chunks."""
    runs = [StreamedExample(table, "pitman-yor", True).runs(5, chunks=chunks) for chunks in ((5,), (2, 3), (1,) * 5)]
    for run in runs[1:]:
        for own, first in zip(run, runs[0], strict=True):
            assert np.array_equal(own, first)


def test_particles_are_drawn_anew_by_their_weights():
    example, counts = StreamedExample("gaussian-missing", "crp", n_particles=3), np.zeros(3)
    seeds, n = np.random.SeedSequence(4).spawn(4), 400
    log_weights, rng = np.log([0.2, 0.5, 0.3]), np.random.default_rng(5)
    _, particles = example.run(seeds)
    states = [particle.state() for particle in particles]
    # The fillings tell them apart.
    values = [state.fillings[0].sum() for state in states]
    assert len(set(values)) == 3
    generators = [particle.generator for particle in particles]
    for _ in range(n):
        for particle, state in zip(particles, states, strict=True):
            particle.load(state)
        _draw_anew(particles, log_weights, rng)
        counts += np.bincount([values.index(own.state().fillings[0].sum()) for own in particles], minlength=3)
    assert [particle.generator for particle in particles] == generators
    # Systematic: each number of copies is one of the two nearest to its expectation.
    assert np.abs(counts / n - 3.0 * np.exp(log_weights)).max() < 4.0 * 0.5 / np.sqrt(n)
