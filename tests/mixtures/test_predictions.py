"""What an estimator predicts is exact: densities, imputations, log joints and samples."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from oracles import reference
from oracles.enumeration import fixed_mixture, grid_mixture, log_eppf
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from support.tables import NAN, blobs, with_gaps
from support.tiers import quick_only

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.columns import real as reals
from sklearn_subanneal.mixtures.predictive import assign_rows, nearest_of_training, rare_clusters
from sklearn_subanneal.partitions import PitmanYor

REAL = {"mu": 0.5, "kappa": 0.5, "sigma2": 0.3, "nu": 6.0}
BLOCK = {"mu": [0.5, -0.2], "kappa": 0.5, "psi": [[1.2, 0.5], [0.5, 0.9]], "nu": 6.0}
CATEGORICAL = {"alpha": [0.5, 0.7, 1.2], "unseen": 0.2}
COUNT = {"shape": 1.5, "rate": 0.4}
BOOLEAN = {"alpha": 0.8, "beta": 0.5}
#: Units that a chain must not see: what comes in at the surface goes out at the surface.
UNIT, ORIGIN = 40.0, 1000.0


# --- Small tables whose posterior is a sum over all partitions ------------------------------------------------------

# Columns of one table of five rows: type, hyperparameters, cells.
TINY = {
    "diag": [("real", REAL, [0.3, 2.5, -1.2, 2.9, NAN]), ("categorical", CATEGORICAL, [0, 1, 0, NAN, 2])],
    "discrete": [("count", COUNT, [3, 0, NAN, 6, 5]), ("boolean", BOOLEAN, [1, 0, 0, 1, NAN])],
    "full": [("real", BLOCK, [0.3, 2.5, -1.2, 2.9, 0.1]), ("real", BLOCK, [0.1, 1.9, -1.5, 1.1, NAN])],
}
NEW = {
    # 3 is no category of the table.
    "diag": np.array([[0.2, 0], [2.4, 1], [NAN, 2], [0.2, 3], [NAN, 3], [-3.0, NAN], [NAN, NAN]]),
    "discrete": np.array([[0, 1], [4, 0], [NAN, 1], [9, NAN]]),
    "full": np.array([[0.2, 0.4], [2.4, -1.0], [NAN, 1.4], [-3.0, NAN]]),
}


def exact(table, extra=None):
    """The exact mixture of a tiny table, with one more row."""
    columns = TINY[table]
    cells = np.array([x for _, _, x in columns]).T
    if extra is not None:
        cells = np.vstack([cells, extra])
    if table == "full":
        return fixed_mixture([("gaussian", cells, BLOCK)], 1.3, 0.2)
    return fixed_mixture([(kind, codes(kind, cells[:, j]), p) for j, (kind, p, _) in enumerate(columns)], 1.3, 0.2)


def codes(kind, cells):
    return cells if kind in ("real", "gaussian") else np.where(np.isnan(cells), -1, cells).astype(int)


@cache
def tiny(table):
    """The estimator on a tiny table, all hyperparameters known."""
    columns = TINY[table]
    given = {"gaussian": BLOCK} if table == "full" else {kind: params for kind, params, _ in columns}
    model = SubsampleAnnealedDPMM(
        PitmanYor(1.3, 0.2),
        covariance_type="full" if table == "full" else "diag",
        feature_types=[kind for kind, _, _ in columns],
        feature_params=given,
        learn_hyperparameters=False,
        schedule="sequential",
        n_chains=2,
        n_draws=1000,
        thin=2,
        random_state=0,
    )
    return model.fit(np.array([x for _, _, x in columns]).T)


def by_batch(model, statistic, n_batches=20):
    """Mean, by the weights of chains, and standard error of a statistic of a model with fewer draws, over batches."""
    values, weights, draws = [], [], model._draws
    try:
        for part in np.array_split(np.arange(len(draws[0])), n_batches // len(draws)):
            for chain in draws:
                model._draws = [[chain[i] for i in part]]
                values.append(statistic(model))
                weights.append(chain[0].weight)
    finally:
        model._draws = draws
    return np.average(values, axis=0, weights=weights), np.std(values, axis=0, ddof=1) / np.sqrt(len(values))


@pytest.mark.parametrize("table", quick_only(TINY, "discrete", "full"))
def test_score_samples_is_the_exact_predictive(table):
    model, new = tiny(table), NEW[table]
    columns = [new] if table == "full" else [codes(kind, new[:, j]) for j, (kind, _, _) in enumerate(TINY[table])]
    density, error = by_batch(model, lambda m: np.exp(m.score_samples(new)))
    wanted = np.exp(exact(table).log_predictive(columns))
    np.testing.assert_allclose(np.exp(model.score_samples(new)), density, rtol=1e-6)
    assert (np.abs(density - wanted) <= 4.5 * error + 1e-5 * wanted).all(), (density, wanted, error)
    assert (error < 0.03 * wanted).all()


def moments(mixture, column):
    """Mean and variance of the cell of the last row given all others."""
    if mixture.columns[0][0] != "gaussian":
        return mixture.cell_moments(5, column)
    # The line of the reference's own quadrature, coarser: five rows with a gap make it slow.
    values, log_weights = reference.line_quadrature(step=1 / 8)
    mass = np.exp(mixture.cell_log_density(5, 0, values, column) + log_weights)
    assert mass.sum() == pytest.approx(1, abs=5e-3)
    mass /= mass.sum()
    return mass @ values, mass @ (values - mass @ values) ** 2


@pytest.mark.parametrize("table", quick_only(["diag", "discrete", "full"], "discrete"))
def test_imputation_is_exact(table):
    new = np.array([[2.0, 1.0], [2.0, 1.0]])
    new[[0, 1], [0, 1]] = NAN
    model = tiny(table)
    filled, spread = model.impute(new, return_uncertainty=True)
    _, error = by_batch(model, lambda m: m.impute(new))
    for row, column in ((0, 0), (1, 1)):
        kind = TINY[table][column][0]
        mixture = exact(table, new[row])
        if kind in ("categorical", "boolean"):
            p = np.exp(mixture.cell_log_density(5, column, np.arange(3 if kind == "categorical" else 2)))
            assert (p.sum() < 0.99) == (kind == "categorical")
            p /= p.sum()
            assert filled[row, column] == p.argmax()
            assert spread[row, column] == pytest.approx(1 - p.max(), rel=0.05)
        else:
            mean, variance = moments(mixture, column)
            if kind == "count":
                assert filled[row, column] == np.rint(mean)
            else:
                assert abs(filled[row, column] - mean) < 4.5 * error[row, column] + 0.01
            assert spread[row, column] == pytest.approx(np.sqrt(variance), rel=0.05)
        # What was observed stays, and is certain.
        assert filled[row, 1 - column] == new[row, 1 - column]
        assert spread[row, 1 - column] == 0


def test_a_column_of_a_block_is_predicted_as_it_is_imputed():
    X = blobs(n_rows=60, seed=1) * [1.0, 50.0] + [0.0, 900.0]
    model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=1, n_draws=3, random_state=0).fit(X)
    gaps = X.copy()
    gaps[:, 1] = NAN
    filled, uncertainty = model.impute(gaps, return_uncertainty=True)
    with model._average() as average:
        found = average.predict(model._encode(gaps), 1, far=False)
    np.testing.assert_allclose(found, [filled[:, 1], uncertainty[:, 1]], rtol=1e-12)


def test_learned_hyperparameters_are_summed_exactly(monkeypatch):
    # Short grids, so that the exact sum is short.
    for name in ("KAPPA_GRID", "SIGMA2_GRID", "NU_GRID"):
        monkeypatch.setattr(reals, name, getattr(reals, name)[4::7])
    x, c = np.array([0.3, 2.5, -1.2, 2.9, 0.7]), np.array([0, 1, 0, 1, 1])
    prior = PitmanYor(concentration_grid=[0.3, 1.0, 4.0], discount_grid=[0.0, 0.4])
    model = SubsampleAnnealedDPMM(
        partition=prior, feature_types={1: "categorical"}, n_chains=2, n_draws=1500, schedule="prior", random_state=0
    ).fit(np.column_stack([UNIT * x + ORIGIN, c]))
    real, categorical = model._models
    grids = {name: np.array(grid) for name, grid in real.grids.items()}
    grids["mu"] = grids["mu"] * real.scale[0] + real.center[0]
    grids["sigma2"] = grids["sigma2"] * real.scale[0] ** 2
    alphas = {"alpha": list(categorical.grids["alpha"]), "unseen": [0.01]}
    columns = [("real", UNIT * x + ORIGIN, grids), ("categorical", c, alphas)]
    mixture = grid_mixture(columns, {"alpha": prior.concentration_grid, "d": prior.discount_grid})
    new = np.array([[UNIT * 2.0 + ORIGIN, 1], [ORIGIN - 2 * UNIT, 0], [NAN, 0]])
    density, error = by_batch(model, lambda m: np.exp(m.score_samples(new)))
    wanted = np.exp(mixture.log_predictive([new[:, 0], new[:, 1].astype(int)]))
    assert (np.abs(density - wanted) <= 4.5 * error).all(), (density, wanted, error)
    assert (error < 0.06 * wanted).all()
    # The hyperparameters come back in the units of the data, with their exact posterior means.
    for name, [law] in mixture.hyperparameter_posteriors(0).items():
        draws = model.hyperparameters_["columns"]["x0"][name]
        assert draws.shape == (2, 1500)
        np.testing.assert_allclose(np.abs(draws[..., None] / grids[name] - 1).min(axis=-1), 0, atol=1e-9)
        batches = np.log(np.abs(draws)).reshape(40, -1).mean(axis=1)
        wanted = law @ np.log(np.abs(grids[name]))
        assert abs(batches.mean() - wanted) < 5 * batches.std(ddof=1) / np.sqrt(40), name
    assert model.hyperparameters_["columns"]["x1"]["alpha"].shape == (2, 1500, 2)
    concentrations = model.hyperparameters_["concentration"]
    law = mixture.prior_posterior()
    for values, grid, wanted in (
        (concentrations, prior.concentration_grid, law.sum(axis=1)),
        (model.hyperparameters_["discount"], prior.discount_grid, law.sum(axis=0)),
    ):
        batches = (values[..., None] == grid).reshape(40, -1, len(grid)).mean(axis=1)
        assert (np.abs(batches.mean(axis=0) - wanted) < 5 * batches.std(axis=0, ddof=1) / np.sqrt(40)).all()


# --- log_joint_ and hyperparameters_ --------------------------------------------------------------------------------


def joint(model, columns):
    """log p(partition, cells) of every draw by the reference, from what the estimator shows its users."""
    out = np.empty(model.log_joint_.shape)
    for chain, draw in np.ndindex(out.shape):
        labels = model.posterior_labels_[chain, draw]
        clusters = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
        prior = [float(model.hyperparameters_[name][chain, draw]) for name in ("concentration", "discount")]
        total = float(log_eppf([len(rows) for rows in clusters], *prior))
        for kind, name, cells in columns:
            params = {key: v[chain, draw] for key, v in model.hyperparameters_["columns"][name].items()}
            total += sum(float(reference.log_marginal(kind, cells[rows], params)) for rows in clusters)
        out[chain, draw] = total
    return out


@pytest.mark.parametrize("learn", [True, False])
def test_log_joint_is_that_of_the_data_given(learn):
    rng = np.random.default_rng(5)
    x = with_gaps(UNIT * blobs(40, 1)[:, 0] + ORIGIN)
    X = np.column_stack([x, np.where(np.isnan(x), 0, x > ORIGIN + 4 * UNIT), rng.poisson(3, 40)])
    X[3, 1] = X[4, 2] = NAN
    model = SubsampleAnnealedDPMM(
        PitmanYor("learn" if learn else 0.7),
        feature_types={1: "categorical", 2: "count"},
        feature_params={"real": {"mu": ORIGIN, "sigma2": UNIT**2}},
        learn_hyperparameters=learn,
        n_chains=2,
        n_draws=3,
        random_state=0,
    ).fit(X)
    columns = [("real", "x0", x)]
    columns += [(kind, f"x{j}", codes(kind, X[:, j])) for j, kind in ((1, "categorical"), (2, "count"))]
    # Cells are float32 within the chain.
    np.testing.assert_allclose(model.log_joint_, joint(model, columns), rtol=2e-6, atol=2e-4)


@pytest.mark.parametrize("learn", [True, False])
def test_log_joint_of_a_block_includes_the_fillings(learn):
    X = with_gaps(UNIT * blobs(40) + ORIGIN)
    model = SubsampleAnnealedDPMM(
        covariance_type="full",
        feature_params={"gaussian": {"mu": [ORIGIN, ORIGIN], "psi": 6 * UNIT**2 * np.eye(2), "nu": 6.0}},
        learn_hyperparameters=learn,
        n_chains=1,
        n_draws=1,
        random_state=0,
    ).fit(X)
    (block,), state = model._models, model._results[0].state
    gaps = np.isnan(X).any(axis=1)[state.order]
    completed = X[state.order]
    completed[gaps] = block.restore(state.model["columns"][0]["completed"])
    filled = np.empty_like(X)
    filled[state.order] = completed
    np.testing.assert_array_equal(np.isnan(X) | np.isclose(filled, X), True)
    np.testing.assert_allclose(model.log_joint_, joint(model, [("gaussian", "gaussian", filled)]), rtol=1e-9)


def test_fixed_hyperparameters_are_reported_as_given():
    X = UNIT * blobs(30) + ORIGIN
    given = {"real": {"mu": 900.0, "kappa": 0.2, "sigma2": 50.0, "nu": 3.0}, "x1": {"mu": 1100.0}}
    model = SubsampleAnnealedDPMM(
        PitmanYor(0.6, 0.1), feature_params=given, learn_hyperparameters=False, n_chains=4, n_draws=2
    ).fit(X)
    for name, mu in (("x0", 900.0), ("x1", 1100.0)):
        for key, value in (given["real"] | {"mu": mu}).items():
            np.testing.assert_allclose(model.hyperparameters_["columns"][name][key], np.full((4, 2), value), rtol=1e-12)
    np.testing.assert_array_equal(model.hyperparameters_["concentration"], 0.6)
    np.testing.assert_array_equal(model.hyperparameters_["discount"], 0.1)
    block = {"mu": [900.0, 1100.0], "kappa": 0.2, "psi": [[50.0, 9.0], [9.0, 40.0]], "nu": 5.0}
    model = clone(model).set_params(covariance_type="full", feature_params={"gaussian": block}).fit(X)
    for key, value in block.items():
        np.testing.assert_allclose(model.hyperparameters_["columns"]["gaussian"][key][3, 1], value, rtol=1e-12)


def test_fixed_parts_of_the_prior_stay_fixed():
    X = blobs(30)
    short = {"n_chains": 2, "n_draws": 5, "random_state": 0}
    free = SubsampleAnnealedDPMM(**short).fit(X).hyperparameters_
    assert len(np.unique(free["concentration"])) > 1
    dirichlet = SubsampleAnnealedDPMM(PitmanYor(discount=0.0), **short).fit(X)
    assert (dirichlet.hyperparameters_["discount"] == 0).all()
    same = SubsampleAnnealedDPMM(partition="dp", **short).fit(X)
    np.testing.assert_array_equal(same.log_joint_, dirichlet.log_joint_)
    assert "discount" not in same.hyperparameters_
    fixed = SubsampleAnnealedDPMM(partition=PitmanYor(2.5, 0.3), **short).fit(X).hyperparameters_
    assert (fixed["concentration"] == 2.5).all()
    assert (fixed["discount"] == 0.3).all()


# --- Densities ------------------------------------------------------------------------------------------------------


def test_diagonal_density_integrates_to_one():
    X = np.column_stack([blobs(60, 1)[:, 0], np.arange(60) % 3 > 0])
    model = SubsampleAnnealedDPMM(feature_types={1: "boolean"}, n_draws=3, random_state=0).fit(X)
    # A grid that is dense in the middle and reaches far into the tails of Student's t.
    u = np.linspace(-14, 14, 20_001)
    x = 8.0 + np.sinh(u)
    density = sum(np.exp(model.score_samples(np.column_stack([x, np.full_like(x, value)]))) for value in (0, 1))
    assert np.trapezoid(density * np.cosh(u), u) == pytest.approx(1, abs=1e-3)
    pair = model.score_samples([[7.5, 0], [7.5, 1], [7.5, NAN], [NAN, 0], [NAN, 1], [NAN, NAN]])
    assert np.logaddexp(*pair[:2]) == pytest.approx(pair[2], abs=1e-9)
    assert np.logaddexp(*pair[3:5]) == pytest.approx(0, abs=1e-9)
    assert pair[5] == pytest.approx(0, abs=1e-12)


def test_full_density_integrates_to_one():
    X = blobs(60, gap=3.0)
    model = SubsampleAnnealedDPMM(covariance_type="full", n_chains=2, n_draws=2, random_state=0).fit(X)
    u = np.linspace(-7, 7, 281)
    x, jacobian = 3.0 + np.sinh(u), np.cosh(u)
    grid = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    density = np.exp(model.score_samples(grid)).reshape(281, 281) * jacobian * jacobian[:, None]
    assert np.trapezoid(np.trapezoid(density, u), u) == pytest.approx(1, abs=0.01)
    # A missing cell is integrated out.
    marginal = np.trapezoid(density / jacobian[:, None], u)
    np.testing.assert_allclose(
        marginal[60:220], np.exp(model.score_samples(np.column_stack([x, np.full_like(x, NAN)])))[60:220], rtol=0.03
    )


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
@pytest.mark.parametrize("learn", [True, False])
@pytest.mark.parametrize("factor", [4.0, 0.25])
def test_units_of_a_column_are_its_jacobian(covariance_type, learn, factor):
    X = with_gaps(blobs(50))
    X[5] = [1.0, NAN]
    scaled = X * [factor, 1.0]
    model = SubsampleAnnealedDPMM(
        covariance_type=covariance_type, learn_hyperparameters=learn, n_chains=2, n_draws=3, random_state=0
    )
    other = clone(model)
    if not learn:
        psi = 5 * np.outer([factor, 1.0], [factor, 1.0]) * [[1.0, 0.3], [0.3, 1.0]]
        given = {"gaussian": {"psi": psi}} if covariance_type == "full" else {"x0": {"sigma2": factor**2}}
        other.set_params(feature_params=given)
        plain = {"gaussian": {"psi": [[5.0, 1.5], [1.5, 5.0]]}} if covariance_type == "full" else None
        model.set_params(feature_params=plain)
    model.fit(X), other.fit(scaled)
    observed = ~np.isnan(X[:, 0])
    difference = other.score_samples(scaled) - model.score_samples(X)
    np.testing.assert_allclose(difference, -np.log(factor) * observed, atol=1e-9)
    assert other.score(scaled) == pytest.approx(model.score(X) - np.log(factor) * observed.mean(), abs=1e-9)
    np.testing.assert_array_equal(model.posterior_labels_, other.posterior_labels_)
    # The fillings of a block are part of its joint density.
    n_cells = len(X) if covariance_type == "full" else observed.sum()
    np.testing.assert_allclose(other.log_joint_ - model.log_joint_, -np.log(factor) * n_cells, atol=1e-8)


def test_score_is_the_mean_and_chains_are_averaged():
    X, new = blobs(40), blobs(15, seed=4)
    model = SubsampleAnnealedDPMM(n_chains=3, n_draws=4, random_state=0).fit(X)
    rows = model.score_samples(new)
    assert rows.shape == (15,)
    assert model.score(new) == pytest.approx(rows.mean(), rel=1e-12)
    density, _ = by_batch(model, lambda m: np.exp(m.score_samples(new)), n_batches=12)
    np.testing.assert_allclose(np.exp(rows), density, rtol=1e-10)


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
def test_samples_follow_the_density(covariance_type):
    X = np.column_stack([blobs(60), np.arange(60) % 3, np.random.default_rng(0).poisson(2, 60)])
    model = SubsampleAnnealedDPMM(
        covariance_type=covariance_type,
        feature_types={2: "categorical", 3: "count"},
        n_chains=2,
        n_draws=3,
        random_state=0,
    ).fit(X)
    rows = model.sample(4000, random_state=1)
    assert rows.shape == (4000, 4)
    np.testing.assert_array_equal(rows, model.sample(4000, random_state=1))
    alone = np.full((3, 4), NAN)
    alone[:, 2] = [0, 1, 2]
    # No sample is an unseen category.
    law = np.exp(model.score_samples(alone))
    law /= law.sum()
    assert stats.chisquare([np.sum(rows[:, 2] == c) for c in range(3)], 4000 * law).pvalue > 1e-3
    counts = np.full((40, 4), NAN)
    counts[:, 3] = np.arange(40)
    law = np.exp(model.score_samples(counts))[:8]
    seen = np.array([np.sum(rows[:, 3] == c) for c in range(8)])
    assert stats.chisquare([*seen, 4000 - seen.sum()], 4000 * np.array([*law, 1 - law.sum()])).pvalue > 1e-3
    # The distribution function of a real column, by its density.
    u = np.linspace(-12, 12, 4001)
    line = np.full((4001, 4), NAN)
    line[:, 0] = 8.0 + np.sinh(u)
    mass = np.exp(model.score_samples(line)) * np.cosh(u)
    cumulative = np.concatenate([[0], np.cumsum((mass[1:] + mass[:-1]) / 2 * np.diff(u))])
    assert stats.kstest(rows[:, 0], lambda x: np.interp(x, line[:, 0], cumulative)).pvalue > 1e-3
    # Columns hang together as in the data: a fresh sample is as probable as its density says.
    entropy = model.score_samples(rows)
    again = model.score_samples(model.sample(4000, random_state=2))
    assert abs(entropy.mean() - again.mean()) < 5 * np.sqrt(2 / 4000) * entropy.std()
    assert adjusted_rand_score(rows[:, 2], np.digitize(rows[:, 0], [4, 12])) > 0.9


def test_rare_clusters_hold_together_at_most_a_share_of_the_rows():
    sizes = np.array([50, 3, 40, 2, 5])
    assert set(rare_clusters(sizes, 0.05)) == {3, 1}
    assert set(rare_clusters(sizes, 0.1)) == {3, 1, 4}
    assert set(rare_clusters(sizes, 0.049)) == {3}
    assert not rare_clusters(sizes, 0.0).size


@pytest.mark.parametrize("absent", [[], [3, 17]])
def test_training_rows_have_the_probabilities_of_the_groups_that_rows_have(absent):
    # Clusters overlap so much that some are no row's most probable one: they are left out, and the others have more.
    X, absent = np.random.default_rng(0).normal(size=(60, 1)), np.array(absent, int)
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=20, random_state=0).fit(X)
    arrays, n_left_out = model._encode(X), 0
    for draw in model._draws[0]:
        groups, labels, probabilities = nearest_of_training(
            model._models, draw, arrays, np.arange(len(draw.sizes)), absent
        )
        exact = np.exp(assign_rows(model._models, draw, arrays, groups))
        n_left_out += np.count_nonzero(groups < 0)
        np.testing.assert_array_equal(labels, exact.argmax(axis=1))
        np.testing.assert_allclose(probabilities, exact.max(axis=1), rtol=1e-12)
        np.testing.assert_array_equal(np.unique(np.delete(labels, absent)), np.arange(groups.max() + 1))
    assert n_left_out > 10
