"""Predictions where joint reals of a view are one block: against loops over scipy's multivariate t, and quadrature."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracles import reference_block_predictions as reference
from scipy import stats
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from support.view_draws import block_state

from sklearn_subanneal.columns.binding import KINDS, bind_columns
from sklearn_subanneal.columns.joint_real import bind_joint_reals
from sklearn_subanneal.estimators._kept_ensemble import KeptEnsemble
from sklearn_subanneal.estimators._novelty import NoveltyQueries
from sklearn_subanneal.estimators._queries import PredictiveQueries
from sklearn_subanneal.estimators._structure import StructureQueries
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.schema import read_table
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.information import Estimate, relatedness
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import ensemble_of_views, predict_column

NAN = np.nan
N_ROWS = 12
CODED, REALS = 1, [0, 2, 3, 4]
TYPES = ["real", "boolean", "real", "real", "real"]
# Views of the columns; clusters of the rows in each view; concentration and discount.
STATES = [
    ([0, 0, 0, 1, 0], ["000011112222", "010101010101"], 0.7, 0.2),
    ([0, 1, 1, 0, 1], ["001122334455", "000001111111"], 2.0, 0.0),
]


class Fitted(PredictiveQueries, NoveltyQueries, StructureQueries, KeptEnsemble, BaseEstimator):
    """Draws made by hand, and the same as views of the reference."""

    _copies, n_jobs, unseen = RowCopies(), None, "novel"

    def fit(self, X, states=STATES, joint=True):
        rng = np.random.default_rng(7)
        self._table, arrays = read_table(self, X, TYPES, types=KINDS)
        self._models = bind_columns(self._table.names, self._table.kinds, [0] * 5, arrays)
        if joint:
            cells = np.column_stack([arrays[j] for j in REALS])
            names = [f"x{j}" for j in REALS]
            models = bind_joint_reals(names, ["real"] * 4, REALS, cells, [{}] * 4, learn=True, grids="data")
            for j, model in zip(REALS, models, strict=True):
                self._models[j] = model
        z = np.hstack([model.values(arrays) for model in self._models])
        missing = np.isnan(z[:, REALS])
        self._draws, self.states, self.views = [], states, []
        for columns, rows, concentration, discount in states:
            filled, complete = rng.normal(size=missing.sum()), z[:, REALS]
            complete[missing] = filled
            mu, sigma2, vectors = rng.normal(size=4), rng.uniform(0.05, 0.3, 4), rng.normal(size=(4, 2))
            correlation = vectors @ vectors.T + 0.3 * np.eye(4)
            scatter = correlation * np.sqrt(np.outer(sigma2, sigma2) / np.outer(*[np.diag(correlation)] * 2))
            views, oracles = [], []
            for view, labels in enumerate(np.array([[int(c) for c in r] for r in rows])):
                prior = PitmanYor(concentration, discount).bind(False)
                at = [i for i, j in enumerate(REALS) if columns[j] == view]
                codes = {CODED: arrays[CODED]} if columns[CODED] == view else {}
                kappa, nu = rng.uniform(0.2, 2.0), rng.uniform(5.0, 8.0)
                psi = nu * scatter[np.ix_(at, at)]
                own = {"mu": mu[at], "kappa": kappa, "psi": psi, "nu": nu + len(at) - 1}
                rest = [self._models[CODED]] * len(codes)
                column_states = [_state(model, arrays, labels, model.parameters) for model in rest]
                if joint:
                    column_states.append(block_state(complete[:, at], labels, own))
                else:
                    (i,) = at
                    given = {"mu": mu[i], "kappa": kappa, "sigma2": sigma2[i], "nu": nu}
                    column_states.insert(0, _state(self._models[REALS[i]], arrays, labels, given))
                weights = (prior.offset, prior.new_base, prior.new_slope)
                views.append(Draw(np.bincount(labels).astype(np.int32), weights, prior.parameters, column_states, 0.0))
                alpha = {j: self._models[j].parameters["alpha"] for j in codes}
                reals = [REALS[i] for i in at]
                oracles.append(
                    reference.BlockView(
                        labels, concentration, discount, reals, complete[:, at], own["mu"], kappa, psi, own["nu"],
                        codes, alpha,
                    )
                )  # fmt: skip
            self._draws.append(
                ViewsDraw(np.array(columns, np.int32), views, prior.parameters, 0.0, filled if filled.size else None)
            )
            self.views.append(oracles)
        self._row_labels = [[np.array([view.labels for view in views]) for views in self.views]]
        self._results = [SimpleNamespace(labels=self._row_labels[0])]
        self.n_features_in_ = 5
        return self

    def _flat_draws(self):
        return self._draws

    def _encode(self, X, *, scored=False):
        return self._table.encode(self, X, "novel" if scored else "missing")

    def _are_seen(self, arrays, seen):
        return bool(seen)

    def _seen_rows(self, arrays):
        return SeenRows.of(self._models, self._row_labels[0], arrays, self._copies)

    def row(self, cells):
        """The observed cells of a row for the reference."""
        values = np.hstack([model.values(self._encode([cells])) for model in self._models])[0]
        return {j: value for j, value in enumerate(values) if not np.isnan(value)}

    def ends(self, column):
        """The range of the training cells of a real, in standard units."""
        cells, model = table()[:, column], self._models[column]
        return (np.array([np.nanmin(cells), np.nanmax(cells)]) - model.center[0]) / model.scale[0]

    def log_units(self, cells):
        return -sum(np.log(self._models[j].scale[0]) for j in REALS if not np.isnan(cells[j]))

    def score(self, cells):
        """Log density of a row by the reference, in the units of the data."""
        return reference.score(self.views, self.row(cells)) + self.log_units(cells)


def _state(model, arrays, labels, parameters):
    statistics = model.statistics(model.data(arrays), parameters)
    statistics.rebuild(labels)
    return statistics.get_state(labels.max() + 1)


def table():
    rng = np.random.default_rng(3)
    base = rng.normal(size=(N_ROWS, 2))
    X = np.column_stack(
        [
            100.0 + 20.0 * base[:, 0],
            rng.integers(2, size=N_ROWS),
            base @ [0.8, 0.5] + 0.3 * rng.normal(size=N_ROWS),
            rng.normal(size=N_ROWS),
            0.01 * (base @ [-0.6, 0.7] + 0.3 * rng.normal(size=N_ROWS)),
        ]
    )
    X[[1, 5, 7, 5, 2, 9], [0, 2, 4, 4, 3, 1]] = NAN
    return X


def new_rows():
    return np.array(
        [
            [110.0, 0, 0.3, 1.0, 0.004],
            [80.0, 1, NAN, -2.0, NAN],
            [NAN, 1, NAN, 0.5, NAN],
            [NAN, NAN, 2.0, NAN, -0.01],
            [200.0, NAN, -4.0, 8.0, 0.1],
            [NAN] * 5,
        ]
    )


@pytest.fixture(scope="module")
def fitted():
    return Fitted().fit(table())


def without(row, *columns):
    return np.where(np.isin(np.arange(5), columns), NAN, row)


# --- Cells ----------------------------------------------------------------------------------------------------------


def test_densities(fitted):
    wanted = [fitted.score(row) for row in new_rows()]
    assert_allclose(fitted.score_samples(new_rows()), wanted, rtol=1e-9, atol=1e-9)
    assert_allclose([fitted.score_samples([row])[0] for row in new_rows()], wanted, rtol=1e-9, atol=1e-9)


def test_conditional_densities(fitted):
    evidence = np.array([NAN, 1, NAN, NAN, 0.02])
    rows = np.where(np.isnan(evidence), new_rows(), NAN)
    wanted = [fitted.score(np.where(np.isnan(evidence), r, evidence)) - fitted.score(evidence) for r in rows]
    assert_allclose(fitted.score_samples(rows, evidence[None]), wanted, rtol=1e-8, atol=1e-8)


def test_reals_given_others(fitted):
    for row, column in itertools.product(new_rows(), REALS):
        gap, model = without(row, column), fitted._models[column]
        average, arrays = ensemble_of_views(fitted._models, fitted._draws), fitted._encode([gap, gap])
        # As the model has it, and at most as far beyond the range of the training cells as this is long.
        low, high = np.nanmin(table()[:, column]), np.nanmax(table()[:, column])
        far = (np.array([2 * low - high, 2 * high - low]) - model.center[0]) / model.scale[0]
        for ends, limits in [((-np.inf, np.inf), None), (far, True)]:
            mean, variance = reference.moments(fitted.views, fitted.row(gap), column, ends)
            mean, deviation = mean * model.scale[0] + model.center[0], np.sqrt(variance) * model.scale[0]
            found = average.predict(arrays, column, far=limits)
            assert_allclose(found, [[mean] * 2, [deviation] * 2], rtol=1e-7, atol=1e-7 * deviation)
        assert fitted.predict_column(column, [row])[0] == pytest.approx(mean, rel=1e-7, abs=1e-7 * deviation)
        found = predict_column(average, fitted._encode([row, row]), column)
        assert_allclose(found, [[mean] * 2, [deviation] * 2], rtol=1e-7, atol=1e-7 * deviation)
        # All missing cells of the row at once, within the range of the training cells.
        ends = fitted.ends(column)
        mean, variance = reference.moments(fitted.views, fitted.row(gap), column, ends)
        mean, deviation = mean * model.scale[0] + model.center[0], np.sqrt(variance) * model.scale[0]
        filled, uncertainty = fitted.impute([gap, row], return_uncertainty=True)
        assert filled[0, column] == pytest.approx(mean, rel=1e-7, abs=1e-7 * deviation)
        assert uncertainty[0, column] == pytest.approx(deviation, rel=1e-7)
        assert_array_equal(filled[1, ~np.isnan(row)], row[~np.isnan(row)])


def test_training_cells_given_others_with_equal_weights_of_draws(fitted):
    X = table()
    filled, uncertainty = fitted.impute(X, return_uncertainty=True, seen=True)
    for i, j in np.argwhere(np.isnan(X[:, REALS])):
        column, model = REALS[j], fitted._models[REALS[j]]
        ends = fitted.ends(column)
        each = np.array([reference.moments([draw], fitted.row(X[i]), column, ends) for draw in fitted.views])
        mean = each[:, 0].mean()
        variance = (each[:, 1] + each[:, 0] ** 2).mean() - mean**2
        assert filled[i, column] == pytest.approx(mean * model.scale[0] + model.center[0], rel=1e-7)
        assert uncertainty[i, column] == pytest.approx(np.sqrt(variance) * model.scale[0], rel=1e-7)


def test_booleans_given_others(fitted):
    for row in new_rows():
        cells = np.tile(row, (2, 1))
        cells[:, CODED] = [0, 1]
        log_p = np.array([fitted.score(cell) for cell in cells])
        wanted = np.exp(log_p - logsumexp(log_p))
        assert_allclose(fitted.predict_column_proba(CODED, [row])[0], wanted, rtol=1e-8)


def test_masses(fitted):
    arrays = fitted._encode(new_rows())
    masses = ensemble_of_views(fitted._models, fitted._draws).score_masses(arrays)
    wanted = [fitted.score(without(row, *REALS)) for row in new_rows()]
    assert_allclose(masses, wanted, rtol=1e-9, atol=1e-9)


def test_surprisal(fitted):
    found = fitted.surprisal(new_rows())
    for row, own in zip(new_rows(), found, strict=True):
        wanted = [NAN if np.isnan(row[j]) else fitted.score(without(row, j)) - fitted.score(row) for j in range(5)]
        assert_allclose(own, wanted, rtol=1e-7, atol=1e-7)


def test_training_rows_are_judged_by_the_others(fitted, monkeypatch):
    X = table()
    surprisal = fitted.surprisal(X, seen=True)
    novelty, some = fitted.novelty(X, seen=True), fitted.novelty(X, [CODED, 2, 3], seen=True)
    for i, cells in enumerate(X):
        row, units = fitted.row(cells), fitted.log_units
        whole = reference.score_seen(fitted.views, row, row, i)
        assert novelty[i] == pytest.approx(-whole - units(cells), rel=1e-8)
        asked = without(cells, 0, 4)
        wanted = reference.score_seen(fitted.views, row, fitted.row(asked), i) + units(asked)
        assert some[i] == pytest.approx(-wanted, rel=1e-8)
        for j in row:
            rest = without(cells, j)
            wanted = reference.score_seen(fitted.views, row, fitted.row(rest), i) - whole + units(rest) - units(cells)
            assert surprisal[i, j] == pytest.approx(wanted, rel=1e-7, abs=1e-8)
    monkeypatch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 20)
    assert_allclose(fitted.surprisal(X, seen=True), surprisal, rtol=1e-9, atol=1e-9)
    assert_allclose(fitted.novelty(X, seen=True), novelty, rtol=1e-9, atol=1e-9)


def test_the_first_copy_of_a_row_has_its_cells(fitted):
    X = table()
    weights = np.array([2, 1, 0, 1, 3, 2, 1, 2, 0, 1, 1, 2])
    rows = np.repeat(np.arange(N_ROWS), weights)
    order = np.random.default_rng(1).permutation(len(rows))
    modelled = fitted._encode(X[rows[order]])
    n_missing = sum(np.isnan(modelled[j]).sum() for j in REALS)
    draw = SimpleNamespace(filled=np.arange(n_missing) + 0.5)
    labels = [np.zeros((1, N_ROWS), int)]
    seen = SeenRows.of(fitted._models, labels, fitted._encode(X), RowCopies(weights, order))
    copies = SeenRows.of(fitted._models, labels, modelled, RowCopies()).completed(draw)(REALS, np.arange(len(rows)))
    present = np.flatnonzero(weights)
    found = seen.take(present).completed(draw)([2, 4], np.arange(len(present)))
    for row, own in zip(present, found, strict=True):
        first = np.flatnonzero(order == np.flatnonzero(rows == row)[0])[0]
        assert_array_equal(own, copies[first, [1, 3]])
    assert (found % 1 == 0.5).any()


# --- Samples --------------------------------------------------------------------------------------------------------


def contrast_law(fitted, row, weights):
    """The distribution function of a sum of weighted reals of a draw's view given a row, all in standard units."""
    columns = list(weights)
    parts = []
    for draw in fitted.views:
        log_row = reference.log_density(draw, row)
        (view,) = (view for view in draw if set(columns) <= set(view.reals))
        joint = view.log_joint(row)
        known = [j for j in view.reals if j in row]
        n, a = len(known), np.array(list(weights.values()))
        for k, share in enumerate(np.exp(log_row + joint - logsumexp(joint))):
            location, scale, free = view.t(k, [*known, *columns])
            off = np.array([row[j] for j in known]) - location[:n]
            slope = np.linalg.solve(scale[:n, :n], scale[:n, n:])
            factor = (free + off @ np.linalg.solve(scale[:n, :n], off)) / (free + n)
            rest = factor * (scale[n:, n:] - scale[n:, :n] @ slope)
            parts.append((share, a @ (location[n:] + off @ slope), np.sqrt(a @ rest @ a), free + n))
    share, location, scale, free = np.array(parts).T
    return lambda x: stats.t.cdf((np.asarray(x)[:, None] - location) / scale, free) @ share / share.sum()


