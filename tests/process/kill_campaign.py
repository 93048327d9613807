"""Kill fits by SIGKILL at random moments, and compare what they resume to with fits that nobody killed, bit for bit.

Each fit runs in a child process, with checkpoints; it is killed once or several times, resumed, and ends. A kill counts
if it hit the fit before its end. The moments follow from a seed; where they hit depends on the machine.

    python tests/process/kill_campaign.py                       100 kills of each estimator
    python tests/process/kill_campaign.py --kills 500 --estimator LDA FMM
"""

from __future__ import annotations

import argparse
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sklearn_subanneal import (
    Checkpoint,
    CrossCat,
    SubsampleAnnealedDPMM,
    TemperedGaussianProcessRegressor,
    TreeGuidedNRMM,
    VariationalTemperingFMM,
    VariationalTemperingLDA,
)
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.tempering import GaussianMean, ParallelTempering

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(90, 4)) + 3.0 * RNG.integers(3, size=(90, 1))
COUNTS = RNG.poisson(RNG.gamma(0.3, 2.0, (4, 80))[RNG.integers(4, size=300)])
SUMS = (RNG.random((400, 5)) < 0.4) @ RNG.normal(size=(5, 12)) + 0.5 * RNG.normal(size=(400, 12))
TARGET = np.sin(TABLE[:40, 0])
# Seconds after which a child hangs.
LIMIT = 60.0
# Most kills of one fit.
MOST_KILLS = 3


def numbers(model, *names) -> dict[str, np.ndarray]:
    """Attributes as arrays; of a trace, all fields but the seconds."""
    out = {name: np.asarray(getattr(model, name)) for name in names}
    if hasattr(model, "trace_"):
        trace = model.trace_
        out |= {name: trace[name].copy() for name in trace.dtype.names if not name.startswith("seconds")}
    return out


def chains(estimator, **params):
    """A fit of chains to the table."""

    def fit(checkpoints):
        model = estimator(n_chains=2, n_draws=8, random_state=0, **params).set_callbacks(*checkpoints).fit(TABLE)
        scores = {"scores": model.score_samples(TABLE), "drawn": model.sample(5, random_state=0)}
        return numbers(model, "log_joint_", "posterior_labels_", "labels_", "chain_weights_") | scores

    return fit


def topics(checkpoints):
    model = VariationalTemperingLDA(6, max_iter=25, random_state=0).set_callbacks(*checkpoints).fit(COUNTS)
    scores = {"scores": model.transform(COUNTS)}
    return numbers(model, "components_", "inverse_temperatures_", "bound_", "n_iter_", "converged_") | scores


def number_of_topics(checkpoints):
    model = VariationalTemperingLDA("learn", max_components=20, random_state=0).set_callbacks(*checkpoints)
    model.fit(COUNTS)
    return numbers(model, "components_", "inverse_temperatures_", "bound_", "n_iter_", "n_components_")


def components(checkpoints):
    model = VariationalTemperingFMM(8, n_init=3, random_state=0).set_callbacks(*checkpoints).fit(SUMS)
    scores = {"scores": model.transform(SUMS)}
    return numbers(model, "components_", "inverse_temperatures_", "bounds_", "n_iter_", "converged_") | scores


def gaussian_process(checkpoints):
    model = TemperedGaussianProcessRegressor(n_chains=2, n_draws=60, n_warmup=30, random_state=0)
    model.set_callbacks(*checkpoints).fit(TABLE[:40], TARGET)
    result = {"draws": model.result_.draws, "log_density": model.result_.log_density}
    return numbers(model) | result | {"scores": model.predict(TABLE)}


def tempering(checkpoints):
    model = GaussianMean(TABLE, covariance=np.eye(4))
    sampler = ParallelTempering(n_warmup=20)
    checkpoint = checkpoints[0] if checkpoints else None
    found = dict(vars(sampler.sample(model, 60, n_chains=2, random_state=0, checkpoint=checkpoint)))
    return found | found.pop("parameters") | {"seconds": None}


