"""Temperatures, cooling schedules and step sizes for variational inference, shared by all of its models."""

from sklearn_subanneal.variational.cooling import CoolingSchedule, GeometricCooling, LinearCooling
from sklearn_subanneal.variational.step_sizes import PassFraction, RobbinsMonro, StepSize, WholeStep
from sklearn_subanneal.variational.temperature_variable import (
    FixedTemperature,
    GlobalTemperature,
    ScheduledTemperature,
    TemperatureVariable,
    exponential_temperatures,
)

__all__ = [
    "CoolingSchedule",
    "FixedTemperature",
    "GeometricCooling",
    "GlobalTemperature",
    "LinearCooling",
    "PassFraction",
    "RobbinsMonro",
    "ScheduledTemperature",
    "StepSize",
    "TemperatureVariable",
    "WholeStep",
    "exponential_temperatures",
]
