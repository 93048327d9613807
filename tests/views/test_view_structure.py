"""What fitted views say of columns and rows: information against sums and quadrature, similarity by brute force."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from oracles import reference
from scipy.special import logsumexp
from scipy.stats import t as student
from sklearn.base import BaseEstimator
from support.view_draws import make_draw

from sklearn_subanneal import CrossCat
from sklearn_subanneal.columns.binding import KINDS, bind_columns
from sklearn_subanneal.estimators._mcmc import MCMCEstimator
from sklearn_subanneal.estimators._structure import StructureQueries
from sklearn_subanneal.mixtures.stacking import weighted
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.schema import read_table
from sklearn_subanneal.views.information import Estimate, excess, relatedness

N_ROWS = 60
NAMES = ["u", "v", "colour", "flag", "shape", "visits"]
TYPES = {"visits": "count"}


class Fitted(StructureQueries, BaseEstimator):
    """A fitted cross-categorization put together from partitions: those of the columns and of the rows, by draw."""

    _copies = RowCopies()

    def fit(self, X, states, weights=None):
        self._table, arrays = read_table(self, X, TYPES, types=KINDS)
        columns = self._table.columns
        n_categories = [0 if column.categories is None else len(column.categories) for column in columns]
        self._models = bind_columns(self._table.names, self._table.kinds, n_categories, arrays, in_views=True)
        draws = [make_draw(self._models, arrays, *state) for state in states]
        self._draws = [draws[:2], draws[2:]] if len(draws) > 2 else [draws]
        labels = [state[1] for state in states]
        self._row_labels = [labels[:2], labels[2:]] if len(draws) > 2 else [labels]
        self._results = [SimpleNamespace(labels=chain) for chain in self._row_labels]
        self.posterior_column_labels_ = np.array([[draw.column_labels for draw in chain] for chain in self._draws])
        self.chain_weights_ = np.full(len(self._draws), 1 / len(self._draws)) if weights is None else np.array(weights)
        self._draws = weighted(self._draws, self.chain_weights_)
        self.column_labels_ = self.posterior_column_labels_[0, 0]
        self.view_labels_ = self._kept_view_labels = self._row_labels[0][0].T
        return self

    _draw_weights = MCMCEstimator._draw_weights

    def _flat_draws(self):
        return [draw for chain in self._draws for draw in chain]


def table(rng):
    cluster = rng.integers(3, size=N_ROWS)
    X = pd.DataFrame(
        {
            "u": 2.0 * cluster + rng.normal(size=N_ROWS),
            "v": 5.0 - cluster + 0.5 * rng.normal(size=N_ROWS),
            "colour": np.array(["red", "green", "blue"])[(cluster + (rng.random(N_ROWS) < 0.3)) % 3],
            "flag": rng.random(N_ROWS) < 0.2 + 0.3 * cluster,
            "shape": np.array(["round", "square"])[(rng.random(N_ROWS) < 0.1 + 0.4 * cluster).astype(int)],
            "visits": rng.poisson(1.0 + 3.0 * cluster),
        }
    )
    X.loc[:3, "u"] = np.nan
    return X, cluster.astype(np.int32)


@pytest.fixture(scope="module")
def data():
    return table(np.random.default_rng(5))


@pytest.fixture(scope="module")
def together(data):
    """One draw with all columns in one view."""
    X, cluster = data
    return Fitted().fit(X, [([0] * 6, cluster[None])])


@pytest.fixture(scope="module")
def several(data):
    """Four draws, two chains of different weights, in which views and clusters differ."""
    X, cluster = data
    rng = np.random.default_rng(8)
    rows = [rng.integers(k, size=N_ROWS).astype(np.int32) for k in (2, 4, 3)]
    states = [
        ([0, 0, 0, 1, 1, 1], np.stack([cluster, rows[0]])),
        ([0, 0, 1, 1, 0, 2], np.stack([cluster, rows[1], rows[2]])),
        ([0] * 6, cluster[None]),
        ([0, 1, 0, 1, 0, 1], np.stack([rows[1], cluster])),
    ]
    return Fitted().fit(X, states, [0.3, 0.7])


# The weights of its draws.
WEIGHTS = [0.15, 0.15, 0.35, 0.35]

# --- A plain account of one draw: weights, and the law of a column in each cluster --------------------------------


def log_weights(draw, view):
    mixture = draw.views[view]
    return np.log(np.append(mixture.sizes - 0.2, 0.7 + 0.2 * len(mixture.sizes)) / (mixture.sizes.sum() + 0.7))


def probabilities(model, state):
    """(n_clusters + 1, n_values)"""
    parameters = state["parameters"]
    alpha = np.append(parameters["alpha"], parameters.get("unseen", ()))
    weights = np.column_stack([state["counts"][:-1], np.zeros(len(state["counts"]) - 1)]).T + alpha
    return weights / weights.sum(axis=1, keepdims=True)


def components(model, state):
    """Student's t of each cluster of a real, in standard units, and of the new one."""
    mu, kappa, sigma2, nu = (state["parameters"][name] for name in ("mu", "kappa", "sigma2", "nu"))
    n, total, square = (np.append(state[name], 0.0) for name in ("count", "total", "square"))
    mean = (kappa * mu + total) / (kappa + n)
    scatter = nu * sigma2 + square + kappa * mu**2 - (kappa + n) * mean**2
    return student(nu + n, mean, np.sqrt(scatter * (1 + 1 / (kappa + n)) / (nu + n)))


