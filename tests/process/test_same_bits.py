"""What stays the same, bit for bit, in other environments: the table of the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.bits import CHANGES, ESTIMATORS, baseline_build, compared, digests

PAGE = Path(__file__).parents[2] / "doc" / "how_to" / "same_results.md"
ENOUGH = {"all": {"all"}, "draws": {"all", "draws"}, "-": {"all", "draws", "-"}}


def promised() -> dict[str, dict[str, str]]:
    """The cells of the table, for each change by the names of estimators."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    heads, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    names = [row[0].replace("`", "") for row in rows]
    columns = zip(heads[1:], *(row[1:] for row in rows), strict=True)
    return {head: dict(zip(names, cells, strict=True)) for head, *cells in columns}


@pytest.fixture(scope="module")
def before():
    return digests()


def test_the_table_has_all_estimators_and_changes():
    found = promised()
    assert list(found) == list(CHANGES)
    assert all(list(cells) == list(ESTIMATORS) for cells in found.values())


def test_jobs_hash_seed_and_threads_at_once():
    """Of one estimator of each kind that is fitted soon."""
    names = "SubsampleAnnealedDPMM, full", "BayesianImputer", "VariationalTemperingFMM", "tempering.ParallelTempering"
    environment = {"PYTHONHASHSEED": "3", "OPENBLAS_NUM_THREADS": "2"}
    found = digests(environment, ("2", "threading", *names))
    assert list(found) == list(names)
    assert found == digests(arguments=("1", "threading", *names))


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_results_stay_the_same(change, before, tmp_path):
    environment, arguments = CHANGES[change]
    root = None
    if change == "vector units of the package":
        pytest.importorskip("Cython")
        root = baseline_build(tmp_path)
    after = digests(environment, arguments, root)
    for name, cell in promised()[change].items():
        assert compared(before[name], after[name]) in ENOUGH[cell], name
