"""What a report proposes to do if its runs are not to be relied on."""

import shlex
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.files import ReadingOptions
from sklearn_subanneal.report.next_steps import find_next_steps
from sklearn_subanneal.report.question import Question


def found(weights, cautions, **settings):
    """What is known of a report in which there is nothing else to say."""
    unread = SimpleNamespace(name="first name", kind="ignore", marks={})
    source = SimpleNamespace(
        name="my table.csv",
        step=settings.pop("step", 1),
        n_rows_of_file=9,
        set_aside=[unread],
        columns=[unread],
        frame=pd.DataFrame(),
        options=settings.pop("reading", ReadingOptions()),
    )
    structure = SimpleNamespace(cautions=cautions, chain_weights=weights, pairs=[])
    others = {
        "anomalies": SimpleNamespace(cells=[]),
        "imputation": SimpleNamespace(missing=np.zeros((2, 1), dtype=bool)),
        "files": {},
    }
    return SimpleNamespace(
        source=source,
        structure=structure,
        folder="r",
        **others,
        **{"covariance_type": "auto", "time_limit": None, "seed": 3} | settings,
    )


@pytest.mark.parametrize(
    ("weights", "settings", "options"),
    [
        ([0.5, 0.5], {}, "--effort 5"),
        ([0.5, 0.5], {"covariance_type": "diag"}, "--effort 5 --covariance diag"),
        # With a time limit, effort is without effect.
        ([0.5, 0.5], {"time_limit": 60}, "--time-limit 240"),
        ([0.97, 0.03], {}, "--chains 8 --seed 4"),
        ([0.97, 0.03], {"time_limit": 60}, "--chains 8 --seed 4"),
    ],
)
def test_another_report_if_the_runs_are_not_to_be_relied_on(weights, settings, options):
    steps = find_next_steps(found(weights, ["The runs disagree."], **settings))
    known = "'my table.csv' --types r/types.toml"
    assert steps[0].commands == [f"sklearn-subanneal report {known} {options} -o r-longer"]
    assert "keep what both reports say" in steps[0].text
    assert find_next_steps(found(weights, [], **settings)) == steps[1:]


def test_what_the_user_said_of_the_table_is_said_again():
    """By the types file of the report; what is said in a command counts more, and has to follow."""
    steps = find_next_steps(found([0.5, 0.5], [], step=2, reading=ReadingOptions(skip_bad_lines=True)))
    known = "'my table.csv' --types r/types.toml --skip-bad-lines"
    assert [step.commands for step in steps[:2]] == [
        [f"sklearn-subanneal report {known} -o r-whole"],
        [f"sklearn-subanneal report {known} --types 'first name=categorical' -o r-types"],
    ]


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_the_question_is_about_numbers_that_there_are(dtype):
    """Of a column of long codes, and of one whose numbers differ in their last digits."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], [40, 41])
    X = pd.DataFrame({"id": 1002344 + group, "jd": 2459000.0 + 8.0 * group + rng.random(81)}).astype({"id": dtype})
    report = found([0.5, 0.5], [])
    report.source.frame, report.source.feature_types = X, {"id": "categorical", "jd": "real"}
    report.structure.pairs = [SimpleNamespace(one="id", other="jd")]
    (command,) = next(step.commands for step in find_next_steps(report) if step.text.startswith("Ask the model"))
    question = Question.of(shlex.split(command)[-1])
    assert question.about == "`id` == 1002345"
    threshold = float(question.condition.split(" > ")[1])
    assert X["jd"].min() < threshold < X["jd"].max()
    model = CrossCat(
        feature_types=report.source.feature_types, n_chains=1, n_draws=2, max_sweeps=3, effort=0.2, random_state=0
    )
    ((_, probability),) = question.answer(model.fit(X))
    assert probability > 0.6