def discrete_information(w, a, b):
    """I(a; b) of a table, by loops; ``a`` and ``b`` (n_clusters, n_values)."""
    joint = np.array([[np.sum(w * a[:, i] * b[:, j]) for j in range(b.shape[1])] for i in range(a.shape[1])])
    return sum(
        joint[i, j] * np.log(joint[i, j] / joint[i].sum() / joint[:, j].sum())
        for i, j in itertools.product(range(a.shape[1]), range(b.shape[1]))
    )


def real_information(log_w, a, b):
    """I(a; b) of two reals in a mixture, by quadrature over the plane."""
    nodes, log_steps = reference.line_quadrature(half_width=3.0, step=1 / 48)
    of_a, of_b = a.logpdf(nodes[:, None]), b.logpdf(nodes[:, None])
    log_joint = logsumexp(log_w + of_a[:, None] + of_b[None], axis=2)
    log_a, log_b = logsumexp(log_w + of_a, axis=1), logsumexp(log_w + of_b, axis=1)
    mass = np.exp(log_joint + log_steps[:, None] + log_steps)
    assert abs(mass.sum() - 1.0) < 1e-6
    return np.sum(mass * (log_joint - log_a[:, None] - log_b))


def states_of(fitted, *names, draw=0):
    state = fitted._flat_draws()[draw]
    places = [NAMES.index(name) for name in names]
    views = state.column_labels[places]
    return [
        (state.views[v].columns[list(state.members(v)).index(j)], fitted._models[j])
        for j, v in zip(places, views, strict=True)
    ]


def laws(fitted, *names, draw=0):
    out = []
    for state, model in states_of(fitted, *names, draw=draw):
        out.append((components if model.kind == "real" else probabilities)(model, state))
    return out


# --- Columns ------------------------------------------------------------------------------------------------------


def test_dependence(several):
    labels = several.posterior_column_labels_.reshape(-1, 6)
    expected = [[np.dot(WEIGHTS, labels[:, i] == labels[:, j]) for j in range(6)] for i in range(6)]
    np.testing.assert_allclose(several.dependence_, expected)


def test_information_of_discrete_columns_is_a_sum(together):
    w = np.exp(log_weights(together._draws[0][0], 0))
    colour, flag, shape = laws(together, "colour", "flag", "shape")
    value, error = together.mutual_information("colour", "flag")
    assert error == 0.0
    assert value == pytest.approx(discrete_information(w, colour, flag), rel=1e-10)
    pair = (flag[:, :, None] * shape[:, None, :]).reshape(len(w), -1)
    value, error = together.mutual_information(["flag", 4], 2)
    assert error == 0.0 and value == pytest.approx(discrete_information(w, colour, pair), rel=1e-10)


def test_information_given_discrete_columns_is_a_sum(together):
    w = np.exp(log_weights(together._draws[0][0], 0))
    colour, flag, shape = laws(together, "colour", "flag", "shape")
    by_value = []
    for v in range(4):
        tilted = w * colour[:, v]
        by_value.append((tilted.sum(), discrete_information(tilted / tilted.sum(), flag, shape)))
    value, error = together.mutual_information("flag", "shape", given="colour")
    assert error == 0.0 and value == pytest.approx(sum(p * i for p, i in by_value), rel=1e-10)
    for v, name in enumerate(["blue", "green", "red"]):
        value, error = together.mutual_information("flag", "shape", given={"colour": name})
        assert error == 0.0 and value == pytest.approx(by_value[v][1], rel=1e-10)


