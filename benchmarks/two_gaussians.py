"""Figure 1 of the variational-tempering paper: the local optimum of the bound of two Gaussians vanishes with tempering.

The bound as a function of the two means at several temperatures, with everything else at its optimum; and coordinate
ascent from the poorer optimum, at T = 1 and annealed from the highest temperature. The paper gives neither data nor
weights.
"""

from __future__ import annotations

import numpy as np
from _common import note, parser, report
from reproduction.two_gaussians_model import TwoGaussians, n_maxima

from sklearn_subanneal.variational import LinearCooling

TEMPERATURES = (20.0, 13.0, 8.5, 1.0)
MEANS = (-3.0, 3.0)
# Start with the components exchanged.
START = (3.0, -3.0)


def ascents(model: TwoGaussians, x: np.ndarray, n_rounds: int) -> dict:
    """Paths of the means at T = 1 throughout, and with annealing during half of the rounds."""
    cooling = LinearCooling(TEMPERATURES[0], 0.5)
    schedules = {
        "T = 1": np.ones(n_rounds),
        "annealed": 1.0 / np.array([cooling.temperature(progress) for progress in np.linspace(0.0, 1.0, n_rounds)]),
    }
    out = {}
    for name, rhos in schedules.items():
        path, bounds = model.ascend(x, START, rhos)
        out[name] = {"path": path.round(4).tolist(), "bound": float(bounds[-1])}
        note(f"{name}: means {path[-1].round(2)}, bound {bounds[-1]:.2f}")
    return out


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--rows", type=int, default=200)
    given.add_argument("--cells", type=int, default=61, help="cells of the grid in each direction")
    given.add_argument("--rounds", type=int, default=100)
    arguments = given.parse_args()
    if arguments.quick:
        arguments.rows, arguments.cells, arguments.rounds = 50, 21, 30
    model = TwoGaussians()
    x = model.sample(arguments.rows, MEANS, np.random.default_rng(0))
    grid = np.linspace(-6.0, 6.0, arguments.cells)
    surfaces = {}
    for temperature in TEMPERATURES:
        surface = model.surface(x, grid, temperature)
        surfaces[temperature] = {"maxima": n_maxima(surface), "bound": surface.round(2).tolist()}
        note(f"T = {temperature:g}: {surfaces[temperature]['maxima']} optima")
    results = {"grid": grid.tolist(), "surfaces": surfaces, "ascents": ascents(model, x, arguments.rounds)}
    report("two_gaussians", arguments, results)


if __name__ == "__main__":
    main()
