"""Helper of the examples: reads arguments, finds the table, prints headings and saves figures."""

from __future__ import annotations

import argparse
import sys
import time
from io import BytesIO
from pathlib import Path

# Examples search for tables in the same folders as the benchmarks.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from _common import find_data

DOTS_PER_INCH = 90


class Example:
    """The arguments and the output of one example.

    Attributes
    ----------
    data : Path or None
        The file with the table; None for a table that is included in the package.
    output : Path
        The folder of the figures.
    n_jobs : int
    """

    def __init__(self, description: str, *parts: str) -> None:
        """Read the arguments. If ``parts`` are given, find the file of the table, or exit if it is missing."""
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        file = "/".join(parts)
        if parts:
            parser.add_argument(
                "--data", help=f"folder with {file} (default: $SUBANNEAL_DATA, or ../shared/data next to the checkout)"
            )
        parser.add_argument("--output", type=Path, default=Path("output"), help="folder of the figures")
        parser.add_argument("--jobs", type=int, default=2, help="number of chains run in parallel")
        given = parser.parse_args()
        path = find_data(given.data, *parts) if parts else None
        if parts and path is None:
            print(
                f"{file} was not found in --data, in $SUBANNEAL_DATA or in ../shared/data next to the checkout: "
                "nothing to show."
            )
            sys.exit()
        self.data, self.n_jobs, self.output = path, given.jobs, given.output
        self._started = time.process_time()

    def heading(self, text: str) -> None:
        """Print a heading with the CPU seconds used so far."""
        print(f"\n--- {text} ({time.process_time() - self._started:.0f} CPU-s)\n")

    def save(self, display, name: str) -> None:
        """Write a figure, or the figure of a display, as a PNG file with 256 colours, to reduce its size."""
        from PIL import Image

        self.output.mkdir(parents=True, exist_ok=True)
        path, drawn = self.output / f"{name}.png", BytesIO()
        getattr(display, "figure_", display).savefig(drawn, dpi=DOTS_PER_INCH, bbox_inches="tight")
        Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            path, optimize=True
        )
        print(f"Figure: {path}")
