"""load_hospitals: Medicare statistics of United States hospital regions (Dartmouth Atlas)."""

import csv
from importlib.resources import files

import numpy as np
from sklearn.utils import Bunch

_DESCRIPTION = """\
Hospital referral regions of the United States, 2008

307 regions, 63 real columns, no missing cells: Medicare spending on chronically ill patients by sector, the
capacity of hospitals (beds, physicians, nurses), the use made of it at the end of life, and scores of the quality of
care. Many columns are sums, ratios or prices of others, so that the columns fall into groups.

Source: The Dartmouth Atlas of Health Care 2008, https://www.dartmouthatlas.org (public data).

References
----------
J. E. Wennberg, E. S. Fisher, D. C. Goodman, J. S. Skinner (2008). Tracking the Care of Patients with Severe Chronic
Illness: The Dartmouth Atlas of Health Care 2008.
F. Obermeyer, J. Glidden, E. Jonas (2014). Scaling Nonparametric Bayesian Inference via Subsample-Annealing. AISTATS.
"""


def load_hospitals(*, as_frame: bool = True) -> Bunch:
    """Load the Dartmouth Atlas table of 307 hospital regions and 63 real features, without missing cells.

    Parameters
    ----------
    as_frame : bool, default=True
        Whether to give the data as a pandas DataFrame with the regions as row labels. Without pandas installed,
        the data are an ndarray in any case.

    Returns
    -------
    hospitals : Bunch
        With

        data : pandas.DataFrame or ndarray of shape (307, 63)
            The table, float64.
        feature_names : list of str
            The 63 columns.
        names : ndarray of str of shape (307,)
            The regions.
        descriptions : dict of str to str
            Meaning of each column.
        DESCR : str
            Description and source of the data.

    References
    ----------
    .. [1] J. E. Wennberg, E. S. Fisher, D. C. Goodman, J. S. Skinner (2008). Tracking the Care of Patients with
       Severe Chronic Illness: The Dartmouth Atlas of Health Care 2008. https://www.dartmouthatlas.org

    Examples
    --------
    >>> from sklearn_subanneal.datasets import load_hospitals
    >>> hospitals = load_hospitals(as_frame=False)
    >>> hospitals.data.shape
    (307, 63)
    >>> str(hospitals.names[0]), hospitals.descriptions["QUAL_SCORE"]
    ('Abilene TX', 'Hospital quality score')
    """
    (_, *feature_names), *rows = _rows("hospitals.csv")
    names = np.array([row[0] for row in rows])
    data = np.array([row[1:] for row in rows], dtype=np.float64)
    if as_frame:
        try:
            import pandas as pd
        except ImportError:
            pass
        else:
            data = pd.DataFrame(data, columns=feature_names, index=names)
    return Bunch(
        data=data,
        feature_names=feature_names,
        names=names,
        descriptions=dict(_rows("hospitals_columns.csv")[1:]),
        DESCR=_DESCRIPTION,
    )


def _rows(filename: str) -> list[list[str]]:
    """The rows of a bundled table, its header first."""
    text = files("sklearn_subanneal.datasets").joinpath("data", filename).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))
