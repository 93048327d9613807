"""Options of the fit in report and impute, and the fields of Plan: --covariance, --effort, --max-sweeps."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import load
from sklearn_subanneal.report import Plan, learn, read_source
from sklearn_subanneal.report.cli import main

FIT = ["--chains", "2", "--jobs", "1", "-q"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A table of six columns of numbers, each three of which are correlated, but without clusters."""
    rng = np.random.default_rng(5)
    factors = np.repeat(rng.normal(size=(200, 2)), 3, axis=1)
    table = pd.DataFrame((factors + 0.4 * rng.normal(size=(200, 6))).round(3), columns=list("abcdef"))
    table.loc[::9, "a"] = np.nan
    path = tmp_path_factory.mktemp("numbers") / "numbers.csv"
    table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("asked, used", [([], "full"), (["--covariance", "diag"], "diag")])
def test_report(path, tmp_path, asked, used):
    assert main(["report", str(path), "-o", str(tmp_path / "report"), "--no-plots", *FIT, *asked]) == 0
    model = load(tmp_path / "report" / "model.npz")
    assert model.covariance_type_ == used
    page = html.unescape((tmp_path / "report" / "report.html").read_text(encoding="utf-8"))
    assert f"<td>covariance of numbers</td><td>{used}</td>" in page.replace("\n", "")
    # A report that is made again, as the page proposes, has the same model.
    again = [line for line in page.splitlines() if "sklearn-subanneal report numbers.csv" in line]
    assert all(("--covariance diag" in line) == bool(asked) for line in again)
    # Without correlation, clusters must explain the dependence of the columns.
    n_clusters = model.view_labels_.max(axis=0) + 1
    assert (n_clusters.max() > 2) == (used == "diag")


def test_impute(path, tmp_path):
    for kind in ("full", "diag"):
        assert main(["impute", str(path), str(tmp_path / f"{kind}.csv"), "--covariance", kind, *FIT]) == 0
    gaps = pd.read_csv(path)["a"].isna()
    full, diag = (pd.read_csv(tmp_path / f"{kind}.csv")["a"] for kind in ("full", "diag"))
    assert (full[~gaps] == diag[~gaps]).all() and (full[gaps] != diag[gaps]).all()


def test_of_python(path):
    source = read_source(path)
    assert Plan().estimator(source).covariance_type == "auto"
    assert Plan(covariance_type="diag").estimator(source).covariance_type == "diag"
    with pytest.raises(ValueError, match="covariance_type"):
        learn(source, Plan(covariance_type="tied"))


@pytest.mark.parametrize("command", ["report", "impute"])
def test_another_word_is_refused(command, path, tmp_path, capsys):
    output = {"report": ["-o", str(tmp_path / "out")], "impute": [str(tmp_path / "out.csv")]}[command]
    with pytest.raises(SystemExit) as ended:
        main([command, str(path), *output, "--covariance", "tied"])
    assert ended.value.code == 2 and not list(tmp_path.iterdir())
    error = capsys.readouterr().err
    assert "--covariance: invalid choice: 'tied'" in error and "diag" in error


def test_sweeps(path, tmp_path, capsys):
    """A chain goes on for at most so many sweeps, and none if there are to be none."""
    n_sweeps = []
    for most in ("0", "40"):
        folder = tmp_path / most
        asked = ["--max-sweeps", most, "--chains", "1", "--jobs", "1", "-q", "--no-plots"]
        assert main(["report", str(path), "-o", str(folder), *asked]) == 0
        model = load(folder / "model.npz")
        assert model.max_sweeps == int(most)
        n_sweeps.append(model.n_sweeps_[0])
    assert n_sweeps[0] < n_sweeps[1] <= n_sweeps[0] + 40
    assert main(["report", str(path), "-o", str(tmp_path / "none"), "--max-sweeps", "-1"]) != 0
    assert "--max-sweeps must be at least 0, got -1" in capsys.readouterr().err


def test_effort(path, tmp_path, capsys):
    """Three times the work of a chain; the model in the folder knows its schedule."""
    n_sweeps = []
    for effort in ([], ["--effort", "3"]):
        folder = tmp_path / f"of-{len(effort)}"
        # With full covariance, a chain makes as many starts as it needs.
        asked = [
            *effort,
            "--covariance",
            "diag",
            "--max-sweeps",
            "0",
            "--chains",
            "1",
            "--jobs",
            "1",
            "-q",
            "--no-plots",
        ]
        assert main(["report", str(path), "-o", str(folder), *asked]) == 0
        model = load(folder / "model.npz")
        n_sweeps.append(model.n_sweeps_[0] - 5 * model.n_draws)
    assert model.effort == 3.0 and model.schedule_.times == 3.0
    assert 2.5 < n_sweeps[1] / n_sweeps[0] < 3.5
    for wrong in ("0", "-1", "nan", "inf"):
        assert main(["report", str(path), "-o", str(tmp_path / "none"), "--effort", wrong]) != 0
        assert f"--effort must be a positive number such as 5, got {float(wrong)}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["impute", str(path), "-o", str(tmp_path / "none.csv"), "--effort", "x"])
    assert "--effort: invalid float value: 'x'" in capsys.readouterr().err
