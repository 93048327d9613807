"""covariance_type="auto" of the mixtures: the type by which held-out rows are more probable."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from support.clocks import tick_at_each_look
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.annealing import SequentialGibbs, StratifiedSubsampling, SubsampleAnneal
from sklearn_subanneal.columns import joint_real
from sklearn_subanneal.datasets import make_gaussian_mixture
from sklearn_subanneal.estimators import _covariance_choice
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.shards import ShardedTable

# Fits are short.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

SHORT = {"schedule": SequentialGibbs(1), "n_chains": 1, "n_draws": 1, "max_sweeps": 0}


@pytest.fixture(autouse=True)
def no_trial_is_remembered(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "_GAINS", {})


def planted(covariance_type, seed=0, n_rows=400, n_columns=4):
    return make_gaussian_mixture(n_rows, n_columns, 3, covariance_type=covariance_type, random_state=seed)[0]


def chosen(X, estimator=SubsampleAnnealedDPMM, **params):
    model = estimator(**{**SHORT, "random_state": 0, **params})
    refusal = None
    try:
        model.fit(X)
    except (ValueError, TypeError) as error:
        refusal = str(error)
    assert refusal is None
    n = X.shape[1]
    assert model.covariances_.shape[1:] == ((n, n) if model.covariance_type_ == "full" else (n,))
    return model.covariance_type_


@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
@pytest.mark.parametrize("covariance_type", ["full", "diag"])
@pytest.mark.parametrize("seed", quick_only(range(3), 0))
def test_the_planted_covariance_is_chosen(estimator, covariance_type, seed):
    assert chosen(planted(covariance_type, seed, n_columns=10), estimator) == covariance_type


def test_a_table_with_missing_cells_and_other_types():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(planted("full"), columns=list("abcd")).mask(rng.random((400, 4)) < 0.1)
    assert chosen(X.assign(kind=rng.choice(["a", "b"], 400))) == "full"


def test_the_default_predicts_as_the_better_type():
    X, new = np.split(planted("full", n_rows=800), 2)
    scores = {
        name: SubsampleAnnealedDPMM(covariance_type=name, random_state=0).fit(X).score(new)
        for name in ("auto", "full", "diag")
    }
    assert scores["auto"] == scores["full"] > scores["diag"] + 0.1


def test_what_is_given_is_taken(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "run_chains", None)
    X = planted("full")
    names = [f"x{j}" for j in range(4)]
    frame = pd.DataFrame(X, columns=names)
    assert chosen(X, covariance_type="diag") == "diag"
    assert chosen(X, covariance_type="full") == "full"
    assert chosen(X, feature_params={"real": {"nu": 3.0}}) == "diag"
    assert chosen(frame, feature_params={"x1": {"nu": 3.0}}) == "diag"
    assert chosen(frame, feature_grids={"x1": {"nu": [3.0, 5.0]}}) == "diag"
    assert chosen(X, feature_params={"gaussian": {"nu": 6.0}}) == "full"
    assert chosen(X, feature_grids={"gaussian": {"nu": [6.0, 9.0]}}) == "full"


def test_a_column_may_have_the_name_of_a_type(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "run_chains", None)
    frame = pd.DataFrame(planted("full"), columns=["gaussian", "b", "c", "d"])
    kinds = dict.fromkeys(frame.columns, "real")
    assert chosen(frame, feature_types=kinds, covariance_type="auto", feature_params={"b": {"nu": 3.0}}) == "diag"


def test_no_trial_of_what_is_too_large_or_too_small(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "run_chains", None)
    rng = np.random.default_rng(0)
    assert chosen(rng.normal(size=(19, 3))) == "diag"
    assert chosen(rng.normal(size=(50, 1))) == "diag"
    assert chosen(rng.normal(size=(30, 129))) == "diag"
    monkeypatch.setattr(joint_real, "MOST_PRODUCTS", 400 * 4**2 - 1)
    assert chosen(planted("full")) == "diag"


def test_the_choice_depends_on_the_table_alone(monkeypatch):
    X = planted("full")
    gains, right = [], _covariance_choice.CovarianceChoice._gain_of_full

    def gain(*args):
        _covariance_choice._GAINS.clear()
        gains.append(right(*args))
        return gains[-1]

    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", gain)
    labels = np.repeat([0, 1], 200)
    for params in (
        {},
        {"random_state": 1},
        {"n_jobs": 2},
        {"schedule": SubsampleAnneal(2), "n_draws": 2},
        {"subsampling": StratifiedSubsampling(labels=labels)},
    ):
        chosen(X, **params)
    assert len(gains) == 5
    assert len(set(gains)) == 1
    chosen(X[::-1].copy())
    assert gains[-1] != gains[0]


def test_equal_rows_and_weights_are_one_table(monkeypatch):
    gains, right = [], _covariance_choice.CovarianceChoice._gain_of_full

    def gain(*args):
        _covariance_choice._GAINS.clear()
        gains.append(right(*args))
        return gains[-1]

    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", gain)
    X, weights = planted("full", n_rows=200), np.random.default_rng(0).integers(1, 4, 200)
    first = SubsampleAnnealedDPMM(**SHORT, random_state=0).fit(X, sample_weight=weights)
    second = SubsampleAnnealedDPMM(**SHORT, random_state=0).fit(np.repeat(X, weights, axis=0))
    assert first.covariance_type_ == second.covariance_type_
    np.testing.assert_array_equal(first.log_joint_, second.log_joint_)
    SubsampleAnnealedDPMM(**SHORT, random_state=0).fit(np.repeat(X, weights, axis=0)[::-1])
    assert gains[0] == gains[1] == gains[2]


@pytest.mark.parametrize(("n_rows", "n_divisions", "n_seen", "n_held_out"), [(2000, 1, 1125, 375), (400, 2, 300, 100)])
def test_rows_of_the_trial(n_rows, n_divisions, n_seen, n_held_out, monkeypatch):
    specs, scored = [], []
    run, of = _covariance_choice.run_chains, _covariance_choice.HeldOut.of

    def runs(function, given, *others):
        specs.extend(given)
        return run(function, given, *others)

    def held_out_of(models, draws, arrays, columns):
        scored.append(np.column_stack(arrays))
        return of(models, draws, arrays, columns)

    monkeypatch.setattr(_covariance_choice, "run_chains", runs)
    monkeypatch.setattr(_covariance_choice.HeldOut, "of", held_out_of)
    tick_at_each_look(monkeypatch, 1e-2)
    X = planted("full", n_rows=n_rows)
    chosen(X, time_limit=4.0)
    assert len(specs) == len(scored) == 2 * n_divisions
    for spec, held_out in zip(specs, scored, strict=True):
        seen = np.column_stack(spec.arrays)
        assert (len(seen), len(held_out)) == (n_seen, n_held_out)
        assert spec.time_limit == pytest.approx(0.8 / len(specs))
        assert len(np.unique(np.vstack([seen, held_out]), axis=0)) == n_seen + n_held_out
    # Rows are held out once, from both chains of a division.
    assert len(np.unique(np.vstack(scored), axis=0)) == n_divisions * n_held_out
    assert sum(np.array_equal(one, other) for one, other in itertools.pairwise(scored)) == n_divisions


def test_a_warm_start_keeps_the_type(monkeypatch):
    X, tried = planted("full"), []

    def gain(*args):
        tried.append(args)
        return 1.0

    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", gain)
    model = SubsampleAnnealedDPMM(**SHORT, warm_start=True, random_state=0).fit(X)
    assert (model.covariance_type_, len(tried)) == ("full", 1)
    assert model.set_params(n_draws=3).fit(X).covariance_type_ == "full"
    assert (model.log_joint_.shape, len(tried)) == ((1, 3), 1)
    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", lambda *args: -1.0)
    assert model.set_params(warm_start=False).fit(X).covariance_type_ == "diag"


def test_streams_and_shards():
    X = planted("full", n_rows=600)
    model = SubsampleAnnealedDPMM(n_chains=2, random_state=0).partial_fit(X[:300]).partial_fit(X[300:])
    assert model.covariance_type_ == "full"
    model = SubsampleAnnealedDPMM(n_chains=2, n_draws=2, random_state=0)
    assert model.fit(ShardedTable(X)).covariance_type_ == "full"


def test_a_table_in_shards_counts_with_all_its_rows(monkeypatch):
    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", lambda *args: 1.0)
    # Of cells with few values, the sample on which chains start has few rows.
    X = np.random.default_rng(0).normal(size=(2000, 4)).round(1)
    model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, feature_types=["real"] * 4, random_state=0)
    for most, wanted in ((2000 * 4**2, "full"), (2000 * 4**2 - 1, "diag")):
        monkeypatch.setattr(joint_real, "MOST_PRODUCTS", most)
        assert model.fit(ShardedTable(X, n_start_rows=200)).covariance_type_ == wanted


@pytest.mark.parametrize("seed", quick_only(range(3), 0))
def test_clusters_of_single_values_do_not_decide(seed):
    """Rounded cells that are correlated: by densities alone, the columns would be independent."""
    X = load_diabetes(scaled=False).data
    X[np.random.default_rng(seed).random(X.shape) < 0.1] = np.nan
    assert chosen(X) == "full"


def test_cells_that_the_training_rows_of_a_trial_lack():
    """A model that was bound to them alone would refuse others, such as the zeros of this column."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(planted("full"), columns=list("abcd"))
    share = np.where(rng.random(400) < 0.5, 1.0, np.exp(2.0 * rng.normal(size=400)))
    for row in range(4):
        changed = share.copy()
        changed[row] = 0.0
        table = X.assign(share=changed)
        assert chosen(table, feature_types=dict.fromkeys("abcd", "real") | {"share": "semicontinuous"}) == "full"


