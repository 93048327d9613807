"""Quantiles of columns that are no reals, by probabilities of events; numbers that are categories have an order."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from support.tiers import quick_only

from sklearn_subanneal import CrossCat

pd = pytest.importorskip("pandas")

LEVELS = [0.01, 0.1, 0.35, 0.5, 0.75, 0.97]
GIVENS = [None, {"class": "b"}, {"z": 2.5}]
# Events of these columns take long: their quantiles are searched for.
SPLIT = "fee", "capped"
CASES = list(itertools.product(["year", "kids", "fee", "capped", "grade", "flag"], GIVENS))


@pytest.fixture(scope="module", params=["diag", "full"])
def model(request):
    rng, n_rows = np.random.default_rng(0), 200
    group = rng.integers(0, 3, n_rows)
    grades = np.array(list("ABCD"))[np.clip(group + rng.integers(0, 2, n_rows), 0, 3)]
    zeros = rng.random(n_rows) < 0.3
    frame = pd.DataFrame(
        {
            "class": np.array(["a", "b", "c"])[group],
            "year": rng.choice([1980, 1984, 1990], n_rows),
            "kids": rng.poisson(1 + 8 * group),
            "fee": np.where(zeros, 0.0, np.exp(group + 0.5 * rng.normal(size=n_rows))),
            "capped": np.minimum(np.exp(group + 0.5 * rng.normal(size=n_rows)), 7.3),
            # Not in the order of the alphabet.
            "grade": pd.Categorical(grades, categories=list("DCBA"), ordered=True),
            "flag": rng.integers(0, 2, n_rows),
            "z": rng.normal(size=n_rows) + group,
        }
    )
    types = {"year": "categorical", "kids": "count", "fee": "semicontinuous", "capped": "semicontinuous"}
    short = {"n_chains": 1, "n_draws": 3, "max_sweeps": 30, "random_state": 0}
    return CrossCat(feature_types=types, covariance_type=request.param, **short).fit(frame)


def test_the_rest_is_split_in_blocks_alone(model):
    assert ("fee (rest)" in model.part_types_) == (model.covariance_type == "full")


@pytest.mark.parametrize(
    ("name", "given"), quick_only(CASES, *(case for case in CASES if case[1] is None or case[0] not in SPLIT)), ids=str
)
def test_the_least_value_that_is_not_exceeded(model, name, given):
    found = model.conditional_quantiles(name, LEVELS, given=given)
    assert len(found) == len(LEVELS)
    for value, level in zip(found.tolist(), LEVELS, strict=True):
        if name in ("fee", "capped") and value not in (0.0, 7.3):
            # The distribution function has no jump here.
            assert model.probability(f"{name} <= {value!r}", given=given) == pytest.approx(level, abs=1e-6)
            continue
        assert model.probability(f"{name} <= {value!r}", given=given) >= level - 1e-9
        assert model.probability(f"{name} < {value!r}", given=given) < level
    values = {"year": {1980, 1984, 1990}, "grade": set("ABCD"), "flag": {0, 1}}
    if name in values:
        assert set(found.tolist()) <= values[name]
    if name == "kids":
        assert (found == np.round(found)).all() and found[0] < found[-1]
    if name == "fee":
        assert found[0] == 0.0 < found[-1]
    if name == "capped" and given is None:
        assert found[0] < 7.3 == found[-1]


def test_numbers_that_are_categories_have_an_order(model):
    asked = ["year > 1984", "year >= 1984", "1981 < year < 1985.5", "year < 1980", "flag > 0", "0.5 <= flag"]
    wanted = ["year == 1990", "year in [1984, 1990]", "year == 1984", "not year > 0", "flag == 1", "flag == true"]
    np.testing.assert_allclose(model.probability(asked), model.probability(wanted), atol=1e-12)
    with pytest.raises(ValueError, match="column 'class' is categorical, whose categories are texts without an order"):
        model.probability("class < 'b'")
    with pytest.raises(ValueError, match="'x' is no category of column 'year'"):
        model.probability("year < 'x'")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e-250, 1e-31, 1.0, 1e299])
def test_quantiles_of_any_unit(unit):
    """Those of amounts below 1e-30 had an absolute error of as much."""
    rng = np.random.default_rng(0)
    amounts = np.where(rng.random(120) < 0.3, 0.0, unit * rng.normal(6.0, 1.0, 120))
    short = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5, "random_state": 0, "covariance_type": "diag"}
    model = CrossCat(feature_types=["semicontinuous"], **short).fit(amounts[:, None])
    found = model.conditional_quantiles("x0", [0.1, 0.5, 0.9])
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:] / unit, np.quantile(amounts / unit, [0.5, 0.9]), rtol=0.1)
    for value, level in zip(found[1:].tolist(), (0.5, 0.9), strict=True):
        assert model.probability(f"x0 <= {value!r}") == pytest.approx(level, abs=1e-9)


def test_names_that_are_words_of_python(model):
    assert model.probability("class == 'a'") == model.probability("`class` == 'a'")
    both = model.probability("not (class == 'a')")
    assert both == pytest.approx(1.0 - model.probability("class == 'a'"))
    with pytest.raises(ValueError, match="'class' is no category of column 'class'"):
        model.probability("class == 'class'")
    with pytest.raises(ValueError, match="event is not understood"):
        model.probability("lambda == 'a'")


def test_dates_are_told_what_can_be_asked():
    """Neither may events be about dates, nor may such a column be declared real; as days it may."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2021-01-05") + pd.to_timedelta(rng.integers(0, 300, 60), "D")
    settings = {"n_chains": 1, "n_draws": 1, "max_sweeps": 1, "effort": 0.1, "random_state": 0}
    X = pd.DataFrame({"day": days, "size": rng.normal(size=60)})
    with pytest.raises(
        ValueError, match=r"'day' is datetime.*fit with the numbers of days as a column of reals"
    ) as refused:
        CrossCat(**settings).fit(X).conditional_quantiles("day", [0.5])
    assert "declare" not in str(refused.value) and "events" not in str(refused.value)
    X["day"] = (X["day"] - pd.Timestamp(0)) / pd.Timedelta(days=1)
    model = CrossCat(feature_types={"day": "real"}, **settings).fit(X)
    assert X["day"].min() < model.conditional_quantiles("day", [0.5])[0] < X["day"].max()
