"""The logarithmic pool of views and chains in classification: its formula, the rows left out, and what it is for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import log_softmax, softmax

from sklearn_subanneal import CrossCat, CrossCatClassifier
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.views import left_out_evidence, pool_learning
from sklearn_subanneal.views.class_densities import ClassDensities
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.logarithmic_pool import EXTRA_ROWS
from sklearn_subanneal.views.pool_learning import Opinion, PoolLoss, learned_pool
from sklearn_subanneal.views.views_predictive import ensemble_of_views, without

N_CLASSES = 3


def made_up_opinions(rng, n_rows):
    """Of two chains, with two draws each: two views of the first draw, and one of each other draw."""
    opinions = []
    for chain, has_class, n_clusters in ((0, True, 3), (0, False, 2), (0, True, 4), (1, True, 2), (1, False, 3)):
        labels = rng.integers(0, n_clusters, n_rows)
        powers = rng.permutation(3)[: rng.integers(1, 4)]
        opinions.append(
            Opinion(
                chain=chain,
                has_class=has_class,
                labels=labels,
                log_shares=np.log(rng.dirichlet(np.ones(n_clusters + 1), n_rows)),
                densities=rng.normal(size=(len(powers), n_rows * (n_clusters + 1))),
                powers=powers,
                table=rng.dirichlet(np.ones(N_CLASSES), n_clusters + 1),
                own=rng.dirichlet(np.ones(N_CLASSES), n_rows),
            )
        )
    return opinions


def test_the_loss_is_that_of_the_formula_and_so_is_its_gradient():
    rng = np.random.default_rng(0)
    opinions, log_shares = made_up_opinions(rng, 20), np.log([0.5, 0.3, 0.2])
    of_classes = rng.normal(size=(2, 20, N_CLASSES))
    counts, classes, logs = rng.integers(1, 4, 20), rng.integers(0, N_CLASSES, 20), rng.normal(size=6)
    powers, weights, view = np.exp(logs[:3]), np.exp(logs[3:5]) / 2, np.exp(logs[5])
    of_columns = np.array([0.3, 0.9])
    total = 0.0
    for i, count in enumerate(counts):
        pooled = log_shares.copy()
        for opinion in opinions:
            n_clusters = opinion.log_shares.shape[1]
            joint = opinion.log_shares[i].copy()
            for power, densities in zip(opinion.powers, opinion.densities, strict=True):
                joint += powers[power] * densities.reshape(-1, n_clusters)[i]
            table = opinion.table.copy()
            table[opinion.labels[i]] = opinion.own[i]
            of_view = 1.0 if opinion.has_class else view
            pooled += weights[opinion.chain] / 2 * of_view * (np.log(softmax(joint) @ table) - log_shares)
        pooled += of_columns @ of_classes[:, i]
        total += count * log_softmax(pooled)[classes[i]]
    penalty = 0.5 * (
        np.sum(logs[:3] ** 2) + np.sum(logs[3:5] ** 2) / 0.25 + logs[5] ** 2 + np.sum(of_columns**2) / 0.25
    )
    loss = PoolLoss(opinions, 3, np.array([0, 0, 1, 1]), of_classes, log_shares, classes, counts)
    learned = np.append(logs, of_columns)
    found, slope = loss(learned)
    assert found == pytest.approx((penalty - total) / counts.sum(), rel=1e-10)
    np.testing.assert_allclose(slope, approx_fprime(learned, lambda x: loss(x)[0], 1e-7), atol=1e-6)


def share_in_class(model, modelled, j, k, value, but=None):
    """Posterior predictive probability of a category in class k, by the rows of the class, but for one."""
    (parameters,) = (model._flat_draws()[-1].column_parameters(model._models)[j],)
    rows = np.flatnonzero(modelled[5] == k)
    others = modelled[j][rows[rows != but]]
    alpha = np.broadcast_to(parameters["alpha"], model._models[j].n_values)
    return (np.sum(others == value) + alpha[value]) / (len(others) + alpha.sum() + parameters.get("unseen", 0.0))


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    group, other = rng.integers(0, 3, (2, 120))
    X = np.column_stack([4.0 * group + rng.normal(size=120), rng.normal(size=120), group > 0, other, other, group])
    X[:60, 5] = other[:60]
    X[::9, 0] = np.nan
    types = {2: "boolean", 3: "categorical", 4: "categorical", 5: "categorical"}
    model = CrossCat(feature_types=types, n_chains=2, n_draws=3, random_state=0).fit(X)
    arrays = model.typed_columns(X)
    labels = [own for result in model._results for own in result.labels]
    rows = LeftOutRows(model._seen_rows(arrays), arrays, np.ones(120))
    # The chains saw the rows in this order.
    return model, arrays, labels, [array[model._copies.rows] for array in arrays], rows


@pytest.fixture(scope="module")
def pool(fitted):
    model, _, labels, modelled, rows = fitted
    return learned_pool(model._models, model._draws, labels, modelled, rows, 5)


def test_the_probabilities_are_those_of_the_formula(fitted, pool):
    model, arrays, labels, modelled, _ = fitted
    classes, of_columns = modelled[5], np.array([0.0, 0.0, 0.8, 0.3, 0.0, 0.0])
    pool = replace(pool, powers=np.array([0.7, 0.7, 2.0, 0.5, 1.5, 1.0]), view_weight=0.4, class_powers=of_columns)
    average = ensemble_of_views(model._models, model._flat_draws())
    found = pool.probabilities(average, without(arrays, [5]))
    shares = np.bincount(classes) / len(classes)
    n_other_views = 0
    for row in range(0, 120, 11):
        ((_, cells),) = average.cells([a[row : row + 1] for a in arrays], 1)
        pooled = np.log(shares)
        for s, (factors, own) in enumerate(zip(average.products, labels, strict=True)):
            for v, factor in enumerate(factors):
                joint = factor.log_weights.copy()
                for part, densities, _ in factor.scored(cells):
                    joint += 0.0 if part.members == [5] else pool.powers[part.members[0]] * densities[0]
                clusters, opinion = softmax(joint), 0.0
                for k in range(factor.n_clusters + 1):
                    of_cluster = np.bincount(classes[own[v] == k], minlength=3) + EXTRA_ROWS * shares
                    opinion = opinion + clusters[k] * of_cluster / of_cluster.sum()
                of_view = 1.0 if 5 in factor.members else 0.4
                n_other_views += 5 not in factor.members
                pooled = pooled + pool.chain_weights[s // 3] / 3 * of_view * (np.log(opinion) - np.log(shares))
        for j in (2, 3):
            for k in range(3):
                pooled[k] += of_columns[j] * np.log(share_in_class(model, modelled, j, k, arrays[j][row]))
        np.testing.assert_allclose(found[row], softmax(pooled), rtol=1e-8)
    assert n_other_views


def test_a_power_of_zero_leaves_a_column_out(fitted, pool):
    model, arrays, *_ = fitted
    average = ensemble_of_views(model._models, model._flat_draws())
    without_it = pool.probabilities(average, without(arrays, [2, 5]))
    with_it = pool.probabilities(average, without(arrays, [5]))
    powers, of_columns = (np.where(np.arange(6) == 2, 0.0, own) for own in (pool.powers, pool.class_powers))
    none = replace(pool, powers=powers, class_powers=of_columns).probabilities(average, without(arrays, [5]))
    np.testing.assert_allclose(none, without_it, atol=1e-9)
    assert np.abs(with_it - without_it).max() > 0.01


def test_the_class_itself_is_no_evidence(fitted, pool):
    model, arrays, *_ = fitted
    average = ensemble_of_views(model._models, model._flat_draws())
    without_it = pool.probabilities(average, without(arrays, [5]))
    np.testing.assert_allclose(pool.probabilities(average, arrays), without_it, rtol=1e-12)


def test_chunks_of_rows_give_the_same(fitted, pool, monkeypatch):
    model, arrays, *_ = fitted
    average = ensemble_of_views(model._models, model._flat_draws())
    whole = pool.probabilities(average, arrays)
    monkeypatch.setattr("sklearn_subanneal.views.logarithmic_pool.MOST_EVIDENCE", 40)
    np.testing.assert_allclose(pool.probabilities(average, arrays), whole, rtol=1e-9)


def test_each_row_is_left_out(fitted, monkeypatch):
    """Of its cluster's share, of the densities there, and of the classes in its cluster."""
    model, arrays, labels, modelled, rows = fitted
    classes, handed = modelled[5], []

    class Kept(PoolLoss):
        def __init__(self, opinions, *rest):
            handed.extend(opinions)
            super().__init__(opinions, *rest)

    monkeypatch.setattr(pool_learning, "PoolLoss", Kept)
    monkeypatch.setattr(left_out_evidence, "MOST_DRAWS", 6)
    found = learned_pool(model._models, model._draws, labels, modelled, rows, 5)
    assert found.powers[0] == found.powers[1] and (found.powers > 0.0).all() and found.view_weight > 0.0
    opinions, shares = iter(handed), np.bincount(classes) / len(classes)
    for draw, own in zip(model._flat_draws(), rows.seen.labels, strict=True):
        for v in range(len(draw.views)):
            parts = [j for j in draw.members(v) if j != 5]
            if not parts:
                continue
            opinion = next(opinions)
            assert opinion.has_class == (5 in draw.members(v))
            assert np.allclose(np.exp(opinion.log_shares).sum(axis=1), 1.0)
            for row in range(0, 120, 7):
                others = np.flatnonzero((own[v] == own[v][row]) & (np.arange(120) != row))
                assert (opinion.log_shares[row, own[v][row]] == -np.inf) == (not others.size)
                of_cluster = np.bincount(arrays[5][others], minlength=3) + EXTRA_ROWS * shares
                np.testing.assert_allclose(opinion.own[row], of_cluster / of_cluster.sum())
                if 3 in parts and others.size:
                    parameters = draw.column_parameters(model._models)[3]
                    alpha = np.broadcast_to(parameters["alpha"], 3)
                    same = np.sum(arrays[3][others] == arrays[3][row]) + alpha[arrays[3][row]]
                    total = len(others) + alpha.sum() + parameters["unseen"]
                    # Single columns come in the order of the table, and the block of the reals last.
                    place = [j for j in parts if j > 1].index(3)
                    density = opinion.densities[place].reshape(opinion.log_shares.shape)[row, own[v][row]]
                    assert density == pytest.approx(np.log(same / total), abs=1e-4)


