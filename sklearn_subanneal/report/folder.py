"""write_report: the folder of a report, with the model, tables of clusters and imputed cells, and the web page."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.frozen import FrozenEstimator

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.estimators import CrossCat, CrossCatDetector
from sklearn_subanneal.estimators._contradictions import find_contradictions
from sklearn_subanneal.portable import save
from sklearn_subanneal.report import types_file
from sklearn_subanneal.report.anomalies import find_anomalies
from sklearn_subanneal.report.clock_columns import with_clock_times
from sklearn_subanneal.report.clusters import ViewSummary, find_views
from sklearn_subanneal.report.distributions import find_distributions
from sklearn_subanneal.report.figures import draw_pictures
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.imputation import impute_missing
from sklearn_subanneal.report.key_findings import find_key_findings
from sklearn_subanneal.report.learning import LearnedModel, Plan
from sklearn_subanneal.report.model_folder import DETECTOR, MODEL
from sklearn_subanneal.report.page import page
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.spreadsheet_cells import marked_table
from sklearn_subanneal.report.structure import find_structure
from sklearn_subanneal.report.types_writer import write_types
from sklearn_subanneal.report.understated import find_understated

FILES = {
    "page": "report.html",
    "model": MODEL,
    "types": types_file.NAME,
    "detector": DETECTOR,
    "clusters": "clusters.csv",
    "imputed": "imputed.csv",
    "uncertainty": "uncertainty.csv",
}
# Limits of the page; the files have all rows.
MOST_VIEWS, MOST_CLUSTERS, MOST_ANOMALIES, MOST_PAIRS = 8, 8, 15, 20
# Limits of computations that would take minutes.
MOST_SCORED_ROWS, MOST_RELATED_COLUMNS = 10_000, 100
# Seconds of a time limit that are left for the pictures and the page.
SECONDS_OF_PICTURES = 3.0


def write_report(
    source: Source,
    plan: Plan,
    learned: LearnedModel,
    folder: str | Path,
    plots: bool = True,
    raw: bool = False,
    detector: bool | None = None,
) -> list[Path]:
    """Write the model, the tables and the page into a folder, in this order.

    Parameters
    ----------
    source : Source
    plan : Plan
    learned : LearnedModel
        Result of :func:`sklearn_subanneal.report.learn` with this source and this plan.
    folder : str or Path
        It is created if it does not exist; the files of an earlier report in it are removed.
    plots : bool, default=True
        Whether to draw pictures; this needs matplotlib.
    raw : bool, default=False
        Whether the tables have texts as they are. Otherwise those that a spreadsheet would take for a formula, which
        may read files or ask the network, begin with an apostrophe.
    detector : bool or None, default=None
        Whether to save what is needed to check new tables; None: if the table has at most 10,000 rows, and there is no
        time limit.

    Returns
    -------
    paths : list of Path
        The files, the page first.

    Raises
    ------
    ImportError
        If `plots` is True and matplotlib is not installed.
    OSError
        If a file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pandas as pd
    >>> from sklearn_subanneal.report import Plan, learn, read_source, write_report
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     pd.DataFrame({"a": [0.1, 5.2, None, 4.9] * 9, "b": list("xyxy") * 9}).to_csv(path, index=False)
    ...     source, plan = read_source(path), Plan(n_chains=1, n_draws=2)
    ...     [path.name for path in write_report(source, plan, learn(source, plan), folder, plots=False)]
    ['report.html', 'model.npz', 'types.toml', 'detector.npz', 'clusters.csv', 'imputed.csv', 'uncertainty.csv']
    """
    folder, model = Path(folder), learned.model
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES.values():
        # Of an earlier report, which may have files that this one has not.
        (folder / name).unlink(missing_ok=True)
    save(model, folder / FILES["model"])
    write_types(source, folder / FILES["types"])
    is_quick = len(source.X) <= MOST_SCORED_ROWS and plan.time_limit is None
    if detector is None:
        detector = is_quick
    if detector:
        _save_detector(model, source, folder / FILES["detector"])
    views = find_views(model, source, MOST_VIEWS, MOST_CLUSTERS)
    marked = (lambda table: table) if raw else marked_table
    marked(_clusters(source, views)).to_csv(folder / FILES["clusters"], index=False)
    imputation = impute_missing(model, source.frame, source.X, refine=is_quick)
    files = dict(FILES)
    if not detector:
        del files["detector"]
    if imputation.missing.any():
        imputed = with_clock_times(imputation.table, source.spelling, source.X)
        marked(imputed).to_csv(folder / FILES["imputed"], index=False)
        marked(imputation.uncertainty).to_csv(folder / FILES["uncertainty"], index=False, float_format="%.6g")
    else:
        del files["imputed"], files["uncertainty"]
    contradictions = find_contradictions(model, source.X)
    structure = find_structure(model, source, contradictions.tests, MOST_PAIRS, MOST_RELATED_COLUMNS, plan.seed)
    understated = find_understated(list(model.feature_types_), structure, contradictions)
    deadline = learned.deadline - SECONDS_OF_PICTURES
    anomalies = find_anomalies(model, source, MOST_ANOMALIES, MOST_SCORED_ROWS, deadline)
    found = Findings(
        source=source,
        views=views,
        structure=structure,
        contradictions=contradictions,
        understated=understated,
        anomalies=anomalies,
        imputation=imputation,
        key_findings=find_key_findings(model, source, views, structure, contradictions, understated, anomalies),
        pictures=draw_pictures(model, source) if plots else {},
        distributions=find_distributions(model, source, views),
        facts=_facts(plan, learned),
        was_stopped=learned.was_stopped,
        folder=folder.absolute().name,
        time_limit=plan.time_limit,
        covariance_type=plan.covariance_type,
        seed=plan.seed,
        files=files,
    )
    (folder / FILES["page"]).write_text(page(found), encoding="utf-8")
    return [folder / name for name in files.values()]


def _save_detector(model: CrossCat, source: Source, path: Path) -> None:
    # Further models, by which scores of new rows are calibrated, would take as long as the report in small tables.
    fitted = CrossCatDetector(FrozenEstimator(model), n_calibration=0).fit(source.X)
    # The model is in the fitted attributes, and a file holds no object of another package.
    save(fitted.set_params(estimator=None), path)


def _clusters(source: Source, views: list[ViewSummary]):
    """A table with the name of each row and its cluster in each view."""
    import pandas as pd

    table = pd.DataFrame({"row": source.row_names})
    for view in views:
        table[f"view {view.number}"] = view.labels
    return table


def _facts(plan: Plan, learned: LearnedModel) -> dict[str, str]:
    import pandas as pd

    model = learned.model
    limit = "none" if plan.time_limit is None else f"{plan.time_limit:g} s: another run will give other numbers"
    return {
        "chains": f"{model.n_chains_}, with {model.log_joint_.shape[1]} draws each",
        "schedule": repr(model.schedule_),
        "covariance of numbers": model.covariance_type_,
        "seed": str(plan.seed),
        "time limit": limit,
        "time of fitting": f"{learned.seconds:.1f} s",
        "sklearn_subanneal": __version__,
        "Python": platform.python_version(),
        "numpy, scipy, scikit-learn, pandas": ", ".join(
            (np.__version__, scipy.__version__, sklearn.__version__, pd.__version__)
        ),
    }