def test_columns_without_a_cell_in_the_rows_of_a_trial():
    X = pd.DataFrame(planted("full", n_rows=20_000), columns=list("abcd"))
    for row in range(3):
        assert chosen(X.assign(rare=pd.Series([4.0, 5.0], index=[row, row + 1000]))) == "full"


def test_columns_are_real_that_depend_linearly_on_others():
    """As in a cross-categorization with full covariance: sums of skewed columns, and graded levels."""
    rng = np.random.default_rng(0)
    parts = np.exp(rng.normal(size=(400, 3)))
    X = pd.DataFrame(parts, columns=list("abc")).assign(
        total=parts.sum(axis=1), grade=np.clip(np.round(2.0 * np.log(parts[:, 0]) + 5.0), 0, 10).astype(int)
    )
    full = SubsampleAnnealedDPMM(**SHORT, covariance_type="full", random_state=0).fit(X)
    views = CrossCat(**SHORT, covariance_type="full", random_state=0).fit(X)
    assert full.feature_types_ == views.feature_types_
    alone = SubsampleAnnealedDPMM(**SHORT, covariance_type="diag", random_state=0).fit(X)
    assert [model.feature_types_["grade"] for model in (full, alone)] == ["real", "ordinal"]
    auto = SubsampleAnnealedDPMM(**SHORT, random_state=0).fit(X)
    assert auto.covariance_type_ == "full"
    np.testing.assert_array_equal(auto.score_samples(X), full.score_samples(X))