@pytest.mark.parametrize("given", [{}, {0: 130.0, CODED: 1}, {"x3": 1.0, "x0": 60.0}, {0: 90.0, 3: 0.5, 4: -0.01}])
def test_samples_follow_the_conditional(fitted, given):
    rows = fitted.sample(4000, given, random_state=1)
    assert not np.isnan(rows).any()
    known = {int(str(key).removeprefix("x")): value for key, value in given.items()}
    cells = np.full(5, NAN)
    for j, value in known.items():
        cells[j] = value
        assert (rows[:, j] == value).all()
    z = np.hstack([model.values(fitted._encode(rows)) for model in fitted._models])
    contrasts = [{j: 1.0} for j in REALS if j not in known]
    # Two cells of a block hang together within each cluster.
    contrasts += [{2: 1.0, 4: sign} for sign in (1.0, -1.0) if 4 not in known]
    for weights in contrasts:
        law = contrast_law(fitted, fitted.row(cells), weights)
        assert stats.kstest(sum(a * z[:, j] for j, a in weights.items()), law).pvalue > 1e-3
    if CODED not in known:
        share = np.exp(fitted.score(np.where(np.arange(5) == CODED, 1, cells)) - fitted.score(cells))
        assert stats.binomtest(int(rows[:, CODED].sum()), len(rows), share).pvalue > 1e-3


