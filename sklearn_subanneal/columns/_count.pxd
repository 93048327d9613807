"""A column of counts."""
cimport cython
from libc.stdint cimport int32_t

from sklearn_subanneal.columns._additive cimport AdditiveStatistics
from sklearn_subanneal.columns._base cimport ColumnData


cdef struct Tally:
    double count            # of the cells: a number without fraction, as their sum
    double total
    double log_factorials   # the sum of log x! over the cells


cdef struct GammaPrior:
    double shape, rate


cdef class CountData(ColumnData):
    cdef const int32_t[::1] cells


@cython.final
cdef class CountStatistics(AdditiveStatistics):
    cdef const int32_t* cells
    cdef Tally* tally
    cdef GammaPrior* prior
    # p(x | k) in float64 (counts may be large): log_gamma(x + a) + constant - x slope - log x!
    cdef double* posterior_shape
    cdef double* slope
    cdef double* constant
