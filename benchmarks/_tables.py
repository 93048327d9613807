"""Real tables of mixed types as arrays with declared column types, and cells hidden from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from _common import find_data
from kdd import CATEGORICAL as KDD_CATEGORICAL
from kdd import load_kdd

from sklearn_subanneal.datasets import load_hospitals

CENSUS_REALS = (
    "age", "wage_per_hour", "capital_gains", "capital_losses", "dividends_from_stocks", "instance_weight",
    "num_persons_worked_for_employer", "weeks_worked_in_year",
)  # fmt: skip
MIN_OBSERVED = 10


@dataclass(frozen=True)
class MixedTable:
    """A table in a format that the estimators and other packages accept.

    Attributes
    ----------
    values : ndarray of float64, shape (n_rows, n_columns)
        Reals in their own units, categories as codes 0, 1, ...; NaN is missing.
    kinds : list of str
        "real", "categorical" or "boolean" for each column.
    names : list of str
        The columns.
    """

    values: np.ndarray
    kinds: list[str]
    names: list[str]

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, kinds: list[str]) -> MixedTable:
        """Columns that are not "real" are coded by the order of their values."""
        values = np.empty(frame.shape)
        for j, (name, kind) in enumerate(zip(frame.columns, kinds, strict=True)):
            if kind == "real":
                values[:, j] = frame[name].to_numpy(np.float64)
            else:
                codes = frame[name].astype("category").cat.codes.to_numpy()
                values[:, j] = np.where(codes < 0, np.nan, codes)
        return cls(values, list(kinds), [str(name) for name in frame.columns])

    def __len__(self) -> int:
        return len(self.values)

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    @property
    def real(self) -> np.ndarray:
        """Which columns are real, a mask."""
        return np.array([kind == "real" for kind in self.kinds])

    def standardised(self, rows=slice(None)) -> MixedTable:
        """Reals to mean 0 and standard deviation 1 of the given rows; constant columns are only centred."""
        values, real = self.values.copy(), self.real
        mean, deviation = np.nanmean(values[rows][:, real], axis=0), np.nanstd(values[rows][:, real], axis=0)
        values[:, real] = (values[:, real] - mean) / np.where(deviation > 0, deviation, 1.0)
        return MixedTable(values, self.kinds, self.names)

    def halves(self, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values of the rows to learn and of those to hold out, reals standardised by the former."""
        values = self.standardised(train).values
        return values[train], values[test]

    def sample(self, n_rows: int, seed: int = 0) -> MixedTable:
        """Rows drawn without replacement, in the order of the table, coded anew; the table if it has not so many."""
        if n_rows >= len(self.values):
            return self
        rows = np.sort(np.random.default_rng(seed).choice(len(self.values), n_rows, replace=False))
        frame = pd.DataFrame(self.values[rows], columns=self.names)
        return MixedTable.from_frame(frame, self.kinds)

    def hide(self, share: float, seed: int) -> tuple[MixedTable, np.ndarray, np.ndarray, np.ndarray]:
        """Hide a share of the observed cells at random and standardise the reals by the cells that stay.

        Cells of columns with fewer than ``MIN_OBSERVED`` observed cells stay, and so do those whose category would be
        seen nowhere else in the column, since no model has a probability for it.

        Returns
        -------
        table : MixedTable
            With NaN in the hidden cells.
        rows, columns : ndarray of int, shape (n_hidden,)
            The hidden cells, column by column.
        truth : ndarray of shape (n_hidden,)
            Their standardised values or codes.
        """
        observed = ~np.isnan(self.values)
        hidden = observed & (np.random.default_rng(seed).random(observed.shape) < share)
        hidden[:, observed.sum(axis=0) < MIN_OBSERVED] = False
        for j in np.flatnonzero(~self.real):
            seen = np.unique(self.values[observed[:, j] & ~hidden[:, j], j])
            hidden[:, j] &= np.isin(self.values[:, j], seen)
        masked = MixedTable(np.where(hidden, np.nan, self.values), self.kinds, self.names)
        reference = masked.standardised()
        mean, deviation = (function(masked.values[:, self.real], axis=0) for function in (np.nanmean, np.nanstd))
        truth = self.values.copy()
        truth[:, self.real] = (truth[:, self.real] - mean) / np.where(deviation > 0, deviation, 1.0)
        columns, rows = np.nonzero(hidden.T)
        return reference, rows, columns, truth[rows, columns]


