"""The figure of the documentation: components of the toy images and of the faces by VI, AVI and VT, one seed each."""

from pathlib import Path

import fmm_faces
import fmm_toy
import numpy as np
from _common import find_data, note, parser, pyplot

from sklearn_subanneal import VariationalTemperingFMM

TOY = {
    "VI": "VI, cyclic",
    "AVI": "AVI, 100 iterations, cyclic",
    "VT": "VT, cyclic",
}
FACES = {"VI": "VI", "AVI": "AVI, 50 iterations", "VT": "VT"}
N_SHOWN = 8


def toy(seed: int, n_images: int) -> dict:
    """Components (8, 16), in the order of the true ones, by the updates as published."""
    X, truth = fmm_toy.images(n_images, seed)
    rows = {"truth": truth}
    for name, run in TOY.items():
        model = VariationalTemperingFMM(8, max_iter=fmm_toy.MAX_ITER, random_state=seed, **fmm_toy.RUNS[run]).fit(X)
        cosines = fmm_toy.cosines(model.components_, truth)
        rows[name] = model.components_[cosines.argmax(axis=0)]
        note(f"{name}: {(cosines.max(axis=0) > 0.98).sum()} of 8")
    return rows


def faces(path, seed: int, thin: int) -> dict:
    """Components (8, 1024), those most used first."""
    X, rows = fmm_faces.faces(path)[::thin], {}
    for name, run in FACES.items():
        model = VariationalTemperingFMM(20, max_iter=fmm_faces.MAX_ITER, random_state=seed, **fmm_faces.RUNS[run]).fit(
            X
        )
        rows[name] = model.components_[np.argsort(-model.transform(X).mean(axis=0))]
    return rows


def draw(panels: list[tuple[dict, int, float, float]], path: Path) -> None:
    """Rows of components side by side: (rows, side of an image, darkest, brightest)."""
    plt = pyplot()
    figure = plt.figure(figsize=(6.4 * len(panels), 3.4), layout="constrained")
    parts = np.atleast_1d(figure.subfigures(1, len(panels)))
    for part, (rows, side, low, high) in zip(parts, panels, strict=True):
        grid = part.subplots(len(rows), N_SHOWN)
        for cells, (name, components) in zip(grid, rows.items(), strict=True):
            for cell, component in zip(cells, components, strict=False):
                cell.imshow(component.reshape(side, side), cmap="gray", vmin=low, vmax=high)
                cell.set(xticks=[], yticks=[])
            cells[0].set_ylabel(name, rotation=0, ha="right", va="center")
    figure.savefig(path, dpi=80)


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--seed", type=int, default=0, help="the one that is drawn")
    given.add_argument("--data", help="folder that holds yaleb/YaleB_32x32.mat")
    given.add_argument("--figure", type=Path, default=Path("output/fmm_components.png"))
    arguments = given.parse_args()
    panels = [(toy(arguments.seed, 500 if arguments.quick else 10_000), 4, -0.3, 1.0)]
    path = find_data(arguments.data, "yaleb", "YaleB_32x32.mat")
    if path is None:
        note("faces: skipped, yaleb/YaleB_32x32.mat was not found; name its folder by --data")
    else:
        panels.append((faces(path, arguments.seed, 8 if arguments.quick else 1), 32, -1.2, 1.2))
    arguments.figure.parent.mkdir(parents=True, exist_ok=True)
    draw(panels, arguments.figure)


if __name__ == "__main__":
    main()
