"""Five lines from a function of JAX, a PyMC model and a Stan program to draws and evidence; each where it is installed.

BridgeStan compiles programs with the sources of Stan, which it downloads; httpstan brings them along. Where neither is
there, :class:`StanDensity` is tested on an object with the methods of BridgeStan's class, and on that class with a
library that was written by hand.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from sklearn_subanneal.tempering import JaxDensity, PyMCModel, StanDensity, sample
from sklearn_subanneal.tempering.stan_program import StanProgram, toolchain

SOURCE = Path(__file__).parents[1] / "support" / "compiled_program.c"
COUNTS = np.array([3, 5, 2, 4])
# Of the counts, with rate ~ Gamma(2, 1).
EVIDENCE = gammaln(2.0 + COUNTS.sum()) - (2.0 + COUNTS.sum()) * np.log(5.0) - gammaln(COUNTS + 1.0).sum()
FEW = {"n_draws": 300, "random_state": 0}
PROGRAM = """
data { int n; array[n] int counts; }
parameters { real<lower=0> rate; }
model { rate ~ gamma(2, 1); counts ~ poisson(rate); }
"""


def judge(result, mean=(2.0 + 14.0) / 5.0):
    assert abs(result.log_evidence - EVIDENCE) < 4.0 * result.log_evidence_error < 0.3
    assert abs(result.parameters["rate"].mean() - mean) < 0.1


def test_function():
    """For comparison, a function of Python."""

    def log_likelihood(rate):
        return stats.poisson.logpmf(COUNTS, rate).sum()

    few = {"n_chains": 4, "n_warmup": 63} | FEW
    judge(sample(log_likelihood, prior={"rate": stats.gamma(2.0)}, **few))


def test_jax():
    jnp = pytest.importorskip("jax.numpy")

    def log_density(rate):
        return jnp.log(rate) - rate + jnp.sum(COUNTS * jnp.log(rate) - rate) - gammaln(COUNTS + 1.0).sum()

    target = JaxDensity(log_density)
    for explorer in ("slice", "hmc"):
        few = FEW | {"n_chains": 8}
        judge(sample(target, parameters={"rate": "positive"}, initial={"rate": 1.0}, explorer=explorer, **few))


def test_jax_is_precise():
    jnp = pytest.importorskip("jax.numpy")
    space = {"x": "real", "w": ("simplex", 3)}
    function = JaxDensity(lambda x, w: 1e-12 * x + jnp.sum(jnp.log(w))).bind("target", _space(space), 3)
    thetas = np.random.default_rng(0).normal(size=(5, 3))
    values = function.space.constrained(thetas)
    np.testing.assert_allclose(function.values(thetas), 1e-12 * values["x"] + np.log(values["w"]).sum(axis=1))
    assert function.values(np.array([[1.0, 0, 0]]))[0] != function.values(np.array([[0.0, 0, 0]]))[0]
    numeric = [(total(function, thetas[0] + row) - total(function, thetas[0] - row)) / 2e-6 for row in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(function.gradient(thetas[0], True), numeric, rtol=1e-6, atol=1e-8)


def total(function, theta):
    return function.values(theta[None])[0] + function.log_jacobian(theta[None])[0]


def _space(parameters):
    from sklearn_subanneal.tempering import ParameterSpace

    return ParameterSpace(parameters)


def test_pymc():
    pymc = pytest.importorskip("pymc")
    with pymc.Model() as model:
        rate = pymc.Gamma("rate", 2.0, 1.0)
        pymc.Poisson("counts", rate, observed=COUNTS)
    judge(sample(model, **FEW))
    judge(sample(model, explorer="hmc", **FEW | {"n_chains": 4}))


def test_pymc_of_many_shapes():
    """Log densities and draws of the prior, of transformed variables, a deterministic and a potential."""
    pymc = pytest.importorskip("pymc")
    with pymc.Model() as model:
        scale = pymc.HalfNormal("scale", 2.0)
        x = pymc.Normal("x", 0.0, scale, shape=(2, 3))
        w = pymc.Dirichlet("w", np.ones(3))
        u = pymc.Uniform("u", 0.0, scale)
        pymc.Deterministic("total", x.sum())
        pymc.Potential("tilt", -u)
        pymc.Normal("y", (x @ w).sum() + u, 1.0, observed=1.5)
    target = PyMCModel(model)
    rng = np.random.default_rng(0)
    thetas = target.sample_priors(rng, 3000)
    log_prior, log_likelihood = target.log_densities(thetas[:3])
    joint = model.compile_logp()
    start = model.initial_point()
    for i in range(3):
        point = dict(zip(start, target._split(thetas[i]), strict=True))
        assert log_prior[i] + log_likelihood[i] == pytest.approx(float(joint(point)))
        assert target.log_prior(thetas[i]) == pytest.approx(log_prior[i])
    for step in 1e-6 * np.eye(target.n_parameters):
        theta = thetas[0]
        along = step @ (target.grad_log_prior(theta) + target.log_likelihood_and_gradient(theta)[1]) / 1e-6
        higher, lower = (sum(part[0] for part in target.log_densities((theta + s)[None])) for s in (step, -step))
        assert along == pytest.approx((higher - lower) / 2e-6, rel=1e-4, abs=1e-5)
    values = target.constrained(thetas)
    assert values["x"].shape == (3000, 2, 3) and np.allclose(values["w"].sum(axis=1), 1.0)
    np.testing.assert_allclose(values["total"], values["x"].sum(axis=(1, 2)))
    assert stats.kstest(values["scale"] / 2.0, stats.halfnorm.cdf).pvalue > 0.003
    assert stats.kstest(values["u"] / values["scale"], "uniform").pvalue > 0.003
    again = target.sample_priors(np.random.default_rng(0), 3000)
    assert np.array_equal(again, thetas)
    with pymc.Model() as discrete:
        pymc.Poisson("k", 3.0)
    with pytest.raises(ValueError, match=r"all continuous, got \['k'\]"):
        sample(discrete, **FEW)


class Program:
    """What :class:`bridgestan.StanModel` offers, for the program above and a matrix that has a standard prior."""

    def param_unc_num(self):
        return 1 + 6

    def param_names(self):
        return ["rate", *(f"x.{i}.{j}" for j in (1, 2, 3) for i in (1, 2))]

    def param_constrain(self, theta):
        return np.concatenate([[np.exp(theta[0])], theta[1:]])

    def log_density(self, theta, propto=True, jacobian=True):
        assert not propto and jacobian
        return self.log_density_gradient(theta, propto=propto, jacobian=jacobian)[0]

    def log_density_gradient(self, theta, propto=True, jacobian=True):
        rate, rest = np.exp(theta[0]), theta[1:]
        if rate > 1e3:
            raise RuntimeError("poisson_lpmf: Rate parameter is too large")
        value = (2.0 + COUNTS.sum()) * theta[0] - 5.0 * rate - gammaln(COUNTS + 1.0).sum()
        value -= 0.5 * (rest @ rest + len(rest) * np.log(2.0 * np.pi))
        return value, np.concatenate([[2.0 + COUNTS.sum() - 5.0 * rate], -rest])


@pytest.mark.parametrize("explorer", [pytest.param("slice", marks=pytest.mark.slow), "hmc"])
def test_stan_program(explorer):
    few = FEW | {"n_chains": 4, "n_draws": 200, "n_warmup": 63}
    result = sample(StanDensity(Program()), explorer=explorer, **few)
    judge(result)
    assert result.parameters["x"].shape == (4, 200, 2, 3) and result.parameters["rate"].shape == (4, 200)
    np.testing.assert_array_equal(result.parameters["x"][..., 1, 0], result.draws[..., 2])
    np.testing.assert_array_equal(result.parameters["x"][..., 0, 2], result.draws[..., 5])


def test_stan_errors(tmp_path):
    with pytest.raises(ValueError, match=r"must be a \.stan file or a bridgestan"):
        StanDensity(3.0)
    with pytest.raises(ValueError, match="has its own 7 coordinates"):
        sample(StanDensity(Program()), reference=(0.0, 1.0), n_parameters=2)
    with pytest.raises(ValueError, match="vectorized must be left out"):
        sample(StanDensity(Program()), vectorized=True)
    with pytest.raises(ValueError, match="function must be a function of JAX"):
        JaxDensity(3.0)


def test_compiled_program(tmp_path):
    """By BridgeStan's own class, from a library with its interface in C."""
    pytest.importorskip("bridgestan")
    compiler, library = shutil.which("cc"), tmp_path / "counts_model.so"
    if compiler is None:
        pytest.skip("needs a C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", library, SOURCE, "-lm"], check=True)
    target = StanDensity(library)
    judge(sample(target, **FEW | {"n_chains": 4, "n_draws": 600}))
    assert target.values(np.array([[0.0], [10.0]]))[1] == -np.inf and target.gradient(np.zeros(1), True)[0] == 11.0