@dataclass(frozen=True)
class Resampled(MixedTable):
    """A table whose training rows are drawn with replacement, more than it has.

    Its own rows are split first; those to learn are then drawn with replacement, those held out stay as they are. So no
    row that is scored has been learned.

    Attributes
    ----------
    n_rows : int
        Of which the share to learn is drawn.
    """

    n_rows: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.values.shape[1]

    def halves(self, train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values of the drawn rows and of those to hold out, reals standardised by the former."""
        share = len(train) / (len(train) + len(test))
        return super().halves(np.random.default_rng(0).choice(train, round(share * self.n_rows)), test)


def resampled(reader: Callable[[Path], MixedTable], n_rows: int) -> Callable[[Path], Resampled]:
    """A reader of the same table with ``n`` training rows drawn with replacement."""

    def read_resampled(path: Path) -> Resampled:
        table = reader(path)
        return Resampled(table.values, table.kinds, table.names, n_rows)

    return read_resampled


def satellites(path: Path) -> MixedTable:
    """1,164 satellites x 20, 3,011 cells missing, as lace ships it."""
    return _by_dtype(pd.read_csv(path, index_col=0))


def gapminder(path: Path) -> MixedTable:
    """225 countries x 319 real indicators, 44 % of the cells missing."""
    return _by_dtype(pd.read_csv(path, index_col="country"))


def adult(path: Path) -> MixedTable:
    """48,842 persons x 15, without the column that marks training and test rows."""
    return _by_dtype(pd.read_csv(path).drop(columns="split"))


def census_income(path: Path) -> MixedTable:
    """Persons of the Current Population Survey of 1994 and 1995 x 42, eight of them real."""
    frame = pd.read_csv(path, na_values="?", keep_default_na=False)
    return MixedTable.from_frame(frame, ["real" if name in CENSUS_REALS else "categorical" for name in frame.columns])


def kdd(path: Path) -> MixedTable:
    """Connections of KDD Cup 1999 x 41, seven of them categorical, without the label."""
    frame = load_kdd(path, header=None if path.name.startswith("kddcup") else 0)
    return MixedTable.from_frame(frame, ["categorical" if j in KDD_CATEGORICAL else "real" for j in range(41)])


def hospitals(path: Path | None = None) -> MixedTable:
    """307 hospital regions x 63 real columns, included in the package."""
    bunch = load_hospitals(as_frame=False)
    return MixedTable(bunch.data, ["real"] * bunch.data.shape[1], bunch.feature_names)


READERS: dict[str, tuple[Callable[[Path], MixedTable], tuple[str, str] | None]] = {
    "satellites": (satellites, ("satellites", "satellites_lace.csv.gz")),
    "adult": (adult, ("adult", "adult_48842.csv.gz")),
    "gapminder": (gapminder, ("gapminder", "gapminder_iventure.csv")),
    "hospitals": (hospitals, None),
    "census_income": (census_income, ("census_income_kdd", "census_income_test_99762.csv.gz")),
    "census_income_10000": (census_income, ("census_income_kdd", "census_income_test_extract_10000.csv.gz")),
    "kdd": (kdd, ("kdd99", "kddcup.data_10_percent.gz")),
    "kdd_10000": (kdd, ("kdd99", "kdd99_10pct_extract_10000.csv.gz")),
    "kdd_100000": (kdd, ("kdd99", "kdd99_10pct_extract_100000.csv.gz")),
    "kdd_1000000": (resampled(kdd, 1_000_000), ("kdd99", "kddcup.data_10_percent.gz")),
    "census_income_1000000": (
        resampled(census_income, 1_000_000),
        ("census_income_kdd", "census_income_test_99762.csv.gz"),
    ),
}


def read(name: str, folder: str | None = None) -> MixedTable | None:
    """A table by its name in ``READERS``, or None if its file is missing."""
    reader, parts = READERS[name]
    if parts is None:
        return reader(None)
    path = find_data(folder, *parts)
    return None if path is None else reader(path)


def _by_dtype(frame: pd.DataFrame) -> MixedTable:
    """Numbers are real, everything else categorical."""
    kinds = ["real" if pd.api.types.is_numeric_dtype(dtype) else "categorical" for dtype in frame.dtypes]
    return MixedTable.from_frame(frame, kinds)
