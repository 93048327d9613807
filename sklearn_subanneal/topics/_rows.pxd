"""Vectorised loops over topics, in float32 and float64, for each level of the instruction set."""
from libc.math cimport sqrt

from sklearn_subanneal._core._math cimport LANES, exp_double, exp_float, log_double, log_float, simd_void
from sklearn_subanneal.topics._digamma cimport digamma_double, reciprocals_float, shifted_float

ctypedef fused real:
    float
    double


cdef inline simd_void set_factors(
    const real* gamma, Py_ssize_t n, real rho, bint digamma, real largest, real least, real* out
) noexcept nogil:
    """exp(rho (psi(gamma) - psi(largest))), or (gamma / largest)^rho; float32 is held at exp(least) from below."""
    cdef Py_ssize_t k
    cdef real shift, scale, smallest, factor
    if real is float:
        smallest = exp_float(least, least)
        if digamma:
            shift = reciprocals_float(largest)
            scale = <float> 1.0 / shifted_float(largest)
            if rho == 1.0:
                for k in range(n):
                    factor = scale * shifted_float(gamma[k]) * exp_float(shift - reciprocals_float(gamma[k]), least)
                    out[k] = factor if factor > smallest else smallest
            else:
                for k in range(n):
                    out[k] = exp_float(
                        rho * (log_float(scale * shifted_float(gamma[k])) + shift - reciprocals_float(gamma[k])), least
                    )
        else:
            scale = <float> 1.0 / largest
            if rho == 1.0:
                for k in range(n):
                    out[k] = scale * gamma[k] if scale * gamma[k] > smallest else smallest
            else:
                for k in range(n):
                    out[k] = exp_float(rho * log_float(scale * gamma[k]), least)
    else:
        if digamma:
            shift = digamma_double(largest)
            for k in range(n):
                out[k] = exp_double(rho * (digamma_double(gamma[k]) - shift))
        else:
            scale = 1.0 / largest
            if rho == 1.0:
                for k in range(n):
                    out[k] = scale * gamma[k]
            else:
                for k in range(n):
                    out[k] = exp_double(rho * log_double(scale * gamma[k]))


cdef inline simd_void temper_row(const real* logs, Py_ssize_t n, real rho, real least, real* out) noexcept nogil:
    """exp(rho (log - the largest log)); float32 is held at exp(least) from below."""
    cdef Py_ssize_t k
    cdef real largest = logs[0]
    for k in range(1, n):
        largest = logs[k] if logs[k] > largest else largest
    if real is float:
        for k in range(n):
            out[k] = exp_float(rho * (logs[k] - largest), least)
    else:
        for k in range(n):
            out[k] = exp_double(rho * (logs[k] - largest))


cdef inline simd_void copy_row(const real* weights, Py_ssize_t n, real smallest, real* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = smallest if weights[k] < smallest else weights[k]


cdef inline real total(const real* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k = 0, lane
    cdef real[LANES] sums
    for lane in range(LANES):
        sums[lane] = 0.0
    while k < n:
        for lane in range(LANES):
            sums[lane] += x[k + lane]
        k += LANES
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))


