"""Scikit-learn's decorators of ``fit``, with types, which it does not give: type checkers see what ``fit`` returns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    Method = TypeVar("Method", bound=Callable[..., Any])

    def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
        """A decorator that checks the parameters."""

    def with_callbacks(fit: Method) -> Method:
        """A decorator that sets callbacks up and tears them down."""

else:
    from sklearn.base import _fit_context as fit_context  # noqa: F401
    from sklearn.callback import with_callbacks  # noqa: F401
