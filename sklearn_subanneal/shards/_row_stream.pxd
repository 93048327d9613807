"""A stream of random numbers for each row and sweep, whoever computes them: Philox, a counter-based generator.

J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw (2011), Parallel random numbers: as easy as 1, 2, 3, SC '11.
doi:10.1145/2063384.2063405. The counter is (number of the block, sweep, row), the key that of the chain.
"""
from libc.stdint cimport uint32_t, uint64_t
from numpy.random cimport bitgen_t


cdef struct RowStream:
    uint64_t row
    uint32_t sweep, n_blocks
    uint32_t key_low, key_high
    int left                # of the two 64-bit numbers of the present block
    uint64_t spare


# A bit generator whose state is the stream; ``start`` sets it to a row.
cdef void connect(bitgen_t* bits, RowStream* stream, uint64_t key, uint32_t sweep) noexcept nogil
cdef void start(RowStream* stream, uint64_t row) noexcept nogil
