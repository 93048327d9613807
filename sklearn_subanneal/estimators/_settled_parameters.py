"""SettledParameters, those that further rows must find as they were: a mixin of estimators with ``partial_fit``."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from sklearn.base import clone

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.annealing.saved_fit import digest

# Parameters by which rows become columns, and these clusters: rows of earlier calls were counted by them.
OF_MODELS = (
    "partition",
    "row_partition",
    "column_partition",
    "covariance_type",
    "feature_types",
    "feature_params",
    "feature_grids",
    "grids",
    "missing_indicator",
)


class SettledParameters:
    """Copies of parameters, and the error if they have changed."""

    # The parameters that must not change before further rows.
    _given: Mapping[str, Any] = MappingProxyType({})

    def _copied(self, names: Collection[str]) -> dict[str, Any]:
        """Those of these parameters that there are, as they are now."""
        given = self.get_params(deep=False)
        return {name: clone(value, safe=False) for name, value in given.items() if name in names}

    def _refuse_changes(self) -> None:
        """Raise ValueError if the rows so far were learned with other parameters, unless "auto" has meant the same."""
        for name, before in self._given.items():
            now, chosen = getattr(self, name), getattr(self, f"{name}_", before)
            if digest(now) not in (digest(before), digest(chosen)):
                raise ValueError(
                    f"{name} was {shortened(before)} when the rows were learned from which partial_fit goes on, and is "
                    f"{shortened(now)}: set it back, or begin anew by fit or with another estimator"
                )