FITS = {
    "CrossCat": chains(CrossCat, thin=2, schedule=SubsampleAnneal(12)),
    "mixture": chains(SubsampleAnnealedDPMM, thin=5, schedule=SubsampleAnneal(40)),
    "full": chains(SubsampleAnnealedDPMM, thin=5, schedule=SubsampleAnneal(30), covariance_type="full"),
    "NRMM": chains(TreeGuidedNRMM, thin=2, schedule=SubsampleAnneal(12)),
    "LDA": topics,
    "LDA-learn": number_of_topics,
    "FMM": components,
    "GP": gaussian_process,
    "tempering": tempering,
}


@dataclass
class Campaign:
    """What became of the kills of one estimator.

    Attributes
    ----------
    seconds : float
        Of a fit with checkpoints that nobody kills.
    n_kills, n_equal : int
        Kills before the end of a fit, and those of them after which the fit resumed to the same bits.
    n_saved : int
        Kills that left a checkpoint, from which the fit resumed.
    differences : list of str
    """

    seconds: float = 0.0
    n_kills: int = 0
    n_equal: int = 0
    n_saved: int = 0
    differences: list[str] = field(default_factory=list)


class Child:
    """A fit in a copy of this process, which is faster than a new one.

    Parameters
    ----------
    fit : callable
    folder : Path
        Of the checkpoints.
    seconds : float
        Between two writes.
    """

    def __init__(self, fit, folder: Path, seconds: float) -> None:
        self.result = folder.parent / f"{folder.name}.pickle"
        self.result.unlink(missing_ok=True)
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            try:
                warnings.simplefilter("ignore")
                values: Any = fit([Checkpoint(folder, seconds)])
            except BaseException:
                values = traceback.format_exc()
            # In one piece, so that it is there if the child is killed right after.
            part = self.result.with_suffix(".part")
            part.write_bytes(pickle.dumps(values))
            os.replace(part, self.result)
            os._exit(0)

    def kill_after(self, seconds: float) -> bool:
        """Whether the fit had not ended after so many seconds, and was killed."""
        end = time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0.0 and not self.result.exists():
            time.sleep(min(left, 2e-3))
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return not self.result.exists()

    def values(self) -> Any:
        """What the fit found, or the trace of its error; a fit that does not end is an error, too."""
        return "it does not end" if self.kill_after(LIMIT) else pickle.loads(self.result.read_bytes())


def difference(found: Any, whole: dict) -> str:
    """What differs between two fits, or an empty string."""
    if isinstance(found, str):
        return found
    return ", ".join(
        name
        for name, value in whole.items()
        if not np.array_equal(found[name], value, equal_nan=np.asarray(value).dtype.kind == "f")
    )


def campaign(name: str, n_kills: int, seed: int = 0) -> Campaign:
    """Kill fits of one estimator until there are so many kills."""
    fit, rng, out = FITS[name], np.random.default_rng([seed, *name.encode()]), Campaign()
    with tempfile.TemporaryDirectory() as parent, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = fit([])
        start = time.perf_counter()
        out.differences += filter(None, [difference(Child(fit, Path(parent, "whole"), 0.0).values(), whole)])
        out.seconds = time.perf_counter() - start
        number = 0
        while out.n_kills < n_kills and not out.differences:
            number += 1
            folder, kills, saved = Path(parent, str(number)), 0, 0
            # Every sweep is written, or some of them.
            seconds = float(rng.choice([0.0, 0.1 * out.seconds]))
            for _ in range(min(int(rng.integers(1, MOST_KILLS + 1)), n_kills - out.n_kills)):
                if not Child(fit, folder, seconds).kill_after(out.seconds * rng.random()):
                    break
                kills += 1
                saved += any(folder.glob("*.checkpoint"))
            found = difference(Child(fit, folder, seconds).values(), whole)
            out.n_kills, out.n_saved = out.n_kills + kills, out.n_saved + saved
            out.n_equal += kills * (not found)
            out.differences += filter(None, [found])
    return out


def main(arguments: list[str] | None = None) -> int:
    """The command line; 1 if a fit differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=100, help="of each estimator")
    parser.add_argument("--estimator", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    failed = False
    for name in given.estimator:
        out = campaign(name, given.kills, given.seed)
        print(
            f"{name}: {out.n_equal} of {out.n_kills} kills ended in equal fits; {out.n_saved} left checkpoints; a fit "
            f"takes {out.seconds:.2f} s",
            *out.differences,
            sep="\n  ",
            flush=True,
        )
        failed |= bool(out.differences) or out.n_equal < given.kills
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
