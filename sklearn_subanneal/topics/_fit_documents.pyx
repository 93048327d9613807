"""The compiled local step of topic models: variational distributions of documents for given word weights."""
from libc.stdint cimport int32_t, int64_t

import numpy as np

from sklearn_subanneal._core._math cimport padded
from sklearn_subanneal.topics._document cimport fit_range
from sklearn_subanneal.topics._problem cimport Limits, Problem, address, limits_of
from sklearn_subanneal.topics._rows cimport real
from sklearn_subanneal.topics._statistics cimport add_statistics, sort_by_word
from sklearn_subanneal.topics._word_blocks cimport Blocks, blocks_of, fill, lanes_of, rows_of, sweep

from sklearn_subanneal.annealing.threads import share_tasks

cdef enum:
    # Statistics are summed by blocks of documents, for any number of threads: memory is bounded, and the factors of a
    # block are still in the cache when its words are summed.
    DOCUMENTS_A_BLOCK = 2048
    DOCUMENTS_A_TASK = 16
    WORD_TASKS = 16


cdef class _LocalStep:
    # The arrays of one call, and the tasks that threads share.
    cdef Problem problem
    cdef bint single
    cdef object arrays
    cdef Py_ssize_t stop, n_words
    cdef object word_bounds

    def documents(self, number):
        """Task 0 is the order of the block's entries by word, which waits for nothing; the others are documents."""
        if number == 0:
            if self.problem.statistics != NULL:
                with nogil:
                    sort_by_word(&self.problem, self.stop, self.n_words)
            return
        cdef Py_ssize_t first = self.problem.start + DOCUMENTS_A_TASK * (<Py_ssize_t> number - 1)
        cdef Py_ssize_t stop = min(first + DOCUMENTS_A_TASK, self.stop)
        cdef Limits limits = limits_of(self.single)
        cdef int failed
        with nogil:
            if self.single:
                failed = fit_range(&self.problem, first, stop, &limits, <float> 0.0)
            else:
                failed = fit_range(&self.problem, first, stop, &limits, <double> 0.0)
        if failed:
            raise MemoryError("no memory for the table of a document's words")

    def words(self, number):
        cdef Py_ssize_t first = self.word_bounds[number], stop = self.word_bounds[number + 1]
        cdef Limits limits = limits_of(self.single)
        cdef int failed
        with nogil:
            if self.single:
                failed = add_statistics(&self.problem, first, stop, &limits, <float> 0.0)
            else:
                failed = add_statistics(&self.problem, first, stop, &limits, <double> 0.0)
        if failed:
            raise MemoryError("no memory for the statistics of a word")


