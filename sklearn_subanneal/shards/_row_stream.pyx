"""Philox 4x32-10 as a bit generator with a stream for each row and sweep."""
from libc.stdint cimport uint32_t, uint64_t
from numpy.random cimport bitgen_t

import numpy as np


cdef void connect(bitgen_t* bits, RowStream* stream, uint64_t key, uint32_t sweep) noexcept nogil:
    stream.key_low, stream.key_high = <uint32_t> key, <uint32_t> (key >> 32)
    stream.sweep = sweep
    start(stream, 0)
    bits.state = <void*> stream
    bits.next_uint64 = next_uint64
    bits.next_uint32 = next_uint32
    bits.next_double = next_double
    bits.next_raw = next_uint64


cdef void start(RowStream* stream, uint64_t row) noexcept nogil:
    stream.row = row
    stream.n_blocks = 0
    stream.left = 0


cdef uint64_t next_uint64(void* state) noexcept nogil:
    cdef RowStream* s = <RowStream*> state
    cdef uint32_t[4] out
    if s.left:
        s.left = 0
        return s.spare
    philox(s.n_blocks, s.sweep, <uint32_t> s.row, <uint32_t> (s.row >> 32), s.key_low, s.key_high, out)
    s.n_blocks += 1
    s.left = 1
    s.spare = (<uint64_t> out[2] << 32) | out[3]
    return (<uint64_t> out[0] << 32) | out[1]


cdef uint32_t next_uint32(void* state) noexcept nogil:
    return <uint32_t> (next_uint64(state) >> 32)


cdef double next_double(void* state) noexcept nogil:
    return (next_uint64(state) >> 11) * 1.1102230246251565e-16


cdef inline void philox(
    uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t key_low, uint32_t key_high, uint32_t* out
) noexcept nogil:
    cdef uint64_t first, second
    cdef int _
    for _ in range(10):
        first = <uint64_t> 0xD2511F53 * a
        second = <uint64_t> 0xCD9E8D57 * c
        a = <uint32_t> (second >> 32) ^ b ^ key_low
        b = <uint32_t> second
        c = <uint32_t> (first >> 32) ^ d ^ key_high
        d = <uint32_t> first
        key_low += <uint32_t> 0x9E3779B9
        key_high += <uint32_t> 0xBB67AE85
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d


def random_words(counter, key):
    """The four words of a counter of four words and a key of two, for tests."""
    cdef uint32_t[4] out
    philox(counter[0], counter[1], counter[2], counter[3], key[0], key[1], out)
    return [out[i] for i in range(4)]


def uniforms(uint64_t key, uint32_t sweep, uint64_t row, Py_ssize_t n):
    """The first n uniform numbers of a row."""
    cdef bitgen_t bits
    cdef RowStream stream
    connect(&bits, &stream, key, sweep)
    start(&stream, row)
    return np.array([bits.next_double(bits.state) for _ in range(n)])