def test_probabilities_of_levels_are_compared_with_those_of_their_intervals(monkeypatch):
    """A grade is a real column with full covariance alone: its unit must not matter."""
    gains, right = [], _covariance_choice.CovarianceChoice._gain_of_full

    def gain(self, tables):
        gains.append(right(self, tables))
        kinds = [[part.kind for part in tables[name][0].parts] for name in ("diag", "full")]
        assert kinds == [["real", "real", "ordinal", "skewed"], ["real", "real", "real", "skewed"]]
        return gains[-1]

    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_full", gain)
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    grade = np.clip(np.round(3.0 * x + 0.5 * rng.normal(size=300)) + 10.0, 0, 20).astype(int)
    columns = {"x": x, "y": x + 0.3 * rng.normal(size=300)}
    for unit in (10, 1000):
        chosen(pd.DataFrame(columns | {"grade": unit * grade, "income": np.exp(x[::-1])}))
    assert gains[0] == pytest.approx(gains[1], rel=1e-9)


@pytest.mark.parametrize("estimator", quick_only([SubsampleAnnealedDPMM, TreeGuidedNRMM], SubsampleAnnealedDPMM))
def test_skewed_columns_that_are_correlated(estimator):
    X = np.exp(planted("full", n_columns=6))
    assert chosen(X, estimator) == "full"
    assert chosen(np.exp(planted("diag", n_columns=6)), estimator) == "diag"


def test_the_transformation_of_a_column_may_be_given():
    X = pd.DataFrame(np.exp(planted("full")), columns=list("abcd"))
    kinds = {"feature_types": ["skewed"] * 4}
    assert chosen(X, **kinds, feature_params={"skewed": {"transform": "log"}}) == "full"
    assert chosen(X, **kinds, feature_params={"a": {"transform": "log"}}) == "full"
    assert chosen(X, **kinds, feature_params={"a": {"transform": "log", "nu": 4.0}}) == "diag"
    assert chosen(X, **kinds, feature_params={"skewed": {"nu": 4.0}}) == "diag"
    assert chosen(X, **kinds, feature_grids={"skewed": {"nu": [4.0, 5.0]}}) == "diag"


def test_tables_that_are_too_large_are_not_typed_anew(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "revised_types", None)
    monkeypatch.setattr(joint_real, "MOST_PRODUCTS", 400 * 4**2 - 1)
    assert chosen(planted("full")) == "diag"


