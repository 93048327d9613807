"""The hyperparameters that users may give, and whether what they give can be."""

from __future__ import annotations

import numpy as np

# Hyperparameters beyond these say nothing that the ends do not say, and cost the accuracy of log gamma.
LEAST, MOST = 1e-12, 1e12

PARAMETERS = {
    "real": ("mu", "kappa", "sigma2", "nu"),
    "categorical": ("alpha",),
    "boolean": ("alpha", "beta"),
    "count": ("shape", "rate"),
    "gaussian": ("mu", "kappa", "psi", "nu"),
    "multinomial": ("beta",),
}


def checked_params(feature_params, names, kinds, covariance_type):
    """``feature_params`` with every key and value checked."""
    present = set(kinds)
    if covariance_type == "full" and "real" in present:
        present = (present - {"real"}) | {"gaussian"}
    kind_of = dict(zip(names, kinds, strict=True))
    for key, values in (feature_params or {}).items():
        kind = key if key in PARAMETERS else kind_of.get(key)
        if kind is None:
            raise ValueError(
                f"feature_params has the key {key!r}, which is neither a column nor one of {sorted(PARAMETERS)}"
            )
        if kind == "real" and covariance_type == "full":
            raise ValueError(
                f"feature_params has the key {key!r}, but with covariance_type='full' the reals are one block; "
                "use the key 'gaussian'"
            )
        if key in PARAMETERS and key not in present:
            raise ValueError(f"feature_params has the key {key!r}, but the table has no such columns")
        if not isinstance(values, dict) or (unknown := set(values) - set(PARAMETERS[kind])):
            detail = f"unknown: {sorted(unknown)}" if isinstance(values, dict) else f"got {values!r}"
            raise ValueError(f"feature_params[{key!r}] must be a dict with keys among {PARAMETERS[kind]}; {detail}")
        for name, value in values.items():
            _check_value(key, kind, name, value)
    return feature_params or {}


def _check_value(key, kind, name, value):
    """Refuse a hyperparameter that is no number, or no number that it can be."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.array(np.nan)
    if name in ("mu", "psi"):
        fits, wanted = np.isfinite(array).all(), "a finite number"
    elif name == "sigma2":
        fits, wanted = not array.ndim and 0.0 < array < np.inf, "a finite positive number"
    else:
        fits = LEAST <= array.min(initial=np.inf) <= array.max(initial=0.0) <= MOST
        wanted = f"a number from {LEAST:g} to {MOST:g}"
    one_each = (kind, name) in (("categorical", "alpha"), ("gaussian", "mu"), ("gaussian", "psi"))
    if not fits or (array.ndim and not one_each):
        wanted += ", or an array of such" * one_each
        raise ValueError(f"feature_params[{key!r}][{name!r}] must be {wanted}, got {value!r}")
