"""Jobs that would take hours, to be interrupted: fits of every estimator, large queries, and the command line.

python tests/process/interrupted_jobs.py                  seconds from the interrupt to the end of each job
python tests/process/interrupted_jobs.py --times 10 --job fit-LDA predict-GP
python tests/process/interrupted_jobs.py --run fit-LDA    one of them, until it is interrupted
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from itertools import count
from pathlib import Path

import numpy as np

from sklearn_subanneal import (
    CrossCat,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)
from sklearn_subanneal.report.cli import main as command_line
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering

HERE = Path(__file__)
MANY = 10**6


def table(n=20_000, n_columns=8):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, n_columns)) + 4.0 * rng.integers(4, size=(n, 1))


def counts(n=5000, n_words=1000):
    rng = np.random.default_rng(0)
    words = rng.dirichlet(np.full(n_words, 0.05), 20)
    return np.array([rng.multinomial(80, shares @ words) for shares in rng.dirichlet(np.full(20, 0.2), n)])


def target(X):
    return np.sin(X[:, 0]) + 0.1 * X[:, 1]


def chains(estimator, **params):
    return estimator(n_chains=3, n_draws=MANY, **params), (table(),)


FITS = {
    "CrossCat": lambda: chains(CrossCat),
    "CrossCat-2-jobs": lambda: chains(CrossCat, n_jobs=2),
    "mixture": lambda: chains(SubsampleAnnealedDPMM),
    "full": lambda: chains(SubsampleAnnealedDPMM, covariance_type="full"),
    "full-2-jobs": lambda: chains(SubsampleAnnealedDPMM, covariance_type="full", n_jobs=2),
    "NRMM": lambda: chains(TreeGuidedNRMM),
    "LDA": lambda: (VariationalTemperingLDA(50, max_iter=MANY), (counts(),)),
    "LDA-batch": lambda: (VariationalTemperingLDA(50, max_iter=MANY, learning_method="batch", tol=0.0), (counts(),)),
    "LDA-learn": lambda: (VariationalTemperingLDA("learn", max_iter=MANY), (counts(),)),
    "FMM": lambda: (VariationalTemperingFMM(20, max_iter=MANY, n_init=MANY), (table(),)),
    "GP": lambda: (TemperedGaussianProcessRegressor(n_draws=MANY), (table(1500), target(table(1500)))),
    "GP-tempered": lambda: (
        TemperedGaussianProcessRegressor(n_draws=MANY, sampler="spt", n_jobs=2),
        (table(1500), target(table(1500))),
    ),
}
SMALL = {"n_chains": 1, "n_draws": 5, "random_state": 0}
FITTED = {
    "CrossCat": lambda: CrossCat(**SMALL).fit(table(1000)),
    "mixture": lambda: SubsampleAnnealedDPMM(**SMALL).fit(table(1000)),
    "full": lambda: SubsampleAnnealedDPMM(covariance_type="full", **SMALL).fit(table(1000)),
    "NRMM": lambda: TreeGuidedNRMM(**SMALL).fit(table(1000)),
    "LDA": lambda: VariationalTemperingLDA(20, random_state=0).fit(counts(500)),
    "FMM": lambda: VariationalTemperingFMM(10, random_state=0).fit(table(500)),
    "GP": lambda: TemperedGaussianProcessRegressor(**SMALL).fit(table(300), target(table(300))),
}
QUERIES = {
    "CrossCat": ("score_samples", "predict", "impute", "surprisal", "mutual_information", "co_clustering", "sample"),
    "mixture": ("score_samples", "predict", "transform", "impute", "sample"),
    "full": ("score_samples", "predict_proba", "impute"),
    "NRMM": ("score_samples", "predict"),
    "LDA": ("transform", "perplexity", "score"),
    "FMM": ("transform", "score_samples"),
    "GP": ("predict", "sample_y"),
}
NEW = {"LDA": lambda: counts(20_000), "FMM": lambda: table(100_000), "GP": lambda: table(50_000)}


def query(name, method):
    """A function that calls a method with many rows."""
    model, X = FITTED[name](), NEW.get(name, lambda: table(200_000))()
    own = getattr(model, method)
    arguments = {"mutual_information": (), "co_clustering": (), "sample": (MANY,)}.get(method, (X,))
    if method == "sample_y":
        arguments = (X[:3000],)
    if method == "mutual_information":
        return lambda: own([0], [1, 2], n_samples=MANY)
    return (
        (lambda: own(*arguments, return_std=True)) if (name, method) == ("GP", "predict") else lambda: own(*arguments)
    )


def run_fit(name):
    model, data = FITS[name]()
    before = dict(vars(model))
    try:
        announce()
        model.fit(*data)
    finally:
        for thread in threading.enumerate():
            if thread is not threading.main_thread():
                thread.join()
        assert vars(model) == before, "the model has changed"


def run_sampler():
    announce()
    ParallelTempering().sample(GaussianMean(table(), covariance=np.eye(8)), MANY)


def run_query(name, method):
    call = query(name, method)
    announce()
    for _ in count():
        call()


def run_report():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "table.csv")
        np.savetxt(file, table(), delimiter=",", header="a,b,c,d,e,f,g,h", comments="")
        announce()
        status = command_line(["report", str(file), "--output", str(Path(folder, "out")), "--time-limit", "3600"])
        if status == 130:
            raise KeyboardInterrupt
        raise SystemExit(f"the command line ended with {status}")


def announce():
    # In one piece, since chains print, too.
    os.write(1, b"running\n")


JOBS = {
    **{f"fit-{name}": lambda name=name: run_fit(name) for name in FITS},
    "sample-tempering": run_sampler,
    **{
        f"{method}-{name}": lambda name=name, method=method: run_query(name, method)
        for name, methods in QUERIES.items()
        for method in methods
    },
    "report": run_report,
}


def interrupted(name: str, after: float, limit: float = 60.0) -> float:
    """Seconds from the interrupt, which comes some seconds after a job has begun, to its end.

    Raises
    ------
    AssertionError
        If the job does not end as it should, or not within the limit.
    """
    job = [sys.executable, "-u", str(HERE), "--run", name]
    with subprocess.Popen(job, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            while (line := process.stdout.readline()) != "running\n":
                assert line, process.communicate()[1]
            # An interrupt before the chains ends the command at once.
            while name == "report" and not line.startswith("  h "):
                line = process.stdout.readline()
                assert line, process.communicate()[1]
            time.sleep(after)
            assert process.poll() is None, process.communicate()
            if name == "report":
                # After the first one it writes a report of what there is.
                process.send_signal(signal.SIGINT)
                time.sleep(0.2)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            left, errors = process.communicate(timeout=limit)
            assert process.returncode == 0 and left.splitlines()[-1].startswith("interrupted "), left + errors
            return float(left.split()[-1]) - begun
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--run", choices=JOBS)
    given = parser.parse_args()
    if given.run:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        warnings.simplefilter("ignore")
        try:
            JOBS[given.run]()
        except KeyboardInterrupt:
            # The clock is that of all processes.
            print("interrupted", time.monotonic(), flush=True)
        return
    moments = random.Random(0)
    for name in given.job:
        seconds = sorted(interrupted(name, moments.uniform(0.1, 4.0)) for _ in range(given.times))
        print(f"{name:28} median {seconds[len(seconds) // 2]:6.2f} s, most {seconds[-1]:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
