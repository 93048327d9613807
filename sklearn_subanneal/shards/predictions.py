"""predict_shards: predictions for the rows of a table that is in files or on the workers of Dask, part by part."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import numpy as np

from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal.shards.row_source import source_of

METHODS = ("predict", "predict_proba", "score_samples", "impute")


def predict_shards(model, X, method: str = "predict", *, folder=None, client=None):
    """Predictions for all rows of a table that need not fit into memory.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : DataFrame or array of Dask, ndarray, pandas.DataFrame, or path
        As of :class:`ShardedTable`, with the features that ``model`` was fitted to.
    method : {"predict", "predict_proba", "score_samples", "impute"}, default="predict"
        Which of its methods; see there what they return.
    folder : path or None, default=None
        A new or empty folder, where one Parquet file is written for each part of the table, in the order of its rows
        when sorted by name. The column of "predict" is "label", that of "score_samples" is "log_density", those of
        "predict_proba" are "cluster_0", "cluster_1", ..., and those of "impute" are the features. None: X is of Dask.
    client : dask.distributed.Client or None, default=None
        Parts are read, and files written, by the workers of its cluster, which share the folders. None: in this
        process, or where Dask computes the partitions of X.

    Returns
    -------
    predictions : Series, DataFrame or array of Dask, or Path
        Without a folder, a collection with the partitions of X that is computed when it is asked for. Else the folder.

    Raises
    ------
    ValueError
        If the model has no such method, if X is not of Dask and no folder is given, or if this is not empty.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, pandas as pd
    >>> from sklearn_subanneal import SubsampleAnnealedDPMM
    >>> from sklearn_subanneal.shards import predict_shards
    >>> X = np.random.default_rng(0).normal(size=(600, 2)) + 9.0 * (np.arange(600) % 2)[:, None]
    >>> model = SubsampleAnnealedDPMM(n_chains=1, random_state=0).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = predict_shards(model, X, folder=folder)
    ...     labels = pd.read_parquet(written)["label"]
    >>> bool((labels == model.predict(X)).all())
    True
    """
    if method not in METHODS or not hasattr(model, method):
        known = [name for name in METHODS if hasattr(model, name)]
        raise ValueError(f"method must be one of {known} of {type(model).__name__}, got {method!r}")
    if folder is None:
        if not hasattr(X, "to_delayed"):
            raise ValueError(
                f"folder must be given for X of type {type(X).__name__}: the predictions are written there"
            )
        return _lazily(model, X, method)
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"folder must be empty, and {str(folder)!r} is not; give another one")
    if client is None:
        for i, piece in enumerate(source_of(X).pieces()):
            _write(model, method, piece, folder / _name(i))
        return folder
    with Tasks(client) as tasks:
        with client.as_current():
            source = source_of(X)
        given = tasks.send(model)
        parts = enumerate(source.futures(tasks, range(len(source.lengths))))
        # The parts are not held here: each is in memory only until its predictions are written.
        tasks.results([tasks.submit(_write, given, method, part, folder / _name(i)) for i, part in parts])
    return folder


def _name(i: int) -> str:
    return f"part-{i:06d}.parquet"


def _write(model, method: str, piece, path: Path) -> None:
    """Write the predictions for a piece; the file has its name when it is complete."""
    if not len(piece):
        return
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError("Parquet files are written by pyarrow; install it: pip install pyarrow") from error
    # The same part may be written by two workers, one of which was thought to be dead. Readers of the folder leave out
    # files whose names begin with a dot.
    unfinished = path.with_name(f".{path.stem}-{uuid4().hex}.unfinished")
    try:
        _frame(model, method, piece).to_parquet(unfinished, index=False)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _frame(model, method: str, piece):
    """Predictions as a DataFrame with the index of the piece."""
    import pandas as pd

    values = getattr(model, method)(piece)
    if hasattr(values, "iloc"):
        return values
    names = {"predict": ["label"], "score_samples": ["log_density"]}.get(method)
    if names is None:
        stem = "cluster_" if method == "predict_proba" else "x"
        names = [f"{stem}{j}" for j in range(values.shape[1])]
    return pd.DataFrame(values.reshape(len(values), -1), columns=names, index=getattr(piece, "index", None))


def _lazily(model, X, method: str):
    import dask

    if method != "impute" and not hasattr(model, "n_clusters_"):
        raise ValueError(
            f"predictions of {type(model).__name__} for a collection of Dask must be made by its own methods, as "
            "X.map_partitions(model.predict), since model has no clusters, of which the types are known; or give folder"
        )
    given = dask.delayed(model)
    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1})
        dtype = np.int64 if method == "predict" else np.float64
        widths = {"predict_proba": getattr(model, "n_clusters_", None), "impute": X.shape[1]}
        if method in widths:
            shape = {"chunks": (X.chunks[0], (widths[method],))}
        else:
            shape = {"drop_axis": 1}
        return X.map_blocks(_of_array, given, method, dtype, widths.get(method), dtype=dtype, **shape)
    if method == "impute":
        # The types of its columns are those of the table that the model was fitted to.
        first = X.head(1, npartitions=-1)
        like = _frame(model, method, first)[:0]
    elif method == "predict_proba":
        like = _empty([f"cluster_{k}" for k in range(model.n_clusters_)], np.float64)
    elif method == "predict":
        like = _empty(["label"], np.int64)["label"]
    else:
        like = _empty(["log_density"], np.float64)["log_density"]
    return X.map_partitions(_of_partition, given, method, like, meta=like)


def _empty(names: list[str], dtype):
    import pandas as pd

    return pd.DataFrame({name: np.zeros(0, dtype) for name in names})


def _of_array(block: np.ndarray, model, method: str, dtype, width: int | None) -> np.ndarray:
    if not len(block):
        return np.zeros((0,) if width is None else (0, width), dtype)
    return np.asarray(getattr(model, method)(block), dtype)


def _of_partition(frame, model, method: str, like):
    if not len(frame):
        return like.set_axis(frame.index)
    found = _frame(model, method, frame)
    return found.iloc[:, 0] if like.ndim == 1 else found