def test_densities_in_the_classes_leave_each_row_out(fitted):
    """In its own class; the class of a single row is empty without it."""
    model, arrays, *_ = fitted
    arrays = [*arrays[:5], np.where(np.arange(120) == 7, 3, arrays[5])]
    parameters = model._flat_draws()[-1].column_parameters(model._models)
    densities = ClassDensities.of(model._models, parameters, arrays, 5)
    found = densities.left_out(arrays, arrays[5])
    assert found.shape == (5, 120, 4)
    for row in (0, 7, 50, 119):
        for k in range(4):
            for place, j in ((2, 2), (3, 3)):
                exact = share_in_class(model, arrays, j, k, arrays[j][row], but=row)
                assert found[place, row, k] == pytest.approx(np.log(exact), abs=1e-4)
    # The density of a real in its class is that by the other rows alone.
    kept = np.delete(np.arange(120), 50)
    others = ClassDensities.of(model._models, parameters, [array[kept] for array in arrays], 5)
    cells = DistinctRows.of(model._models, [array[50:51] for array in arrays])
    for j, exact in others.of_cells(cells, np.arange(5)):
        assert found[j, 50, arrays[5][50]] == pytest.approx(exact[0, arrays[5][50]], abs=1e-4)


def test_what_columns_say_beyond_the_clusters_counts(monkeypatch):
    """All columns show one cluster, with errors; the class depends on the columns, errors included."""
    rng = np.random.default_rng(5)
    hidden = rng.integers(0, 4, 3000)
    columns = [np.where(rng.random(3000) < 0.7, hidden, rng.integers(0, 4, 3000)) for _ in range(8)]
    y = rng.random(3000) < 1.0 / (1.0 + np.exp(-sum((column > 1) - 0.5 for column in columns)))
    X, losses = np.column_stack(columns), []
    for deviation in (pool_learning.CLASS_POWER_DEVIATION, 1e-6):
        monkeypatch.setattr(pool_learning, "CLASS_POWER_DEVIATION", deviation)
        model = CrossCatClassifier(CrossCat(feature_types=["categorical"] * 8, n_chains=1), random_state=0)
        found = model.fit(X[:1500], y[:1500]).predict_proba(X[1500:])
        assert set(model.class_powers_) == set(model.column_powers_)
        assert all(0.0 <= power <= 1.0 for power in model.class_powers_.values())
        losses.append(-np.log(found[np.arange(1500), y[1500:].astype(int)]).mean())
    assert losses[0] < losses[1] - 0.02