cdef inline real maximum(const real* x, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t k = 0, lane
    cdef real[LANES] tops
    cdef real top
    for lane in range(LANES):
        tops[lane] = x[lane]
    while k < n:
        for lane in range(LANES):
            tops[lane] = x[k + lane] if x[k + lane] > tops[lane] else tops[lane]
        k += LANES
    top = tops[0]
    for lane in range(1, LANES):
        top = tops[lane] if tops[lane] > top else top
    return top


cdef inline simd_void update(
    const real* prior, const real* factors, const real* totals, Py_ssize_t width, real negligible, real* gamma,
    real* change, real* space, real* summary
) noexcept nogil:
    """gamma = prior + factors totals. Summary: how far it moved, its largest element, how many excesses are small."""
    cdef Py_ssize_t k
    cdef real excess, moved
    # In short loops: with more arrays in one, GCC finds too many that could overlap, and does not vectorise.
    for k in range(width):
        excess = factors[k] * totals[k]
        space[k] = <real> 1.0 if excess < negligible else <real> 0.0
        change[k] = excess + prior[k]
    summary[2] = total(space, width)
    for k in range(width):
        excess = change[k]
        moved = excess - gamma[k]
        gamma[k] = excess
        change[k] = moved
    for k in range(width):
        space[k] = change[k] if change[k] > 0 else -change[k]
    summary[0] = total(space, width)
    summary[1] = maximum(gamma, width)


cdef inline simd_void find_needed(
    const real* factors, const real* totals, const real* edge_factors, Py_ssize_t width, real negligible, real* needed,
    real* summary
) noexcept nogil:
    """1 for topics that a document may still use, and how many these are (third in the summary); 0 for others.

    A topic is not needed if its expected number of tokens is negligible, and the update maps all such numbers to below
    half of that.
    """
    cdef Py_ssize_t k
    cdef real half = <real> 0.5 * negligible, largest
    for k in range(width):
        largest = edge_factors[k] * totals[k]
        needed[k] = <real> 1.0 if factors[k] * totals[k] >= negligible else <real> 0.0
        needed[k] = <real> 1.0 if largest >= half else needed[k]
    summary[2] = total(needed, width)


cdef inline simd_void extrapolate(
    const real* prior, const real* first, const real* second, Py_ssize_t width, real longest, real* gamma, real* space,
    real* summary
) noexcept nogil:
    """Go on from gamma, after its changes ``first`` and ``second`` by two updates, to where updates seem to lead.

    Scheme S3 of Varadhan and Roland (2008), with steps from 1, which changes nothing, to ``longest``; no excess over
    the prior falls to below a quarter. Summary: the largest element of gamma.
    """
    cdef Py_ssize_t k
    cdef real step, along_first, along_second, x, least
    for k in range(width):
        space[k] = first[k] * first[k]
    step = total(space, width)
    for k in range(width):
        x = second[k] - first[k]
        space[k] = x * x
    x = total(space, width)
    step = step / x if step < x * longest * longest else longest * longest
    step = sqrt(step) if step > 1 else <real> 1.0
    along_first, along_second = (step + step - 1) - step * step, step * step - 1
    for k in range(width):
        space[k] = along_first * first[k] + along_second * second[k]
    for k in range(width):
        x = gamma[k] + space[k]
        least = prior[k] + <real> 0.25 * (gamma[k] - prior[k])
        gamma[k] = x if x > least else least
    summary[1] = maximum(gamma, width)


cdef inline simd_void add_scaled(const real* row, real scale, Py_ssize_t n, real* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += scale * row[k]


cdef inline simd_void add_product(const real* a, const real* b, real scale, Py_ssize_t n, real* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] += scale * (a[k] * b[k])


cdef inline simd_void add_prior(const real* statistics, real scale, real prior, Py_ssize_t n, real* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = scale * statistics[k] + prior


cdef inline simd_void multiply(const real* factors, Py_ssize_t n, real* out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] *= factors[k]


cdef inline simd_void set_logs(
    const real* x, const real* offsets, Py_ssize_t n, bint digamma, real* out
) noexcept nogil:
    """psi(x) + offsets, or log(x) + offsets."""
    cdef Py_ssize_t k
    if real is float:
        if digamma:
            for k in range(n):
                out[k] = (log_float(shifted_float(x[k])) - reciprocals_float(x[k])) + offsets[k]
        else:
            for k in range(n):
                out[k] = log_float(x[k]) + offsets[k]
    else:
        if digamma:
            for k in range(n):
                out[k] = digamma_double(x[k]) + offsets[k]
        else:
            for k in range(n):
                out[k] = log_double(x[k]) + offsets[k]


cdef inline simd_void set_exp_digamma(const real* x, Py_ssize_t n, real rho, real least, real* out) noexcept nogil:
    """exp(rho psi(x)); float32 is held at exp(least) from below."""
    cdef Py_ssize_t k
    if real is float:
        for k in range(n):
            out[k] = exp_float(rho * (log_float(shifted_float(x[k])) - reciprocals_float(x[k])), least)
    else:
        for k in range(n):
            out[k] = exp_double(rho * digamma_double(x[k]))


cdef inline simd_void set_log_reciprocals(const real* x, Py_ssize_t n, double* out) noexcept nogil:
    """-log(x), in float64."""
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = -log_double(<double> x[k])
