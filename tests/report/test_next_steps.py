"""What a report proposes to do if its runs are not to be relied on."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.next_steps import find_next_steps


def found(weights, cautions, **settings):
    """What is known of a report in which there is nothing else to say."""
    source = SimpleNamespace(name="my table.csv", step=1, set_aside=[], columns=[], frame=pd.DataFrame())
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
    assert steps[0].commands == [f"sklearn-subanneal report 'my table.csv' {options} -o r-longer"]
    assert "keep what both reports say" in steps[0].text
    assert find_next_steps(found(weights, [], **settings)) == steps[1:]
