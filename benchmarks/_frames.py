"""Real tables as DataFrames with the dtypes that a user has after reading the file."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from _common import find_data
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sklearn_subanneal.datasets import load_hospitals

TITANIC = ["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
# Columns of text with more distinct values than this are names, not categories.
MOST_CATEGORIES = 100


def titanic(path) -> pd.DataFrame:
    """891 passengers x 8, without names, tickets and cabins."""
    return pd.read_csv(path)[TITANIC]


def satellites(path) -> pd.DataFrame:
    """1,167 satellites without their names and comments."""
    frame = pd.read_csv(path)
    texts = frame.select_dtypes(exclude="number")
    return frame.drop(columns=[name for name in texts if texts[name].nunique() > MOST_CATEGORIES])


def adult(path) -> pd.DataFrame:
    """48,842 persons x 15, without the column that marks training and test rows."""
    return pd.read_csv(path).drop(columns="split")


def numbers(path) -> pd.DataFrame:
    """Numbers separated by spaces or tabs, without a header; the last one is the target."""
    return pd.read_csv(path, sep=r"\s+", header=None).add_prefix("x")


READERS: dict[str, tuple[Callable, tuple[str, str] | None]] = {
    "wheat": (pd.read_csv, ("classics", "wheat-seeds.csv")),
    "wine": (lambda _: load_wine(as_frame=True).frame, None),
    "breast_cancer": (lambda _: load_breast_cancer(as_frame=True).frame, None),
    "diabetes": (lambda _: load_diabetes(as_frame=True).frame, None),
    "concrete": (numbers, ("gp_uci", "concrete.txt.gz")),
    "energy": (numbers, ("gp_uci", "energy.txt.gz")),
    "boston": (numbers, ("gp_uci", "bostonHousing.txt.gz")),
    "hospitals": (lambda _: load_hospitals().data, None),
    "satellites": (satellites, ("satellites", "satellites_bayeslite.csv")),
    "adult": (adult, ("adult", "adult_48842.csv.gz")),
    "titanic": (titanic, ("titanic", "titanic_raw.csv")),
    "letter": (pd.read_csv, ("pmlb", "letter.csv.gz")),
    "magic": (pd.read_csv, ("pmlb", "magic.csv.gz")),
    "gvhd": (pd.read_csv, ("gvhd", "GvHD.pos.csv.gz")),
}


def read(name: str, folder: str | None, n_rows: int | None) -> pd.DataFrame | None:
    """A table by its name in ``READERS``, at most so many rows of it, drawn at random; None if its file is missing."""
    reader, parts = READERS[name]
    path = None if parts is None else find_data(folder, *parts)
    if parts is not None and path is None:
        return None
    frame = reader(path)
    if n_rows is not None and len(frame) > n_rows:
        frame = frame.sample(n_rows, random_state=0)
    return frame.reset_index(drop=True)
