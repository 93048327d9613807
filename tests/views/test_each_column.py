"""Training cells predicted from the others of their rows: by formulas of the text books, and all columns at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat
from sklearn_subanneal.columns import left_out_expectations
from sklearn_subanneal.columns.left_out_expectations import change_without_cells
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.views import each_column
from sklearn_subanneal.views.each_column import predict_each_column
from sklearn_subanneal.views.views_predictive import left_out, without

N_ROWS = 70
TYPES = {"size": "real", "weight": "real", "visits": "count", "price": "skewed", "kind": "categorical"}


def learned(names):
    """Two reals and a count that go together, a price, and a category; a ninth of the cells is missing."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 4, N_ROWS)
    X = pd.DataFrame(
        {
            "size": 3.0 * group + rng.normal(size=N_ROWS),
            "weight": -2.0 * group + rng.normal(size=N_ROWS),
            "visits": pd.array(rng.poisson(2.0 + 3.0 * group), "Int64"),
            "price": np.exp(rng.normal(size=N_ROWS)),
            "kind": pd.Categorical.from_codes(group % 3, ["a", "b", "c"]),
        }
    )
    for j in range(5):
        X.iloc[(j + 4) :: 9, j] = None
    types = {name: TYPES[name] for name in names}
    settings = {"covariance_type": "diag", "feature_types": types, "n_chains": 2, "n_draws": 3, "random_state": 0}
    model = CrossCat(schedule="anneal", **settings).fit(X[names])
    arrays = model.typed_columns(X[names])
    return model, arrays, model._seen_rows(arrays)


@pytest.fixture(scope="module")
def fitted():
    return learned(list(TYPES))


def normal_parameters(prior, cells):
    """Location, scale and degrees of freedom of a new cell of a cluster with these cells."""
    n, kappa, nu = len(cells), prior["kappa"] + len(cells), prior["nu"] + len(cells)
    mean = cells.mean() if n else 0.0
    spread = prior["nu"] * prior["sigma2"] + ((cells - mean) ** 2).sum()
    spread += prior["kappa"] * n / kappa * (mean - prior["mu"]) ** 2
    location = (prior["kappa"] * prior["mu"] + cells.sum()) / kappa
    return location, np.sqrt(spread / nu * (1.0 + 1.0 / kappa)), nu


def exact_mean(model, draw, labels, arrays, row, target):
    """The mean of a real given the other cells of its row, in standard units, from the other rows of the table."""
    models, parameters = model._models, draw.column_parameters(model._models)
    (v,) = (v for v in range(len(draw.views)) if target in draw.members(v))
    own, others = labels[v], np.arange(N_ROWS) != row
    clusters = np.unique(own[others])
    offset, base, slope = draw.views[v].weights
    logs = [np.log(np.sum(own[others] == k) + offset) for k in clusters] + [np.log(base + slope * len(clusters))]
    means = []
    for place, k in enumerate([*clusters, None]):
        rows = np.flatnonzero(others & (own == k)) if k is not None else np.empty(0, int)
        for m in draw.members(v):
            values = models[m].values(arrays)[:, 0]
            cells = values[rows][~np.isnan(values[rows])]
            if models[m].kind == "categorical":
                alpha = np.broadcast_to(parameters[m]["alpha"], 3)
                counts = np.bincount(cells.astype(int), minlength=3) + alpha
                share = counts / (counts.sum() + parameters[m]["unseen"])
                logs[place] += 0.0 if np.isnan(values[row]) else np.log(share[int(values[row])])
                continue
            location, scale, nu = normal_parameters(parameters[m], cells)
            if m == target:
                means.append(location)
            elif not np.isnan(values[row]):
                logs[place] += stats.t.logpdf(values[row], nu, location, scale)
    weights = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    return weights @ means


def test_a_cell_and_what_it_says_are_left_out():
    """Neither the mean of the cluster nor the choice of the cluster may know the cell."""
    model, arrays, seen = learned(["size", "weight", "kind"])
    checked = 0
    for s, draw in enumerate(model._flat_draws()):
        labels = seen.labels[s]
        average = left_out(model._models, [draw], seen.of_draws(np.array([s])), arrays)
        for target in (0, 1):
            means, _ = average.predict(without(arrays, [target]), target, seen=True)
            for row in np.flatnonzero(~np.isnan(arrays[target]))[::9]:
                exact = exact_mean(model, draw, labels, arrays, row, target)
                expected = model._models[target].typed(np.array([[exact]]))[0][0]
                assert means[row] == pytest.approx(expected, rel=1e-4, abs=1e-4)
                checked += 1
    assert checked > 10


