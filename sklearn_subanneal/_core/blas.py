"""one_blas_thread: BLAS limited to one thread, at little cost."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; looked for once, since that takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread() -> AbstractContextManager:
    """Limit BLAS to one thread: products of small matrices gain nothing by more, and the bits depend on their number.

    With some libraries the limit belongs to the process, with others to the thread. A thread that starts others
    enters it before it starts them and leaves it after the last has ended, and each of them enters it too.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal._core.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     float(np.ones(3) @ np.ones(3))
    3.0
    """
    return _blas().limit(limits=1)
