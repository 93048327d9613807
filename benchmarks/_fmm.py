"""Results of a fit that the figures of factorial mixtures need."""

from __future__ import annotations

import numpy as np


def course(model, components: np.ndarray) -> dict:
    """Bounds and temperatures of the iterations, and components in the order of the figure."""
    return {
        "bounds": np.round(model.bounds_, 4).tolist(),
        "temperatures": np.round(1.0 / model.inverse_temperatures_, 3).tolist(),
        "components": components.round(2).tolist(),
    }
