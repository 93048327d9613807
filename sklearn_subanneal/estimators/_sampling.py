"""The random generators of methods that sample."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from sklearn_subanneal._core.random_states import seeded_generator


def sampling_generator(n_samples: int, random_state, name: str = "n_samples") -> np.random.Generator:
    """The generator of a method that samples, whose number of samples, of this name, is checked."""
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {n_samples!r}")
    return seeded_generator(random_state)
