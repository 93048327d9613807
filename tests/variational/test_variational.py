"""Cooling schedules end at T = 1, step sizes are in [0, 1], and q(y) is the optimum of its bound."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.base import clone

from sklearn_subanneal.variational import (
    ConstantStep,
    CoolingSchedule,
    FixedTemperature,
    GeometricCooling,
    GlobalTemperature,
    LinearCooling,
    PassFraction,
    RobbinsMonro,
    ScheduledTemperature,
    StepSize,
    TemperatureVariable,
    exponential_temperatures,
)

PROGRESS = np.linspace(0.0, 1.0, 1001)

# --- Schedules --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [1.0, 1.6, 3.91, 10.1, 1e6])
@pytest.mark.parametrize("share", [1e-3, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("kind", [LinearCooling, GeometricCooling])
def test_cooling_falls_from_start_to_exactly_one(kind, start, share):
    schedule = clone(kind(start=start, share=share))
    schedule.check()
    temperatures = schedule.temperature(PROGRESS)
    assert temperatures.shape == PROGRESS.shape
    assert temperatures[0] == pytest.approx(start)
    assert (np.diff(temperatures) <= 0.0).all()
    assert (temperatures[PROGRESS >= share] == 1.0).all()
    assert float(schedule.temperature(2.0)) == 1.0
    assert np.shape(schedule.temperature(0.3)) == ()


def test_cooling_halfway():
    assert LinearCooling(start=5.0, share=0.5).temperature(0.25) == pytest.approx(3.0)
    assert GeometricCooling(start=9.0, share=0.5).temperature(0.25) == pytest.approx(3.0)


@pytest.mark.parametrize("kind", [LinearCooling, GeometricCooling])
@pytest.mark.parametrize(
    ("name", "value"),
    [("start", 0.5), ("start", np.inf), ("start", "2"), ("start", True), ("share", 0.0), ("share", 1.5)],
)
def test_bad_cooling_is_refused(kind, name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        kind(**{name: value}).check()


class Own(CoolingSchedule):
    """A schedule of the user's."""

    def __init__(self, values=(2.0, 1.0)):
        self.values = values

    def temperature(self, progress):
        return np.interp(progress, np.linspace(0.0, 1.0, len(self.values)), self.values)


def test_own_schedules():
    Own().check()
    assert ScheduledTemperature(Own((4.0, 1.0))).inverse_temperature == 0.25
    with pytest.raises(ValueError, match="must reach 1"):
        Own((3.0, 2.0)).check()
    with pytest.raises(ValueError, match="at least 1"):
        Own((2.0, 0.5, 1.0)).check()
    with pytest.raises(ValueError, match="at least 1"):
        ScheduledTemperature(Own((np.nan, 1.0)))
    for wrong in (3.0, LinearCooling):
        with pytest.raises(ValueError, match=r"schedule must be a CoolingSchedule, got .*; give LinearCooling"):
            ScheduledTemperature(wrong)


@pytest.mark.parametrize("size", [3.0, -0.1, np.nan])
def test_own_steps_are_checked(size):
    class Own(StepSize):
        def step(self, t, progress, share_of_batch):
            return size

    with pytest.raises(ValueError, match=rf"steps from 0 to 1, got {size} for minibatch 7"):
        Own().checked_step(7, 0.0, 0.1)


def test_bases_name_the_missing_method():
    with pytest.raises(NotImplementedError, match=r"CoolingSchedule must define temperature\(progress\)"):
        CoolingSchedule().temperature(0.0)
    with pytest.raises(NotImplementedError, match=r"StepSize must define step\(t, progress, share_of_batch\)"):
        StepSize().step(0, 0.0, 0.1)


def test_steps():
    np.testing.assert_allclose(RobbinsMonro(offset=1024, decay=0.7).step([0, 10]), [1024**-0.7, 1034**-0.7])
    np.testing.assert_allclose(PassFraction(4.0, 1.0).step(0, [0.0, 0.5, 1.0], 0.1), 1 - np.exp([-0.4, -0.2, -0.1]))
    # A pass in minibatches forgets as much as the whole at once, up to the fall of c.
    parts = PassFraction(2.0, 2.0).step(np.arange(50), np.linspace(0, 1, 50), 0.02)
    np.testing.assert_allclose(np.prod(1 - parts), np.exp(-2.0))
    assert ConstantStep().checked_step(3, 0.5, 0.01) == 1.0
    for wrong in (RobbinsMonro(offset=0.5), RobbinsMonro(decay=0.5), PassFraction(first=0.0), PassFraction(last=-1)):
        with pytest.raises(ValueError, match="must be"):
            wrong.check()


# --- Temperatures -----------------------------------------------------------------------------------------------


def test_fixed_and_cooling():
    assert FixedTemperature().update(0.5, energy=-3.0) == 1.0
    assert FixedTemperature(4.0).inverse_temperature == 0.25
    with pytest.raises(ValueError, match="temperature must be"):
        FixedTemperature(0.5)
    cooling = ScheduledTemperature(LinearCooling(start=2.0, share=1.0))
    assert [cooling.inverse_temperature, cooling.update(0.0), cooling.update(1.0)] == [0.5, 0.5, 1.0]


def normal_partition(temperatures, variance):
    """Log integral of N(x; 0, variance)^(1/T), by quadrature."""

    def tempered(x, t):
        return (np.exp(-0.5 * x * x / variance) / np.sqrt(2 * np.pi * variance)) ** (1 / t)

    width = 40.0 * np.sqrt(variance * temperatures[-1])
    return np.log([quad(tempered, -width, width, args=(t,), limit=200)[0] for t in temperatures])


