"""ProgressLine: the progress of a fit on the screen."""

from __future__ import annotations

import time

SECONDS_BETWEEN_LINES = 5.0


class ProgressLine:
    """Prints the progress of the fit: one line that changes on a terminal, a line every few seconds elsewhere.

    Parameters
    ----------
    stream : text file
    is_quiet : bool
    """

    def __init__(self, stream, is_quiet: bool = False):
        self.stream = stream
        self.is_quiet = is_quiet
        self._is_terminal = stream.isatty()
        self._printed = time.perf_counter()
        self._width = 0

    def __call__(self, progress: float, text: str, is_urgent: bool) -> None:
        """Print progress, unless the last line is too recent and this one is not urgent."""
        now = time.perf_counter()
        is_recent = now - self._printed < (0.1 if self._is_terminal else SECONDS_BETWEEN_LINES)
        if self.is_quiet or (is_recent and not is_urgent):
            return
        self._printed = now
        line = f"Fitting: {progress:4.0%}  {text}"
        self.stream.write(f"\r{line:{self._width}}" if self._is_terminal else f"{line}\n")
        self.stream.flush()
        self._width = len(line)

    def end(self) -> None:
        """End the line that changes."""
        if self._is_terminal and self._width:
            self.stream.write("\n")
