"""Changes of rank two of a symmetric matrix, A + u e_j' + e_j u': determinants of many candidates, and the inverse."""
from libc.math cimport NAN

from sklearn_subanneal._core._math cimport log_double, own_doubles, simd_void


cdef struct Inverse:
    double* inverse             # A^-1
    # Of the candidates u = a g + b h + c e_j: the solutions A^-1 g, A^-1 h, and all inner products in A^-1.
    double* solved_g
    double* solved_h
    double gg, gh, hh, ge, he, ee


# out = matrix @ x. Row by row, since the additions of one inner product would have to wait for each other; four rows at
# a time save loads and stores.
cdef inline simd_void times_symmetric(
    const double* matrix, const double* x, own_doubles out, Py_ssize_t d
) noexcept nogil:
    cdef Py_ssize_t i, n_fours = d // 4
    cdef const double* row = matrix
    for i in range(d):
        out[i] = 0.0
    for _ in range(n_fours):
        for i in range(d):
            out[i] = out[i] + x[0] * row[i] + x[1] * row[d + i] + x[2] * row[2 * d + i] + x[3] * row[3 * d + i]
        row += 4 * d
        x += 4
    for _ in range(d - 4 * n_fours):
        for i in range(d):
            out[i] += x[0] * row[i]
        row += d
        x += 1


# out += a b' + c e'
cdef inline simd_void add_products(
    const double* a, const double* b, const double* c, const double* e, own_doubles out, Py_ssize_t d
) noexcept nogil:
    cdef Py_ssize_t i, n
    for i in range(d):
        for n in range(d):
            out[n] += a[i] * b[n] + c[i] * e[n]
        out += d


# Prepare for candidates; ``h`` may be NULL, and b is 0 then.
cdef inline void prepare_candidates(
    Inverse* self, const double* g, const double* h, Py_ssize_t j, Py_ssize_t d
) noexcept nogil:
    cdef Py_ssize_t i
    self.gg = self.gh = self.hh = 0.0
    times_symmetric(self.inverse, g, self.solved_g, d)
    if h != NULL:
        times_symmetric(self.inverse, h, self.solved_h, d)
        for i in range(d):
            self.gg += g[i] * self.solved_g[i]
            self.gh += g[i] * self.solved_h[i]
            self.hh += h[i] * self.solved_h[i]
    else:
        for i in range(d):
            self.solved_h[i] = 0.0
            self.gg += g[i] * self.solved_g[i]
    self.ge, self.he, self.ee = self.solved_g[j], self.solved_h[j], self.inverse[j * d + j]


cdef inline void keep_products(const Inverse* self, double* products, Py_ssize_t n) noexcept nogil:
    products[0] = self.gg
    products[n] = self.gh
    products[2 * n] = self.hh
    products[3 * n] = self.ge
    products[4 * n] = self.he
    products[5 * n] = self.ee


# Of several matrices: logs[k] = log (|A_k + u e_j' + e_j u'| / |A_k|), NaN where rounding has lost the ratio.
# ``products`` has gg, gh, hh, ge, he and ee of all matrices, one kind after the other.
cdef inline simd_void take_log_ratios(
    const double* products, double a, double b, double c, own_doubles logs, Py_ssize_t n
) noexcept nogil:
    cdef Py_ssize_t k
    cdef const double* gg = products
    cdef const double* gh = gg + n
    cdef const double* hh = gh + n
    cdef const double* ge = hh + n
    cdef const double* he = ge + n
    cdef const double* ee = he + n
    cdef double along, u, ratio
    for k in range(n):
        along = a * ge[k] + b * he[k]
        u = a * a * gg[k] + 2.0 * a * b * gh[k] + b * b * hh[k] + 2.0 * c * along + c * c * ee[k]
        ratio = 1.0 + along + c * ee[k]
        ratio = ratio * ratio - ee[k] * u
        logs[k] = log_double(ratio) if ratio > 0.0 else NAN


# Make the candidate A; its ratio must be positive. ``work`` holds 4 d values.
cdef inline void take_candidate(
    Inverse* self, double a, double b, double c, Py_ssize_t j, Py_ssize_t d, double* work
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double e = 1.0 + a * self.ge + b * self.he + c * self.ee
    cdef double u = (a * a * self.gg + 2.0 * a * b * self.gh + b * b * self.hh
                     + 2.0 * c * (a * self.ge + b * self.he) + c * c * self.ee)
    cdef double ratio = e * e - self.ee * u
    cdef double* x = work
    cdef double* y = x + d
    cdef double* by_x = y + d
    cdef double* by_y = by_x + d
    for i in range(d):
        x[i] = self.inverse[i * d + j]
        y[i] = a * self.solved_g[i] + b * self.solved_h[i] + c * x[i]
    # Woodbury's formula with the 2 x 2 matrix (u' A^-1 u, e; e, e_j' A^-1 e_j).
    for i in range(d):
        by_y[i] = (self.ee * y[i] - e * x[i]) / ratio
        by_x[i] = (u * x[i] - e * y[i]) / ratio
    add_products(by_y, y, by_x, x, self.inverse, d)
