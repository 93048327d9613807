"""How much work would it be to free the views of CrossCat by exchanges between chains of different temperature?

Levels have powers of the likelihood from --lowest to 1. Neighbouring levels exchange their states with a probability
that falls with the product of the difference of their powers and the standard deviation of the log likelihood; the
barrier is the integral of this deviation over the powers, divided by the root of pi. With two levels for each unit of
it, half of the swaps are rejected, and of the non-reversible scheme a state makes a round trip, from the posterior to
the lowest power and back, in 2 + 4 barrier swaps (Syed et al. 2022). With one sweep between swaps that is

    sweeps = (2 + 4 barrier) (1 + 2 barrier)

of all levels. Printed beside it are the sweeps of one chain of the default, which begins anew. The standard deviation
at a power is that of chains that stay there, in the second half of their sweeps. Since such chains hardly leave their
views, it is too small, and so is the barrier.

S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet (2022), Non-reversible parallel tempering: a scalable highly
parallel MCMC scheme, JRSS B 84, 321-350.
"""

import warnings
from unittest.mock import patch

import numpy as np
from _common import Clock, note, parser, report
from _frames import READERS, read

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing.schedules import Schedule
from sklearn_subanneal.views.views_chain import ViewsChain

TABLES = "titanic animals wheat hospitals satellites"
MOST_ROWS = 5_000


class OnePower(Schedule):
    """All rows, and one power of the likelihood."""

    def __init__(self, passes: float, power: float):
        super().__init__(passes)
        self.power = power

    def inverse_temperature(self, progress, n_rows):
        return np.full(np.shape(progress), self.power)


def log_likelihood(chain) -> float:
    """Log density of the cells, given partitions and hyperparameters, without constants."""
    return sum(own.log_joint() - own.prior.log_eppf(np.asarray(own.sizes, np.int32)) for own in chain.views.mixtures)


def deviation(frame, power: float, passes: int, seed: int) -> float:
    """Standard deviation of the log likelihood in one chain at this power."""
    settings = {"n_chains": 1, "n_draws": 1, "thin": 1, "max_sweeps": 0, "n_jobs": 1, "random_state": seed}
    with patch.object(ViewsChain, "log_joint", log_likelihood):
        trace = CrossCat(schedule=OnePower(passes, power), **settings).fit(frame).trace_
    own = trace[(trace["inverse_temperature"] == power) & (trace["n_assigned"] == len(frame))]
    return float(own["log_joint"][-(passes // 2) :].std())


def sweeps_of_the_default(frame, seed: int) -> float:
    """Row assignments of a default chain up to its last draw, divided by the number of rows: a mean over the chains."""
    model = CrossCat(n_jobs=1, random_state=seed).fit(frame)
    work = sum(int(np.maximum(result.trace["n_assigned"], 1).sum()) for result in model._results)
    return work / len(frame) / model.n_chains_


def main() -> None:
    given = parser(__doc__, seeds=2)
    given.add_argument("--data", help="folder with the tables (default: $SUBANNEAL_DATA)")
    given.add_argument("--tables", nargs="+", default=TABLES.split(), choices=list(READERS))
    given.add_argument("--lowest", type=float, default=0.2, help="the lowest power")
    given.add_argument("--powers", type=int, default=9, help="how many powers, in equal steps")
    given.add_argument("--passes", type=int, default=100, help="sweeps of a chain at one power")
    arguments = given.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(1 if arguments.quick else arguments.seeds)
    powers = np.linspace(arguments.lowest, 1.0, 3 if arguments.quick else arguments.powers)
    passes, results = 20 if arguments.quick else arguments.passes, {}
    for name in arguments.tables:
        frame = read(name, arguments.data, 200 if arguments.quick else MOST_ROWS)
        if frame is None:
            note(f"{name}: no file")
            continue
        with Clock() as clock:
            found = [[deviation(frame, float(power), passes, seed) for power in powers] for seed in seeds]
        barriers = [float(np.trapezoid(own, powers) / np.sqrt(np.pi)) for own in found]
        barrier = float(np.mean(barriers))
        results[name] = {
            "shape": frame.shape,
            "deviations": found,
            "barriers": barriers,
            "sweeps_of_a_round_trip": (2 + 4 * barrier) * (1 + 2 * barrier),
            "sweeps_of_the_default": float(np.mean([sweeps_of_the_default(frame, seed) for seed in seeds])),
            "cpu_seconds": clock.cpu,
        }
        note(
            f"{name} {frame.shape}: barrier {', '.join(f'{own:.1f}' for own in barriers)}; sweeps of a round trip "
            f"{results[name]['sweeps_of_a_round_trip']:.0f}, of a chain of the default "
            f"{results[name]['sweeps_of_the_default']:.0f}"
        )
    report("exchange_barrier", arguments, results)


if __name__ == "__main__":
    main()
