"""The time limit of a report is that of the whole command: chains leave time to write, and fewer rows are searched."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report import Plan, learn, read_source, write_report
from sklearn_subanneal.report.anomalies import find_anomalies
from sklearn_subanneal.report.learning import LearningCallback


def plan_of(n_rows, n_columns=10, elapsed=0.0, **settings):
    """The limit and the number of draws of a chain, for a table of this size."""
    source = SimpleNamespace(X=np.empty((n_rows, n_columns)), declared_types="auto", feature_params={})
    model = Plan(n_jobs=2, **settings).estimator(source, elapsed)
    return model.time_limit, model.n_draws


def test_without_a_limit_nothing_changes():
    assert plan_of(10**7) == (None, 10)


def test_chains_leave_time_to_write():
    # A small table: five seconds, in two rounds of chains.
    assert plan_of(10, time_limit=100.0) == (pytest.approx(47.5, abs=0.1), 10)
    # What was spent is not left.
    assert plan_of(10, time_limit=100.0, elapsed=20.0) == (pytest.approx(37.5, abs=0.1), 10)
    assert plan_of(10, time_limit=100.0, n_chains=2)[0] == pytest.approx(95.0, abs=0.1)


def test_short_limits_have_fewer_draws():
    limits, draws = zip(
        *[plan_of(n_rows, time_limit=100.0) for n_rows in (10**4, 10**5, 3 * 10**5, 10**7)], strict=True
    )
    assert list(draws) == sorted(draws, reverse=True) and draws[0] == 10 and draws[1] > draws[2] > draws[3] == 1
    # A quarter at least for the chains, and where all of them are too many, no more than run at once.
    assert limits[0] > limits[1] > limits[2] > limits[3] == pytest.approx(25.0)
    assert plan_of(10**5, time_limit=100.0, elapsed=200.0)[0] == pytest.approx(12.5)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("table") / "table.csv"
    table = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    table.loc[rng.random(200) < 0.1, "b"] = np.nan
    table.to_csv(path, index=False)
    source = read_source(path)
    return source, learn(source, Plan(n_chains=1, n_draws=2))


def test_as_many_rows_are_searched_as_there_is_time_for(fitted):
    source, learned = fitted
    whole = find_anomalies(learned.model, source, 200, 10_000)
    late = find_anomalies(learned.model, source, 200, 10_000, deadline=time.perf_counter())
    assert whole.n_scored == 200
    # One in 32, evenly spaced.
    assert late.n_scored == 7 and {found.row for found in late.rows} == {0, 28, 57, 85, 114, 142, 171}
    early = find_anomalies(learned.model, source, 200, 10_000, deadline=time.perf_counter() + 1e6)
    assert early.n_scored == 200
    assert early == whole


def test_a_limit_that_is_over_ends_in_a_whole_report(fitted, tmp_path):
    source, _ = fitted
    plan = Plan(n_chains=2, n_draws=4, time_limit=1e-3)
    learned = learn(source, plan, elapsed=5.0)
    assert learned.deadline < time.perf_counter()
    assert learned.model.log_joint_.shape == (2, 1)
    paths = write_report(source, plan, learned, tmp_path, plots=False)
    assert [path.name for path in paths] == [
        "report.html", "model.npz", "types.toml", "clusters.csv", "imputed.csv", "uncertainty.csv"
    ]  # fmt: skip
    assert len(pd.read_csv(tmp_path / "imputed.csv").dropna()) == 200
    assert "among 7 of 200 evenly spaced rows" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_progress_is_by_time_if_that_is_limited():
    """Sweeps before the draws come after the end of the schedule; they are no draws."""
    seen = []
    callback = LearningCallback(2, 10, lambda progress, text, is_urgent: seen.append(progress), time_limit=4.0)
    for chain, seconds, progress in ((0, 1.0, 0.5), (0, 2.0, 1.0), (1, 1.0, 1.0), (0, 3.0, 1.0), (0, 5.0, 1.0)):
        trace = {"chain": chain, "progress": progress, "seconds": seconds, "n_assigned": 9, "n_views": 1}
        callback.on_fit_task_end(None, None, metadata={"trace": trace})
    assert seen == [0.125, 0.25, 0.375, 0.5, 0.625]
