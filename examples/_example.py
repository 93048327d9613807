"""What the examples share: arguments, the table or a clean end where it is absent, headings, figures."""

from __future__ import annotations

import argparse
import sys
import time
from io import BytesIO
from pathlib import Path

# Where benchmarks find the same tables, examples do.
sys.path.append(str(Path(__file__).resolve().parents[1] / "benchmarks"))
from _common import find_data

DOTS_PER_INCH = 90


class Example:
    """An example under way.

    Attributes
    ----------
    data : Path or None
        The file with the table; None for a table that comes with the package.
    output : Path
        The folder of the figures.
    n_jobs : int
    """

    def __init__(self, description: str, *parts: str) -> None:
        """Read the arguments; with ``parts``, find the file of the table, or end."""
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        file = "/".join(parts)
        if parts:
            parser.add_argument(
                "--data", help=f"folder with {file}; else $SUBANNEAL_DATA, or ../shared/data beside the checkout"
            )
        parser.add_argument("--output", type=Path, default=Path("output"), help="folder of the figures")
        parser.add_argument("--jobs", type=int, default=2, help="chains run side by side")
        given = parser.parse_args()
        path = find_data(given.data, *parts) if parts else None
        if parts and path is None:
            print(
                f"{file} is neither in --data, nor in $SUBANNEAL_DATA, nor in ../shared/data beside the "
                "checkout: nothing to show."
            )
            sys.exit()
        self.data, self.n_jobs, self.output = path, given.jobs, given.output
        self._started = time.process_time()

    def heading(self, text: str) -> None:
        """A line that parts what is printed, with the processor's seconds so far."""
        print(f"\n--- {text} ({time.process_time() - self._started:.0f} CPU-s)\n")

    def save(self, display, name: str) -> None:
        """Write a figure, or that of a display, as PNG, in 256 colours: a third of the size."""
        from PIL import Image

        self.output.mkdir(parents=True, exist_ok=True)
        path, drawn = self.output / f"{name}.png", BytesIO()
        getattr(display, "figure_", display).savefig(drawn, dpi=DOTS_PER_INCH, bbox_inches="tight")
        Image.open(drawn).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            path, optimize=True
        )
        print(f"Figure: {path}")