def test_chain_rule(together):
    """I(a; b, c) = I(a; c) + I(a; b | c), exact sums."""
    both = together.mutual_information("colour", ["flag", "shape"]).value
    parts = together.mutual_information("colour", "shape").value, together.mutual_information("colour", 3, 4).value
    assert both == pytest.approx(sum(parts), rel=1e-10)


def test_information_of_reals(together):
    u, v = laws(together, "u", "v")
    exact = real_information(log_weights(together._draws[0][0], 0), u, v)
    value, error = together.mutual_information("u", "v", n_samples=40_000, random_state=0)
    assert 0 < error < 0.01 and abs(value - exact) < 4 * error
    assert together.mutual_information("v", "u", n_samples=40_000, random_state=1).value == pytest.approx(
        exact, abs=4 * error
    )


def test_information_of_reals_given_others(together):
    """Evidence tilts the weights; averaging over a boolean is the mean over its values; both at once."""
    log_w = log_weights(together._draws[0][0], 0)
    u, v, flag, shape = laws(together, "u", "v", "flag", "shape")
    known = log_w + np.log(shape[:, 1])
    known -= logsumexp(known)
    exact = 0.0
    for value in range(2):
        tilted = known + np.log(flag[:, value])
        exact += np.exp(logsumexp(tilted)) * real_information(tilted - logsumexp(tilted), u, v)
    given = {"flag": None, "shape": "square"}
    value, error = together.mutual_information("u", "v", given, n_samples=40_000, random_state=2)
    assert 0 < error < 0.01 and abs(value - exact) < 4 * error
    # A real as evidence, in the units of the data.
    model = together._models[1]
    tilted = log_w + laws(together, "v")[0].logpdf((4.2 - model.center[0]) / model.scale[0])
    exact = discrete_information(np.exp(tilted - logsumexp(tilted)), flag, shape)
    assert together.mutual_information(3, 4, {"v": 4.2}).value == pytest.approx(exact, rel=1e-8)


def test_information_of_mixed_kinds_by_sampling(together, monkeypatch):
    """Sampled and summed information of the same columns agree, whatever is conditioned on."""
    cases = [(["colour", "flag"], "shape", None), ("flag", "shape", "colour"), ("flag", "shape", {"visits": 3})]
    exact = [together.mutual_information(*case) for case in cases]
    monkeypatch.setattr("sklearn_subanneal.views.information.MOST_CELLS_SUMMED", 0)
    for case, (value, _) in zip(cases, exact, strict=True):
        sampled, error = together.mutual_information(*case, n_samples=40_000, random_state=3)
        assert 0 < error < 0.01 and abs(sampled - value) < 4 * error
    # Counts are always sampled: the information of both together is at least that of one.
    one = together.mutual_information("flag", "u", n_samples=20_000, random_state=4)
    two = together.mutual_information("flag", ["u", "visits"], n_samples=20_000, random_state=4)
    assert two.value > one.value + 3 * one.standard_error


@pytest.mark.parametrize("names", [pytest.param(("u", "v"), marks=pytest.mark.slow), ("u", "visits")])
def test_standard_error_is_calibrated(together, names):
    runs = [together.mutual_information(*names, n_samples=300, random_state=seed) for seed in range(400)]
    values, errors = np.array(runs).T
    exact = together.mutual_information(*names, n_samples=400_000, random_state=1000).value
    z = (values - exact) / errors
    assert abs(z.mean()) < 0.25
    assert 0.91 < np.mean(np.abs(z) < 1.96) < 0.98


def test_standard_error_is_calibrated_given_columns_and_over_draws(several):
    case = ("u", "v", {"flag": None, "colour": "red"})
    runs = [several.mutual_information(*case, n_samples=400, random_state=seed) for seed in range(300)]
    values, errors = np.array(runs).T
    exact = several.mutual_information(*case, n_samples=200_000, random_state=1000).value
    z = (values - exact) / errors
    assert abs(z.mean()) < 0.25
    assert 0.91 < np.mean(np.abs(z) < 1.96) < 0.98


