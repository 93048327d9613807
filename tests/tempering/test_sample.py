"""sample: shares of modes, evidence, targets of every kind, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from support.known_evidence import TARGETS, banana, funnel, two_modes
from support.tempered_means import one_dimension

from sklearn_subanneal.diagnostics import rank_normalized_rhat
from sklearn_subanneal.tempering import (
    GaussianMean,
    GuidedHamiltonianMonteCarlo,
    LogDensityModel,
    MetropolisHastings,
    NormalReference,
    ParallelTempering,
    SliceSampling,
    sample,
    sampling,
)

QUICK = ("gamma-Poisson", "Dirichlet-multinomial")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in TARGETS]
)
def test_known_evidence(name):
    known = TARGETS[name]()
    few = {"n_draws": 200, "n_warmup": 63} if name in QUICK else {}
    result = sample(known.target, random_state=0, **known.arguments, **few)
    assert 0.0 < result.log_evidence_error < 0.1
    assert abs(result.log_evidence - known.log_evidence) < 3.0 * result.log_evidence_error
    # Integration has an error of its own, large where the reference's draws are as improbable as in the bent targets.
    assert name in ("banana", "funnel") or abs(result.thermodynamic_log_evidence - known.log_evidence) < 0.3


@pytest.mark.parametrize(
    ("n_parameters", "separation"),
    [
        pytest.param(d, s, marks=[] if (d, s) == (1, 10.0) else pytest.mark.slow)
        for d in (1, 2, 5, 10)
        for s in (10.0, 20.0)
    ],
)
def test_two_modes(n_parameters, separation):
    target = two_modes(n_parameters, separation)
    result = sample(target, reference=(0.0, separation), n_parameters=n_parameters, vectorized=True, random_state=1)
    in_first = result.draws[:, :, 0] < 0.0
    assert abs(in_first.mean() - 0.3) < 0.03
    assert abs(result.log_evidence) < 0.1
    # No chain is stuck: each crosses, and has both modes.
    assert (np.abs(np.diff(in_first.astype(int), axis=1)).sum(axis=1) > 10).all()
    assert (result.round_trips > 10).all()
    assert rank_normalized_rhat(result.draws).max() < 1.05


def test_without_a_ladder_chains_stay():
    walk = MetropolisHastings(1.0, metric="unit")
    many = {"n_parameters": 1, "vectorized": True, "explorer": walk, "n_draws": 200, "n_chains": 16}
    with pytest.warns(ConvergenceWarning, match="R-hat"):
        result = sample(two_modes(1, 10.0), reference=(0.0, 10.0), n_levels=1, random_state=0, **many)
    assert result.levels == "one" and np.isnan(result.log_evidence) and (result.round_trips == -1).all()
    assert (np.ptp(np.sign(result.draws), axis=1) == 0.0).mean() > 0.9


def test_a_model_of_one_observation_is_tempered():
    """Subsets of one row would all be the posterior."""

    class Modes(LogDensityModel):
        n_parameters = 1

        def log_prior(self, theta):
            return -0.005 * float(theta[0]) ** 2 - 0.5 * np.log(200.0 * np.pi)

        def log_likelihood(self, theta, rows=None):
            return float(two_modes(1, 10.0)(theta) - self.log_prior(theta))

        def sample_prior(self, rng):
            return rng.normal(0.0, 10.0, 1)

    sampler = ParallelTempering(n_levels=5, min_inverse_temperature=0, inner=MetropolisHastings(n_steps=2))
    result = sampler.sample(Modes(), 600, random_state=0)
    assert result.levels == "powers" and result.inverse_temperatures[0, -1] == 0.0
    assert result.swap_rates.max() < 1.0 and (result.round_trips > 3).all()
    assert abs((result.draws < 0.0).mean() - 0.3) < 0.12
    assert abs(result.log_evidence) < 4.0 * result.log_evidence_error


@pytest.mark.slow
def test_banana_and_funnel():
    result = sample(banana, reference=(0.0, 20.0), n_parameters=2, vectorized=True, random_state=0)
    first, second = result.draws[:, :, 0], result.draws[:, :, 1]
    assert abs(first.mean()) < 1.0 and abs(first.std() / 10.0 - 1.0) < 0.06
    assert abs((second - 0.03 * (first**2 - 100.0)).std() - 1.0) < 0.03
    result = sample(funnel, reference=(0.0, [3.0, 8.0, 8.0, 8.0]), n_parameters=4, vectorized=True, random_state=0)
    assert abs(result.draws[:, :, 0].mean()) < 0.4 and abs(result.draws[:, :, 0].std() / 2.0 - 1.0) < 0.12


@pytest.mark.slow
def test_label_switching():
    """The means of a mixture of three: all six orders are equally probable."""
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(mean, 1.0, 15) for mean in (-3.0, 0.0, 4.0)])

    def log_likelihood(means):
        return logsumexp(stats.norm.logpdf(x[:, None], means[:, None, :]), axis=2).sum(axis=1)

    result = sample(log_likelihood, prior=(0.0, 10.0), n_parameters=3, vectorized=True, random_state=0)
    orders = np.argsort(result.draws, axis=2) @ [9, 3, 1]
    shares = np.unique(orders, return_counts=True)[1] / orders.size
    assert len(shares) == 6 and np.abs(shares - 1.0 / 6.0).max() < 0.04
    assert rank_normalized_rhat(result.draws).max() < 1.05


def log_density(x):
    return -0.5 * float(np.sum((x - 3.0) ** 2))


def slope(x):
    return 3.0 - x


def close(result, mean, n=2):
    return np.abs(result.draws.mean(axis=(0, 1)) - mean).max() < 0.2 and result.draws.shape[2] == n


FEW = {"n_draws": 200, "n_chains": 4, "n_warmup": 63, "random_state": 0}


@pytest.mark.parametrize("explorer", ["slice", "mh", "hmc"])
def test_explorers(explorer):
    kernel = MetropolisHastings(n_steps=4) if explorer == "mh" else explorer
    result = sample(log_density, reference=(0.0, 5.0), n_parameters=2, gradient=slope, explorer=kernel, **FEW)
    assert close(result, 3.0) and abs(result.log_evidence - np.log(2.0 * np.pi)) < 4.0 * result.log_evidence_error
    assert (result.n_gradients.sum() > 0) == (explorer == "hmc")


def test_gradients_of_named_parameters():
    """x ~ N(3, 1) and rate ~ Gamma(3, 2), by Hamiltonian Monte Carlo."""

    def named(x, rate):
        return -0.5 * (x - 3.0) ** 2 + 2.0 * np.log(rate) - 2.0 * rate

    result = sample(
        named,
        parameters={"x": "real", "rate": "positive"},
        reference=(0.0, 4.0),
        gradient=lambda x, rate: {"x": 3.0 - x, "rate": 2.0 / rate - 2.0},
        explorer="hmc",
        **FEW,
    )
    assert abs(result.parameters["rate"].mean() - 1.5) < 0.1 and abs(result.parameters["x"].mean() - 3.0) < 0.1
    exact = 0.5 * np.log(2.0 * np.pi) + np.log(2.0) - 3.0 * np.log(2.0)
    assert abs(result.log_evidence - exact) < 4.0 * result.log_evidence_error


def test_references():
    """A pair of numbers, an object, the variational one from a point and from points."""
    many = {"n_parameters": 2, **FEW}
    assert close(sample(log_density, reference=(1.0, 4.0), **many), 3.0)
    assert close(sample(log_density, reference=NormalReference([0.0, 0.0], 9.0 * np.eye(2)), **FEW), 3.0)
    tuned = sample(log_density, initial=[0.0, 0.0], **FEW)
    points = np.random.default_rng(0).normal(0.0, 4.0, (20, 2))
    again = sample(log_density, reference="variational", initial=points, **FEW)
    for result in (tuned, again):
        assert close(result, 3.0) and result.barriers.mean() < 0.3
        assert abs(result.log_evidence - np.log(2.0 * np.pi)) < 0.1
    wide = sample(log_density, reference=(0.0, 20.0), **many)
    assert wide.barriers.mean() > 4.0 * tuned.barriers.mean()
    assert wide.inverse_temperatures.shape[1] > tuned.inverse_temperatures.shape[1]


def test_many_rows_are_sampled_by_subsets(capsys, monkeypatch):
    monkeypatch.setattr(sampling, "MANY_ROWS", 5000)
    model = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (5000, 1)), [[1.0]])
    result = sample(model, n_chains=2, n_draws=60, n_warmup=40, random_state=0, verbose=True)
    assert result.levels == "subsets" and np.isnan(result.log_evidence) and result.n_rows[:, -1].max() <= 2
    assert "nested subsets of the 5000 rows" in capsys.readouterr().out
    assert abs(result.draws.mean() - model.posterior()[0][0]) < 0.02
    result = sample(model, n_chains=2, n_draws=60, n_warmup=40, random_state=0, levels="powers")
    assert result.levels == "powers" and np.isfinite(result.log_evidence)


def test_names_and_arviz():
    result = sample(
        lambda rate, w, x: -rate + np.log(w).sum() - 0.5 * np.sum(x**2),
        parameters={"rate": (1.0, np.inf), "w": ("simplex", 3), "x": 2},
        initial={"rate": 2.0, "w": np.full(3, 1.0 / 3.0), "x": np.zeros(2)},
        **FEW,
    )
    assert {name: value.shape[2:] for name, value in result.parameters.items()} == {"rate": (), "w": (3,), "x": (2,)}
    assert result.parameters["rate"].min() > 1.0 and np.allclose(result.parameters["w"].sum(axis=2), 1.0)
    pytest.importorskip("arviz")
    posterior = result.to_arviz().posterior
    assert posterior["w"].shape == (4, 200, 3) and posterior["rate"].shape == (4, 200)


def test_the_lowest_level_is_drawn_independently():
    result = sample(log_density, reference=(0.0, 5.0), n_parameters=2, **FEW)
    assert (result.n_values[:, -1] == 200).all() and (result.n_values[:, :-1] > 400).all()
    assert (result.inverse_temperatures[:, -1] == 0.0).all() and pickle.loads(pickle.dumps(result)).levels == "powers"


def test_no_round_trip_is_said():
    with pytest.warns(ConvergenceWarning, match=r"No replica went from the lowest level to the posterior and back"):
        sample(log_density, reference=(1e4, 1.0), n_parameters=2, n_levels=2, **FEW | {"n_warmup": 3})


HOSTILE = [
    None, True, 0, -1, 2.5, np.nan, 10**400, "a", b"a", (), (1,), (1, 2, 3), ("a", "b"), [], [[1.0], [1.0, 2.0]], {},
    {"x": 1}, {1: "real"}, {"x": ("real", 0)}, {"x": ("simplex", 1)}, {"x": (np.nan, 1.0)}, np.zeros((2, 2, 2)),
    object(), np.array("a"), slice(3), float, lambda: 0, stats.norm, stats.norm(np.zeros(2)), stats.poisson(3.0),
    {"x": stats.norm()}, {"x": stats.poisson(3.0)}, {"x": (stats.norm(), 2)}, {"x": stats.norm(np.zeros(2))},
]  # fmt: skip
ARGUMENTS = (
    "prior reference parameters n_parameters initial gradient vectorized levels explorer n_levels n_chains n_draws "
    "n_warmup random_state n_jobs time_limit checkpoint verbose"
).split()


def quadratic(*x, **named):
    return -0.5 * float(sum(np.sum(np.square(part)) for part in (*x, *named.values())))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ARGUMENTS)
def test_hostile_arguments(name):
    """An answer, or a ValueError that names something; nothing else."""
    for value in HOSTILE:
        given = {"n_draws": 3, "n_chains": 2, "n_warmup": 3, "n_levels": 3, "random_state": 0}
        if name not in ("prior", "parameters", "initial"):
            given |= {"reference": (0.0, 2.0), "n_parameters": 2}
        if name == "parameters":
            given |= {"reference": (0.0, 2.0)}
        try:
            result = sample(quadratic, **given | {name: value})
        except ValueError as error:
            assert len(str(error)) > 15
        else:
            assert np.isfinite(result.draws).all()


@pytest.mark.parametrize("target", HOSTILE)
def test_hostile_targets(target):
    if not callable(target):
        with pytest.raises(ValueError, match="target"):
            sample(target, reference=(0.0, 1.0), n_parameters=1)


HMC, NAMED = {"explorer": "hmc"}, {"reference": (0.0, 1.0), "parameters": {"a": "real"}}
BAD = {"reference": (0.0, 1.0), "n_parameters": 1}


@pytest.mark.parametrize(
    ("target", "arguments", "message"),
    [
        (3.0, BAD, "target must be a function"),
        ("model.txt", {}, "must end with .stan"),
        (log_density, {"n_parameters": 2}, "nothing says where the target is"),
        (log_density, {}, "n_parameters must be given"),
        (log_density, BAD | {"prior": (0.0, 1.0)}, "not two of these"),
        (log_density, BAD | {"reference": "wide"}, "reference must be 'variational'"),
        (log_density, BAD | {"reference": (0.0, -1.0)}, "standard deviations of reference must be positive"),
        (log_density, BAD | {"reference": 3.0}, "reference must be a pair"),
        (log_density, BAD | {"n_parameters": 3, "reference": ([0.0, 0.0], 1.0)}, "numbers or one for each"),
        (log_density, BAD | {"reference": {"x": 3.0}}, "frozen continuous distribution"),
        (log_density, BAD | {"n_parameters": 0}, "n_parameters must be an integer"),
        (log_density, {"reference": (0.0, 1.0), "parameters": {"x": "whole"}}, "x of parameters must be a number of"),
        (log_density, {"reference": (0.0, 1.0), "parameters": {"x": (2.0, 1.0)}}, "x of parameters must be a number"),
        (log_density, {"reference": (0.0, 1.0), "parameters": {}}, "parameters must be a dict"),
        (log_density, BAD | {"vectorized": "yes"}, "vectorized must be True or False"),
        (log_density, BAD | {"gradient": 1.0}, "gradient must be a function"),
        (log_density, BAD | {"explorer": "gibbs"}, "explorer must be one of"),
        (log_density, BAD | {"explorer": "hmc"}, "needs gradients"),
        (log_density, BAD | {"explorer": GuidedHamiltonianMonteCarlo()}, "without a guide"),
        (log_density, BAD | {"explorer": SliceSampling(directions="all")}, "directions must be one of"),
        (log_density, BAD | {"explorer": SliceSampling(n_updates=0)}, "n_updates must be an integer"),
        (log_density, BAD | {"levels": "rows"}, "levels must be one of"),
        (log_density, BAD | {"levels": "subsets"}, "one observation has no subsets"),
        (log_density, BAD | {"n_chains": 0}, "n_chains"),
        (log_density, BAD | {"n_levels": 0}, "n_levels"),
        (log_density, BAD | {"n_draws": 0}, "n_draws"),
        (log_density, BAD | {"time_limit": -1.0}, "time_limit"),
        (log_density, BAD | {"checkpoint": "folder"}, "checkpoint must be a Checkpoint"),
        (log_density, BAD | {"verbose": 2}, "verbose must be True or False"),
        (one_dimension(), BAD, "reference must be left out for a LogDensityModel"),
        ((log_density, 3.0), BAD, "a pair of targets must be two functions"),
        ((log_density, log_density), BAD, "not two of these"),
        (lambda x: np.nan, BAD, r"the log density is .* it must be a number, or -inf"),
        (lambda x: np.inf, BAD, r"the log density is .* it must be a number, or -inf"),
        (lambda x: x[:, 0], BAD | {"vectorized": True, "n_parameters": 2}, None),
        (lambda x: x.sum(), BAD | {"vectorized": True}, r"must return an array of shape"),
        (lambda x: np.array([1.0, 2.0]), BAD, r"say vectorized=True"),
        (lambda x: 10**400, BAD, "must return a number for one point"),
        (lambda x: "high", BAD | {"vectorized": True}, "must return an array of numbers"),
        (log_density, BAD | HMC | {"gradient": lambda x: 0.0}, "gradient must return an array of shape"),
        (log_density, BAD | HMC | {"gradient": lambda x: [1j] * len(x)}, "gradient must return an array of numbers"),
        (lambda a: -(a**2), NAMED | HMC | {"gradient": lambda a: {"b": a}}, "gradient must return a dict of"),
        (lambda a: -(a**2), NAMED | HMC | {"gradient": lambda a: {"a": [a, a]}}, "gradient, for a, must return"),
        (lambda x: -np.inf, BAD, "no mass at 200 starts"),
    ],
)
def test_errors(target, arguments, message):
    if message is None:
        assert sample(target, **arguments, n_draws=5, n_warmup=3, random_state=0).draws.shape == (64, 5, 2)
        return
    with pytest.raises(ValueError, match=message):
        sample(target, **{"n_draws": 5, "n_warmup": 3, "random_state": 0} | arguments)
