"""Changes of rank two of a symmetric matrix, A + u e_j' + e_j u': determinants of many candidates, and the inverse."""


cdef struct Inverse:
    double* inverse             # A^-1
    # Of the candidates u = a g + b h + c e_j: the solutions A^-1 g, A^-1 h, and all inner products in A^-1.
    double* solved_g
    double* solved_h
    double gg, gh, hh, ge, he, ee


# Prepare for candidates; ``h`` may be NULL, and b is 0 then.
cdef inline void prepare_candidates(
    Inverse* self, const double* g, const double* h, Py_ssize_t j, Py_ssize_t d
) noexcept nogil:
    cdef Py_ssize_t i, n
    cdef const double* row
    cdef double to_g, to_h
    self.gg = self.gh = self.hh = self.he = 0.0
    for i in range(d):
        row = self.inverse + i * d
        to_g = to_h = 0.0
        for n in range(d):
            to_g += row[n] * g[n]
        if h != NULL:
            for n in range(d):
                to_h += row[n] * h[n]
            self.gh += g[i] * to_h
            self.hh += h[i] * to_h
        self.gg += g[i] * to_g
        self.solved_g[i] = to_g
        self.solved_h[i] = to_h
    self.ge, self.he, self.ee = self.solved_g[j], self.solved_h[j], self.inverse[j * d + j]


# |A + u e_j' + e_j u'| / |A|; not positive where rounding has lost it.
cdef inline double determinant_ratio(const Inverse* self, double a, double b, double c) noexcept nogil:
    cdef double e = 1.0 + a * self.ge + b * self.he + c * self.ee
    cdef double u = (a * a * self.gg + 2.0 * a * b * self.gh + b * b * self.hh
                     + 2.0 * c * (a * self.ge + b * self.he) + c * c * self.ee)
    return e * e - self.ee * u


# Make the candidate A; its ratio must be positive. ``work`` holds 2 d values.
cdef inline void take_candidate(
    Inverse* self, double a, double b, double c, Py_ssize_t j, Py_ssize_t d, double* work
) noexcept nogil:
    cdef Py_ssize_t i, n
    cdef double e = 1.0 + a * self.ge + b * self.he + c * self.ee
    cdef double u = (a * a * self.gg + 2.0 * a * b * self.gh + b * b * self.hh
                     + 2.0 * c * (a * self.ge + b * self.he) + c * c * self.ee)
    cdef double ratio = e * e - self.ee * u, by_y, by_x
    cdef double* x = work
    cdef double* y = work + d
    for i in range(d):
        x[i] = self.inverse[i * d + j]
        y[i] = a * self.solved_g[i] + b * self.solved_h[i] + c * x[i]
    # Woodbury's formula with the 2 x 2 matrix (u' A^-1 u, e; e, e_j' A^-1 e_j).
    for i in range(d):
        by_y = (self.ee * y[i] - e * x[i]) / ratio
        by_x = (u * x[i] - e * y[i]) / ratio
        for n in range(d):
            self.inverse[i * d + n] += by_y * y[n] + by_x * x[n]