def test_separate_views_are_independent(several, data):
    X, cluster = data
    apart = Fitted().fit(X, [([0, 1, 0, 0, 1, 1], np.stack([cluster, cluster]))])
    assert apart.mutual_information("u", "v", "colour") == (0.0, 0.0)
    assert apart.mutual_information("u", ["v", "visits"], {"flag": True}) == (0.0, 0.0)
    assert apart.relatedness("u", "v") == (0.0, 0.0)
    # In a given view only the columns of that view matter, and draws are averaged.
    w = [np.exp(log_weights(draw, draw.column_labels[2])) for draw in several._flat_draws()]
    exact = 0.0
    for d, draw in enumerate(several._flat_draws()):
        if draw.column_labels[2] == draw.column_labels[4]:
            exact += discrete_information(w[d], *laws(several, "colour", "shape", draw=d)) * WEIGHTS[d]
    assert several.mutual_information("colour", "shape").value == pytest.approx(exact, rel=1e-10)


def test_information_adds_up_over_views(data):
    X, cluster = data
    fitted = Fitted().fit(X, [([0, 0, 1, 0, 1, 0], np.stack([cluster[::-1], cluster]))])
    parts = [fitted.mutual_information("colour", "shape"), fitted.mutual_information("u", "flag", n_samples=40_000)]
    value, error = fitted.mutual_information(["colour", "flag"], ["shape", "u"], n_samples=40_000)
    off = 4 * np.hypot(error, parts[1].standard_error)
    assert abs(value - parts[0].value - parts[1].value) < off < min(part.value for part in parts)


def test_samples_are_spread_over_draws(data, together):
    X, cluster = data
    fitted = Fitted().fit(X, [([0] * 6, cluster[None])] * 4)
    one, four = (f.mutual_information("u", "v", n_samples=20_000, random_state=0) for f in (together, fitted))
    assert four.standard_error == pytest.approx(one.standard_error, rel=0.1)
    assert four.value == pytest.approx(one.value, abs=5 * one.standard_error)


def test_relatedness(together):
    information = together.mutual_information("u", "v", random_state=0)
    value, error = together.relatedness("u", "v", random_state=0)
    assert value == pytest.approx(np.sqrt(1 - np.exp(-2 * information.value)))
    moved = [relatedness(Estimate(information.value + h, 0.0)).value for h in (-1e-6, 1e-6)]
    assert error == pytest.approx((moved[1] - moved[0]) / 2e-6 * information.standard_error, rel=1e-5)


def test_relatedness_of_nearly_independent_columns(data):
    """The error vanishes with the information, so that the delta method holds near 0."""
    X, _ = data
    unrelated = np.random.default_rng(3).integers(2, size=(1, N_ROWS)).astype(np.int32)
    fitted = Fitted().fit(X, [([0] * 6, unrelated)])
    runs = np.array([fitted.relatedness("u", "visits", n_samples=2000, random_state=seed) for seed in range(100)])
    spread = runs[:, 0].std()
    # A plain mean of log ratios would spread about 0.02.
    assert 0.02 < 0.8 * runs[:, 0].mean() < runs[:, 0].min() and spread < 0.004
    assert np.median(runs[:, 1]) == pytest.approx(spread, rel=0.3)


def test_relatedness_matrix(several):
    matrix = several.relatedness_matrix(n_samples=40_000, random_state=0)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 1.0)
    for i, j in itertools.combinations(range(6), 2):
        value, error = several.relatedness(i, j, n_samples=40_000, random_state=1)
        assert matrix[i, j] == pytest.approx(value, abs=6 * error + 1e-10), (i, j)
    some = several.relatedness_matrix(["shape", "u", "colour"], n_samples=40_000, random_state=2)
    np.testing.assert_allclose(some, matrix[np.ix_([4, 0, 2], [4, 0, 2])], atol=0.02)
    assert some[0, 2] == pytest.approx(matrix[4, 2], rel=1e-12)


def test_far_clusters_and_few_samples():
    """Ratios of densities that overflow leave finite results, within the bound of what clusters can tell."""
    cluster = np.arange(N_ROWS, dtype=np.int32) % 3
    X = 1e6 * cluster[:, None] + np.random.default_rng(0).normal(size=(N_ROWS, 200))
    fitted = Fitted().fit(pd.DataFrame(X).rename(columns=str).assign(visits=cluster), [([0] * 201, cluster[None])])
    halves = range(100), range(100, 200)
    assert 0.0 < fitted.mutual_information(*halves, n_samples=1, random_state=0).value < np.inf
    value, error = fitted.mutual_information(*halves, n_samples=4000, random_state=0)
    assert 0.9 < value / np.log(3) < 1.15 and 0.0 < error < 0.05
    matrix = fitted.relatedness_matrix(n_samples=1, random_state=0)
    assert np.isfinite(matrix).all() and matrix.min() > 0.5


