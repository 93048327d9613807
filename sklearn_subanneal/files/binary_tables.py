"""Tables in files that name the types of their columns: Parquet, Feather, Stata and SAS."""

from __future__ import annotations

import io
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files.reading_options import ReadingOptions
from sklearn_subanneal.files.stata_labels import stata_table
from sklearn_subanneal.files.unfolding import TooLarge
from sklearn_subanneal.tables.numerals import LARGEST_EXACT

if TYPE_CHECKING:
    import pandas as pd


def typed_table(content: bytes, kind: str, options: ReadingOptions, name: str, notes: list[str]) -> pd.DataFrame:
    """The table in a file of one of these kinds.

    Parameters
    ----------
    content : bytes
    kind : {"parquet", "feather", "stata", "sas7bdat", "xport"}
    options : ReadingOptions
    name : str
        Of the file, for messages.
    notes : list of str
        What labels of values mean is added.

    Raises
    ------
    ImportError
        If the package that reads such files is not installed.
    ValueError
        If the file is damaged, or unfolds to more than the limit.
    """
    import pandas as pd

    try:
        if kind == "parquet":
            _check_parquet(content, options.max_bytes, name)
            table = pd.read_parquet(io.BytesIO(content))
        elif kind == "feather":
            table = pd.read_feather(io.BytesIO(content))
        elif kind == "stata":
            table = stata_table(content, options, notes)
        else:
            table = pd.read_sas(io.BytesIO(content), format=kind, encoding=options.encoding or "latin-1")
        if kind in ("parquet", "feather"):
            _keep_digits(table, content, kind)
        table = _with_named_index(table)
        # Bytes that are no text are found when they are asked for.
        for at in range(table.shape[1]):
            if isinstance(table.dtypes.iloc[at], pd.StringDtype):
                table.iloc[:, at].unique().tolist()
        return table
    except ImportError as error:
        package = "pyarrow" if kind in ("parquet", "feather") else error.name or "pandas"
        raise ImportError(f".{kind} is read by {package}, which is not installed: pip install {package}") from error
    except (OSError, TooLarge):
        raise
    except Exception as error:
        # The metadata of pandas are read with whatever error they give.
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _with_named_index(table: pd.DataFrame) -> pd.DataFrame:
    """With the index as columns, where it has a name or is not a count of the rows."""
    import pandas as pd

    is_count = isinstance(table.index, pd.RangeIndex) or list(table.index) == list(range(len(table)))
    return table.reset_index(drop=is_count and table.index.name is None)


def _keep_digits(table: pd.DataFrame, content: bytes, kind: str) -> None:
    """Read columns of large whole numbers anew, which lose digits as floating-point numbers where cells are missing."""
    import pandas as pd

    names = [
        name
        for name, is_one in zip(table.columns, ~table.columns.duplicated(keep=False), strict=True)
        if is_one and table[name].dtype == np.float64 and (table[name].abs() > LARGEST_EXACT).any()
    ]
    if not names:
        return
    read = import_module(f"pyarrow.{kind}").read_table(io.BytesIO(content), columns=list(map(str, names)))
    dtypes = {"int64": pd.Int64Dtype(), "uint64": pd.UInt64Dtype()}
    exact = read.to_pandas(types_mapper=lambda own: dtypes.get(str(own)), ignore_metadata=True)
    for name in names:
        if str(name) in exact and exact[str(name)].dtype.kind in "iu":
            table[name] = exact[str(name)].array


def _check_parquet(content: bytes, most: int, name: str) -> None:
    metadata = import_module("pyarrow.parquet").read_metadata(io.BytesIO(content))
    # Cells that are packed well, such as a single value for all rows, take eight bytes each when they are read.
    cells = 8 * metadata.num_rows * metadata.num_columns
    if max(cells, sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))) > most:
        raise TooLarge(name, most)
