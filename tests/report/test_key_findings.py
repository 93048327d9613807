"""The sentences with which a report begins: what they say of planted tables, and how sure they are."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.estimators._contradictions import find_contradictions
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.report import Plan, learn, read_source, write_report
from sklearn_subanneal.report.anomalies import find_anomalies
from sklearn_subanneal.report.clusters import find_views
from sklearn_subanneal.report.key_findings import (
    CERTAIN,
    DISPUTED,
    LIKELY,
    chain_shares,
    find_key_findings,
    pair_findings,
)
from sklearn_subanneal.report.structure import find_structure
from sklearn_subanneal.report.understated import find_understated


def findings(model, source):
    contradictions = find_contradictions(model, source.X)
    structure = find_structure(model, source, contradictions.tests, 20, 100, 0)
    return find_key_findings(
        model,
        source,
        find_views(model, source, 8, 8),
        structure,
        contradictions,
        find_understated(list(model.feature_types_), structure, contradictions),
        find_anomalies(model, source, 15, 10_000),
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Two columns of one group, two of another, one of noise; an odd cell, and cells that are missing."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(2, size=(2, 200))
    noise = np.clip(rng.normal(size=(3, 200)), -2.0, 2.0)
    frame = pd.DataFrame(
        {
            "name": [f"case {row}" for row in range(200)],
            "height": (10.0 * one + noise[0]).round(3),
            "weight": (-10.0 * one + noise[1]).round(3),
            "kind": np.array(["red", "blue"])[other],
            "size": (9.0 * other + noise[2]).round(3),
            "noise": rng.normal(size=200).round(3),
        }
    )
    frame.loc[7, "kind"] = {"red": "blue", "blue": "red"}[frame.loc[7, "kind"]]
    frame.loc[::20, "noise"] = np.nan
    frame["noise"] = frame["noise"].map("{:.3f}".format).replace("nan", "n/a")
    path = tmp_path_factory.mktemp("table") / "cases.csv"
    frame.to_csv(path, index=False)
    return read_source(path)


@pytest.fixture(scope="module")
def learned(source):
    return learn(source, Plan(n_chains=3, n_draws=5, n_jobs=1))


def test_what_is_planted_is_found(source, learned):
    found = findings(learned.model, source)
    assert 5 <= len(found) <= 7
    texts = [(own.text, own.strength) for own in found]
    pairs = [(text, strength) for text, strength in texts if "depend on each other:" in text]
    assert {frozenset(re.match(r"(\w+) and (\w+)", text).groups()) for text, _ in pairs} == {
        frozenset({"height", "weight"}), frozenset({"kind", "size"})
    }  # fmt: skip
    assert all(strength == CERTAIN for _, strength in pairs)
    height = next(text for text, _ in pairs if text.startswith("height"))
    assert re.search(r"rank correlation -0\.\d\d, so high values of one go with low values of the other\.", height)
    kind = next(text for text, _ in pairs if text.startswith("kind"))
    assert re.search(r"the median of size is -?[\d.]+ where kind is (red|blue), -?[\d.]+ where it is", kind)
    said = " ".join(text for text, _ in texts)
    assert re.search(r"the rows form 2 large groups.*; the largest has 1\d\d rows \(5\d%\)", said)
    assert "noise: no dependence on any other column was found, by the model or by a test." in said
    assert re.search(r"cell is kind in case 7: (red|blue), where (red|blue) \(\d+%\) would be expected from", said)
    assert "In the modelled columns, 10 cells (1.0%) are missing; the column with most is noise (10, 5%)." in said
    assert (
        found[-1].text
        == "200 rows and 6 columns were read; 1 column set aside: name; taken for missing: 'n/a' in noise."
    )
    assert {own.strength for own in found if "no dependence" in own.text or "The most improbable" in own.text} == {
        LIKELY
    }


def test_one_chain_is_never_certain_of_what_it_learned(source):
    model = learn(source, Plan(n_chains=1, n_draws=5)).model
    learned = [own for own in findings(model, source) if own.section in ("clusters", "dependence")]
    assert learned and all(own.strength != CERTAIN for own in learned)


def test_chains_that_disagree_say_so(source):
    """Chains that cannot move columns, of which some start with all columns together and some apart."""
    settings = {"feature_types": source.feature_types, "moves": [Gibbs()], "n_chains": 2, "n_draws": 3}
    model = CrossCat(**settings, column_start="together", random_state=0).fit(source.X)
    i, j = 0, 1
    np.testing.assert_array_equal(chain_shares(model, i, j), [1.0, 1.0])
    contradictions = find_contradictions(model, source.X)
    found = find_structure(model, source, contradictions.tests, 20, 100, 0).pairs
    pairs = [pair for pair in found if {pair.one, pair.other} == {"height", "weight"}]
    assert [own.strength for own in pair_findings(model, source, pairs, contradictions)] == [CERTAIN]
    labels = model.posterior_column_labels_.copy()
    labels[1] = np.arange(labels.shape[2])
    model.posterior_column_labels_, model.chain_weights_ = labels, np.array([0.5, 0.5])
    np.testing.assert_array_equal(chain_shares(model, i, j), [1.0, 0.0])
    assert [own.strength for own in pair_findings(model, source, pairs, contradictions)] == [DISPUTED]
    # A chain without weight does not count, and one chain alone is not certain.
    model.chain_weights_ = np.array([0.99, 0.01])
    np.testing.assert_array_equal(chain_shares(model, i, j), [1.0])
    assert [own.strength for own in pair_findings(model, source, pairs, contradictions)] == [LIKELY]


def test_together_without_a_test_is_disputed(source):
    """Columns of noise that the chains may not part: that they share a view says nothing."""
    settings = {"feature_types": source.feature_types, "moves": [Gibbs()], "n_chains": 2, "n_draws": 3}
    model = CrossCat(**settings, column_start="together", random_state=0).fit(source.X)
    contradictions, names = find_contradictions(model, source.X), list(model.feature_types_)
    structure = find_structure(model, source, contradictions.tests, 20, 100, 0)
    noise = [replace(pair, relatedness=0.3) for pair in structure.pairs if "noise" in (pair.one, pair.other)]
    found = pair_findings(model, source, noise[:2], contradictions)
    p_values = [contradictions.tests.p_values[names.index(pair.one), names.index(pair.other)] for pair in noise[:2]]
    assert [own.strength for own in found] == [LIKELY if p < 0.05 else DISPUTED for p in p_values]
    assert DISPUTED in {own.strength for own in found}
    # Of weak ones nothing is said.
    weak = [replace(pair, relatedness=0.09) for pair in noise]
    assert not pair_findings(model, source, weak, contradictions)
    assert len(pair_findings(model, source, [*weak, *noise], contradictions)) == len(found)


def test_the_columns_that_a_test_finds_dependent_are_compared(source):
    """Two of five columns, of which all share a view: not the one of noise, though it is the first."""
    types = dict(reversed(source.feature_types.items()))
    X = source.X[list(types)]
    model = CrossCat(
        feature_types=types, moves=[Gibbs()], n_chains=2, n_draws=3, column_start="together", random_state=0
    ).fit(X)
    tests = find_contradictions(model, X).tests
    (pair,) = find_structure(model, SimpleNamespace(feature_types=types), tests, 20, 2, 0).pairs
    assert {pair.one, pair.other} in ({"height", "weight"}, {"kind", "size"})


def test_the_page_begins_with_them(source, learned, tmp_path):
    write_report(source, Plan(), learned, tmp_path, plots=False)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    first = page[page.index("<main>") :].partition("</section>")[0]
    assert re.search(r'<section id="findings">\s*<h2>Key findings</h2>', first)
    items = re.findall(r'<li><span class="strength (\w+)">(.*?)</span> (.*?) <a href="#(\w+)"', first)
    assert 5 <= len(items) <= 7 and {strength for _, strength, *_ in items} <= {CERTAIN, LIKELY, DISPUTED}
    assert all(f'id="{section}"' in page for *_, section in items)


@pytest.mark.slow
def test_noise_is_never_certain(tmp_path):
    """No table of independent columns gives a certain dependence, in forty tables."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(rng.normal(size=(100, 5)).round(3), columns=list("abcde"))
        frame["kind"] = np.array(["x", "y", "z"])[rng.integers(3, size=100)]
        frame.to_csv(tmp_path / "noise.csv", index=False)
        source = read_source(tmp_path / "noise.csv")
        model = learn(source, Plan(n_chains=2, n_draws=5, n_jobs=1, seed=seed)).model
        wrong = [own for own in findings(model, source) if own.section == "dependence" and own.strength == CERTAIN]
        assert not wrong
