"""Throughput of the local step of topic models, against scikit-learn's and against the bandwidth of loads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from _common import Clock, find_data, note, parser, report, skip, spread
from scipy.sparse import csr_matrix
from scipy.special import digamma
from sklearn.decomposition._lda import _update_doc_distribution
from threadpoolctl import threadpool_limits

from sklearn_subanneal.topics._fit_documents import fit_documents, sweeps
from sklearn_subanneal.topics._word_tables import add_to_rows, distinct_words, tempered, word_weights

N_TOPICS, TOLERANCE, MAX_ITER = 100, 1e-3, 100
# corpus: file, batch and passes of the training, documents timed
CORPORA = {
    "arxiv": ("arxiv/arxiv_bow_40k.npz", 512, 5, 2000),
    "nips": ("nips/nips_uci_1500x7605.npz", 64, 12, 300),
}
BARS = {"arxiv": 10.0, "nips": 5.0, "share_of_load_bandwidth": 0.5, "two_threads_arxiv": 1.7}
GOALS = {"arxiv": 20.0, "nips": 8.0}
KIBIBYTES = (16, 256, 4096)
# Enough parallel sums to hide the latency of an addition; the barrier prevents removal of the loop.
LOADS = """
#include <stdlib.h>
#include <time.h>
typedef float V __attribute__((vector_size(32)));
__attribute__((target("avx2"))) double gigabytes(long kib) {
    long n = kib * 256, repeats = (2L << 30) / (n * 4);
    float *p = aligned_alloc(64, n * 4);
    V s[8] = {{0}};
    struct timespec a, b;
    for (long i = 0; i < n; i++) p[i] = 1;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
    for (long r = 0; r < repeats; r++) {
        for (long i = 0; i < n; i += 64)
            for (int j = 0; j < 8; j++) s[j] += *(V*) (p + i + 8 * j);
        __asm__ volatile("" ::: "memory");
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
    for (int j = 1; j < 8; j++) s[0] += s[j];
    volatile float used = s[0][0];
    (void) used;
    free(p);
    return 4e-9 * n * repeats / ((b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec));
}
"""


def load(path: Path) -> csr_matrix:
    stored = np.load(path)
    return csr_matrix(
        (stored["data"].astype(np.float32), stored["indices"], stored["indptr"]), shape=tuple(stored["shape"])
    )


def train(documents: csr_matrix, batch: int, n_passes: int, seed: int) -> np.ndarray:
    """Statistics of topics (n_words, n_topics) by annealed stochastic inference with plug-in topics."""
    rng = np.random.default_rng(seed)
    (n_documents, n_words), prior = documents.shape, 1 / N_TOPICS
    statistics = rng.gamma(100, 0.01, (n_words, N_TOPICS)).astype(np.float32)
    scale, totals = 1.0, statistics.sum(axis=0, dtype=float)
    n_steps, step = n_passes * -(-n_documents // batch), 0
    for _ in range(n_passes):
        order = rng.permutation(n_documents)
        for at in range(0, n_documents, batch):
            part = documents[order[at : at + batch]]
            progress = step / n_steps
            rho = 1 / (1.6 - 0.6 * min(1.0, progress / 0.5))
            words, places = distinct_words(part.indices, n_words)
            eta = np.full(len(words), prior)
            weights = word_weights(statistics, words, scale, eta, totals + n_words * prior, "plug-in", rho)
            lengths = np.asarray(part.sum(axis=1))
            gamma = np.repeat(prior + rho * lengths / N_TOPICS, N_TOPICS, axis=1).astype(np.float32)
            sums = np.zeros_like(weights)
            fit_documents(
                part.indptr, places, part.data, weights, gamma, np.full(N_TOPICS, prior), rho, 15, TOLERANCE, sums
            )
            share = part.shape[0] / n_documents
            move = 1 - np.exp(-2 * 0.25**progress * share)
            scale *= 1 - move
            add_to_rows(statistics, words, sums, move / share / scale)
            totals = (1 - move) * totals + move / share * sums.sum(axis=0, dtype=float)
            step += 1
    return scale * statistics


class Problem:
    """Documents, and the log weights of words under trained topics, for both implementations."""

    def __init__(self, documents: csr_matrix, statistics: np.ndarray):
        total = statistics.astype(float) + 1 / N_TOPICS
        logs = digamma(total) - digamma(total.sum(axis=0))
        self.documents = documents
        self.weights = tempered(np.ascontiguousarray(logs, np.float32), 1.0)
        self.topics = np.ascontiguousarray(np.exp(logs).T)

    def ours(self, n_threads: int = 1, drop: float = 0.1) -> np.ndarray:
        gamma = np.ones((self.documents.shape[0], N_TOPICS), np.float32)
        given = self.documents.indptr, self.documents.indices, self.documents.data, self.weights, gamma
        self.n_iter = fit_documents(
            *given,
            np.full(N_TOPICS, 1 / N_TOPICS),
            1.0,
            MAX_ITER,
            TOLERANCE,
            np.zeros_like(self.weights),
            n_threads,
            drop=drop,
        )
        return gamma

    def theirs(self, dtype=np.float32) -> np.ndarray:
        documents, topics = self.documents.astype(dtype), self.topics.astype(dtype)
        with Clock() as self.clock:
            gamma, _ = _update_doc_distribution(
                documents, topics, 1 / N_TOPICS, MAX_ITER, TOLERANCE, cal_sstats=True, random_state=None
            )
        return gamma


def bandwidth() -> dict | None:
    """GB per second of float32 loads from buffers of several sizes; None without a C compiler."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "loads.c"), Path(folder, "loads.so")
        source.write_text(LOADS)
        try:
            command = ["cc", "-O3", "-fno-math-errno", "-shared", "-fPIC", str(source), "-o", str(library)]
            subprocess.run(command, check=True, capture_output=True)
            gigabytes = ctypes.CDLL(str(library)).gigabytes
        except (OSError, subprocess.CalledProcessError):
            return None
        gigabytes.restype, gigabytes.argtypes = ctypes.c_double, [ctypes.c_long]
        return {size: gigabytes(size) for size in KIBIBYTES}


def aligned(values: np.ndarray) -> np.ndarray:
    """The values in float32, aligned to a cache line as in the kernel."""
    space = np.empty(values.size + 16, np.float32)
    start = -space.ctypes.data // 4 % 16
    out = space[start : start + values.size].reshape(values.shape)
    out[...] = values
    return out


def inner_loop(n_words: int, repeats: int) -> dict:
    """Cells (word, topic) per second of the inner loop, and the limit given by the measured load bandwidth.

    A cell is loaded twice: once from where the document's table is, and once more from the cache of level 1.
    """
    rng = np.random.default_rng(0)
    width = -(-N_TOPICS // 8) * 8
    arrays = [aligned(array) for array in (rng.random((n_words, width)), np.ones(n_words), rng.random(width))]
    cells, rates = n_words * width, []
    n_sweeps = int(2e8 / cells) + 1
    for _ in range(repeats):
        loads = bandwidth()
        with Clock() as clock:
            sweeps(*arrays, n_sweeps)
        allowed = None
        if loads is not None:
            kibibytes = 4 * cells / 1024
            level = 16 if kibibytes < 28 else 256 if kibibytes < 400 else 4096
            allowed = 1 / (4 / loads[level] + 4 / loads[16])
        rates.append((cells * n_sweeps / clock.cpu / 1e9, allowed, loads))
    speeds = [rate for rate, _, _ in rates]
    out = {"n_words": n_words, "table_kib": round(4 * cells / 1024, 1), "gigacells_per_second": spread(speeds)}
    if rates[0][1] is not None:
        out["bound"] = spread([allowed for _, allowed, _ in rates])
        out["share_of_bound"] = spread([rate / allowed for rate, allowed, _ in rates])
        out["load_gigabytes_per_second"] = {size: spread([loads[size] for _, _, loads in rates]) for size in KIBIBYTES}
    return out


@contextmanager
def ahead(wanted: bool):
    """Run with priority over all other work on the machine, for less than a second; then pause."""
    if wanted:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        if wanted:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            time.sleep(0.5)


def two_threads(problem: Problem, n_pairs: int, first: bool) -> dict:
    """Speed-up of two threads over one in wall time, by pairs of consecutive measurements."""
    ratios = []
    for _ in range(n_pairs):
        seconds = []
        for n_threads in (1, 2):
            with ahead(first):
                problem.ours(n_threads)
                walls = []
                for _ in range(4):
                    with Clock() as clock:
                        problem.ours(n_threads)
                    walls.append(clock.wall)
            seconds.append(np.median(walls))
        ratios.append(seconds[0] / seconds[1])
    return spread(ratios)


def compare(name: str, arguments) -> dict | None:
    file, batch, n_passes, n_timed = CORPORA[name]
    path = find_data(arguments.data, *file.split("/"))
    if path is None:
        return None
    documents = load(path)
    if arguments.quick:
        n_passes, n_timed = 1, 50
    note(f"{name}: training {N_TOPICS} topics")
    statistics = train(documents, batch, n_passes, 0)
    rows = np.sort(np.random.default_rng(1).permutation(documents.shape[0])[:n_timed])
    problem = Problem(documents[rows], statistics)
    n = problem.documents.shape[0]
    cpu = {"ours": [], "ours, all topics kept": [], "scikit-learn": []}
    exact = problem.theirs(np.float64)
    errors = {"ours": problem.ours() - exact, "scikit-learn": problem.theirs() - exact}
    for repeat in range(arguments.repeats):
        note(f"{name}: {repeat + 1} of {arguments.repeats}")
        for _ in range(3):
            for kind, run in (("ours", problem.ours), ("ours, all topics kept", lambda: problem.ours(drop=0.0))):
                with Clock() as clock:
                    run()
                cpu[kind].append(clock.cpu)
        problem.theirs()
        cpu["scikit-learn"].append(problem.clock.cpu)
    median = {kind: float(np.median(seconds)) for kind, seconds in cpu.items()}
    return {
        "documents": n,
        "words_a_document": problem.documents.nnz / n,
        "iterations": float(problem.n_iter.mean()),
        "documents_per_cpu_second": {kind: spread(n / np.array(seconds)) for kind, seconds in cpu.items()},
        "times_scikit_learn": median["scikit-learn"] / median["ours"],
        "two_threads": two_threads(problem, 5 * arguments.repeats, arguments.ahead),
        "median_error_of_gamma_against_float64": {
            kind: float(np.median(np.abs(error).max(axis=1))) for kind, error in errors.items()
        },
    }


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--data", help="folder with nips/ and arxiv/")
    given.add_argument("--repeats", type=int, default=5, help="number of interleaved timings; the median is reported")
    given.add_argument("--ahead", action="store_true", help="give the threads priority over other work (Linux, root)")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.repeats = 1
    with threadpool_limits(1):
        results = {name: figures for name in CORPORA if (figures := compare(name, arguments)) is not None}
    if not results:
        skip("lda_e_step", arguments, "neither arxiv/ nor nips/ was found below --data or $SUBANNEAL_DATA")
        return
    results["inner_loop"] = [inner_loop(n_words, arguments.repeats) for n_words in (56, 472)]
    report("lda_e_step", arguments, results, bars={"at_least": BARS, "goals": GOALS})


if __name__ == "__main__":
    main()