def test_what_a_sample_counts():
    ratio = np.array([0.0, 1e-300, 0.3, 1.0, 1.001, 20.0, 1e300])
    expected = np.array([2.0, 2.0, 2 * (0.7 + 0.3 * np.log(0.3)) / 1.3, 0.0, 5e-7, 2 * (20 * np.log(20) - 19) / 21, 0])
    expected[-1] = 2 * (300 * np.log(10) - 1)
    np.testing.assert_allclose(excess(ratio), expected, rtol=1e-3, atol=1e-15)


# --- Rows ---------------------------------------------------------------------------------------------------------


def similarity_by_loops(fitted, i, j, columns=None):
    shares = []
    for labels, views in zip(fitted._flat_row_labels(), fitted._flat_column_labels(), strict=True):
        # With respect to columns, the mean over the columns: each stands for its view.
        at = range(len(labels)) if columns is None else views[columns]
        shares.append(np.mean([labels[v, i] == labels[v, j] for v in at]))
    return np.dot(WEIGHTS, shares)


@pytest.mark.parametrize("columns", [None, [0], [0, 3, 5], list(range(6))])
def test_row_similarity(several, columns):
    similarity = several.row_similarity([4, 0, 31], [7, 0], columns)
    expected = [[similarity_by_loops(several, i, j, columns) for j in (7, 0)] for i in (4, 0, 31)]
    np.testing.assert_allclose(similarity, expected)
    np.testing.assert_allclose(several.row_similarity(2, columns=columns), [[1.0]])


def test_row_similarity_takes_masks_and_all_blocks(several, monkeypatch):
    everything = several.row_similarity(range(N_ROWS))
    np.testing.assert_allclose(everything, everything.T)
    np.testing.assert_allclose(np.diag(everything), 1.0)
    monkeypatch.setattr("sklearn_subanneal.posterior.similarity._BLOCK_ELEMENTS", 7 * N_ROWS)
    np.testing.assert_array_equal(several.row_similarity(np.arange(N_ROWS)), everything)
    mask = np.arange(N_ROWS) % 7 == 2
    np.testing.assert_array_equal(several.row_similarity(mask), everything[np.ix_(mask, mask)])
    np.testing.assert_array_equal(several.row_similarity(mask, [5]), everything[mask][:, [5]])


def confidence_by_loops(fitted):
    labels, views = fitted.view_labels_, fitted.column_labels_
    out = np.zeros(labels.shape)
    for i, v in np.ndindex(*labels.shape):
        fellows = [k for k in range(len(labels)) if k != i and labels[k, v] == labels[i, v]]
        shares = []
        members = np.flatnonzero(views == v)
        for rows, columns in zip(fitted._flat_row_labels(), fitted._flat_column_labels(), strict=True):
            for j in members:
                row = rows[columns[j]]
                alone = np.sum(row == row[i]) == 1
                shares.append(np.mean([row[k] == row[i] for k in fellows]) if fellows else alone)
        out[i, v] = np.average(shares, weights=np.repeat(WEIGHTS, len(members)))
    return out


def test_view_confidence(several):
    confidence = several.view_confidence_
    np.testing.assert_allclose(confidence, confidence_by_loops(several))
    assert confidence.min() >= 0 and confidence.max() <= 1


def test_confidence_of_draws_that_agree(together):
    np.testing.assert_array_equal(together.view_confidence_, 1.0)


# --- A chain's own draws -----------------------------------------------------------------------------------------