@pytest.mark.parametrize("most", [4_000_000, 300], ids=["at once", "in chunks"])
def test_all_columns_at_once_are_as_one_by_one(fitted, most, monkeypatch):
    model, arrays, seen = fitted
    monkeypatch.setattr(each_column, "MOST_DENSITIES", most)
    average = left_out(model._models, model._flat_draws(), seen, arrays)
    found = predict_each_column(average, arrays, [0, 1, 2, 3])
    for j, (means, deviations) in found.items():
        one, two = average.predict(without(arrays, [j]), j, seen=True, far=False)
        np.testing.assert_allclose(means, one, rtol=1e-9)
        np.testing.assert_allclose(deviations, two, rtol=1e-9)


def test_skewed_cells_are_left_out_of_their_distribution_functions(fitted):
    """Of a cluster of two rows, what is left is the distribution of one more cell beside the other row's."""
    model, arrays, seen = fitted
    draw = model._flat_draws()[0]
    average = left_out(model._models, [draw], seen.of_draws(np.array([0])), arrays)
    (factor,) = (factor for factor in average.products[0] if 3 in factor.members)
    (part,) = (part for part in factor.parts if list(part.members) == [3])
    skewed, prior = model._models[3], draw.column_parameters(model._models)[3]
    values = skewed.values(arrays)[:, 0]
    rows = np.flatnonzero(~np.isnan(values) & ~factor.alone)[::5].astype(np.int32)
    change, nothing = change_without_cells(skewed, part.statistics, values[rows], rows, factor.labels[rows])
    assert nothing is None
    whole = part.statistics.cumulative(skewed.points, factor.n_clusters)[factor.labels[rows]]
    for row, own in zip(rows, change + whole, strict=True):
        others = (factor.labels == factor.labels[row]) & ~np.isnan(values) & (np.arange(N_ROWS) != row)
        location, scale, nu = normal_parameters(prior, values[others])
        np.testing.assert_allclose(own, stats.t.cdf(skewed.points, nu, location, scale), atol=1e-5)


def test_noise_of_small_clusters_does_not_predict_itself():
    """Four rows a cluster: where a cell is in its own prediction, they go together."""
    rng = np.random.default_rng(0)
    group, noise = np.repeat(np.arange(15), 4), 0.1 * rng.normal(size=(60, 2))
    centers = rng.normal(0.0, 8.0, 15)
    X = np.column_stack([centers[group] + noise[:, 0], np.exp(0.3 * centers[group] + noise[:, 1]), 9.0 * group])
    settings = {"feature_types": ["real", "skewed", "real"], "covariance_type": "diag", "random_state": 0}
    model = CrossCat(n_chains=1, n_draws=3, column_start="together", **settings).fit(X)
    arrays = model.typed_columns(X)
    average = left_out(model._models, model._flat_draws(), model._seen_rows(arrays), arrays)
    found = predict_each_column(average, arrays, [0, 1])
    for j, cells in ((0, found[0][0]), (1, np.log(found[1][0]))):
        assert np.corrcoef(cells - np.log(X[:, 1]) * (j == 1) - X[:, 0] * (j == 0), noise[:, j])[0, 1] < -0.5
        within = cells - np.array([cells[group == g].mean() for g in group])
        assert np.corrcoef(within, noise[:, j])[0, 1] < 0.1


def columns_of_all_types(rng):
    """Cells with gaps, and the types of their columns."""
    group = rng.integers(0, 4, N_ROWS)
    amounts = np.where(rng.random(N_ROWS) < 0.4, 0.0, 50.0 + 10.0 * group + rng.normal(size=N_ROWS))
    columns = {
        "real": (group + rng.normal(size=N_ROWS), "real"),
        "count": (pd.array(rng.poisson(2.0 + group), "Int64"), "count"),
        "skewed": (np.exp(rng.normal(group, 0.5)), "skewed"),
        "categorical": (
            pd.Categorical.from_codes((group + (rng.random(N_ROWS) < 0.3)) % 4, list("abcd")),
            "categorical",
        ),
        "boolean": (pd.array(rng.random(N_ROWS) < 0.2 + 0.2 * group, "boolean"), "boolean"),
        "ordinal": (pd.array(np.clip(group + rng.integers(0, 3, N_ROWS), 0, 5), "Int64"), "ordinal"),
        "cyclic": (np.mod(group + 0.4 * rng.normal(size=N_ROWS), 2.0 * np.pi), "cyclic"),
        "amounts": (amounts, "semicontinuous"),
        "prices": (np.where(amounts == 0.0, 0.0, np.exp(rng.normal(size=N_ROWS))), "semicontinuous"),
    }
    X = pd.DataFrame({name: cells for name, (cells, _) in columns.items()})
    for j in range(X.shape[1]):
        X.iloc[(j + 4) :: 9, j] = None
    return X, {name: kind for name, (_, kind) in columns.items()}


@pytest.fixture(scope="module")
def of_all_types():
    X, types = columns_of_all_types(np.random.default_rng(8))
    params = {"prices": {"transform": "log"}}
    settings = {"covariance_type": "diag", "feature_types": types, "feature_params": params, "random_state": 0}
    model = CrossCat(n_chains=1, n_draws=1, **settings).fit(X)
    return model, model.typed_columns(X)


