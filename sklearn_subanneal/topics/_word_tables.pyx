"""Tables of words by topics: weights for the local step, and the distinct words of a minibatch."""
from libc.stdint cimport int32_t, int64_t

import numpy as np

from sklearn_subanneal.topics._rows cimport (
    add_prior, add_scaled, multiply, real, set_exp_digamma, set_logs, temper_row,
)

# Exponents below which float32 is held: all but denormal, and such that products of two are not.
cdef float LEAST_FLOAT = -87.0
cdef float LEAST_WEIGHT = -40.0

ctypedef fused integer:
    int32_t
    int64_t


def digamma(const real[::1] x):
    """psi(x) of positive values below 1e12, in the precision of x.

    The error is at most 4 ulp of the largest of log(x + 4), 1 / x and 1.

    Parameters
    ----------
    x : array of float32 or float64, shape (n,)

    Returns
    -------
    array of the same type, shape (n,)
    """
    dtype = np.float32 if real is float else np.float64
    out = np.empty(x.shape[0], dtype)
    cdef real[::1] view = out, zeros = np.zeros(x.shape[0], dtype)
    if x.shape[0]:
        set_logs(&x[0], &zeros[0], x.shape[0], True, &view[0])
    return out


def exp_digamma(const real[::1] x, double rho=1.0):
    """exp(rho psi(x)) of positive values below 1e12; float32 is held at exp(-87) from below, float64 falls to 0.

    Parameters
    ----------
    x : array of float32 or float64, shape (n,)
    rho : float, default=1.0
        Positive.

    Returns
    -------
    array of the same type, shape (n,)
    """
    out = np.empty(x.shape[0], np.float32 if real is float else np.float64)
    cdef real[::1] view = out
    if x.shape[0]:
        set_exp_digamma(&x[0], x.shape[0], <real> rho, <real> LEAST_FLOAT, &view[0])
    return out


def tempered(const real[:, ::1] logs, double rho):
    """Weights for the local step, exp(rho (logs - the largest of the row)).

    Parameters
    ----------
    logs : array of float32 or float64, shape (n_words, n_topics)
    rho : float
        The inverse temperature.

    Returns
    -------
    array of the same type, shape (n_words, n_topics)
        The largest of each row is 1; float32 is held at exp(-40) from below, float64 falls to 0 below exp(-700).
    """
    cdef Py_ssize_t v, n_topics = logs.shape[1]
    out = np.empty((logs.shape[0], n_topics), np.float32 if real is float else np.float64)
    cdef real[:, ::1] view = out
    with nogil:
        for v in range(logs.shape[0] if n_topics else 0):
            temper_row(&logs[v, 0], n_topics, <real> rho, <real> LEAST_WEIGHT, &view[v, 0])
    return out