# --- Information ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one():
    return Fitted().fit(table(), STATES[:1])


def quadrature(n=81):
    """Nodes and weights of each real, in standard units."""
    u = np.linspace(-3.2, 3.2, n)
    return np.sinh(u) * 1.5, 1.5 * np.cosh(u) * (u[1] - u[0])


def information(view, a, b, c=(), known=None, n=81):
    """I(a; b | c) of one real each in one view, by quadrature."""
    known = known or {}
    x, w = quadrature(n)
    columns = [a, b, *c]
    grid = np.stack(np.meshgrid(*[x] * len(columns), indexing="ij"), axis=-1)
    log_joint = []
    for k, weight in enumerate(view.log_weights()):
        reals = [j for j in known if j in view.reals]
        location, scale, free = view.t(k, [*columns, *reals])
        rest = np.broadcast_to([known[j] for j in reals], (*grid.shape[:-1], len(reals)))
        law = stats.multivariate_t(location, scale, free)
        codes = view.log_density(k, {j: value for j, value in known.items() if j not in reals})
        log_joint.append(weight + codes + law.logpdf(np.concatenate([grid, rest], axis=-1)))
    p = np.exp(logsumexp(log_joint, axis=0))
    for axis in range(len(columns)):
        p = p * w.reshape([-1 if i == axis else 1 for i in range(len(columns))])
    p /= p.sum()
    p_ac, p_bc, p_c = p.sum(axis=1, keepdims=True), p.sum(axis=0, keepdims=True), p.sum(axis=(0, 1), keepdims=True)
    return float(np.sum(p * np.log(p * p_c / (p_ac * p_bc))))