def test_of_a_fit():
    rng = np.random.default_rng(1)
    one, other = rng.integers(3, size=(2, 200))
    X = pd.DataFrame({name: 9.0 * one + rng.normal(size=200) for name in "ab"})
    X["c"] = np.array(["x", "y", "z"])[other]
    X["d"] = 9.0 * other + rng.normal(size=200)
    # Enough draws that the few with a cluster too many, which the posterior has, do not decide.
    fitted = CrossCat(n_chains=4, n_draws=10, random_state=0).fit(X)
    assert fitted.dependence_.shape == (4, 4)
    assert fitted.dependence_[0, 1] == fitted.dependence_[2, 3] == 1.0
    assert fitted.view_confidence_.shape == (200, fitted.n_views_)
    assert fitted.view_confidence_.min() >= 0.0 and 0.95 < fitted.view_confidence_.mean() <= 1.0
    assert 0.8 < fitted.mutual_information("c", "d", random_state=0).value < np.log(3)
    assert fitted.relatedness("c", "d").value > fitted.relatedness("a", "d").value
    alike = fitted.row_similarity(range(50), columns=["a", "b"])
    assert alike[one[:50, None] == one[:50]].mean() > 0.95
    assert fitted.row_similarity(0, np.arange(200)).shape == (1, 200)


# --- Refusals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda f: f.mutual_information("w", "u"), "names the unknown column 'w'.*'u', 'v'.*indices 0 to 5"),
        (lambda f: f.mutual_information("u", 6), "names the unknown column 6"),
        (lambda f: f.mutual_information("u", -1), "names the unknown column -1"),
        (lambda f: f.mutual_information("u", True), "names the unknown column True"),
        (lambda f: f.mutual_information(None, "u"), "names the unknown column None"),
        (lambda f: f.mutual_information("u", []), "b must have at least one column"),
        (lambda f: f.mutual_information("u", ["v", 1]), "b names a column twice"),
        (lambda f: f.mutual_information("u", ["v", "u"]), "b has the column 'u', which a has as well"),
        (lambda f: f.mutual_information("u", "v", "u"), "given has the column 'u', which a has as well"),
        (lambda f: f.mutual_information("u", "v", {"v": 1.0}), "given has the column 'v', which b has as well"),
        (lambda f: f.mutual_information("u", "v", {"x": 1.0}), "names the unknown column 'x'"),
        (lambda f: f.mutual_information("u", "v", {"flag": 1, 3: 0}), "given names a column twice"),
        (lambda f: f.mutual_information("u", "v", {"colour": "pink"}), "'pink' for column 'colour'.*'blue', 'green'"),
        (lambda f: f.mutual_information("u", "colour", {"v": np.nan}), "given has nan for column 'v', which is no"),
        (lambda f: f.mutual_information("u", "colour", {"v": np.inf}), "given for column 'v' contains infinity"),
        (lambda f: f.mutual_information("u", "v", {"colour": np.nan}), "given has nan for column 'colour', which is"),
        (lambda f: f.mutual_information("u", "v", {"visits": -1}), "'visits' must be count but holds -1"),
        (lambda f: f.mutual_information("u", "v", {"visits": 0.5}), "'visits' must be count but holds 0.5"),
        (lambda f: f.mutual_information("u", "v", {"flag": 2}), "'flag' must be boolean but holds 2"),
        (lambda f: f.mutual_information("u", "colour", {"v": "high"}), "'v' must be real but holds 'high'"),
        (lambda f: f.mutual_information("u", "v", n_samples=0), "n_samples must be an integer of at least 1, got 0"),
        (lambda f: f.relatedness_matrix(["u", "w"]), "names the unknown column 'w'"),
        (lambda f: f.relatedness_matrix(n_samples=1.5), "n_samples must be an integer of at least 1, got 1.5"),
        (lambda f: f.row_similarity([60]), "rows must be indices from 0 to 59"),
        (lambda f: f.row_similarity([0], [-1]), "others must be indices from 0 to 59"),
        (lambda f: f.row_similarity([True, False]), r"or a mask of shape \(60,\)"),
        (lambda f: f.row_similarity([0], columns="w"), "names the unknown column 'w'"),
        (lambda f: f.row_similarity(range(60), max_rows=50), "60 rows with 60 .*max_rows=50.*random subset"),
    ],
)
def test_refusals(together, call, message):
    with pytest.raises(ValueError, match=message):
        call(together)


@pytest.mark.parametrize(
    "query",
    [
        lambda f: f.dependence_,
        lambda f: f.view_confidence_,
        lambda f: f.mutual_information(0, 1),
        lambda f: f.relatedness_matrix(),
        lambda f: f.row_similarity([0]),
    ],
)
def test_not_fitted(query):
    with pytest.raises(ValueError, match="not fitted"):
        query(Fitted())
