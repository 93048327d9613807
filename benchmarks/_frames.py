"""Real tables as DataFrames with the dtypes that a user has after reading the file."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pandas as pd
from _common import find_data
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sklearn_subanneal.datasets import load_hospitals

TITANIC = ["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
INDICATORS = [
    "life expectancy at birth", "children per woman", "income per person", "internet users (per 100 people)",
    "co2 emission per person (metric tons)", "physicians per 1000 people", "urban population (% of total)",
    "gini index", "democracy, polityiv", "suicide, age adjusted, per 100 000 standard population",
]  # fmt: skip
# Columns of text with more distinct values than this are names, not categories.
MOST_CATEGORIES = 100
# Of a column of dates, at least this share of the cells is one, and there are more of them than this.
LEAST_DATES, FEWEST_DATES = 0.9, 30


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


def census_income(path) -> pd.DataFrame:
    """10,000 persons x 42 of the Current Population Survey of 1994 and 1995."""
    return pd.read_csv(path, na_values="?", keep_default_na=False)


def animals(path) -> pd.DataFrame:
    """50 animals x 85 booleans."""
    return pd.read_csv(path, index_col=0).astype(bool)


def gapminder(path) -> pd.DataFrame:
    """225 countries x ten indicators of wealth, health and population."""
    return pd.read_csv(path, index_col="country")[INDICATORS]


READERS: dict[str, tuple[Callable, tuple[str, str] | None]] = {
    "wheat": (pd.read_csv, ("classics", "wheat-seeds.csv")),
    "wine": (lambda _: load_wine(as_frame=True).frame, None),
    "breast_cancer": (lambda _: load_breast_cancer(as_frame=True).frame, None),
    "diabetes": (lambda _: load_diabetes(as_frame=True).frame, None),
    "concrete": (numbers, ("gp_uci", "concrete.txt.gz")),
    "energy": (numbers, ("gp_uci", "energy.txt.gz")),
    "boston": (numbers, ("gp_uci", "bostonHousing.txt.gz")),
    "yacht": (numbers, ("gp_uci", "yacht.txt.gz")),
    "optdigits": (pd.read_csv, ("pmlb", "optdigits.csv.gz")),
    "hospitals": (lambda _: load_hospitals().data, None),
    "satellites": (satellites, ("satellites", "satellites_bayeslite.csv")),
    "adult": (adult, ("adult", "adult_48842.csv.gz")),
    "titanic": (titanic, ("titanic", "titanic_raw.csv")),
    "letter": (pd.read_csv, ("pmlb", "letter.csv.gz")),
    "magic": (pd.read_csv, ("pmlb", "magic.csv.gz")),
    "gvhd": (pd.read_csv, ("gvhd", "GvHD.pos.csv.gz")),
    "animals": (animals, ("animals", "animals.csv")),
    "gapminder": (gapminder, ("gapminder", "gapminder_iventure.csv")),
    "census_income": (census_income, ("census_income_kdd", "census_income_test_extract_10000.csv.gz")),
    "kdd": (pd.read_csv, ("kdd99", "kdd99_10pct_extract_10000.csv.gz")),
}


def with_numbers_of_dates(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with days since 1970 in place of dates that are text, for estimators that take numbers only."""
    out = frame.copy()
    for name in frame:
        if frame[name].dtype.kind in "fiub" or frame[name].nunique() <= FEWEST_DATES:
            continue
        with warnings.catch_warnings():
            # That the format of names is not known.
            warnings.simplefilter("ignore", UserWarning)
            dates = pd.to_datetime(frame[name].astype("str").where(frame[name].notna()), errors="coerce", utc=True)
        if dates.notna().sum() >= LEAST_DATES * frame[name].notna().sum():
            out[name] = (dates - pd.Timestamp(0, tz="utc")) / pd.Timedelta(days=1)
    return out


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
