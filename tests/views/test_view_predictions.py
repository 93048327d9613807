"""What a cross-categorization says of cells, against plain loops, sums over categories and quadrature."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from oracles import reference
from oracles.views_enumeration import fixed_views
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from support.view_draws import make_draw

from sklearn_subanneal import CrossCat
from sklearn_subanneal.columns.binding import KINDS, bind_columns
from sklearn_subanneal.estimators._evidence import column_index
from sklearn_subanneal.estimators._kept_ensemble import KeptEnsemble
from sklearn_subanneal.estimators._novelty import NoveltyQueries
from sklearn_subanneal.estimators._queries import PredictiveQueries
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.schema import read_table
from sklearn_subanneal.views import views_predictive
from sklearn_subanneal.views.lone_columns import score_lone_columns
from sklearn_subanneal.views.seen_rows import SeenRows

NAN = np.nan
# Of 1,200 draws, in nats: four standard errors.
NOISE = 0.06
NAMES = ["size", "colour", "visits", "flag", "price"]
TYPES = ["real", "categorical", "count", "boolean", "real"]
# Views of the columns, and clusters of the twelve rows in each view; three draws, in chains of two and one.
STATES = [
    ([0, 0, 1, 1, 0], ["000011112222", "010101010101"], 0.7, 0.2),
    ([0, 1, 0, 2, 1], ["000000111111", "012012012012", "000000000000"], 2.5, 0.0),
    ([0, 0, 0, 0, 0], ["001122334455"], 0.3, 0.5),
]


class Fitted(PredictiveQueries, NoveltyQueries, KeptEnsemble, BaseEstimator):
    """Draws made by hand."""

    _copies, n_jobs, unseen = RowCopies(), None, "novel"

    def fit(self, X, feature_types=TYPES, states=STATES):
        rng = np.random.default_rng(7)
        self._table, self.arrays = read_table(self, X, feature_types, types=KINDS)
        n_categories = [0 if c.categories is None else len(c.categories) for c in self._table.columns]
        self._models = bind_columns(self._table.names, self._table.kinds, n_categories, self.arrays, in_views=True)
        self.states, self._draws = [], []
        for columns, rows, concentration, discount in states:
            labels = [np.array([int(c) for c in r]) for r in rows]
            # Every draw has hyperparameters of its own.
            parameters = [{k: v * rng.uniform(0.5, 2.0) for k, v in m.parameters.items()} for m in self._models]
            draw = make_draw(self._models, self.arrays, columns, labels, concentration, discount, parameters)
            self.states.append((columns, labels, concentration, discount, parameters))
            self._draws.append(draw)
        return self

    def _flat_draws(self):
        return self._draws

    def _encode(self, X, *, scored=False):
        return self._table.encode(self, X, "novel" if scored else "missing")

    def _are_seen(self, arrays, seen):
        return bool(seen)

    def _seen_rows(self, arrays):
        return SeenRows.of(self._models, [np.array(labels) for _, labels, *_ in self.states], arrays, self._copies)


def table():
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [
            1000.0 + 40.0 * rng.normal(size=12),
            rng.integers(3, size=12),
            rng.poisson(4, size=12),
            rng.integers(2, size=12),
            0.01 * rng.normal(size=12),
        ]
    ).astype(float)
    X[[1, 5, 7], [0, 1, 2]] = NAN
    X[[2, 9], [3, 4]] = NAN
    X[0, 1], X[3, 1], X[4, 1] = 0, 1, 2
    return X


def test_rare_clusters_of_all_views_hold_together_at_most_a_share_of_the_rows():
    """Of twelve rows at most 8.4: 4.2 in each of two views, 2.8 in each of three."""
    model = Fitted().fit(table())
    of_new = views_predictive.ensemble_of_views(model._models, model._draws, 0.7)
    seen = model._seen_rows(model.arrays)
    of_seen = views_predictive.left_out(model._models, model._draws, seen, model.arrays, 0.7)
    for average in (of_new, of_seen):
        assert [[len(view.rare) for view in views] for views in average.products] == [[1, 0], [0, 0, 0], [4]]


def new_rows():
    return np.array(
        [
            [1010.0, 0, 3, 1, 0.004],
            [950.0, 2, 0, 0, NAN],
            [NAN, 1, 9, NAN, -0.01],
            [1400.0, NAN, 60, 1, 0.2],
            [NAN, NAN, 2, NAN, NAN],
            [NAN, NAN, NAN, NAN, NAN],
        ]
    )


@pytest.fixture(scope="module")
def fitted():
    return Fitted().fit(table())


@cache
def log_cell(fitted, d, view, k, j, value):
    """log p(cell | cluster), by the reference."""
    _, labels, _, _, parameters = fitted.states[d]
    cells = np.where(fitted.arrays[j] < 0, NAN, fitted.arrays[j]) if j in (1, 2, 3) else fitted.arrays[j]
    given = fitted._models[j].report(parameters[j])
    return reference.log_predictive(TYPES[j], value, cells[labels[view] == k], given)


def brute_force(fitted, row):
    """log p(row) by loops over draws, views, clusters and columns, in the units of the data."""
    by_draw = []
    for d, (columns, labels, concentration, discount, _) in enumerate(fitted.states):
        total = 0.0
        for view, z in enumerate(labels):
            sizes = np.bincount(z)
            weights = np.append(sizes - discount, concentration + discount * len(sizes)) / (len(z) + concentration)
            terms = np.log(weights)
            for k in range(len(weights)):
                for j in np.flatnonzero(np.equal(columns, view)):
                    if not np.isnan(row[j]):
                        terms[k] += log_cell(fitted, d, view, k, j, float(row[j]))
            total += logsumexp(terms)
        by_draw.append(total)
    return logsumexp(by_draw) - np.log(len(by_draw))


def both(row, evidence):
    return np.where(np.isnan(evidence), row, evidence)


def only(row, *columns):
    return np.where(np.isin(np.arange(len(row)), columns), row, NAN)


# --- Densities ------------------------------------------------------------------------------------------------------


def test_densities_are_those_of_plain_loops(fitted):
    wanted = [brute_force(fitted, row) for row in new_rows()]
    np.testing.assert_allclose(fitted.score_samples(new_rows()), wanted, rtol=1e-5, atol=1e-9)
    # Alone, a row takes another way: nothing varies.
    alone = [fitted.score_samples(row[None])[0] for row in new_rows()]
    np.testing.assert_allclose(alone, wanted, rtol=1e-5, atol=1e-9)
    assert alone[-1] == pytest.approx(0, abs=1e-12)


def test_repeated_cells_are_scored_once_and_rows_in_chunks(fitted, monkeypatch):
    rows = np.tile(new_rows(), (50, 1))
    rows[:, 4] = np.random.default_rng(0).normal(size=300) / 100
    wanted = [fitted.score_samples(row[None])[0] for row in rows]
    np.testing.assert_allclose(fitted.score_samples(rows), wanted, rtol=1e-10, atol=1e-10)
    cells = DistinctRows.of(fitted._models, fitted._encode(rows))
    assert [len(values) for values in cells.values] == [4, 4, 6, 3, 300]
    surprisal, filled = fitted.surprisal(rows), fitted.impute(rows, return_uncertainty=True)
    monkeypatch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 70)
    np.testing.assert_allclose(fitted.score_samples(rows), wanted, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(fitted.surprisal(rows), surprisal, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(fitted.impute(rows, return_uncertainty=True), filled, rtol=1e-9, atol=1e-9)


EVIDENCE = [
    np.array([NAN, 2, NAN, NAN, NAN]),
    np.array([960.0, NAN, NAN, 1, NAN]),
    np.array([NAN, NAN, 8, 0, 0.02]),
    np.full(5, NAN),
]


@pytest.mark.parametrize("evidence", EVIDENCE)
def test_conditional_densities_are_ratios_of_plain_loops(fitted, evidence):
    rows = new_rows()
    rows[:, ~np.isnan(evidence)] = NAN
    wanted = [brute_force(fitted, both(row, evidence)) - brute_force(fitted, evidence) for row in rows]
    np.testing.assert_allclose(fitted.score_samples(rows, given=evidence[None]), wanted, rtol=1e-5, atol=1e-8)
    as_dict = {name: value for name, value in zip([0, "x1", 2, "x3", 4], evidence, strict=True) if not np.isnan(value)}
    np.testing.assert_array_equal(fitted.score_samples(rows, as_dict), fitted.score_samples(rows, evidence[None]))
    each = np.tile(evidence, (len(rows), 1))
    np.testing.assert_allclose(fitted.score_samples(rows, each), wanted, rtol=1e-5, atol=1e-8)


def test_evidence_of_each_row(fitted):
    rows, each = new_rows()[:4], np.array(EVIDENCE)
    rows = np.where(np.isnan(each), rows, NAN)
    wanted = [brute_force(fitted, both(r, e)) - brute_force(fitted, e) for r, e in zip(rows, each, strict=True)]
    np.testing.assert_allclose(fitted.score_samples(rows, each), wanted, rtol=1e-5, atol=1e-8)


def test_what_is_given_counts_once(fitted):
    row = np.array([[1010.0, 0, 3, 1, 0.004]])
    rest = np.array([[NAN, 0, NAN, 1, 0.004]])
    given = {0: 1010.0, 2: 3}
    np.testing.assert_allclose(fitted.score_samples(row, given), fitted.score_samples(rest, given), rtol=1e-12)
    assert fitted.score_samples(only(row[0], 0, 2)[None], given)[0] == pytest.approx(0, abs=1e-10)


def test_conditional_densities_integrate_to_one(fitted):
    given = {"x0": 1010.0, "x2": 3, "x3": True}
    # The last is no category of the table.
    codes = np.array([only([NAN, c, NAN, NAN, NAN], 1) for c in range(4)])
    assert logsumexp(fitted.score_samples(codes, given)) == pytest.approx(0, abs=1e-9)
    u = np.linspace(-15, 15, 6001)
    line = np.full((len(u), 5), NAN)
    line[:, 4] = 0.01 * np.sinh(u)
    density = np.exp(fitted.score_samples(line, given)) * 0.01 * np.cosh(u)
    assert np.trapezoid(density, u) == pytest.approx(1, abs=2e-3)
    counts = np.full((4000, 5), NAN)
    counts[:, 2] = np.arange(4000)
    assert logsumexp(fitted.score_samples(counts, {1: 2, 4: 0.0})) == pytest.approx(0, abs=1e-3)


def test_novelty(fitted):
    rows = new_rows()
    np.testing.assert_array_equal(fitted.novelty(rows), -fitted.score_samples(rows))
    for columns, kept in (([0, "x3"], (0, 3)), ("x1", (1,)), (np.int64(4), (4,))):
        wanted = [-brute_force(fitted, only(row, *kept)) for row in rows]
        np.testing.assert_allclose(fitted.novelty(rows, columns), wanted, rtol=1e-5, atol=1e-9)


def test_surprisal(fitted):
    rows = np.vstack([new_rows(), [[1e6, 1, 3, 0, 0.001], [1010.0, 2, 5000, 1, -3.0]]])
    surprisal = fitted.surprisal(rows)
    for i, row in enumerate(rows):
        for j in range(5):
            if np.isnan(row[j]):
                assert np.isnan(surprisal[i, j])
                continue
            rest = row.copy()
            rest[j] = NAN
            wanted = brute_force(fitted, rest) - brute_force(fitted, row)
            assert surprisal[i, j] == pytest.approx(wanted, rel=1e-5, abs=1e-8)
    # The two ways to compute it are one.
    assert views_predictive.LOWEST < -100
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views_predictive, "LOWEST", np.inf)
        np.testing.assert_allclose(fitted.surprisal(rows), surprisal, rtol=1e-9, atol=1e-9)


# --- Rows that the draws have seen ----------------------------------------------------------------------------------

# Rows 0, 1, 3 and 11 are alone somewhere, row 3 twice in one draw.
LONERS = [
    ([0, 0, 1, 1, 0], ["011211111113", "010201010101"], 0.7, 0.2),
    ([0, 1, 0, 2, 1], ["000001111111", "012012012012", "000000000000"], 2.5, 0.0),
    ([0, 0, 0, 0, 0], ["012222333333"], 0.3, 0.5),
]


def log_alone(fitted, d, i, row):
    """log p(cells | all rows but row i) in one draw, by loops: the clusters are those of the other rows."""
    columns, labels, concentration, discount, parameters = fitted.states[d]
    others, total = np.delete(np.arange(12), i), 0.0
    for view, z in enumerate(labels):
        left = np.unique(z[others])
        terms = []
        for k in [*left, None]:
            rows = others[z[others] == k] if k is not None else others[:0]
            weight = len(rows) - discount if len(rows) else concentration + discount * len(left)
            terms.append(np.log(weight / (11 + concentration)))
            for j in np.flatnonzero(np.equal(columns, view)):
                if not np.isnan(row[j]):
                    cells = np.where(fitted.arrays[j] < 0, NAN, fitted.arrays[j])[rows] if j in (1, 2, 3) else None
                    cells = fitted.arrays[j][rows] if cells is None else cells
                    given = fitted._models[j].report(parameters[j])
                    terms[-1] += reference.log_predictive(TYPES[j], float(row[j]), cells, given)
        total += logsumexp(terms)
    return total


@pytest.fixture(scope="module")
def loners():
    return Fitted().fit(table(), states=LONERS)


@pytest.mark.parametrize("columns", [None, [0, 3]])
def test_novelty_of_seen_rows(loners, columns):
    X = table()
    wanted = []
    for i, row in enumerate(X):
        whole = np.array([log_alone(loners, d, i, row) for d in range(3)])
        asked = row if columns is None else only(row, *columns)
        part = np.array([log_alone(loners, d, i, asked) for d in range(3)])
        wanted.append(logsumexp(-whole) - logsumexp(part - whole))
    np.testing.assert_allclose(loners.novelty(X, columns, seen=True), wanted, rtol=1e-5, atol=1e-5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 24)
        np.testing.assert_allclose(loners.novelty(X, columns, seen=True), wanted, rtol=1e-5, atol=1e-5)


def test_surprisal_of_seen_rows(loners):
    X = table()
    found = loners.surprisal(X, seen=True)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(X))
    for i, j in zip(*np.nonzero(~np.isnan(X)), strict=True):
        rest = only(X[i], *np.delete(np.arange(5), j))
        nats = [log_alone(loners, d, i, rest) - log_alone(loners, d, i, X[i]) for d in range(3)]
        assert found[i, j] == pytest.approx(logsumexp(nats) - np.log(3), rel=1e-5, abs=1e-5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views_predictive, "LOWEST", np.inf)
        patch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 40)
        np.testing.assert_allclose(loners.surprisal(X, seen=True), found, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("group", [[0], [2], [0, 3], [1, 4]])
def test_columns_by_themselves(fitted, loners, group):
    def score(model, X, seen):
        arrays = model._encode(X, scored=True)
        seen_rows = model._seen_rows(arrays) if seen else None
        return score_lone_columns(model._models, model._flat_draws(), arrays, [group, [1]], seen_rows)[:, 0]

    rows = new_rows()[:5]
    wanted = [brute_force(fitted, only(row, *group)) for row in rows]
    np.testing.assert_allclose(score(fitted, rows, False), wanted, rtol=1e-5, atol=1e-6)
    X = table()
    wanted = [logsumexp([log_alone(loners, d, i, only(X[i], *group)) for d in range(3)]) - np.log(3) for i in range(12)]
    np.testing.assert_allclose(score(loners, X, True), wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_seen_rows_score_what_the_other_rows_say_of_them():
    """By chains, against sums over all partitions: draws given all rows are weighted to be those without a row."""
    params = {
        "x0": {"mu": 0.3, "kappa": 0.7, "sigma2": 0.4, "nu": 2.5},
        "x1": {"alpha": [0.2, 0.5, 0.9]},
        "x2": {"shape": 1.7, "rate": 0.6},
    }
    X = np.array([[0.4, 0, 3], [-1.2, 2, 0], [4.2, 2, NAN], [NAN, 1, 6]])

    def log_evidence(*missing):
        cells = X.copy()
        for at in missing:
            cells[at] = NAN
        cells[:, 1:] = np.nan_to_num(cells[:, 1:], nan=-1)
        kinds = ["real", "categorical", "count"]
        return fixed_views(list(zip(kinds, cells.T, params.values(), strict=True)), (0.6, 0.4), (0.8, 0.3)).log_evidence

    model = CrossCat(
        PitmanYor(0.6, 0.4),
        PitmanYor(0.8, 0.3),
        feature_types=["real", "categorical", "count"],
        feature_params=params,
        learn_hyperparameters=False,
        n_chains=2,
        n_draws=600,
        random_state=0,
    ).fit(X)
    whole, without = log_evidence(), [log_evidence(np.s_[i]) for i in range(4)]
    novelty = np.array(without) - whole
    np.testing.assert_allclose(model.novelty(X, seen=True), novelty, atol=NOISE)
    part = [without[i] - log_evidence(np.s_[i, 1:]) for i in range(3)]
    np.testing.assert_allclose(model.novelty(X, 0, seen=True)[:3], part, atol=NOISE)
    surprisal = np.array([[log_evidence((i, j)) - whole for j in range(3)] for i in range(4)])
    surprisal[np.isnan(X)] = NAN
    np.testing.assert_allclose(model.surprisal(X, seen=True), surprisal, atol=NOISE)
    # Scored as new rows, given themselves too, the most novel ones would not be novel.
    assert (novelty - model.novelty(X, seen=False)).max() > 10 * NOISE


# --- Predictions ----------------------------------------------------------------------------------------------------


def conditional(fitted, row, column, values):
    """p(cell = value | the other cells of the row), by plain loops."""
    with_value = np.tile(np.array(row, dtype=float), (len(values), 1))
    with_value[:, column] = values
    rest = np.array(row, dtype=float)
    rest[column] = NAN
    return np.exp(np.array([brute_force(fitted, r) for r in with_value]) - brute_force(fitted, rest))


ROWS = [[1010.0, 0, 3, 1, 0.004], [950.0, 2, 0, 0, NAN], [NAN, 1, 9, NAN, -0.01]]


def test_categories_given_others(fitted):
    for column, n_values in ((1, 3), (3, 2)):
        wanted = np.array([conditional(fitted, row, column, range(n_values)) for row in ROWS])
        # Given that the value is not an unseen one.
        wanted /= wanted.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(fitted.predict_column_proba(column, ROWS), wanted, rtol=1e-5)
        np.testing.assert_array_equal(fitted.predict_column(f"x{column}", ROWS), wanted.argmax(axis=1))
        gaps = np.array(ROWS)
        gaps[:, column] = NAN
        filled, uncertainty = fitted.impute(gaps, return_uncertainty=True)
        np.testing.assert_array_equal(filled[:, column], wanted.argmax(axis=1))
        np.testing.assert_allclose(uncertainty[:, column], 1 - wanted.max(axis=1), rtol=1e-5)
        np.testing.assert_array_equal(filled[~np.isnan(gaps)], gaps[~np.isnan(gaps)])
        np.testing.assert_array_equal(uncertainty[~np.isnan(gaps)], 0)
    np.testing.assert_array_equal(fitted.column_categories(3), [False, True])


def test_counts_given_others(fitted):
    values = np.arange(200)
    for row in ROWS:
        p = conditional(fitted, row, 2, values)
        assert p.sum() == pytest.approx(1, abs=1e-3)
        mean, deviation = p @ values, np.sqrt(p @ values**2 - (p @ values) ** 2)
        assert fitted.predict_column("x2", [row])[0] == pytest.approx(mean, rel=1e-2)
        gap = np.array([row])
        gap[0, 2] = NAN
        filled, uncertainty = fitted.impute(gap, return_uncertainty=True)
        assert filled[0, 2] == np.rint(mean)
        assert uncertainty[0, 2] == pytest.approx(deviation, rel=2e-2)


def test_reals_given_others():
    # Tails light enough for quadrature of second moments.
    fitted = Fitted().fit(table())
    for state, draw in zip(fitted.states, fitted._draws, strict=True):
        for j in (0, 4):
            state[4][j]["nu"] = 12.0
            view = draw.column_labels[j]
            place = list(draw.members(view)).index(j)
            draw.views[view].columns[place]["parameters"]["nu"] = 12.0
    u = np.linspace(-6, 6, 97)
    for row in ROWS:
        for column, centre, unit in ((0, 1000.0, 40.0), (4, 0.0, 0.01)):
            x = centre + unit * np.sinh(u)
            mass = conditional(fitted, row, column, x) * unit * np.cosh(u) * (u[1] - u[0])
            assert mass.sum() == pytest.approx(1, abs=1e-4)
            mean = mass @ x
            deviation = np.sqrt(mass @ (x - mean) ** 2)
            assert abs(fitted.predict_column(column, [row])[0] - mean) < 1e-3 * deviation
            arrays = fitted._encode([row])
            average = views_predictive.ensemble_of_views(fitted._models, fitted._draws)
            spread = views_predictive.predict_column(average, arrays, column)[1][0]
            assert spread == pytest.approx(deviation, rel=2e-3)
            gap = np.array([row])
            gap[0, column] = NAN
            filled, uncertainty = fitted.impute(gap, return_uncertainty=True)
            assert abs(filled[0, column] - mean) < 1e-3 * deviation
            assert uncertainty[0, column] == pytest.approx(deviation, rel=2e-3)


# --- Samples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", [None, {}, {0: 900.0, "x3": 1}, {"x1": 2, "x4": 0.03, 2: 20}])
def test_samples_follow_the_conditional(fitted, given):
    n = 6000
    rows = fitted.sample(n, given, random_state=5)
    known = {int(str(key).removeprefix("x")): value for key, value in (given or {}).items()}
    np.testing.assert_array_equal(rows, fitted.sample(n, given, random_state=5))
    assert not np.isnan(rows).any()
    for j, value in known.items():
        assert (rows[:, j] == value).all()
    # No count is further beyond those of fit than their range. The few beyond are drawn again given the other cells of
    # their rows, and so by about this law.
    most = int(fitted._models[2].drawn_between[1, 0])
    for column, n_values in ((1, 3), (3, 2), (2, most + 1)):
        if column not in known:
            cells = np.full((n_values, 5), NAN)
            cells[:, column] = np.arange(n_values)
            law = np.exp(fitted.score_samples(cells, given))
            law /= law.sum()
            seen = np.array([np.sum(rows[:, column] == v) for v in range(n_values)])
            assert seen.sum() == n
            # Large counts are taken together.
            seen, law = (np.append(own[:6], own[6:].sum()) if n_values > 6 else own for own in (seen, law))
            assert stats.chisquare(seen, n * law).pvalue > 1e-3
    for column, centre, unit in ((0, 1000.0, 40.0), (4, 0.0, 0.01)):
        if column not in known:
            u = np.linspace(-14, 14, 4001)
            line = np.full((len(u), 5), NAN)
            line[:, column] = centre + unit * np.sinh(u)
            mass = np.exp(fitted.score_samples(line, given)) * np.cosh(u)
            cumulative = np.concatenate([[0], np.cumsum((mass[1:] + mass[:-1]) / 2 * np.diff(u) * unit)])
            law = stats.kstest(rows[:, column], lambda x, s=line[:, column], c=cumulative: np.interp(x, s, c))
            assert law.pvalue > 1e-3
    # Columns hang together: pairs have their joint probabilities, where nothing is given.
    if not known:
        pairs = np.array([[NAN, c, NAN, b, NAN] for c in range(3) for b in range(2)])
        seen = [np.sum((rows[:, 1] == r[1]) & (rows[:, 3] == r[3])) for r in pairs]
        law = np.exp(fitted.score_samples(pairs))
        assert stats.chisquare(seen, n * law / law.sum()).pvalue > 1e-3


def test_given_cells_are_kept_to_the_last_bit(fitted):
    for value in np.linspace(900.0, 1100.0, 40) / 3:
        assert (fitted.sample(2, {"x0": value}, random_state=0)[:, 0] == value).all()


# --- Tables ---------------------------------------------------------------------------------------------------------


def frame():
    X = table()
    return pd.DataFrame(
        {
            "size": X[:, 0],
            "colour": [None if np.isnan(c) else ["red", "green", "blue"][int(c)] for c in X[:, 1]],
            "visits": X[:, 2],
            "flag": pd.array([None if np.isnan(b) else bool(b) for b in X[:, 3]], dtype="boolean"),
            "price": X[:, 4],
        }
    )


def to_polars(X):
    # pandas.NA is no value to polars.
    return pl.DataFrame({name: [None if pd.isna(cell) else cell for cell in X[name]] for name in X})


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_frames(container):
    convert = to_polars if container == "polars" else lambda X: X
    X = convert(frame())
    fitted = Fitted().fit(X)
    rows = convert(frame()[:4])
    unknown = convert(frame()[:4].assign(colour=None, flag=None, price=NAN))
    given = {"colour": "red", "flag": True, "price": None}
    as_table = convert(frame()[:1].assign(size=NAN, colour="red", visits=NAN, flag=True, price=NAN))
    np.testing.assert_array_equal(fitted.score_samples(unknown, given), fitted.score_samples(unknown, as_table))
    sample = fitted.sample(7, given, random_state=0)
    assert type(sample) is type(X)
    assert list(sample["colour"]) == ["red"] * 7
    assert list(sample["flag"]) == [True] * 7
    np.testing.assert_array_equal(fitted.column_categories("colour"), ["blue", "green", "red"])
    colours = fitted.predict_column("colour", rows)
    probabilities = fitted.predict_column_proba("colour", rows)
    np.testing.assert_array_equal(colours, np.array(["blue", "green", "red"])[probabilities.argmax(axis=1)])
    assert fitted.predict_column("flag", rows).dtype == bool
    # The column's own cells count for nothing.
    own = convert(frame()[:4].assign(colour=None))
    np.testing.assert_array_equal(probabilities, fitted.predict_column_proba("colour", own))
    filled = fitted.impute(X)
    assert type(filled) is type(X)
    assert filled["colour"][5] in ("red", "green", "blue")


# --- Bad input ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"colr": "red"}, "'colr'.*'size', 'colour'"),
        ({9: 1.0}, "9.*indices 0 to 4"),
        ({-1: 1.0}, "-1"),
        ({True: 1.0}, "True"),
        ({"colour": "pink"}, "'pink'.*'colour'.*'blue'"),
        ({"visits": -2}, "'visits'.*-2"),
        ({"visits": 1.5}, "'visits'.*1.5"),
        ({"flag": 2}, "'flag'.*2"),
        ({"size": "large"}, "'size'.*'large'"),
        ({"size": np.inf}, "infinity"),
        ({"size": 1.0, 0: 1.0}, "'size' twice"),
        (pd.DataFrame({"size": [1.0]}), "feature names"),
        (frame()[:3].assign(colour="red"), "one row.*got 3"),
        (frame()[:1].assign(colour="pink"), "given holds.*'pink'.*'colour'.*missing"),
        (frame()[:1].assign(visits=0.5), "'visits'.*0.5"),
    ],
)
def test_impossible_evidence(given, message):
    fitted = Fitted().fit(frame())
    with pytest.raises(ValueError, match=message):
        fitted.score_samples(frame()[:2].assign(colour=None), given)
    with pytest.raises(ValueError, match=message):
        fitted.sample(2, given)


def test_contradictory_evidence(fitted):
    rows = np.array([[NAN, 0, 3, 1, NAN], [NAN, 0, 4, 1, NAN]])
    with pytest.raises(ValueError, match=r"contradictory: column 'x2' is given, and row 1"):
        fitted.score_samples(rows, {2: 3})
    with pytest.raises(ValueError, match=r"contradictory.*'x0'.*row 0"):
        fitted.score_samples([[1.0, NAN, NAN, NAN, NAN]], {0: 1.5})
    assert np.isfinite(fitted.score_samples(rows, {1: 0})).all()


@pytest.mark.parametrize("ask", ["novelty", "surprisal"])
def test_seen_rows_are_those_of_fit(ask):
    cells = {"size": [0.0, 1.0, None, 9.0], "colour": ["red", None, "red", "blue"]}
    X = pd.DataFrame(cells)
    model = CrossCat(n_chains=1, n_draws=2, random_state=0).fit(X)
    found = getattr(model, ask)(X, seen=True)
    np.testing.assert_array_equal(getattr(model, ask)(pl.DataFrame(cells)), found)
    assert not np.allclose(getattr(model, ask)(X, seen=False), found, equal_nan=True)
    np.testing.assert_array_equal(getattr(model, ask)(X[:3]), getattr(model, ask)(X, seen=False)[:3])
    for other in (X[::-1], X[:3], X.assign(size=X["size"] + 1.0), X.assign(colour=None)):
        with pytest.raises(ValueError, match="seen=True needs X to be the very table that fit was given"):
            getattr(model, ask)(other, seen=True)


def test_imputed_rows_are_those_of_fit_if_the_table_is():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1)) + 0.5 * rng.normal(size=(60, 3))
    X[::5, 1] = np.nan
    model = CrossCat(n_chains=2, n_draws=2, random_state=0).fit(X)
    np.testing.assert_array_equal(model.impute(X), model.impute(X, seen=True))
    np.testing.assert_array_equal(model.impute(X[:9]), model.impute(X, seen=False)[:9])
    assert not np.allclose(model.impute(X), model.impute(X, seen=False))


def test_unknown_columns_and_kinds(fitted):
    for call in (
        lambda: fitted.novelty(ROWS, ["x0", "y"]),
        lambda: fitted.predict_column("y", ROWS),
        lambda: fitted.predict_column_proba("y", ROWS),
        lambda: fitted.column_categories("y"),
    ):
        with pytest.raises(ValueError, match=r"unknown column 'y'.*'x0', 'x1'"):
            call()
    with pytest.raises(ValueError, match="columns must have at least one column, got"):
        fitted.novelty(ROWS, [])
    for call in (lambda: fitted.column_categories("x2"), lambda: fitted.predict_column_proba("x2", ROWS)):
        with pytest.raises(ValueError, match="'x2' is count and has no categories"):
            call()
    for n_samples in (0, 1.5, "many"):
        with pytest.raises(ValueError, match="n_samples must be an integer"):
            fitted.sample(n_samples)


def test_unknown_columns_of_wide_tables_are_told_the_likeliest_names():
    wide = pd.DataFrame(np.zeros((2, 40)), columns=[f"price_{i}" for i in range(40)])
    table, _ = read_table(BaseEstimator(), wide, types=KINDS)
    with pytest.raises(
        ValueError, match=r"unknown column 'prize_7'\. Columns are .*'price_7'.*, \.\.\., or the"
    ) as info:
        column_index(table, "column", "prize_7")
    assert str(info.value).count("price_") == 10


def test_queries_before_fit():
    for call in (
        lambda model: model.score_samples(ROWS),
        lambda model: model.sample(),
        lambda model: model.impute(ROWS),
        lambda model: model.surprisal(ROWS),
        lambda model: model.novelty(ROWS),
        lambda model: model.predict_column(0, ROWS),
        lambda model: model.predict_column_proba(1, ROWS),
        lambda model: model.column_categories(1),
    ):
        with pytest.raises(NotFittedError):
            call(CrossCat())


# --- The estimator --------------------------------------------------------------------------------------------------


def test_a_fitted_cross_categorization():
    rng = np.random.default_rng(0)
    z = rng.integers(3, size=150)
    X = pd.DataFrame(
        {
            "size": 8.0 * z + rng.normal(size=150),
            "colour": np.array(["red", "green", "blue"])[z],
            "visits": rng.poisson(1 + 10 * z),
            "noise": rng.normal(size=150),
        }
    )
    X.loc[::9, "size"] = NAN
    model = CrossCat(n_chains=2, n_draws=4, feature_types={"visits": "count"}, random_state=0).fit(X)
    assert np.mean(model.predict_column("colour", X.assign(colour=None)) == X["colour"]) > 0.95
    assert np.allclose(model.predict_column_proba("colour", X).sum(axis=1), 1)
    filled = model.impute(X)
    gaps = X["size"].isna()
    assert np.abs(filled["size"] - 8 * z)[gaps].mean() < 2
    assert (model.sample(200, {"colour": "blue"}, random_state=0)["size"].median() - 16) < 1
    odd = X[:2].assign(colour=["red", "red"], size=[0.0, 16.0], visits=[1, 20])
    surprisal = model.surprisal(odd)
    assert surprisal[1, 1] > surprisal[0, 1] + 2
    assert model.novelty(odd)[1] > model.novelty(odd)[0]
    given = X.assign(size=NAN, visits=NAN, noise=NAN)
    rest = X.assign(colour=None)
    joint = model.score_samples(rest, given) + model.score_samples(given)
    np.testing.assert_allclose(joint, model.score_samples(X), rtol=1e-9, atol=1e-9)
    again = clone(model).fit(X)
    pd.testing.assert_frame_equal(again.sample(5, random_state=1), model.sample(5, random_state=1))
