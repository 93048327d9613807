"""Models of PyMC: prior and likelihood apart, the prior sampled exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.tempering.log_densities import DifferentiableModel


class PyMCModel(DifferentiableModel):
    """A model of PyMC, as a target of :func:`sample`; needs ``pip install sklearn-subanneal[pymc]``.

    Levels have powers of the likelihood, potentials included; the lowest is the prior, from which PyMC draws. All
    points are evaluated by one call. Coordinates are PyMC's without constraints.

    Parameters
    ----------
    model : pymc.Model
        Of continuous variables.

    Raises
    ------
    ValueError
        If it has no variables, or discrete ones.

    Examples
    --------
    >>> import pymc  # doctest: +SKIP
    >>> from sklearn_subanneal.tempering import sample
    >>> with pymc.Model() as model:  # doctest: +SKIP
    ...     rate = pymc.Gamma("rate", 2.0, 1.0)
    ...     pymc.Poisson("counts", rate, observed=[3, 5, 2])
    >>> result = sample(model, random_state=0)  # doctest: +SKIP
    """

    is_vectorized = True

    def __init__(self, model) -> None:
        try:
            import pytensor
            import pytensor.tensor as pt
            from pymc.pytensorf import compile as compile_pymc
            from pytensor.graph.replace import vectorize_graph
        except ImportError as error:
            raise ImportError("PyMCModel needs PyMC: pip install sklearn-subanneal[pymc].") from error
        start, variables = model.initial_point(), model.value_vars
        discrete = [variable.name for variable in variables if variable.dtype not in ("float64", "float32")]
        if discrete or not variables:
            raise ValueError(f"a PyMC model must have variables, all continuous, got {discrete or 'none'}; marginalise")
        self._shapes = [np.shape(start[variable.name]) for variable in variables]
        self._sizes = [int(np.prod(shape)) for shape in self._shapes]
        self._ends = np.cumsum(self._sizes)[:-1]
        self.n_parameters = int(np.sum(self._sizes))
        prior, whole = model.varlogp, model.logp()
        many = [pt.tensor(shape=(None, *variable.type.shape), dtype=variable.dtype) for variable in variables]
        over_points = dict(zip(variables, many, strict=True))

        def function(outputs, inputs=many):
            return pytensor.function(inputs, outputs, on_unused_input="ignore")

        self._values = function(vectorize_graph([prior, whole - prior], over_points))
        names = {variable.name for variable in (*model.free_RVs, *model.deterministics)}
        named = [variable for variable in model.unobserved_value_vars if variable.name in names]
        self._names = [variable.name for variable in named]
        self._named = function(vectorize_graph(named, over_points))
        self._gradients = lambda: function(
            [whole, prior, *pytensor.grad(prior, variables, disconnected_inputs="ignore", return_disconnected="zero"),
             *pytensor.grad(whole, variables, disconnected_inputs="ignore", return_disconnected="zero")],
            variables,
        )  # fmt: skip
        self._gradient_function = None
        drawn = []
        for variable in model.free_RVs:
            transform = model.rvs_to_transforms[variable]
            drawn.append(variable if transform is None else transform.forward(variable, *variable.owner.inputs))
        self._draw = compile_pymc([], drawn, random_seed=0)

    def _split(self, thetas):
        """Arrays of the variables, from points of shape (..., n_parameters)."""
        parts = zip(np.split(thetas, self._ends, axis=-1), self._shapes, strict=True)
        return [np.reshape(part, (*thetas.shape[:-1], *shape)) for part, shape in parts]

    def log_densities(self, thetas: NDArray) -> tuple[NDArray, NDArray]:
        """Log prior of the coordinates, and log likelihood with potentials, at many points."""
        with np.errstate(all="ignore"):
            prior, likelihood = (
                np.array(np.broadcast_to(out, len(thetas))) for out in self._values(*self._split(thetas))
            )
        # Outside of the support the whole is -inf, and its difference from the prior is nan.
        likelihood[np.isnan(likelihood) & (prior == -np.inf)] = -np.inf
        return prior.astype(float), likelihood.astype(float)

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the prior."""
        return float(self.log_densities(theta[None])[0][0])

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Log likelihood, potentials included."""
        return float(self.log_densities(theta[None])[1][0])

    def _with_gradients(self, theta):
        if self._gradient_function is None:
            self._gradient_function = self._gradients()
        whole, prior, *parts = self._gradient_function(*self._split(theta))
        parts = [np.asarray(part, dtype=float).ravel() for part in parts]
        of_prior, of_whole = np.concatenate(parts[: len(parts) // 2]), np.concatenate(parts[len(parts) // 2 :])
        return float(prior), float(whole - prior), of_prior, of_whole - of_prior

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        return self._with_gradients(theta)[2]

    def log_likelihood_and_gradient(self, theta: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient."""
        found = self._with_gradients(theta)
        return found[1], found[3]

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        return self.sample_priors(rng, 1)[0]

    def sample_priors(self, rng, n: int) -> NDArray:
        """Independent draws from the prior."""
        from pymc.pytensorf import reseed_rngs

        # From the sampler's own generator, so that a run that is resumed goes on with the same draws.
        shared = [one for one in self._draw.get_shared() if isinstance(one.get_value(borrow=True), np.random.Generator)]
        reseed_rngs(shared, int(rng.integers(2**31)))
        drawn = [[np.ravel(part) for part in self._draw()] for _ in range(n)]
        return np.array([np.concatenate(parts) for parts in drawn], dtype=float)

    def constrained(self, thetas: NDArray) -> dict[str, NDArray]:
        """Variables and deterministics by their names, from points of shape (..., n_parameters)."""
        flat = thetas.reshape(-1, self.n_parameters)
        found = zip(self._names, self._named(*self._split(flat)), strict=True)
        return {name: np.asarray(value).reshape(*thetas.shape[:-1], *np.shape(value)[1:]) for name, value in found}