def agree(found: Estimate, wanted):
    assert 0.0 < found.standard_error < 0.02
    assert abs(found.value - wanted) < 4 * found.standard_error + 2e-3


def test_information_of_two_columns_of_a_block(one):
    agree(one.mutual_information(0, 2, n_samples=20_000, random_state=0), information(one.views[0][0], 0, 2))


def test_information_given_columns_of_a_block(one):
    view = one.views[0][0]
    agree(one.mutual_information(0, 2, 4, 20_000, 1), information(view, 0, 2, [4], n=61))
    cells = without(np.array([140.0, 1, -1.0, 0.0, 0.02]), 0, 2, 3)
    wanted = information(view, 0, 2, known=one.row(cells))
    found = one.mutual_information(0, 2, {4: 0.02, CODED: 1}, 20_000, 2)
    agree(found, wanted)
    # The evidence of a column outside a and b is not that of their clusters alone.
    assert abs(wanted - information(view, 0, 2)) > 0.02


def test_information_of_a_column_of_a_block_and_another(one):
    view = one.views[0][0]
    x, w = quadrature(201)
    p = [np.exp(view.log_joint({2: node, CODED: code})).sum() for node in x for code in (0, 1)]
    p = np.reshape(p, (-1, 2)) * w[:, None]
    wanted = np.sum(p * np.log(p / np.outer(p.sum(axis=1), p.sum(axis=0))))
    found = one.mutual_information(2, CODED, n_samples=20_000, random_state=0)
    agree(found, wanted)
    # Of whole groups it obeys the chain rule.
    of_both = one.mutual_information(2, [CODED, 4], n_samples=20_000, random_state=1)
    rest = one.mutual_information(2, 4, [CODED], n_samples=20_000, random_state=2)
    noise = np.hypot(of_both.standard_error, rest.standard_error)
    assert abs(of_both.value - wanted - rest.value) < 4 * noise + 1e-3


