"""The ensemble: moves and swaps leave what they must as it is; round trips; the same bits; checkpoints."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from support.clocks import tick_at_each_look
from support.known_evidence import two_modes

from sklearn_subanneal import Checkpoint
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.tempering import (
    GaussianMean,
    HamiltonianMonteCarlo,
    MetropolisHastings,
    SliceSampling,
    ensemble_run,
    sample,
    tempered_ensemble,
)
from sklearn_subanneal.tempering.evidence import log_ratio_of_constants, stepping_stones
from sklearn_subanneal.tempering.ladders import adapted_ladder, first_ladder
from sklearn_subanneal.tempering.round_trips import RoundTrips
from sklearn_subanneal.tempering.targets import target_of
from sklearn_subanneal.tempering.tempered_ensemble import TemperedEnsemble

# Of an exponential power density, neither smooth nor normal, at inverse temperature 1 of its levels.
POWER = stats.gennorm(1.5)


def target(x):
    return POWER.logpdf(x).sum(axis=1)


def ensemble(kernel, betas, n_chains, n_parameters=2):
    model = target_of(target, prior=(0.0, 3.0), n_parameters=n_parameters, vectorized=True)
    found = TemperedEnsemble(model, kernel, n_chains, np.array(betas), np.random.default_rng(0))
    rng = np.random.default_rng(1)
    # Exact draws of prior times likelihood^beta, by rejection from the prior; the likelihood is largest at 0.
    for m, beta in enumerate(betas):
        kept = np.empty((0, n_parameters))
        while len(kept) < n_chains:
            offered = rng.normal(0.0, 3.0, (8 * n_chains, n_parameters))
            log_ratio = beta * (target(offered) - target(np.zeros((1, n_parameters))))
            kept = np.concatenate([kept, offered[np.log(rng.random(len(offered))) < log_ratio]])
        found.theta[:, m] = kept[:n_chains]
    flat = model.log_densities(found.theta.reshape(-1, n_parameters))
    found.log_prior[:], found.log_likelihood[:] = (part.reshape(found.log_prior.shape) for part in flat)
    return found


KERNELS = {
    "both": SliceSampling(6.0),
    "short": SliceSampling(0.7, metric="unit"),
    "long": SliceSampling(40.0, directions="coordinates"),
    "random": SliceSampling(3.0, directions="random", n_updates=3),
}


@pytest.mark.parametrize("name", KERNELS)
def test_moves_keep_the_density(name):
    """Many exact draws are moved: marginals, and their dependence, stay within what their number allows."""
    n_chains, betas = 4000, (1.0, 0.3)
    moved, again = (ensemble(KERNELS[name], betas, n_chains) for _ in range(2))
    for _ in range(2):
        moved._move(adapt=False)
    assert (moved.theta != again.theta).mean() > 0.9
    for m in range(2):
        before, after = again.theta[:, m], moved.theta[:, m]
        for statistic in (lambda x: x[:, 0], lambda x: np.abs(x).sum(axis=1), lambda x: x[:, 0] + x[:, 1]):
            assert stats.ks_2samp(statistic(before), statistic(after)).pvalue > 0.003
    np.testing.assert_allclose(moved.model.log_densities(moved.theta[:, 0])[1], moved.log_likelihood[:, 0])


def test_swaps_keep_the_densities():
    """Points of neighbours come from their densities, independently, before and after swaps."""
    moved, again = (ensemble(SliceSampling(), (1.0, 0.4, 0.1, 0.0), 6000) for _ in range(2))
    for number in range(4):
        moved._swap(number)
    assert moved.swapped.mean() > 0.3
    for m in range(4):
        before, after = (np.abs(one.theta[:, m]).sum(axis=1) for one in (again, moved))
        assert stats.ks_2samp(before, after).pvalue > 0.003
    for m in range(3):
        pair = (np.abs(moved.theta[:, level]).sum(axis=1) for level in (m, m + 1))
        assert abs(stats.spearmanr(*pair)[0]) < 4.0 / np.sqrt(6000)


def test_reference_is_drawn_anew():
    moved = ensemble(SliceSampling(), (1.0, 0.0), 3000)
    before = moved.theta[:, -1].copy()
    moved._move(adapt=False)
    assert (moved.theta[:, -1] != before).all()
    assert stats.kstest(moved.theta[:, -1].ravel() / 3.0, "norm").pvalue > 0.003


def test_round_trips():
    """One replica goes down and up, the other stays away from the first level."""
    trips = RoundTrips(1, 3)
    swap = {1: np.array([[1, 0, 2]]), 2: np.array([[0, 2, 1]])}
    for m in (2, 1, 1, 2, 2, 1):
        trips.reorder(swap[m])
        trips.look()
    assert trips.counts.tolist() == [1] and trips.replicas.tolist() == [[2, 0, 1]]
    again = RoundTrips(1, 3)
    again.set_state(trips.get_state())
    for one in (trips, again):
        for m in (1, 2):
            one.reorder(swap[m])
            one.look()
    assert trips.counts.tolist() == again.counts.tolist() == [2]


@pytest.mark.parametrize(
    "n_parameters", [pytest.param(1), pytest.param(2, marks=pytest.mark.slow), pytest.param(5, marks=pytest.mark.slow)]
)
def test_round_trips_of_theory(n_parameters):
    """Within a fifth of 1 / (2 + 2 barrier) an iteration where levels are many, and of its form for those there are."""
    n_levels, n_draws = {1: (12, 500), 2: (16, 3000), 5: (28, 3000)}[n_parameters]
    result = sample(
        two_modes(n_parameters, 10.0),
        reference=(0.0, 10.0),
        n_parameters=n_parameters,
        vectorized=True,
        n_levels=n_levels,
        n_draws=n_draws,
        n_warmup=127,
        n_chains=16,
        explorer=SliceSampling(n_updates=3 * n_parameters),
        random_state=0,
    )
    assert result.round_trips.sum() == pytest.approx(result.best_round_trips.sum(), rel=0.2)
    rejected = 1.0 - result.swap_rates.mean(axis=0)
    finite = 16 * n_draws / (2.0 + 2.0 * (rejected / (1.0 - rejected)).sum())
    assert result.round_trips.sum() == pytest.approx(finite, rel=0.15)
    # The rounds have spread rejections evenly.
    assert rejected.max() < 2.5 * rejected.mean()


def test_bridge():
    """Against a normal's constant; a block that is repeated does not make the error smaller."""
    rng = np.random.default_rng(0)
    lower, upper = rng.normal(size=(8, 400)), rng.normal(1.0, 1.0, (8, 400))
    ratios = [x - 0.5 + 3.0 for x in (lower, upper)]
    found, error = stepping_stones([ratios])
    assert abs(found - 3.0) < 4.0 * error and 0.01 < error < 0.05
    assert stepping_stones([ratios, ratios])[1] == pytest.approx(2.0 * error)
    assert stepping_stones([[np.repeat(part, 2, axis=1) for part in ratios]])[1] == pytest.approx(error)
    # Exponential densities of rates 1 and 3, the second five times as large; the log ratio is not normal.
    ratios = [np.log(15.0) - 2.0 * x for x in (rng.exponential(size=(8, 4000)), rng.exponential(1 / 3.0, (8, 4000)))]
    found, error = stepping_stones([ratios])
    assert abs(found - np.log(5.0)) < 4.0 * error < 0.1
    ratios = [x - 0.5 + 3.0 for x in (lower, upper)]
    halves = log_ratio_of_constants(ratios[0], ratios[1][:, :200])[0]
    assert abs(halves - 3.0) < 0.1
    assert log_ratio_of_constants(np.full((1, 3), -np.inf), np.zeros((1, 3)))[0] == -np.inf
    errors = []
    for _ in range(200):
        pair = [rng.normal(size=(8, 50)) + 2.5, rng.normal(1.0, 1.0, (8, 50)) + 2.5]
        value, error = stepping_stones([pair])
        errors.append((value - 3.0) / error)
    assert np.std(errors) == pytest.approx(1.0, abs=0.35)