def test_a_stream_that_begins_with_few_rows_chooses_again():
    X = np.exp(planted("full", n_rows=600))
    model = SubsampleAnnealedDPMM(n_chains=2, feature_types=["skewed"] * 4, random_state=0).partial_fit(X[:15])
    assert model.covariance_type_ == "diag"
    for start in range(15, 600, 195):
        model.partial_fit(X[start : start + 195])
    assert model.covariance_type_ == "full"


def test_more_chains_where_the_first_do_not_decide(monkeypatch):
    """In small tables, in which single chains differ; their draws are averaged, as those of a fit are."""
    tick_at_each_look(monkeypatch, 4e-3)
    numbers, draws, gains = [], [], iter(())
    run, of = _covariance_choice.run_chains, _covariance_choice.HeldOut.of

    def runs(function, specs, *others):
        numbers.append(len(specs))
        states = [str(spec.generator.bit_generator.state) for spec in specs]
        assert len(set(states)) == len(states)
        return run(function, specs, *others)

    def held_out_of(models, own, *others):
        draws.append(len(own))
        return of(models, own, *others)

    monkeypatch.setattr(_covariance_choice, "run_chains", runs)
    monkeypatch.setattr(_covariance_choice.HeldOut, "of", held_out_of)
    monkeypatch.setattr(_covariance_choice, "log_gain", lambda *args: next(gains))
    small, large = (np.random.default_rng(0).random((n_rows, 2)) for n_rows in (600, 1500))
    few = planted("full", n_columns=10)
    for X, found, params, wanted, n_runs, n_draws in (
        (small, [-9.9, 0.1], {}, "full", [4, 12], [5] * 4 + [20] * 4),
        (small, [9.9, -0.1], {}, "diag", [4, 12], [5] * 4 + [20] * 4),
        (small, [10.1], {}, "full", [4], [5] * 4),
        (small, [-10.1], {}, "diag", [4], [5] * 4),
        (small, [0.1], {"time_limit": 5.0}, "full", [4], [5] * 4),
        (few, [0.1], {}, "full", [4], [5] * 4),
        (large, [0.1], {}, "full", [2], [5] * 2),
    ):
        numbers.clear(), draws.clear(), _covariance_choice._GAINS.clear()
        gains = iter(found)
        assert chosen(X, **params) == wanted
        assert (numbers, draws) == (n_runs, n_draws)
        assert next(gains, None) is None


def test_single_chains_decide_on_wide_blocks(monkeypatch):
    numbers, run = [], _covariance_choice.run_chains

    def runs(function, specs, *others):
        numbers.append(len(specs))
        return run(function, specs, *others)

    monkeypatch.setattr(_covariance_choice, "run_chains", runs)
    monkeypatch.setattr(_covariance_choice, "log_gain", lambda *args: 0.1)
    X = np.random.default_rng(0).random((600, 2))
    for most, n_runs in ((2, [4, 12]), (1, [4])):
        monkeypatch.setattr(_covariance_choice, "WIDE_BLOCK", most)
        numbers.clear(), _covariance_choice._GAINS.clear()
        assert chosen(X) == "full"
        assert numbers == n_runs


def test_a_trial_is_made_once(monkeypatch):
    made, right = [], _covariance_choice.CovarianceChoice._gain_of_trials

    def gain(*args):
        made.append(right(*args))
        return made[-1]

    monkeypatch.setattr(_covariance_choice.CovarianceChoice, "_gain_of_trials", gain)
    X = planted("full", n_rows=60)
    assert len({chosen(X.copy(), random_state=seed) for seed in range(3)}) == 1
    assert len(made) == 1
    # All that a trial depends on.
    other = X.copy()
    other[7, 2] += 1e-9
    chosen(other)
    assert len(made) == 2
    for number, params in enumerate(
        [
            {"partition": PitmanYor(discount=0.3)},
            {"partition": PitmanYor(discount=0.31)},
            {"learn_hyperparameters": False},
            {"feature_params": {"a": {"transform": "log"}}, "feature_types": {"a": "skewed"}},
            {"estimator": TreeGuidedNRMM},
        ]
    ):
        chosen(pd.DataFrame(np.abs(X), columns=list("abcd")), **params)
        assert len(made) == 3 + number
    # What ends it elsewhere each time is not remembered.
    tick_at_each_look(monkeypatch, 1e-3)
    chosen(X, time_limit=0.5)
    chosen(X, time_limit=0.5)
    assert len(made) == 9


def test_the_last_trials_are_remembered(monkeypatch):
    monkeypatch.setattr(_covariance_choice, "MOST_GAINS", 2)
    for n_rows in (40, 44, 48):
        chosen(planted("diag", n_rows=n_rows))
    assert len(_covariance_choice._GAINS) == 2
