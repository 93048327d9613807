"""The turn that all variational models share, on a mixture of Poisson distributions in plain loops, and enumerated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import digamma, gammaln, logsumexp, softmax, xlogy

from sklearn_subanneal.variational import (
    ConstantStep,
    FixedTemperature,
    GlobalTemperature,
    LinearCooling,
    Minibatch,
    PassFraction,
    ScheduledTemperature,
    TemperedLearner,
)

COUNTS = np.array([0.0, 1.0, 1.0, 7.0, 9.0, 6.0])
SHAPE, RATE = 2.0, 0.5
WEIGHTS = np.array([0.4, 0.6])
ALL = Minibatch(COUNTS, 1.0, 0.0, 1.0, None)


class PoissonRates(TemperedLearner):
    """Rates of two Poisson distributions with given weights, under a gamma prior; the statistics are sums of z, z x."""

    def __init__(self, start=((3.0, 3.0), (10.0, 14.0)), step=None, temperature_step=None, temperature=None):
        steps = [size if size is not None else ConstantStep() for size in (step, temperature_step)]
        temperature = FixedTemperature() if temperature is None else temperature
        super().__init__(temperature=temperature, step_size=steps[0], temperature_step=steps[1])
        self.statistics = np.array(start)
        self.called = []

    def global_step(self, inverse_temperature):
        self.called.append(("global", inverse_temperature))
        self.rates, self.shapes = np.array([[RATE], [SHAPE]]) + inverse_temperature * self.statistics

    def logs(self, rows):
        expected = digamma(self.shapes) - np.log(self.rates)
        return np.log(WEIGHTS) + rows[:, None] * expected - self.shapes / self.rates - gammaln(rows + 1.0)[:, None]

    def local_step(self, batch, inverse_temperature):
        self.called.append(("local", inverse_temperature))
        self.z = softmax(inverse_temperature * self.logs(batch.rows), axis=1)
        return np.array([self.z.sum(axis=0), batch.rows @ self.z])

    def energy(self, batch, found):
        self.called.append(("energy", batch.temperature_step))
        return float((self.z * self.logs(batch.rows)).sum() / len(batch.rows))

    def blend(self, batch, found):
        self.called.append(("blend", batch.step))
        self.statistics = (1.0 - batch.step) * self.statistics + batch.step / batch.share * found

    def bound(self, rho):
        """The annealed bound, equation 4 of the paper, of the components and the z of the last local step."""
        divergence = 0.0
        for shape, rate in zip(self.shapes, self.rates, strict=True):
            divergence += (shape - SHAPE) * digamma(shape) - gammaln(shape) + gammaln(SHAPE)
            divergence += SHAPE * (np.log(rate) - np.log(RATE)) + shape * (RATE - rate) / rate
        return rho * (self.z * self.logs(COUNTS)).sum() - xlogy(self.z, self.z).sum() - divergence


def evidence():
    """log p(x) by the sum over all assignments, in plain loops."""
    terms = []
    for assignment in product((0, 1), repeat=len(COUNTS)):
        term = 0.0
        for k in (0, 1):
            own = [x for x, z in zip(COUNTS, assignment, strict=True) if z == k]
            shape, rate = SHAPE + sum(own), RATE + len(own)
            term += len(own) * np.log(WEIGHTS[k]) + SHAPE * np.log(RATE) - shape * np.log(rate)
            term += gammaln(shape) - gammaln(SHAPE) - sum(gammaln(x + 1.0) for x in own)
        terms.append(term)
    return logsumexp(terms)


@pytest.mark.parametrize("temperature", [1.0, 1.7, 4.0])
def test_bound_never_falls_at_a_fixed_temperature(temperature):
    learner, bounds = PoissonRates(temperature=FixedTemperature(temperature)), []
    for _ in range(30):
        learner.learn(COUNTS, 1.0, 0.0)
        bounds.append(learner.bound(1.0 / temperature))
        # The components are at their optimum given the new statistics, too.
        learner.global_step(1.0 / temperature)
        bounds.append(learner.bound(1.0 / temperature))
    assert np.diff(bounds).min() > -1e-10 and bounds[-1] > bounds[0] + 0.01
    if temperature == 1.0:
        assert evidence() - 1.0 < bounds[-1] < evidence()


def test_a_turn():
    """The temperature first, from the energy before; then the components, the rows, and the statistics."""
    grid = np.array([1.0, 2.0, 4.0])
    temperature = GlobalTemperature(grid, np.array([0.0, 1.0, 2.0]), 6.0)
    learner = PoissonRates(step=ConstantStep(0.5), temperature_step=ConstantStep(0.25), temperature=temperature)
    start = temperature.inverse_temperature
    learner.learn(COUNTS, 1.0, 0.0)
    assert learner.called == [("global", start), ("local", start), ("energy", 0.25), ("blend", 0.5)]
    first = learner.energy(ALL, None)
    assert temperature.inverse_temperature == start and temperature.energy is None
    learner.called.clear()
    learner.learn(COUNTS, 1.0, 0.0)
    assert temperature.energy == first and temperature.inverse_temperature != start
    assert learner.called[:2] == [(name, temperature.inverse_temperature) for name in ("global", "local")]
    second = learner.energy(ALL, None)
    learner.learn(COUNTS, 1.0, 0.0)
    assert temperature.energy == pytest.approx(first + 0.25 * (second - first))
    assert learner.n_batches == 3


def test_minibatches_stand_for_all_rows():
    learner = PoissonRates(step=PassFraction(2.0, 0.5))
    before = learner.statistics.copy()
    learner.learn(COUNTS[:2], 2 / 6, 0.25)
    step = float(PassFraction(2.0, 0.5).step(0, 0.25, 2 / 6))
    own = np.array([learner.z.sum(axis=0), COUNTS[:2] @ learner.z])
    np.testing.assert_allclose(learner.statistics, (1.0 - step) * before + step * 3.0 * own)


def test_the_temperature_is_that_of_the_progress():
    learner = PoissonRates(temperature=ScheduledTemperature(LinearCooling(start=3.0, share=1.0)))
    for progress, expected in ((0.0, 1 / 3), (0.5, 0.5), (1.0, 1.0)):
        learner.learn(COUNTS, 1.0, progress)
        assert learner.called[-3:] == [("global", expected), ("local", expected), ("blend", 1.0)]


def test_annealing_finds_the_better_optimum():
    """From a start with the components the wrong way round, where the weights tell which is which."""
    generator = np.random.default_rng(0)
    x = np.concatenate([generator.poisson(2.0, 20), generator.poisson(12.0, 80)]).astype(float)
    swapped = [[80.0, 20.0], [80 * 12.0, 20 * 2.0]]
    rates = {}
    for name, temperature in (("cold", FixedTemperature()), ("annealed", ScheduledTemperature(LinearCooling(30.0)))):
        learner = PoissonRates(swapped, temperature=temperature)
        for progress in np.linspace(0.0, 1.0, 100):
            learner.learn(x, 1.0, progress)
        rates[name] = learner.shapes / learner.rates
    assert rates["cold"][0] > 10.0 > rates["cold"][1]
    assert rates["annealed"][0] < 3.0 and rates["annealed"][1] > 10.0


def test_a_state_continues():
    def learner():
        grid = GlobalTemperature([1.0, 2.0, 4.0], [0.0, 1.0, 2.0], 6.0)
        return PoissonRates(step=PassFraction(), temperature_step=PassFraction(), temperature=grid)

    one, other = learner(), learner()
    for number in range(3):
        one.learn(COUNTS[number::3], 1 / 3, number / 6)
    other.set_state(one.get_state())
    other.statistics = one.statistics
    for each in (one, other):
        for number in range(3):
            each.learn(COUNTS[number::3], 1 / 3, 0.5 + number / 6)
    np.testing.assert_array_equal(one.statistics, other.statistics)
    assert one.get_state()["last"] == other.get_state()["last"] and one.n_batches == other.n_batches == 6


def test_the_base_names_the_missing_method():
    steps = {"step_size": ConstantStep(), "temperature_step": ConstantStep()}
    learner = TemperedLearner(temperature=FixedTemperature(), **steps)
    with pytest.raises(NotImplementedError, match=r"TemperedLearner must define local_step\(batch, inverse"):
        learner.learn(COUNTS, 1.0, 0.0)
    for call in (learner.blend, learner.energy):
        with pytest.raises(NotImplementedError, match="must define"):
            call(None, None)
    with pytest.raises(ValueError, match=r"steps from 0 to 1, got 1\.5 for minibatch 0"):
        PoissonRates(step=ConstantStep(1.5)).learn(COUNTS, 1.0, 0.0)
    with pytest.raises(ValueError, match="size must be"):
        ConstantStep(1.5).check()
