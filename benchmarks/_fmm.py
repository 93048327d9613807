"""What the benchmarks of factorial mixtures keep of a fit, for figures."""

from __future__ import annotations

import numpy as np


def course(model, components: np.ndarray) -> dict:
    """Bounds and temperatures over the iterations, and components as they are to be shown."""
    return {
        "bounds": np.round(model.bounds_, 4).tolist(),
        "temperatures": np.round(1.0 / model.inverse_temperatures_, 3).tolist(),
        "components": components.round(2).tolist(),
    }
