"""A report on disk: the model, tables of clusters and filled cells, and the page that shows them."""

from __future__ import annotations

import platform
from pathlib import Path

import joblib
import numpy as np
import scipy
import sklearn

from sklearn_subanneal._core.version import __version__
from sklearn_subanneal.report.figures import draw_pictures
from sklearn_subanneal.report.findings import Findings
from sklearn_subanneal.report.gaps import fill_gaps
from sklearn_subanneal.report.groups import View, find_views
from sklearn_subanneal.report.learning import Learned, Plan
from sklearn_subanneal.report.page import page
from sklearn_subanneal.report.source import Source
from sklearn_subanneal.report.structure import find_structure
from sklearn_subanneal.report.surprises import find_surprises

FILES = {
    "page": "report.html",
    "model": "model.joblib",
    "clusters": "clusters.csv",
    "imputed": "imputed.csv",
    "uncertainty": "uncertainty.csv",
}
# What a page can show; the files have all.
MOST_VIEWS, MOST_CLUSTERS, MOST_ODD, MOST_PAIRS = 8, 8, 15, 20
# What can be computed while somebody waits.
MOST_SCORED_ROWS, MOST_RELATED_COLUMNS = 10_000, 100


def write_report(source: Source, plan: Plan, learned: Learned, folder: str | Path, plots: bool = True) -> list[Path]:
    """Write page, tables and model into a folder, the model first.

    Parameters
    ----------
    source : Source
    plan : Plan
    learned : Learned
        As of :func:`sklearn_subanneal.report.learn`, with this source and this plan.
    folder : str or Path
        It is made if it is not there; files in it are written over.
    plots : bool, default=True
        Whether to draw pictures, for which matplotlib is needed.

    Returns
    -------
    paths : list of Path
        The files, the page first.

    Raises
    ------
    ImportError
        If pictures are to be drawn without matplotlib.
    OSError
        If a file can't be written.

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
    ['report.html', 'model.joblib', 'clusters.csv', 'imputed.csv', 'uncertainty.csv']
    """
    folder, model = Path(folder), learned.model
    folder.mkdir(parents=True, exist_ok=True)
    joblib.dump(model, folder / FILES["model"], compress=3)
    views = find_views(model, source, MOST_VIEWS, MOST_CLUSTERS)
    _clusters(source, views).to_csv(folder / FILES["clusters"], index=False)
    gaps = fill_gaps(model, source)
    files = dict(FILES)
    if gaps.missing.any():
        gaps.table.to_csv(folder / FILES["imputed"], index=False)
        gaps.uncertainty.to_csv(folder / FILES["uncertainty"], index=False, float_format="%.6g")
    else:
        del files["imputed"], files["uncertainty"]
    found = Findings(
        source=source,
        views=views,
        structure=find_structure(model, source, MOST_PAIRS, MOST_RELATED_COLUMNS, plan.seed),
        surprises=find_surprises(model, source, MOST_ODD, MOST_SCORED_ROWS),
        gaps=gaps,
        pictures=draw_pictures(model, source) if plots else {},
        facts=_facts(plan, learned),
        was_stopped=learned.was_stopped,
        files=files,
    )
    (folder / FILES["page"]).write_text(page(found), encoding="utf-8")
    return [folder / name for name in files.values()]


def _clusters(source: Source, views: list[View]):
    """The name of each row, and its cluster in each view."""
    import pandas as pd

    table = pd.DataFrame({"row": source.row_names})
    for view in views:
        table[f"view {view.number}"] = view.labels
    return table


def _facts(plan: Plan, learned: Learned) -> dict[str, str]:
    import pandas as pd

    model = learned.model
    limit = "none" if plan.time_limit is None else f"{plan.time_limit:g} s: another run will give other figures"
    return {
        "chains": f"{model.n_chains}, with {model.log_joint_.shape[1]} draws of each",
        "schedule": repr(model.schedule),
        "seed": str(plan.seed),
        "time limit": limit,
        "time of learning": f"{learned.seconds:.1f} s",
        "sklearn_subanneal": __version__,
        "Python": platform.python_version(),
        "numpy, scipy, scikit-learn, pandas": ", ".join(
            (np.__version__, scipy.__version__, sklearn.__version__, pd.__version__)
        ),
    }
