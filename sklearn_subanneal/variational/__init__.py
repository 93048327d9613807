"""Temperatures, cooling schedules and step sizes for variational inference, shared by all of its models."""

from sklearn_subanneal.variational.cooling import CoolingSchedule, GeometricCooling, LinearCooling
from sklearn_subanneal.variational.step_sizes import ConstantStep, PassFraction, RobbinsMonro, StepSize
from sklearn_subanneal.variational.temperature_variable import (
    FixedTemperature,
    GlobalTemperature,
    ScheduledTemperature,
    TemperatureVariable,
    exponential_temperatures,
)
from sklearn_subanneal.variational.tempered_learner import Minibatch, TemperedLearner

__all__ = [
    "ConstantStep",
    "CoolingSchedule",
    "FixedTemperature",
    "GeometricCooling",
    "GlobalTemperature",
    "LinearCooling",
    "Minibatch",
    "PassFraction",
    "RobbinsMonro",
    "ScheduledTemperature",
    "StepSize",
    "TemperatureVariable",
    "TemperedLearner",
    "exponential_temperatures",
]