def word_weights(
    const real[:, ::1] statistics, const integer[::1] words, scale, eta, normalisers, update="plug-in", rho=None,
    real[:, ::1] out=None,
):
    """Weights of some words, from the statistics of all.

    Parameters
    ----------
    statistics : array of float32 or float64, shape (n_features, n_topics)
        Without the prior.
    words : array of int32 or int64, shape (n_words,)
        Rows of ``statistics``.
    scale : float
        Factor of ``statistics``.
    eta : array, shape (n_words,)
        The prior of these words, positive.
    normalisers : array, shape (n_topics,)
        For each topic, the scaled sum of the statistics over all words, plus that of the prior.
    update : {"plug-in", "variational"}
        E[beta], or exp(E[log beta]).
    rho : float or None
        The inverse temperature; None: logarithms, untempered. Tempered weights are scaled as by :func:`tempered`, but
        for "plug-in" at rho = 1, which are E[beta] itself.
    out : array of the type of statistics, shape (n_words, n_topics), or None
        Where the weights go; None: a new array.

    Returns
    -------
    array of the type of statistics, shape (n_words, n_topics)
    """
    if update not in ("plug-in", "variational"):
        raise ValueError(f"update must be 'plug-in' or 'variational', got {update!r}")
    dtype = np.float32 if real is float else np.float64
    cdef Py_ssize_t i, n_words = words.shape[0], n_topics = statistics.shape[1]
    cdef real[::1] prior = np.ascontiguousarray(eta, dtype)
    cdef real factor = scale, power = 1.0 if rho is None else rho
    cdef bint variational = update == "variational", logarithms = rho is None
    cdef bint plain = not variational and rho is not None and rho == 1.0
    totals = np.ascontiguousarray(normalisers, np.float64)
    if len(prior) != n_words or totals.shape != (n_topics,):
        raise ValueError(
            f"eta must have one value for each of {n_words} words, normalisers one for each of {n_topics} topics; got "
            f"{len(prior)} and shape {totals.shape}"
        )
    if n_words and not 0 <= np.min(words) <= np.max(words) < statistics.shape[0]:
        raise ValueError(f"words must be rows of statistics, 0 to {statistics.shape[0] - 1}")
    if out is None:
        out = np.empty((n_words, n_topics), dtype)
    if out.shape[0] != n_words or out.shape[1] != n_topics:
        raise ValueError(f"out must have shape {(n_words, n_topics)}, got {(out.shape[0], out.shape[1])}")
    cdef real[:, ::1] view = out
    if plain:
        offsets = 1.0 / totals
    else:
        offsets = -digamma(totals) if variational else -np.log(totals)
    cdef real[::1] offset = np.ascontiguousarray(offsets, dtype)
    with nogil:
        for i in range(n_words if n_topics else 0):
            add_prior(&statistics[words[i], 0], factor, prior[i], n_topics, &view[i, 0])
            if plain:
                multiply(&offset[0], n_topics, &view[i, 0])
                continue
            set_logs(&view[i, 0], &offset[0], n_topics, variational, &view[i, 0])
            if not logarithms:
                temper_row(&view[i, 0], n_topics, power, <real> LEAST_WEIGHT, &view[i, 0])
    return np.asarray(view)


def add_to_rows(real[:, ::1] statistics, const integer[::1] words, const real[:, ::1] batch, double factor):
    """statistics[words] += factor * batch, in place; the words are distinct.

    Parameters
    ----------
    statistics : array of float32 or float64, shape (n_features, n_topics)
    words : array of int32 or int64, shape (n_words,)
    batch : array of the same type, shape (n_words, n_topics)
    factor : float
    """
    cdef Py_ssize_t i, n_topics = statistics.shape[1]
    if batch.shape[0] != words.shape[0] or batch.shape[1] != n_topics:
        raise ValueError(
            f"batch must have shape {(words.shape[0], n_topics)}, got {(batch.shape[0], batch.shape[1])}"
        )
    if words.shape[0] and not 0 <= np.min(words) <= np.max(words) < statistics.shape[0]:
        raise ValueError(f"words must be rows of statistics, 0 to {statistics.shape[0] - 1}")
    with nogil:
        for i in range(words.shape[0] if n_topics else 0):
            add_scaled(&batch[i, 0], <real> factor, n_topics, &statistics[words[i], 0])


def distinct_words(const integer[::1] indices, Py_ssize_t n_features):
    """The words that occur, ascending, and for each index its place among them.

    Parameters
    ----------
    indices : array of int32 or int64, shape (n_entries,)
        From 0 to ``n_features - 1``.
    n_features : int

    Returns
    -------
    words : array of int32, shape (n_words,)
    places : array of int32, shape (n_entries,)
        ``words[places] == indices``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics._word_tables import distinct_words
    >>> distinct_words(np.array([7, 2, 7]), 9)
    (array([2, 7], dtype=int32), array([1, 0, 1], dtype=int32))
    """
    if indices.shape[0] and not 0 <= np.min(indices) <= np.max(indices) < n_features:
        raise ValueError(f"indices must be from 0 to {n_features - 1}, got {np.min(indices)} to {np.max(indices)}")
    occurs = np.zeros(n_features, np.bool_)
    occurs[indices] = True
    words = np.flatnonzero(occurs).astype(np.int32)
    place = np.empty(n_features, np.int32)
    place[words] = np.arange(len(words), dtype=np.int32)
    return words, place[indices]
