"""Drift of a new table: its tests have their level on rows like the training rows, and see what changes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency, fisher_exact, ks_2samp, norm
from support.heavy_tailed import heavy_tailed

from sklearn_subanneal import CrossCat, CrossCatDetector
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.estimators import _drift
from sklearn_subanneal.estimators._drift import TrainingCells
from sklearn_subanneal.tables.cells import is_missing

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

BRIEF = CrossCat(schedule=SubsampleAnneal(passes=10), n_chains=2, n_draws=5, max_sweeps=5)


def table(n_rows, seed):
    """Names that nobody else has, villages of which new ones come, counts nearly all of which differ, and two reals."""
    rng = np.random.default_rng(seed)
    height = rng.normal(size=n_rows)
    return pd.DataFrame(
        {
            "name": [f"name {i}" for i in rng.permutation(10**6)[:n_rows]],
            "village": [f"village {i}" for i in rng.zipf(1.6, n_rows) % 1000],
            "colour": rng.choice(["red", "blue", "green"], n_rows, p=[0.5, 0.4, 0.1]),
            "amount": rng.poisson(rng.gamma(2.0, 200.0, n_rows)),
            "constant": 1.0,
            "height": height,
            "weight": 2.0 * height + rng.normal(size=n_rows),
        }
    )


@pytest.fixture(scope="module")
def fitted():
    return CrossCatDetector(BRIEF, random_state=0).fit(table(250, 0))


def drifts(detector, new):
    return {drift.column: drift for drift in detector.drift(new)}


@pytest.mark.parametrize("seed", range(1, 6))
def test_other_rows_of_the_same_distribution_have_not_drifted(fitted, seed):
    assert min(drift.p_value for drift in fitted.drift(table(150, seed))) > 1e-3


def test_the_training_rows_have_not_drifted(fitted):
    assert min(drift.p_value for drift in fitted.drift(table(250, 0))) > 0.5
    assert min(drift.p_value for drift in fitted.drift(table(250, 0)[::2])) > 0.01


@pytest.mark.slow
def test_training_rows_of_small_tables_surprise_their_model_less():
    """Without rows that were left out of other models, dependence seems to have changed."""
    share = {}
    for n_calibration in (0, 400):
        found = []
        for seed in range(8):
            detector = CrossCatDetector(BRIEF, n_calibration=n_calibration, random_state=seed)
            new = heavy_tailed(100, 500 + seed)
            found += [drift.p_given_others for drift in detector.fit(heavy_tailed(100, seed)).drift(new)]
        share[n_calibration] = np.mean(np.array(found) <= 0.1)
    assert share[0] > 0.15
    assert share[400] < 0.12


def test_each_change_is_found_by_its_test(fitted):
    new = table(150, 7)
    assert drifts(fitted, new.assign(amount=new["amount"] // 2))["amount"].p_cells < 1e-6
    assert drifts(fitted, new.assign(height=new["height"] + 1.0))["height"].p_cells < 1e-6
    few = np.arange(150) % 10 == 0
    assert drifts(fitted, new.assign(colour=new["colour"].mask(few, "white")))["colour"].p_cells < 1e-4
    assert drifts(fitted, new.assign(colour=new["colour"].mask(few)))["colour"].p_missing < 1e-4
    changed = np.where(np.arange(150) % 2 == 0, "red", new["colour"])
    assert drifts(fitted, new.assign(colour=changed))["colour"].p_cells < 1e-4
    # Half of the people have the name of one: in the training table, nobody had that of another.
    named = new["name"].mask(np.arange(150) % 2 == 0, table(250, 0)["name"][3])
    assert drifts(fitted, new.assign(name=named))["name"].p_cells < 1e-6
    shuffled = new.assign(weight=np.random.default_rng(0).permutation(new["weight"]))
    found = drifts(fitted, shuffled)["weight"]
    assert found.p_given_others < 1e-4 < found.p_cells


def test_the_tests_are_those_of_the_formulas(fitted):
    """Plain loops, for each column of a table that has some of the training rows."""
    new = pd.concat([table(150, 8), table(250, 0)[:50]], ignore_index=True)
    training, found = table(250, 0), drifts(fitted, new)
    arrays, old = (fitted.crosscat_._encode(own, scored=True) for own in (new, training))
    compared, surprisal, before = fitted._compared, fitted._surprisal(arrays), fitted._surprisal(old)
    for j, name in enumerate(new):
        some, others = before[:, j].copy(), surprisal[:, j].copy()
        if name in ("name", "village", "colour"):
            counts = training[name].value_counts()
            some[[counts[value] < 2 for value in training[name]]] = np.nan
            others[[counts.get(value, 0) < 1 + (i >= 150) for i, value in enumerate(new[name])]] = np.nan
        some, others = some[~np.isnan(some)], others[~np.isnan(others)]
        if not len(some):
            assert found[name].p_given_others == 1.0
            continue
        some, others = (np.minimum(own, np.quantile(some, 0.99)) for own in (some, others))
        variance = (
            some.var(ddof=1) / len(some) + others.var(ddof=1) / len(others) + 0.75**2 * compared.variance[j] + 1e-4
        )
        z = (others.mean() - some.mean() - 0.75 * compared.optimism[j]) / np.sqrt(variance)
        assert found[name].p_given_others == pytest.approx(2.0 * norm.sf(abs(z)), rel=1e-6)
    assert found["height"].p_cells == pytest.approx(ks_2samp(training["height"], new["height"]).pvalue)
    # Of the villages, those that are expected less than five times among the 200 rows are one.
    total = training["village"].value_counts().add(new["village"].value_counts(), fill_value=0.0)
    frequent = [v for v in total.index if total[v] * 200 / 450 >= 5.0 and (training["village"] == v).any()]
    groups = [
        [(own == v).sum() for v in frequent] + [(~own.isin(frequent)).sum()]
        for own in (training["village"], new["village"])
    ]
    lone = (training["village"].value_counts() == 1).sum()
    unseen = (~new["village"][:150].isin(training["village"])).sum()
    p_values = (
        chi2_contingency(groups, correction=False).pvalue,
        fisher_exact([[lone, 250 - lone], [unseen, 150 - unseen]]).pvalue,
    )
    assert found["village"].p_cells == pytest.approx(min(2.0 * min(p_values), 1.0))
    # No cell of either table is missing.
    assert found["village"].p_missing == 1.0


def prices(n_rows, seed):
    """A price in two currencies, and a colour by its name and by a letter: two columns are functions of others."""
    rng = np.random.default_rng(seed)
    euros, colour = np.round(np.exp(rng.normal(size=n_rows)), 4), rng.choice(["red", "blue", "green"], n_rows)
    short = pd.Series(colour).str[:1]
    return pd.DataFrame(
        {"euros": euros, "dollars": 1.1 * euros, "colour": colour, "short": short, "z": rng.random(n_rows)}
    )


@pytest.fixture(scope="module")
def of_prices():
    return CrossCatDetector(BRIEF, n_calibration=0, random_state=0).fit(prices(200, 0))


@pytest.mark.parametrize(
    ("changed", "column"),
    [
        ({"dollars": np.nan}, "dollars"),
        ({"short": None}, "short"),
        ({"euros": np.nan}, "euros"),
        ({"colour": None}, "colour"),
    ],
)
def test_a_column_that_vanishes_has_drifted_though_another_one_says_its_cells(of_prices, changed, column):
    assert sum(own.derivation is not None for own in of_prices.crosscat_._table.columns) == 2
    found = drifts(of_prices, prices(150, 1).assign(**changed))
    assert found[column].p_missing < 1e-6 and found[column].p_value < 1e-6
    assert all(found[name].p_missing == 1.0 for name in found if name != column)


@pytest.mark.parametrize("pair", [("euros", "dollars"), ("dollars", "euros")])
def test_columns_that_are_functions_of_one_another_are_tested_by_their_own_cells(of_prices, pair):
    """The cells of one are missing where they are large, and the other one says them."""
    changed, other = pair
    new = prices(150, 1)
    found = drifts(of_prices, new.assign(**{changed: new[changed].mask(new[changed] > new[changed].median())}))
    assert found[changed].p_cells < 1e-6 and found[other].p_cells == drifts(of_prices, new)[other].p_cells > 0.01
    gone = drifts(of_prices, new.assign(**{changed: np.nan}))
    assert gone[changed].p_cells == gone[changed].p_given_others == 1.0
    assert gone[other].p_given_others == pytest.approx(drifts(of_prices, new)[other].p_given_others)


@pytest.mark.filterwarnings("ignore:X contradicts:UserWarning")
def test_a_column_that_is_another_function_has_drifted(of_prices):
    new = prices(150, 1)
    found = drifts(of_prices, new.assign(dollars=1.2 * new["euros"]))
    # The cells of the function count as missing, those of the column that is modelled do not.
    assert found["dollars"].p_missing < 1e-6
    assert found["euros"].p_missing == found["z"].p_missing == 1.0


def test_gaps_that_another_column_fills_are_no_drift_where_there_were_as_many():
    old, new = (own.assign(dollars=own["dollars"].mask(own.index % 2 == 0)) for own in (prices(200, 0), prices(150, 1)))
    detector = CrossCatDetector(BRIEF, n_calibration=0, random_state=0).fit(old)
    assert any(own.derivation is not None for own in detector.crosscat_._table.columns)
    assert drifts(detector, new)["dollars"].p_missing == 1.0


@pytest.mark.filterwarnings("ignore:X contradicts:UserWarning")
def test_cells_that_cannot_be_are_told_once(of_prices):
    with pytest.warns(UserWarning) as caught:
        of_prices.drift(prices(20, 1).assign(euros=-5.0))
    assert len([own for own in caught if "Column 'euros' was" in str(own.message)]) == 1


def test_rows_that_were_left_out_say_how_much_more_surprising_new_rows_are():
    """The weighted mean over the models, and its variance."""
    detector = CrossCatDetector(BRIEF, n_calibration=0, random_state=0).fit(table(40, 0))
    n_columns = len(detector._compared.largest)
    rng = np.random.default_rng(0)
    excesses = [
        np.stack([rng.normal(size=n_columns), rng.random(n_columns), rng.integers(0, 30, n_columns)]) for _ in range(3)
    ]
    for own in excesses:
        own[2, 0] = 0.0
    found = detector._compared.with_optimism(excesses)
    for j in range(1, n_columns):
        weights = np.array([own[2, j] for own in excesses]) / sum(own[2, j] for own in excesses)
        means, variances = (np.array([own[i, j] for own in excesses]) for i in (0, 1))
        assert found.optimism[j] == pytest.approx(weights @ means)
        assert found.variance[j] == pytest.approx(weights**2 @ variances)
    assert found.optimism[0] == found.variance[0] == 0.0
    nothing = detector._compared.with_optimism([])
    assert not nothing.optimism.any() and not nothing.variance.any()
    assert isinstance(nothing, TrainingCells)
    assert not is_missing(nothing.cells[0]).any()


@pytest.mark.parametrize(
    ("some", "new", "n_unseen", "wanted"),
    [
        ([50, 40, 30], [50, 40, 20], 0, ([50, 40, 30, 0], [50, 40, 20, 0])),
        # The rarest of the others joins them where they are still too few.
        ([50, 40, 2], [50, 40, 1], 0, ([50, 42], [50, 41])),
        ([50, 40, 4, 4], [50, 40, 5, 5], 0, ([50, 40, 8], [50, 40, 10])),
        ([100, 100], [100, 80], 20, ([100, 100, 0], [100, 80, 20])),
        ([100, 100], [100, 80], 2, ([100, 100], [100, 82])),
        ([1, 1, 1], [1, 0, 0], 1, ([3], [2])),
    ],
)
def test_rare_values_are_counted_together(some, new, n_unseen, wanted):
    found = _drift._with_rest(np.array(some), np.array(new), n_unseen)
    assert [own.tolist() for own in found] == list(wanted)