def test_relatedness_matrix(fitted):
    matrix = fitted.relatedness_matrix([4, 3, CODED, 0, 2], n_samples=20_000, random_state=0)
    assert_allclose(matrix, matrix.T)
    assert_array_equal(np.diag(matrix), 1.0)
    columns = [4, 3, CODED, 0, 2]
    for (i, a), (j, b) in itertools.combinations(enumerate(columns), 2):
        wanted = fitted.mutual_information(a, b, n_samples=20_000, random_state=1)
        found = -0.5 * np.log1p(-(matrix[i, j] ** 2))
        assert abs(found - wanted.value) < 6 * wanted.standard_error + 2e-3
        assert relatedness(wanted).value == pytest.approx(matrix[i, j], abs=0.08)


# --- Structure ------------------------------------------------------------------------------------------------------


def test_a_joint_real_alone_in_its_view_is_a_real():
    # Without missing cells: those of a `Real` are in no statistics.
    X = np.where(np.isnan(table()), 0.5, table())
    X[[1, 7, 9], [0, 4, CODED]] = 100.0, 0.0, 1
    alone = [([0, 0, 1, 2, 3], ["000011112222", "010101010101", "001122334455", "000111000111"], 0.7, 0.2)]
    joint, single = Fitted().fit(X, alone), Fitted().fit(X, alone, joint=False)
    rows, close = new_rows(), {"rtol": 2e-5, "atol": 1e-5}
    assert_allclose(joint.score_samples(rows), single.score_samples(rows), **close)
    assert_allclose(joint.surprisal(rows), single.surprisal(rows), **close)
    assert_allclose(joint.impute(rows, return_uncertainty=True), single.impute(rows, return_uncertainty=True), **close)
    assert_allclose(joint.surprisal(X, seen=True), single.surprisal(X, seen=True), **close)
    assert_allclose(joint.relatedness_matrix(random_state=0), single.relatedness_matrix(random_state=0), atol=0.05)


def test_hyperparameters_are_those_of_the_columns(fitted):
    for draw, views in zip(fitted._draws, fitted.views, strict=True):
        found = draw.column_parameters(fitted._models)
        assert_array_equal(found[CODED]["alpha"], fitted._models[CODED].parameters["alpha"])
        for view in views:
            nu = view.nu - len(view.reals) + 1
            for i, j in enumerate(view.reals):
                wanted = {"mu": view.mu[i], "kappa": view.kappa, "sigma2": view.psi[i, i] / nu, "nu": nu}
                assert found[j] == pytest.approx(wanted)


def test_another_order_of_views_is_the_same_draw(fitted):
    draw = fitted._draws[0]
    turned = draw.reordered(np.array([1, 1, 1, 0, 1]))
    assert turned.filled is draw.filled
    for own, other in zip(
        draw.column_parameters(fitted._models), turned.column_parameters(fitted._models), strict=True
    ):
        assert str(own) == str(other)
