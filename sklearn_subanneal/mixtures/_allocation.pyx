"""allocate_rows: a new partition of rows, each row drawn by its conditional given those before it."""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t
from numpy.random cimport bitgen_t

from sklearn_subanneal._core._math cimport log_double
from sklearn_subanneal.mixtures._mixture cimport Mixture


cdef double allocate_rows(
    Mixture mixture, const int32_t* rows, Py_ssize_t n, const int32_t* forced, int32_t* slots, Py_ssize_t most_clusters,
    float inverse_temperature, bitgen_t* bits
) except? -1.0 nogil:
    """Allocate rows to the clusters of a mixture, which has none at first, and return a log importance weight.

    The weight is the product of the normalisers, p(partition) p(cells | partition) / q(partition), with q the
    probability of the allocation. ``forced`` (slots of some partition, or NULL) gives a partition instead of drawing
    one; its clusters are renumbered in the order of their appearance. The slots are written to ``slots``; the labels of
    the rows stay until ``label_rows``.

    The allocation ends, unfinished, when there are more than ``most_clusters``: the result is then minus infinity.
    """
    cdef Py_ssize_t i, k
    cdef double log_product = 0.0, product = 1.0, normaliser
    cdef float top, total
    for k in range(mixture.n_clusters):
        mixture.counts[k] = 0
    mixture.n_clusters = 0
    mixture.weigh()
    mixture.rebuild_from(NULL, NULL, 0)
    if forced != NULL:
        for k in range(mixture.capacity):
            mixture.renumbered[k] = -1
    for i in range(n):
        mixture.score(rows[i])
        k = mixture.draw_slot(inverse_temperature, bits, &top, &total)
        if forced != NULL:
            if mixture.renumbered[forced[i]] < 0:
                mixture.renumbered[forced[i]] = <int32_t> mixture.n_clusters
            k = mixture.renumbered[forced[i]]
        normaliser = (i + mixture.prior.offset * mixture.n_clusters + mixture.prior.new_base
                      + mixture.prior.new_slope * mixture.n_clusters) if i else 1.0
        log_product += top
        if k >= most_clusters:
            return -INFINITY
        product *= total / normaliser
        if not 1e-200 < product < 1e200:
            log_product += log_double(product)
            product = 1.0
        slots[i] = <int32_t> k
        mixture.add(rows[i], k)
    return log_product + log_double(product)
