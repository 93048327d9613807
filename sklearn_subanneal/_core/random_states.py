"""What `random_state` may be: seeds and instances as in scikit-learn, and NumPy's Generators, which it refuses."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from sklearn_subanneal._core.arguments import shortened

#: The constraint of a constructor's parameter ``random_state``, in scikit-learn's form.
RANDOM_STATE = ["random_state", np.random.Generator]


def checked_random_state(random_state) -> np.random.RandomState:
    """What scikit-learn's ``check_random_state`` gives; of a Generator, an instance that draws from the same bits.

    Parameters
    ----------
    random_state : int, RandomState instance, Generator or None

    Returns
    -------
    random_state : RandomState

    Raises
    ------
    ValueError
        If it is something else.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal._core.random_states import checked_random_state
    >>> rng, again = np.random.default_rng(0), np.random.default_rng(0)
    >>> one, other = checked_random_state(rng).random_sample(2)
    >>> bool(one == checked_random_state(again).random_sample())  # the same start, the same numbers
    True
    >>> bool(other == checked_random_state(again).random_sample())  # and it has moved on
    True
    """
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    if isinstance(random_state, Integral) and not 0 <= random_state < 2**32:
        raise ValueError(f"random_state must be a seed from 0 to {2**32 - 1}, got {shortened(random_state)}")
    return check_random_state(random_state)


def seed_entropy(random_state) -> np.ndarray:
    """128 bits for seeds, uint32 of shape (4,); instances and Generators move on by them."""
    return checked_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)


def seeded_generator(random_state) -> np.random.Generator:
    """A new generator, seeded with :func:`seed_entropy`."""
    return np.random.Generator(np.random.PCG64(seed_entropy(random_state)))