def test_ladders_to_zero():
    ladder = first_ladder(np.array([-1e8, -1e6, -np.inf, -1e5, 0.0]), 6)
    assert ladder[0] == 1.0 and ladder[-1] == 0.0 and ladder[-2] < 1e-6 and (np.diff(ladder) < 0.0).all()
    denser = adapted_ladder(np.array([1.0, 0.1, 0.01, 0.0]), np.array([0.1, 0.1, 0.9]), 9)
    assert len(denser) == 9 and (np.diff(denser) < 0.0).all() and (denser < 0.01).sum() > 5


@pytest.mark.parametrize("spread", [pytest.param(1.0, marks=pytest.mark.slow), 1e-3])
def test_a_far_prior(spread):
    """A posterior a thousand times as narrow as the prior, and a thousand of its widths from where the prior begins."""
    exact = stats.norm.logpdf(0.4, 0.0, np.hypot(1.0, spread))
    result = sample(
        lambda x: stats.norm.logpdf(0.4, x[:, 0], spread),
        prior=(0.0, 1.0), n_parameters=1, vectorized=True, n_draws=250, n_warmup=63, random_state=0,
    )  # fmt: skip
    assert abs(result.log_evidence - exact) < 0.15
    assert (result.swap_rates.mean(axis=0) > 0.3).all()


