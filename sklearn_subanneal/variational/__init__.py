"""Annealed and tempered variational inference, as all conditionally conjugate models share it."""

from sklearn_subanneal.variational.schedules import GeometricCooling, LinearCooling, PassFraction, RobbinsMonro
from sklearn_subanneal.variational.temperature import Cooling, Fixed, GlobalTemperature, exponential_temperatures

__all__ = [
    "Cooling",
    "Fixed",
    "GeometricCooling",
    "GlobalTemperature",
    "LinearCooling",
    "PassFraction",
    "RobbinsMonro",
    "exponential_temperatures",
]