def test_wide_tables_leave_out_fewer_rows(fitted, monkeypatch):
    model, _, labels, modelled, rows = fitted
    monkeypatch.setattr(left_out_evidence, "MOST_DENSITIES", 1)
    monkeypatch.setattr(left_out_evidence, "FEWEST_ROWS", 30)
    kept = []
    monkeypatch.setattr(pool_learning, "_opinion", lambda view, *_: kept.append(len(view.labels)))
    learned_pool(model._models, model._draws, labels, modelled, rows, 5)
    assert set(kept) == {30}


def test_columns_that_say_nothing_of_the_class_count_less():
    """Many columns of equal content make clusters; the class depends on one other column."""
    rng = np.random.default_rng(2)
    hidden, told = rng.integers(0, 4, (2, 600))
    y = rng.random(600) < np.where(told % 2, 0.85, 0.15)
    X = np.column_stack([*(np.where(rng.random(600) < 0.8, hidden, rng.integers(0, 4, 600)) for _ in range(5)), told])
    inner = CrossCat(feature_types=["categorical"] * 6, column_start="together", n_chains=2, n_draws=4)
    model = CrossCatClassifier(inner, random_state=0).fit(X[:400], y[:400])
    assert list(model.column_powers_) == [f"x{j}" for j in range(6)]
    assert model.score(X[400:], y[400:]) > 0.8


def test_views_without_the_class_say_something_of_it():
    """Two groups of columns, independent of one another; the class can be in the view of one of them only."""
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 2, (2, 3000))
    y = rng.random(3000) < 0.2 + 0.3 * first + 0.3 * second
    groups = (first, first, first, second, second, second)
    X = np.column_stack([np.where(rng.random(3000) < 0.9, group, rng.integers(0, 2, 3000)) for group in groups])
    inner = CrossCat(feature_types=["categorical"] * 6, n_chains=1)
    model = CrossCatClassifier(inner, random_state=0).fit(X[:1000], y[:1000])
    assert all(len(draw.views) > 1 for draw in model.crosscat_._draws[0])
    assert 0.5 < model.view_weight_ < 2.0
    high = model.predict_proba(X[1000:])[:, 1]
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        own = high[(first[1000:] == a) & (second[1000:] == b)]
        assert abs(own.mean() - (0.2 + 0.3 * a + 0.3 * b)) < 0.07, (a, b)