@pytest.mark.parametrize("spread", [0.3, 1.0, 2.0, 5.0, 40.0])
def test_temperature_of_a_normal_is_the_ratio_of_variances(spread):
    """Data of variance v under a model of variance 1: the tempered model fits best where T = v, within the grid."""
    temperatures = exponential_temperatures(10.0, 60)
    partition = normal_partition(temperatures, 1.0)
    energy = -0.5 * np.log(2 * np.pi) - 0.5 * spread
    tempering = GlobalTemperature(temperatures, partition, n_observations=1e6)
    rho = tempering.update(0.0, energy)
    assert 1.0 / rho == pytest.approx(np.clip(spread, 1.0, 10.0), rel=0.04)
    assert tempering.probabilities.sum() == pytest.approx(1.0)
    if spread <= 1.0:
        assert rho == 1.0


def test_probabilities_are_the_optimum_of_the_bound():
    """Energy and entropy of q(y): no other distribution has a higher tempered bound."""
    rng = np.random.default_rng(0)
    temperatures = exponential_temperatures(4.0, 7)
    log_prior = np.log(rng.dirichlet(np.ones(7)))
    tempering = GlobalTemperature(temperatures, 0.5 * np.log(temperatures), 3.0, log_prior=log_prior)
    energy = -1.1
    tempering.update(0.0, energy)

    def bound(r):
        return float(r @ (3.0 * (energy / temperatures - 0.5 * np.log(temperatures)) + log_prior - np.log(r)))

    best = tempering.inverse_temperature * energy * 3.0 + tempering.bound()
    assert best == pytest.approx(bound(tempering.probabilities))
    for _ in range(200):
        assert bound(rng.dirichlet(np.ones(7))) <= best
    weights = np.exp(3.0 * (energy / temperatures - 0.5 * np.log(temperatures)) + log_prior)
    np.testing.assert_allclose(tempering.probabilities, weights / weights.sum())


def example(n_observations=1e5, **more):
    temperatures = exponential_temperatures(10.0, 50)
    return GlobalTemperature(temperatures, 0.5 * np.log(temperatures), n_observations, **more)


def test_energy_takes_steps():
    tempering = example()
    assert tempering.inverse_temperature == pytest.approx((1.0 / tempering.temperatures).mean())
    tempering.update(0.0, -4.0, step=0.25)
    assert tempering.energy == -4.0
    tempering.update(0.0, -2.0, step=0.25)
    assert tempering.energy == -3.5
    tempering.update(0.0)
    assert tempering.energy == -3.5
    assert 1.0 / tempering.inverse_temperature == pytest.approx(7.0, rel=0.05)


def test_rest_at_one():
    cold, printed = example(), example(paper=True)
    for tempering in (cold, printed):
        assert tempering.update(0.0, -0.2) == pytest.approx(1.0)
        tempering.update(0.0, -3.0, step=0.5)
    assert cold.inverse_temperature == 1.0
    assert printed.inverse_temperature == pytest.approx(1 / 6, rel=0.05)


def test_heat_starts_at_the_highest_temperature_and_comes_down():
    tempering = example()
    tempering.heat()
    assert tempering.inverse_temperature == pytest.approx(0.1)
    path = [tempering.update(0.0, -0.4, step=0.1) for _ in range(100)]
    assert path[0] < 0.12
    assert (np.diff(path) >= 0.0).all()
    assert path[-1] == 1.0


@pytest.mark.parametrize(
    "make", [lambda: FixedTemperature(2.0), lambda: ScheduledTemperature(LinearCooling()), example]
)
def test_pickled_temperatures_continue(make):
    one = make()
    one.update(0.3, -1.7, 0.1)
    assert pickle.loads(pickle.dumps(one)).update(0.4, -1.2, 0.1) == one.update(0.4, -1.2, 0.1)


def test_defaults_of_a_temperature():
    """Temperatures that do not depend on the data: no partition function, no terms in the bound."""
    for temperature in (FixedTemperature(2.0), ScheduledTemperature(LinearCooling())):
        before = temperature.inverse_temperature
        temperature.renormalise(np.log)
        assert temperature.inverse_temperature == before and temperature.bound() == 0.0
        assert isinstance(temperature, TemperatureVariable) and not temperature.is_inferred
    assert ScheduledTemperature(LinearCooling()).after_run().inverse_temperature == 1.0
    fixed, inferred = FixedTemperature(2.0), example()
    assert fixed.after_run() is fixed and inferred.after_run() is inferred and inferred.is_inferred
    inferred.renormalise(np.square)
    np.testing.assert_array_equal(inferred.log_partition, inferred.temperatures**2)


def test_bad_temperatures_are_refused():
    with pytest.raises(ValueError, match="finite and increase from 1"):
        GlobalTemperature([1.5, 2.0], [0.0, 0.1], 10)
    with pytest.raises(ValueError, match="finite and increase from 1"):
        GlobalTemperature([1.0, 3.0, 2.0], np.zeros(3), 10)
    with pytest.raises(ValueError, match="log_partition must have"):
        GlobalTemperature([1.0, 2.0], [0.0], 10)
    with pytest.raises(ValueError, match="n_observations must be"):
        GlobalTemperature([1.0, 2.0], [0.0, 0.1], 0)
    with pytest.raises(ValueError, match="above 1"):
        exponential_temperatures(1.0)
    with pytest.raises(ValueError, match="at least 2"):
        exponential_temperatures(4.0, 1)