KINDS = ["real", "count", "skewed", "categorical", "boolean", "ordinal", "cyclic", "amounts", "prices"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("most", [1_000_000, 20], ids=["at once", "in parts"])
def test_cells_are_out_of_their_clusters(of_all_types, name, most, monkeypatch):
    """As if the statistics had been made of the other rows."""
    monkeypatch.setattr(left_out_expectations, "MOST_AT_ONCE", most)
    model, arrays = of_all_types
    m = KINDS.index(name)
    own, draw = model._models[m], model._flat_draws()[0]
    data = own.data(arrays)
    column = own.statistics(data, draw.column_parameters(model._models)[m])
    labels = np.arange(N_ROWS, dtype=np.int32) % 4
    column.rebuild(labels)
    observed = ~is_missing(data.array)
    rows = np.flatnonzero(observed)[::3].astype(np.int32)
    changes = change_without_cells(own, column, data.array[rows], rows, labels[rows])
    found = own.cluster_expectations(column, 4)
    others = column.twin()
    for i, row in enumerate(rows):
        others.rebuild(np.where(np.arange(N_ROWS) == row, -1, labels))
        for change, whole, expected in zip(changes, found, own.cluster_expectations(others, 4), strict=True):
            if change is None:
                assert whole is expected is None
            else:
                np.testing.assert_allclose(
                    change[i] + whole[labels[row]], expected[labels[row]], rtol=1e-6, atol=1e-8, err_msg=str(row)
                )
    # It makes a difference.
    assert np.abs(changes[0]).max() > 1e-3


def test_shares_of_categories_are_those_of_the_other_rows(of_all_types):
    """(n_v - 1 + alpha) / (n - 1 + A)."""
    model, arrays = of_all_types
    m = KINDS.index("categorical")
    average = left_out(model._models, model._flat_draws(), model._seen_rows(arrays), arrays)
    (factor,) = (factor for factor in average.products[0] if m in factor.members)
    (part,) = (part for part in factor.parts if list(part.members) == [m])
    prior, codes = model._flat_draws()[0].column_parameters(model._models)[m], arrays[m]
    rows = np.flatnonzero((codes >= 0) & ~factor.alone).astype(np.int32)
    slots = factor.labels[rows]
    change, _ = change_without_cells(model._models[m], part.statistics, codes[rows], rows, slots)
    whole = part.statistics.probabilities(factor.n_clusters)
    alpha = np.array([*prior["alpha"], prior["unseen"]])
    for row, slot, own in zip(rows, slots, change, strict=True):
        others = (factor.labels == slot) & (codes >= 0) & (np.arange(N_ROWS) != row)
        counts = alpha + np.bincount(codes[others], minlength=5)
        np.testing.assert_allclose(own + whole[slot], counts / counts.sum(), rtol=1e-9)


def test_means_of_counts_are_those_of_the_other_rows(fitted):
    model, arrays, seen = fitted
    draw = model._flat_draws()[0]
    average = left_out(model._models, [draw], seen.of_draws(np.array([0])), arrays)
    (factor,) = (factor for factor in average.products[0] if 2 in factor.members)
    (part,) = (part for part in factor.parts if list(part.members) == [2])
    rows = np.flatnonzero((arrays[2] >= 0) & (factor.alone == 0))[:12].astype(np.int32)
    slots = factor.labels[rows]
    change, _ = change_without_cells(model._models[2], part.statistics, arrays[2][rows], rows, slots)
    with_it = part.statistics.conditional_moments(np.empty((1, 1)), factor.n_clusters)[0][0, slots, 0]
    mean = change[:, 0] + with_it
    parameters = draw.column_parameters(model._models)[2]
    if not parameters.get("dispersion"):
        for row, slot, one in zip(rows, slots, mean, strict=True):
            others = np.flatnonzero((factor.labels == slot) & (arrays[2] >= 0) & (np.arange(N_ROWS) != row))
            assert one == pytest.approx(
                (parameters["shape"] + arrays[2][others].sum()) / (parameters["rate"] + len(others))
            )
    else:
        # The mean of the negative binomial falls with the cell that is left out.
        assert np.all(np.sign(with_it - mean) == np.sign(arrays[2][rows] - mean))


def test_many_clusters_and_values_are_told_apart():
    class ThatSaysItsCells:
        """In place of a model and its statistics; a cluster says which of its rows has left it."""

        def cluster_expectations(self, left, n_clusters):
            return np.broadcast_to(0.0, (n_clusters, 1)) if left is self else left.astype(float)[:, None], None

        def without_rows(self, rows, slots):
            return rows

    own, rows = ThatSaysItsCells(), np.arange(8, dtype=np.int32)
    # Four values: cluster 2^30 times four is 2^32, which is 0 in 32 bits.
    slots = np.repeat(np.array([0, 2**30], np.int32), 4)
    change, _ = change_without_cells(own, own, np.tile(np.arange(4.0), 2), rows, slots)
    assert change[:, 0].tolist() == rows.tolist()