def fit_documents(
    indptr, indices, counts, weights, gamma, prior, inverse_temperature, max_iter, tol, statistics=None, n_threads=1,
    factor="digamma", log_weights=False, drop=0.1, settled=0.0,
):
    """Variational distributions of documents over topics, by coordinate updates at fixed topics and temperature.

    With rho the inverse temperature, until gamma moves by less than ``tol`` a topic on average:

        phi_dvk prop. to f_dk weights_vk,   f_dk = exp(rho (psi(gamma_dk) - psi(sum_j gamma_dj)))
        gamma_dk = prior_k + rho sum_v counts_dv phi_dvk

    Parameters
    ----------
    indptr : array of int, shape (n_documents + 1,)
    indices : array of int32, shape (n_entries,)
        Rows of ``weights``; with ``indptr`` and ``counts`` the CSR form of the documents. A document names no word
        twice, or it counts as two words.
    counts : array, shape (n_entries,)
        Not negative.
    weights : array of float32 or float64, shape (n_words, n_topics), C-contiguous
        Of each word under each topic, tempered: E[beta]^rho or exp(rho E[log beta]). A row may be scaled by any
        positive number. Its type is that of all computations.
    gamma : array of the same type, shape (n_documents, n_topics), C-contiguous
        Where to start, positive; the result is written over it.
    prior : array, shape (n_topics,)
        Positive.
    inverse_temperature : float or array, shape (n_documents,)
        One for each document demands ``log_weights``.
    max_iter : int
    tol : float
    statistics : array of the same type, shape (n_words, n_topics), C-contiguous, or None
        ``rho_d counts_dv phi_dvk`` is added to it, summed over documents in their order.
    n_threads : int, default=1
        The results have the same bits for any number.
    factor : {"digamma", "mean"}, default="digamma"
        "mean": f_dk = gamma_dk^rho instead, as in zeroth-order collapsed inference.
    log_weights : bool, default=False
        ``weights`` are untempered logarithms, log E[beta] or E[log beta]; each document raises them to its own
        inverse temperature.
    drop : float, default=0.1
        A topic is left out of a document's further updates, and its gamma is its prior, once its expected number of
        tokens is below ``drop * tol`` and the update maps all such numbers to below half of that. 0: never.
    settled : float, default=0.0
        Once an update moves less than this share of a document's tokens, every second update is extrapolated [2]_.
        Those before decide to which fixed point the document goes. 0: never.

    Returns
    -------
    n_iter : array of int32, shape (n_documents,)
        Iterations that each document took; 0 without words, where gamma is the prior.

    Notes
    -----
    The normaliser of phi is a dot product, and phi is never stored [1]_. Only the ratios of a document's f and of a
    word's weights matter, so both are scaled to a largest element of 1; in float32 they are held at exp(-40) from
    below (weights only if ``log_weights``), so that no product is denormal.

    References
    ----------
    .. [1] M. Hoffman, D. Blei, F. Bach: Online Learning for Latent Dirichlet Allocation. NIPS 23, 2010, section 2.
    .. [2] R. Varadhan, C. Roland: Simple and Globally Convergent Methods for Accelerating the Convergence of Any EM
       Algorithm. Scandinavian Journal of Statistics 35, 2008, section 4, scheme S3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics._fit_documents import fit_documents
    >>> weights = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> gamma = np.ones((2, 2))
    >>> n_iter = fit_documents([0, 1, 2], [0, 1], [3.0, 5.0], weights, gamma, [0.5, 0.5], 1.0, 100, 1e-6)
    >>> gamma.round(2)
    array([[3.48, 0.52],
           [0.52, 5.48]])
    """
    cdef _LocalStep step = _LocalStep()
    cdef Problem* problem = &step.problem
    cdef Py_ssize_t n_documents, n_words, n_topics, start, entries
    dtype = weights.dtype
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"weights must be float32 or float64, got {dtype}: convert them")
    step.single = dtype == np.float32
    if weights.ndim != 2 or not weights.shape[1]:
        raise ValueError(f"weights must have two dimensions and at least one topic, got shape {weights.shape}")
    n_words, n_topics = weights.shape
    step.n_words = n_words
    indptr = np.ascontiguousarray(indptr, np.int64)
    n_documents = len(indptr) - 1
    indices = np.ascontiguousarray(indices, np.int32)
    counts = np.ascontiguousarray(counts, dtype)
    prior = np.ascontiguousarray(prior, dtype)
    rho = np.atleast_1d(np.ascontiguousarray(inverse_temperature, np.float64))
    for name, array, shape in (
        ("weights", weights, (n_words, n_topics)), ("gamma", gamma, (n_documents, n_topics)),
        ("statistics", statistics, (n_words, n_topics)),
    ):
        if array is None:
            continue
        if array.dtype != dtype or array.shape != shape or not array.flags.c_contiguous:
            raise ValueError(
                f"{name} must be {dtype} of shape {shape} in C order, got {array.dtype} of shape {array.shape} with "
                f"strides {array.strides}: use numpy.ascontiguousarray"
            )
        if name != "weights" and not array.flags.writeable:
            raise ValueError(f"{name} must be writeable, the result goes there: give a copy")
    if prior.shape != (n_topics,):
        raise ValueError(f"prior must have one value a topic, {n_topics}, got shape {prior.shape}")
    ordered = indptr[0] >= 0 and indptr[n_documents] <= len(indices) and (np.diff(indptr) >= 0).all()
    if indices.shape != counts.shape or not ordered:
        raise ValueError("indptr, indices and counts must be those of a CSR matrix")
    if len(indices) and not 0 <= indices.min() <= indices.max() < n_words:
        raise ValueError(f"indices must be rows of weights, 0 to {n_words - 1}")
    each = np.ndim(inverse_temperature) > 0
    if each and (not log_weights or rho.shape != (n_documents,)):
        raise ValueError(
            "inverse_temperature must be a number, or one for each document with log_weights=True, "
            f"got shape {rho.shape} for {n_documents} documents"
        )
    for name, array in (("gamma", gamma), ("prior", prior), ("inverse_temperature", rho)):
        if array.size and not array.min() > 0:
            raise ValueError(f"{name} must be positive, got {array.min()}")
    if counts.size and not counts.min() >= 0:
        raise ValueError(f"counts must not be negative, got {counts.min()}")
    if factor not in ("digamma", "mean"):
        raise ValueError(f"factor must be 'digamma' or 'mean', got {factor!r}")
    n_iter = np.zeros(n_documents, np.int32)
    step.arrays = (indptr, indices, counts, weights, gamma, prior, rho, statistics, n_iter)
    problem.indptr, problem.indices = <const int64_t*> address(indptr), <const int32_t*> address(indices)
    problem.counts, problem.weights, problem.prior = address(counts), address(weights), address(prior)
    problem.inverse_temperature = <const double*> address(rho)
    problem.gamma, problem.n_iter = address(gamma), <int32_t*> address(n_iter)
    problem.statistics = problem.factors = problem.ratios = NULL
    problem.n_topics, problem.max_iter, problem.tol, problem.negligible = n_topics, max_iter, tol, drop * tol
    problem.settled = settled
    problem.each, problem.logarithms, problem.digamma = each, log_weights, factor == "digamma"
    if statistics is not None and n_documents:
        block = min(DOCUMENTS_A_BLOCK, n_documents)
        entries = max(
            indptr[min(start + block, n_documents)] - indptr[start] for start in range(0, n_documents, block)
        )
        factors, ratios = np.empty((block, padded(n_topics)), dtype), np.empty(entries, dtype)
        word_starts = np.empty(n_words + 1, np.int64)
        entry_documents, entry_places = np.empty(entries, np.int32), np.empty(entries, np.int64)
        step.arrays += (factors, ratios, word_starts, entry_documents, entry_places)
        problem.statistics, problem.factors, problem.ratios = address(statistics), address(factors), address(ratios)
        problem.word_starts, problem.entries = <int64_t*> address(word_starts), <int64_t*> address(entry_places)
        problem.entry_documents = <int32_t*> address(entry_documents)
    for start in range(0, n_documents, DOCUMENTS_A_BLOCK):
        problem.start, step.stop = start, min(start + DOCUMENTS_A_BLOCK, n_documents)
        share_tasks(step.documents, 1 + (step.stop - start + DOCUMENTS_A_TASK - 1) // DOCUMENTS_A_TASK, n_threads)
        if statistics is not None:
            shares = np.linspace(0, word_starts[n_words], WORD_TASKS + 1)
            bounds = np.searchsorted(word_starts, shares[1:WORD_TASKS])
            step.word_bounds = [0, *bounds.tolist(), n_words]
            share_tasks(step.words, WORD_TASKS, n_threads)
    return n_iter


def sweeps(const real[:, ::1] table, const real[::1] counts, const real[::1] factors, Py_ssize_t repeat=1):
    """The inner loop alone, for tests and benchmarks: counts / normalisers, and the sums of the words by topic.

    Parameters
    ----------
    table : array of float32 or float64, shape (n_words, n_topics)
        Weights; one word and one topic at least.
    counts : array of the same type, shape (n_words,)
    factors : array of the same type, shape (n_topics,)
    repeat : int, default=1
        How often it is done.

    Returns
    -------
    ratios : array of the same type, shape (n_words,)
    totals : array of the same type, shape (n_topics,)
    """
    cdef Py_ssize_t n = table.shape[0], n_topics = table.shape[1], _
    if n == 0 or n_topics == 0 or counts.shape[0] != n or factors.shape[0] != n_topics:
        raise ValueError(f"counts and factors must fit the table, which must not be empty, got {(n, n_topics)}")
    dtype = np.float32 if real is float else np.float64
    cdef Limits limits = limits_of(real is float)
    cdef Blocks blocks = blocks_of(n, n_topics, <real> 0.0)
    cdef Py_ssize_t rows = rows_of(blocks, <real> 0.0), lanes = lanes_of(<real> 0.0)
    words, topics = np.arange(n, dtype=np.int32), np.zeros(padded(n_topics), np.int32)
    ratios, totals = np.empty(rows, dtype), np.empty(padded(n_topics), dtype)
    spaces = [np.zeros(size, dtype) for size in (rows, (lanes + 1) * padded(n_topics), rows * n_topics + 16)]
    start = -spaces[2].ctypes.data // spaces[2].itemsize % 16
    topics[:n_topics], spaces[0][:n] = np.arange(n_topics), counts
    cdef const int32_t[::1] word = words, topic = topics
    cdef real[::1] ratio = ratios, total = totals, given = spaces[0], space = spaces[1], filled = spaces[2][start:]
    cdef Problem problem
    problem.weights, problem.n_topics, problem.logarithms = <void*> &table[0, 0], n_topics, False
    with nogil:
        fill(&problem, &word[0], n, blocks, <real> 1.0, &limits, &space[0], &filled[0])
        for _ in range(repeat):
            sweep(
                &filled[0], &given[0], blocks, n_topics, &topic[0], n_topics, &factors[0], <real> 1.0,
                <real> limits.tiny, &ratio[0], &space[0], &total[0],
            )
    return ratios[:n], totals[:n_topics]
