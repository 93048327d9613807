"""The row loop of `_row_loop.c`, compiled here: what the row kernel is measured against."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).with_name("_row_loop.c")
# The faster of these is taken, for each case and each measure.
WIDTHS = (256, 512)


def compiled(width: int) -> ctypes.CDLL | None:
    """The library for vectors of ``width`` bits, with all instructions of this processor; None without a compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "row_loop.so"
        flags = ["-O3", "-march=native", f"-mprefer-vector-width={width}", "-ffast-math", "-shared", "-fPIC"]
        if subprocess.run([compiler, *flags, SOURCE, "-lm", "-o", path], capture_output=True, check=False).returncode:
            return None
        library = ctypes.CDLL(str(path))
    library.new_table.argtypes = [ctypes.c_int64] * 4 + [ctypes.c_void_p] * 3
    library.new_table.restype = ctypes.c_void_p
    library.score_all.restype = ctypes.c_float
    for name in ("score_all", "gibbs", "free_table"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.exchange.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_int64]
    return library


class RowLoop:
    """A table in the loop.

    Parameters
    ----------
    library : CDLL
    reals : ndarray of shape (n_real, n_rows)
    codes : ndarray of shape (n_categorical, n_rows)
        Of five categories.
    labels : ndarray of shape (n_rows,)
        Clusters 0..n_clusters - 1, at most 256 of them.
    """

    def __init__(self, library: ctypes.CDLL, reals: np.ndarray, codes: np.ndarray, labels: np.ndarray):
        self.library, self.labels = library, labels.astype(np.int32)
        # The table points to these.
        self.arrays = np.ascontiguousarray(reals, np.float32), np.ascontiguousarray(codes, np.int8)
        sizes = len(labels), len(reals), len(codes), int(labels.max()) + 1
        self.table = library.new_table(*sizes, *(array.ctypes.data for array in (*self.arrays, self.labels)))

    def score_all(self) -> None:
        """Scores of all rows in all clusters."""
        self.library.score_all(self.table)

    def gibbs(self) -> None:
        """A Gibbs sweep over all rows."""
        self.library.gibbs(self.table)

    def exchange(self, leaving: np.ndarray, entering: np.ndarray) -> None:
        """Rows of the first, int32, leave their clusters, those of the second enter; -1: none."""
        self.library.exchange(self.table, leaving.ctypes.data, entering.ctypes.data, len(leaving))

    def close(self) -> None:
        """Free the memory."""
        self.library.free_table(self.table)
