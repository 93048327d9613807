"""The random generators of methods that sample."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state


def sampling_generator(n_samples: int, random_state, name: str = "n_samples") -> np.random.Generator:
    """The generator of a method that samples, whose number of samples, of this name, is checked."""
    if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {n_samples!r}")
    seed = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
    return np.random.Generator(np.random.PCG64(seed))
