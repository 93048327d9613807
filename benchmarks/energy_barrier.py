"""Theorem 4 of the subsample-annealing paper: to cross a barrier that grows with the data, inference without annealing
takes exponential time, and annealing polynomial time.

The energies of two modes differ by gamma N, with a barrier of delta N. The probability x of the better mode follows

    dx / dt = exp(-b delta N) (1 / (1 + exp(-b gamma N)) - x),   x(0) = 0,

with the inverse temperature b = 1 ("cold", without annealing), or b = t / T (annealed). For each N the script finds the
shortest time at which x is within ``--target`` of its limit: cold in closed form, annealed by quadrature over time
transformed by the integrating factor. "solver" is the error of the annealed solution by an ODE solver at one of the
times, as a check. The theorem, for gamma N well above log(2 / target): without annealing, log T grows as delta N; with
annealing, T grows as N, and as target^-(delta / gamma).
"""

from __future__ import annotations

import numpy as np
from _common import note, parser, report
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import expit


def cold_log_time(n, gamma, delta, target):
    """log T of 1 / (1 + exp(-gamma N)) exp(-T exp(-delta N)) = target."""
    return delta * n + np.log(np.log(expit(gamma * n) / target))


def annealed_error(log_time, n, gamma, delta):
    """The limit minus x(T), for b = t / T."""
    # With h the integral of the rate from t to T, x = integral of exp(-h) sigmoid(gamma N b(h)) over h.
    barrier = delta * n
    most = np.exp(log_time) * -np.expm1(-barrier) / barrier
    log_h = np.linspace(np.log(1e-14), np.log(min(most, 800.0)), 20_001)
    b = -np.logaddexp(-barrier, np.log(barrier) + log_h - log_time) / barrier
    late = np.exp(log_h - np.exp(log_h)) * (expit(-gamma * n * np.maximum(b, 0.0)) - expit(-gamma * n))
    return expit(gamma * n) * np.exp(-most) + np.trapezoid(late, log_h)


def annealed_log_time(n, gamma, delta, target):
    return brentq(lambda log_time: annealed_error(log_time, n, gamma, delta) - target, np.log(1e-3), delta * n + 20.0)


def by_solver(log_time, n, gamma, delta):
    """The same error by an integrator of stiff equations."""

    def slope(s, x):
        return np.exp(log_time - s * delta * n) * (expit(s * gamma * n) - x)

    path = solve_ivp(slope, (0.0, 1.0), [0.0], method="Radau", rtol=1e-9, atol=1e-12)
    return float(expit(gamma * n) - path.y[0, -1])


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 4000, 8000])
    given.add_argument("--delta", type=float, default=0.02, help="barrier per row")
    given.add_argument("--ratios", type=float, nargs="+", default=[0.5, 1.0, 2.0], help="barrier / energy difference")
    given.add_argument("--target", type=float, default=0.01, help="total variation")
    arguments = given.parse_args()
    if arguments.quick:
        arguments.sizes = arguments.sizes[:2]
    sizes, delta, target, results = np.array(arguments.sizes), arguments.delta, arguments.target, {}
    cold = [cold_log_time(n, delta, delta, target) for n in sizes]
    annealed = {}
    for ratio in arguments.ratios:
        gamma = delta / ratio
        annealed[gamma, delta] = [annealed_log_time(n, gamma, delta, target) for n in sizes]
        sharper = annealed_log_time(sizes[-1], gamma, delta, target / 10)
        results[f"barrier {ratio:g} gaps"] = {
            "log_time": annealed[gamma, delta],
            "power_of_n": float(np.polyfit(np.log(sizes), annealed[gamma, delta], 1)[0]),
            "power_of_target": float((sharper - annealed[gamma, delta][-1]) / np.log(10)),
            "solver": by_solver(annealed[gamma, delta][0], sizes[0], gamma, delta),
        }
    finely = np.geomspace(sizes[0] / 4, sizes[-1], 60)
    curve = {"sizes": finely, "log_time": cold_log_time(finely, delta, delta, target)}
    results["cold"] = {"log_time": cold, "rate_over_delta": float(np.polyfit(sizes, cold, 1)[0] / delta)}
    results["cold"]["curve"] = {key: values.tolist() for key, values in curve.items()}
    for name, found in results.items():
        note(f"{name}: " + ", ".join(f"{key} {value:.4g}" for key, value in found.items() if np.isscalar(value)))
    report("energy_barrier", arguments, results)


if __name__ == "__main__":
    main()
