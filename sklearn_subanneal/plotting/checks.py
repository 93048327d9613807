"""Checks made by displays: whether matplotlib is installed, and whether an estimator has the fitted attributes."""

from sklearn.base import BaseEstimator


def require_matplotlib(caller: str, remedy: str = "pip install matplotlib") -> None:
    """Raise ImportError if matplotlib is not installed.

    Parameters
    ----------
    caller : str
        The function that draws.
    remedy : str
        How to install matplotlib, or do without it.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{caller} requires matplotlib, which is not installed: {remedy}.") from error


def require_attributes(estimator: BaseEstimator, *names: str, remedy: str = "fit it first") -> None:
    """Raise ValueError if an estimator lacks one of the attributes.

    Parameters
    ----------
    estimator : estimator
    *names : str
        Fitted attributes.
    remedy : str
        How to get an estimator that has them.
    """
    for name in names:
        if not hasattr(estimator, name):
            raise ValueError(f"estimator must have {name}, {type(estimator).__name__} has none; {remedy}.")
