"""Traces of posterior draws of a partition, and a convergence table of all scalar quantities of an estimator."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from sklearn_subanneal.diagnostics.convergence import effective_sample_size, monte_carlo_error, rank_normalized_rhat
from sklearn_subanneal.posterior import expected_loss, representative_draw, scalar_draws
from sklearn_subanneal.posterior.labels import encode_labels
from sklearn_subanneal.posterior.losses import Loss

if TYPE_CHECKING:
    import pandas


def partition_traces(
    labels: ArrayLike, reference: ArrayLike | None = None, loss: Loss = "vi"
) -> dict[str, NDArray[np.float64]]:
    """Scalars of every posterior draw of a partition that do not depend on the labels of its clusters.

    They show whether chains agree; labels themselves cannot be compared between draws.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_samples)
        Posterior labels, as in `posterior_labels_`.
    reference : array-like of shape (n_samples,), default=None
        The partition that distances are measured from. None takes the representative draw.
    loss : {"vi", "binder"} or callable, default="vi"
        The distance, as in :func:`~sklearn_subanneal.posterior.expected_loss`.

    Returns
    -------
    dict of str to ndarray of shape (n_chains, n_draws)
        "n_clusters"; "largest_share", the share of rows in the largest cluster; "entropy" of the cluster sizes in nats;
        "distance" from the reference.

    Raises
    ------
    ValueError
        If the shapes do not fit or `loss` is unknown.

    Examples
    --------
    >>> from sklearn_subanneal.diagnostics import partition_traces
    >>> for name, draws in partition_traces([[[0, 0, 1, 1], [0, 0, 0, 0]]], reference=[1, 1, 0, 0]).items():
    ...     print(name, draws.round(3))
    n_clusters [[2. 1.]]
    largest_share [[0.5 1. ]]
    entropy [[0.693 0.   ]]
    distance [[0.    0.693]]
    """
    labels = np.asarray(labels)
    if labels.ndim != 3 or labels.size == 0:
        raise ValueError(f"labels must have shape (n_chains, n_draws, n_samples), none of them 0, got {labels.shape}.")
    if reference is None:
        reference = labels[representative_draw(labels, loss)]
    n_rows = labels.shape[2]
    flat = labels.reshape(-1, n_rows)
    sizes = [encode_labels(draw).sizes for draw in flat]
    traces = {
        "n_clusters": np.array([len(size) for size in sizes], dtype=np.float64),
        "largest_share": np.array([size.max() for size in sizes]) / n_rows,
        "entropy": np.log(n_rows) - np.array([xlogy(size, size).sum() for size in sizes]) / n_rows,
        # Losses are symmetric, so that the draws can be the candidates.
        "distance": expected_loss(flat, np.asarray(reference)[None], loss),
    }
    return {name: values.reshape(labels.shape[:2]) for name, values in traces.items()}


def summary(fitted: Any, *, columns: bool = False, as_frame: bool = False) -> "dict[str, NDArray] | pandas.DataFrame":
    """Means over the draws and convergence of all scalar quantities of a fitted estimator, or of draws by name.

    It is to show whether chains agree: all of them count equally, whatever the ``chain_weights_`` of the estimator, and
    rows as often as their weights say. The rows for an estimator are the number of clusters, the log joint density, the
    hyperparameters of the prior of the partition, and the traces of :func:`partition_traces`.

    Parameters
    ----------
    fitted : fitted estimator or dict of str to array-like of shape (n_chains, n_draws, ...)
        An estimator with `posterior_labels_` of shape (n_chains, n_draws, n_samples), or draws by name, for example
        ``{"theta": result.draws}`` for a :class:`~sklearn_subanneal.tempering.TemperingResult`. Draws of arrays have a
        row for each element: "theta[0]", "theta[1]".
    columns : bool, default=False
        Whether the scalar hyperparameters of the columns of an estimator have rows, too.
    as_frame : bool, default=False
        Whether to return a pandas DataFrame, indexed by name.

    Returns
    -------
    dict of str to ndarray of shape (n_rows,), or pandas.DataFrame
        "name", "mean", "sd", "mcse" (Monte Carlo standard error of the mean), "ess_bulk", "ess_tail", "rhat".
        Quantities that never change have nan for the last three.

    Raises
    ------
    ImportError
        If `as_frame` is set and pandas is not installed.
    ValueError
        If the estimator keeps no posterior draws, or the draws by name differ in shape.

    References
    ----------
    Vehtari, A. et al. (2021), as in :func:`rank_normalized_rhat`.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from sklearn_subanneal.diagnostics import summary
    >>> labels = np.random.default_rng(0).integers(0, 3, size=(4, 200, 10))
    >>> table = summary(SimpleNamespace(posterior_labels_=labels))
    >>> for name, rhat in zip(table["name"], table["rhat"].round(1)):
    ...     print(name, rhat)
    n_clusters 1.0
    largest_share 1.0
    entropy 1.0
    distance 1.0
    """
    if isinstance(fitted, Mapping):
        draws = _elements(fitted)
    else:
        draws = scalar_draws(fitted, columns=columns)
        modelled = getattr(fitted, "_modelled_labels", None)
        traces = partition_traces(modelled() if modelled else fitted.posterior_labels_)
        draws |= {name: trace for name, trace in traces.items() if name not in draws}
    stacked = np.stack([np.asarray(values, dtype=np.float64) for values in draws.values()], axis=-1)
    n_draws = stacked.shape[0] * stacked.shape[1]
    table = {
        "name": np.array(list(draws)),
        "mean": stacked.mean(axis=(0, 1)),
        "sd": stacked.std(axis=(0, 1), ddof=min(1, n_draws - 1)),
        "mcse": monte_carlo_error(stacked),
        "ess_bulk": effective_sample_size(stacked, kind="bulk"),
        "ess_tail": effective_sample_size(stacked, kind="tail"),
        "rhat": rank_normalized_rhat(stacked),
    }
    if not as_frame:
        return table
    try:
        import pandas
    except ImportError as error:
        raise ImportError("summary(as_frame=True) needs pandas: pip install pandas.") from error
    return pandas.DataFrame(table).set_index("name")


def _elements(named: Mapping[str, ArrayLike]) -> dict[str, NDArray]:
    """Draws of shape (n_chains, n_draws) of every element of draws of arrays."""
    out = {}
    for name, values in named.items():
        values = np.asarray(values)
        if values.ndim < 2:
            raise ValueError(
                f"draws of {name!r} must have shape (n_chains, n_draws, ...), got {values.shape}; pass one chain as "
                "draws[None]."
            )
        for index in np.ndindex(values.shape[2:]):
            out[f"{name}[{','.join(map(str, index))}]" if index else name] = values[:, :, *index]
    if len(shapes := {values.shape for values in out.values()}) != 1:
        raise ValueError(f"draws must have the same number of chains and draws for all names, got {sorted(shapes)}.")
    return out