@pytest.mark.slow
def test_stan_file(tmp_path):
    """With the sources of Stan that httpstan brings along, or those that BridgeStan has downloaded."""
    file = tmp_path / "counts.stan"
    file.write_text(PROGRAM)
    try:
        target = StanDensity(file, {"n": 4, "counts": COUNTS})
    except (ImportError, ValueError) as error:
        pytest.skip(f"no Stan program can be compiled: {error}")
    judge(sample(target, **FEW))


@pytest.mark.slow
def test_stan_file_compiled_by_httpstan(tmp_path):
    if toolchain() is None:
        pytest.skip("needs httpstan")
    file, data = tmp_path / "counts.stan", {"n": 4, "counts": COUNTS}
    file.write_text(
        """
        data { int n; array[n] int counts; }
        parameters { real<lower=0> rate; matrix[2, 3] x; }
        model {
          if (rate > 1e3) reject("too large");
          rate ~ gamma(2, 1); counts ~ poisson(rate); to_vector(x) ~ normal(0, 1);
        }
        """
    )
    program, reference = StanProgram(file, data), Program()
    assert program.param_unc_num() == 7 and program.param_names() == reference.param_names()
    for theta in np.random.default_rng(0).normal(size=(5, 7)):
        value, gradient = reference.log_density_gradient(theta, propto=False, jacobian=True)
        assert program.log_density(theta) == pytest.approx(value, rel=1e-12)
        found, slope = program.log_density_gradient(theta)
        assert found == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(slope, gradient, rtol=1e-10)
        np.testing.assert_allclose(program.param_constrain(theta), reference.param_constrain(theta), rtol=1e-12)
    with pytest.raises(RuntimeError, match="too large"):
        program.log_density(np.full(7, 9.0))
    library = tmp_path / "counts_httpstan.so"
    compiled = library.stat().st_mtime_ns
    # Not compiled again; the data may be JSON, or a file of it.
    text = f'{{"n": 4, "counts": {COUNTS.tolist()}}}'
    (tmp_path / "counts.json").write_text(text)
    for given in (text, tmp_path / "counts.json"):
        assert StanProgram(file, given).log_density(theta) == program.log_density(theta)
    assert library.stat().st_mtime_ns == compiled
    with pytest.raises(ValueError, match=r"data do not suit .*counts"):
        StanProgram(file, {"n": 4})
    result = sample(StanDensity(program), **FEW | {"n_chains": 4, "n_draws": 200})
    judge(result)
    assert result.parameters["x"].shape == (4, 200, 2, 3)
    file.write_text("parameters { real x; } model { y ~ normal(0, 1); }")
    with pytest.raises(ValueError, match=r"stanc refuses .*counts\.stan"):
        StanProgram(file)