def density(x):
    """A normal with means of 3 and a correlation of a half."""
    first, second = x - 3.0
    return -2.0 / 3.0 * float(first * first - first * second + second * second)


def slope(x):
    return -np.linalg.solve([[1.0, 0.5], [0.5, 1.0]], x - 3.0)


FEW = {"reference": (0.0, 5.0), "n_parameters": 2, "n_chains": 3, "n_draws": 12, "n_warmup": 15, "random_state": 5}
EXPLORERS = {
    "slice": {},
    "hmc": {"explorer": HamiltonianMonteCarlo(), "gradient": slope},
    "mh": {"explorer": MetropolisHastings()},
    "variational": {"reference": None, "initial": [1.0, 1.0], "n_parameters": None},
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EXPLORERS)
def test_same_bits_for_any_number_of_jobs(name):
    results = [sample(density, **FEW | EXPLORERS[name], n_jobs=n_jobs) for n_jobs in (1, 3)]
    for result in results[1:]:
        assert np.array_equal(result.draws, results[0].draws)
        assert result.log_evidence == results[0].log_evidence


def vectorized(x):
    return np.array([density(point) for point in x])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_call_for_all_points_gives_the_same_draws():
    one, other = sample(density, **FEW), sample(vectorized, vectorized=True, **FEW)
    assert np.array_equal(one.draws, other.draws)


class Killed(BaseException):
    """What a run can do as little against as against SIGKILL."""


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", EXPLORERS)
def test_interrupted(name, tmp_path, monkeypatch):
    arguments = FEW | EXPLORERS[name]
    whole, right, made = sample(density, **arguments), TemperedEnsemble.iterate, []

    def killed(self, number, adapt=False):
        made.append(number)
        if len(made) > 15 + 5:
            raise Killed
        right(self, number, adapt)

    with monkeypatch.context() as patched:
        patched.setattr(TemperedEnsemble, "iterate", killed)
        with pytest.raises(Killed):
            sample(density, **arguments, checkpoint=Checkpoint(tmp_path, 0.0))
    made.clear()

    def counted(self, number, adapt=False):
        made.append(number)
        right(self, number, adapt)

    with monkeypatch.context() as patched:
        patched.setattr(TemperedEnsemble, "iterate", counted)
        resumed = sample(density, **arguments, checkpoint=Checkpoint(tmp_path, 0.0))
        assert made == list(range(5, 12))
        loaded = sample(density, **arguments, checkpoint=Checkpoint(tmp_path, 0.0))
        assert len(made) == 7
    for result in (resumed, loaded):
        for field in vars(whole):
            if field != "seconds":
                np.testing.assert_equal(getattr(result, field), getattr(whole, field))
    more = sample(density, **arguments | {"n_draws": 20}, checkpoint=Checkpoint(tmp_path, 0.0))
    assert np.array_equal(more.draws[:, :12], whole.draws) and more.draws.shape[1] == 20


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_interrupted_with_the_default_length(tmp_path, monkeypatch):
    for name, value in {"ROUND_TRIPS": 20, "FEWEST_DRAWS": 5, "WARM_UP": 31}.items():
        monkeypatch.setattr(ensemble_run, name, value)
    arguments = FEW | {"n_draws": None, "n_warmup": None}
    whole, right, made = sample(density, **arguments), TemperedEnsemble.iterate, []

    def killed(self, number, adapt=False):
        made.append(number)
        if len(made) > 31 + 5 * whole.inverse_temperatures.shape[1] + 6:
            raise Killed
        right(self, number, adapt)

    with monkeypatch.context() as patched:
        patched.setattr(TemperedEnsemble, "iterate", killed)
        with pytest.raises(Killed):
            sample(density, **arguments, checkpoint=Checkpoint(tmp_path, 0.0))
    assert 12 < whole.draws.shape[1] < 200
    for _ in range(2):
        resumed = sample(density, **arguments, checkpoint=Checkpoint(tmp_path))
        assert np.array_equal(resumed.draws, whole.draws) and resumed.log_evidence == whole.log_evidence


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_folder_of_another_run(tmp_path):
    sample(density, **FEW, checkpoint=Checkpoint(tmp_path))
    with pytest.raises(ValueError, match="reference"):
        sample(density, **FEW | {"reference": (0.0, 6.0)}, checkpoint=Checkpoint(tmp_path))
    with pytest.raises(ValueError, match="can be pickled"):
        sample(lambda x: 0.0, **FEW, checkpoint=Checkpoint(tmp_path))


