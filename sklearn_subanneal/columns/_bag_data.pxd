"""Bags of words: the sparse counts of every row."""
from libc.stdint cimport int32_t, int64_t

from sklearn_subanneal.columns._base cimport ColumnData

# Bags of more words than this are long: their log densities have too many digits for float32.
cdef enum:
    LONG = 16384


cdef class BagOfWordsData(ColumnData):
    cdef const int64_t[::1] start           # where each row's words begin, and the last row's end
    cdef const int32_t[::1] word, times
    cdef const int64_t[::1] length          # words of each row, with repetition
    cdef const double[::1] reference        # subtracted from the scores of a row: 0, except where the bag is long
