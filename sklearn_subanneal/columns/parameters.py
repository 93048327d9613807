"""Hyperparameter: the domain of one hyperparameter of ``feature_params``, and its check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Beyond these bounds the model hardly changes, and log gamma loses accuracy.
LEAST, MOST = 1e-12, 1e12


@dataclass(frozen=True)
class Hyperparameter:
    """Values that a hyperparameter can take.

    Attributes
    ----------
    domain : {"bounded", "positive", "finite", "choice"}
        From LEAST to MOST, finite and positive, finite, or one of some strings.
    one_each : bool
        Whether it may be an array.
    choices : tuple of str
        The strings.
    """

    domain: str = "bounded"
    one_each: bool = False
    choices: tuple[str, ...] = ()

    def check(self, key: str, name: str, value) -> None:
        """Raise ValueError if a value is not in the domain."""
        if self.domain == "choice":
            if not isinstance(value, str) or value not in self.choices:
                wanted = ", ".join(map(repr, self.choices))
                raise ValueError(f"feature_params[{key!r}][{name!r}] must be one of {wanted}, got {value!r}")
            return
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            array = np.array(np.nan)
        if self.domain == "finite":
            fits, wanted = np.isfinite(array).all(), "a finite number"
        elif self.domain == "positive":
            fits, wanted = not array.ndim and 0.0 < array < np.inf, "a finite positive number"
        else:
            fits = LEAST <= array.min(initial=np.inf) <= array.max(initial=0.0) <= MOST
            wanted = f"a number from {LEAST:g} to {MOST:g}"
        if not fits or (array.ndim and not self.one_each):
            wanted += ", or an array of such" * self.one_each
            raise ValueError(f"feature_params[{key!r}][{name!r}] must be {wanted}, got {value!r}")