def test_time_limit(monkeypatch):
    tick_at_each_look(monkeypatch, 0.01)
    with pytest.warns(ConvergenceWarning, match="ended the warm-up of 3 of 3 chains"):
        result = sample(density, **FEW | {"n_draws": 10**6, "n_warmup": 500}, time_limit=0.4)
    assert 5 <= result.draws.shape[1] <= 40 and (result.warmup_share < 0.1).all()


def test_points_settle_within_half_of_the_time(monkeypatch):
    """Of 127 + 5 * 40 iterations of warm-up, one look each, there is time for fewer."""
    tick_at_each_look(monkeypatch, 0.01)
    with pytest.warns(ConvergenceWarning, match="ended the warm-up of 64 of 64 chains"):
        result = sample(
            target, prior=(0.0, 3.0), n_parameters=2, vectorized=True, n_levels=40, random_state=0, time_limit=4.0
        )
    assert (result.warmup_share < 0.7).all() and 90 <= result.draws.shape[1] <= 200


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_chains_by_subsets_share_the_time(monkeypatch):
    tick_at_each_look(monkeypatch, 0.01)
    model = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (40, 1)), [[1.0]])
    begin = clock.now()
    sample(model, levels="subsets", explorer="mh", n_chains=8, n_draws=10**6, random_state=0, time_limit=4.0)
    assert clock.now() - begin < 4.5


def test_a_model_with_rows_by_powers():
    model = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (30, 2)), np.eye(2))
    result = sample(model, n_draws=300, n_chains=4, random_state=0)
    mean, covariance = model.posterior()
    assert np.abs(result.draws.mean(axis=(0, 1)) - mean).max() < 0.05
    assert np.abs(np.cov(result.draws.reshape(-1, 2).T) - covariance).max() < 0.01
    assert result.n_rows[0].tolist() == [30] * (result.n_rows.shape[1] - 1) + [0]


def corner(x):
    """Constant where a normal reference of two coordinates has 1.2 % of its mass, and zero elsewhere."""
    return np.where((x[:, 0] > 1.5) & (x[:, 1] > 0.9), 0.0, -np.inf)


def test_targets_may_have_little_of_the_mass_of_their_reference():
    result = sample(
        corner, prior=(0.0, 1.0), n_parameters=2, vectorized=True, n_draws=300, n_chains=8, n_levels=3, random_state=0
    )
    assert (result.draws > [1.5, 0.9]).all()
    tails = np.array([1.5, 0.9])
    # Means of the tails of a normal distribution, and their masses.
    np.testing.assert_allclose(result.draws.mean(axis=(0, 1)), stats.norm.pdf(tails) / stats.norm.sf(tails), atol=0.08)
    assert result.log_evidence == pytest.approx(stats.norm.logsf(tails).sum(), abs=0.5)


def test_points_without_a_start_of_their_own_take_one_that_was_found(monkeypatch):
    monkeypatch.setattr(tempered_ensemble, "STARTS", 3)
    model = target_of(corner, prior=(0.0, 1.0), n_parameters=2, vectorized=True)
    found = TemperedEnsemble(model, SliceSampling(1.0), 200, np.array([1.0, 0.5, 0.0]), np.random.default_rng(0))
    assert (found.log_likelihood[:, :2] == 0.0).all() and np.isfinite(found.log_prior).all()
    np.testing.assert_array_equal(found.log_likelihood.ravel(), corner(found.theta.reshape(-1, 2)))
    # Points of the reference are its own draws, wherever they are.
    np.testing.assert_allclose(found.theta[:, 2].mean(axis=0), 0.0, atol=0.25)
