"""Likelihoods of all types of columns in plain NumPy: marginals, predictives and prior draws, for comparison.

A column is a triple ``(kind, x, params)``. `x` holds one value per row, a missing cell being NaN or, in the kinds
whose values cannot be negative, -1; the kind "gaussian" is a block of columns, `x` of shape (n, d). `params` are
the hyperparameters below, all of which may carry leading axes (a grid) in `log_marginal`, `log_predictive` excepted.

=============  =======================================  ===========================================================
kind           hyperparameters                          model of one cluster
=============  =======================================  ===========================================================
"real"         mu, kappa, sigma2, nu                    x ~ N(m, v), m ~ N(mu, v / kappa), nu sigma2 / v ~ Chi2(nu)
"categorical"  alpha (one per value), unseen            x ~ Categorical(p), p ~ Dirichlet(alpha, unseen); codes 0..V-1,
                                                        and V, which is left out if there is no `unseen`
"boolean"      alpha (True), beta (False)               x ~ Bernoulli(p), p ~ Beta(alpha, beta)
"count"        shape, rate, dispersion                  x ~ Poisson(l), l ~ Gamma(shape, rate); with a dispersion
                                                        1 / r: x ~ NB(r, p), p ~ Beta(2 + rate r, shape)
"cyclic"       mu, r, kappa                             x ~ vonMises(m, kappa), m ~ vonMises(mu, r); in radians
"semicontinuous"  alpha, atoms, and those of "real"     x = atom v with p_v, "real" with p_0; p ~ Dirichlet(alpha, ...)
"ordinal"      location, spread, free, mass, cuts       x ~ Categorical(p), p = normal between cuts, or Dirichlet
"gaussian"     mu (d,), kappa, psi (d, d), nu           x ~ N(m, S), m ~ N(mu, S / kappa), S ~ InvWishart(nu, psi)
"bag-of-words"  beta (a scalar or one per token)         tokens ~ Categorical(p), p ~ Dirichlet(beta); x (n, V)
=============  =======================================  ===========================================================

References
----------
Fink (1997), A compendium of conjugate priors. Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln, gammaln, i0e, logsumexp, multigammaln

Params = Mapping[str, Any]
Column = tuple[str, np.ndarray, Params]

MAX_QUADRATURE_AXES = 2


def observed(kind: str, x: np.ndarray) -> np.ndarray:
    """Return the observed cells of one column as a float vector (a multinomial bag is observed as a whole)."""
    x = np.asarray(x, dtype=float)
    if kind == "bag-of-words":
        return x
    return x[~np.isnan(x)] if kind in ("real", "cyclic", "semicontinuous") else x[x >= 0]


# --- Log marginal likelihood of one cluster ---------------------------------------------------------------------


def log_marginal(kind: str, x: np.ndarray, params: Params) -> np.ndarray | float:
    """Return log p(x | params) with the cluster's own parameters integrated out.

    Parameters
    ----------
    kind : str
        A kind of the table above.
    x : array of shape (n,), or (n, d) for "gaussian" and "bag-of-words"
        The cells of one cluster; missing cells are marginalised out.
    params : mapping
        Hyperparameters; leading axes broadcast.

    Returns
    -------
    log_marginal : float, or array of the shape of the leading axes of `params`

    Raises
    ------
    ValueError
        If `kind` is unknown, a hyperparameter is outside its domain, or a Gaussian cluster wants quadrature over
        more than `MAX_QUADRATURE_AXES` missing cells.

    Examples
    --------
    >>> round(log_marginal("boolean", [1, 1, 0, -1], {"alpha": 1.0, "beta": 1.0}), 6)  # B(3, 2) = 1 / 12
    -2.484907
    """
    if kind not in _MARGINALS:
        raise ValueError(f"kind={kind!r} is unknown: choose one of {sorted(_MARGINALS)}.")
    params = {name: np.asarray(value, dtype=float) for name, value in params.items()}
    params = natural_block(params) if kind == "gaussian" else params
    for name in set(params) - {"mu", "psi", "atoms", "location", "cuts", "dispersion"}:
        if not np.all(params[name] > 0):
            raise ValueError(f"{name}={params[name]} of kind={kind!r} must be positive: correct it.")
    result = _MARGINALS[kind](observed(kind, x) if kind != "gaussian" else np.asarray(x, dtype=float), params)
    return float(result) if np.ndim(result) == 0 else result


def _update_real(x, params):
    # kappa_n = kappa + n,  nu_n = nu + n,  nu_n sigma2_n = nu sigma2 + sum (x - m)^2 + kappa n / kappa_n (m - mu)^2
    n, mean = x.size, x.mean() if x.size else 0.0
    kappa, nu = params["kappa"] + n, params["nu"] + n
    shift = params["kappa"] * n / kappa * (mean - params["mu"]) ** 2
    sigma2 = (params["nu"] * params["sigma2"] + ((x - mean) ** 2).sum() + shift) / nu
    return {"mu": (params["kappa"] * params["mu"] + n * mean) / kappa, "kappa": kappa, "sigma2": sigma2, "nu": nu}


def _marginal_real(x, params):
    # Gamma(nu_n/2) / Gamma(nu/2) sqrt(kappa/kappa_n) (nu sigma2)^(nu/2) / (nu_n sigma2_n)^(nu_n/2) pi^(-n/2)
    after = _update_real(x, params)
    volume = [q["nu"] / 2 * np.log(q["nu"] * q["sigma2"]) - gammaln(q["nu"] / 2) for q in (params, after)]
    return volume[0] - volume[1] + 0.5 * np.log(params["kappa"] / after["kappa"]) - x.size / 2 * np.log(np.pi)


def _dirichlet(counts, alpha):
    # Gamma(A) / Gamma(A + n) prod_v Gamma(alpha_v + c_v) / Gamma(alpha_v),  A = sum_v alpha_v
    total = alpha.sum(-1)
    return gammaln(total) - gammaln(total + counts.sum()) + (gammaln(alpha + counts) - gammaln(alpha)).sum(-1)


def _alphas(params):
    alpha = np.asarray(params["alpha"], dtype=float)
    if "unseen" not in params:
        return alpha
    unseen = np.asarray(params["unseen"], dtype=float)[..., None]
    shape = np.broadcast_shapes(alpha.shape[:-1], unseen.shape[:-1])
    return np.concatenate([np.broadcast_to(part, (*shape, part.shape[-1])) for part in (alpha, unseen)], axis=-1)


def _marginal_categorical(x, params):
    alpha = _alphas(params)
    n_values = alpha.shape[-1]
    if x.size and x.max() >= n_values:
        raise ValueError(f"x={x.max():.0f} is no code below {n_values}: give alpha one entry per value.")
    return _dirichlet(np.bincount(x.astype(int), minlength=n_values), alpha)


def _marginal_boolean(x, params):
    true, false = np.sum(x > 0), np.sum(x == 0)
    return _dirichlet(np.array([true, false]), np.stack(np.broadcast_arrays(params["alpha"], params["beta"]), -1))


def _marginal_count(x, params):
    # Gamma(s_n) / Gamma(s) r^s / r_n^s_n / prod x!,  s_n = s + sum x,  r_n = r + n
    shape, rate = params["shape"] + x.sum(), params["rate"] + x.size
    volume = params["shape"] * np.log(params["rate"]) - shape * np.log(rate)
    poisson = gammaln(shape) - gammaln(params["shape"]) + volume - gammaln(x + 1).sum()
    dispersion = np.asarray(params.get("dispersion", 0.0))[..., None]
    if not np.any(dispersion):
        return poisson
    # B(2 + rate r + n r, s_n) / B(2 + rate r, s) prod Gamma(x + r) / (Gamma(r) x!)
    size = 1.0 / np.where(dispersion > 0.0, dispersion, 1.0)
    coefficients = (gammaln(x + size) - gammaln(size) - gammaln(x + 1)).sum(axis=-1)
    size = size[..., 0]
    second = 2.0 + params["rate"] * size
    negative = coefficients + betaln(second + x.size * size, shape) - betaln(second, params["shape"])
    return np.where(dispersion[..., 0] > 0.0, negative, poisson)


def _split(x, params):
    # The cells that are not atoms, and the counts of them and of each atom; atoms have no grid.
    atoms = np.reshape(params["atoms"], (-1, np.shape(params["atoms"])[-1]))[0]
    rest = x[~np.isin(x, atoms)]
    return rest, np.array([rest.size, *(np.sum(x == atom) for atom in atoms)])


def _marginal_semicontinuous(x, params):
    rest, counts = _split(x, params)
    alpha = np.repeat(np.asarray(params["alpha"])[..., None], len(counts), axis=-1)
    return _dirichlet(counts, alpha) + _marginal_real(rest, params)


def _log_bessel(x):
    return np.log(i0e(x)) + x


def _marginal_cyclic(x, params):
    # (2 pi I0(kappa))^-n I0(|v|) / I0(r),  v = r e^(i mu) + kappa sum e^(i x)
    length = np.abs(params["r"] * np.exp(1j * params["mu"]) + params["kappa"] * np.exp(1j * x).sum())
    return _log_bessel(length) - _log_bessel(params["r"]) - x.size * (np.log(2 * np.pi) + _log_bessel(params["kappa"]))


def ordinal_shapes(cuts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the means (n,) and the probabilities (..., n, n_scales, n_levels) of the normals of an ordinal column.

    A level is a normal variable between two cut points, of shape (..., n_levels - 1). Means lie half a level apart
    from -1 to n_levels, at most 49 of them; deviations are 0.3 such steps, times 2.5, up to n_levels. One value in a
    thousand is uniform.
    """
    cuts = np.asarray(cuts, dtype=float)
    n_levels = cuts.shape[-1] + 1
    step = max(0.5, (n_levels + 1) / 48)
    means = -1 + step * np.arange(round((n_levels + 1) / step) + 1)
    scales = np.array([0.3 * step * 2.5**i for i in range(100) if 0.3 * step * 2.5**i <= n_levels])
    standard = (cuts[..., None, None, :] - means[:, None, None]) / scales[:, None]
    ends = np.full((*standard.shape[:-1], 1), np.inf)
    edges = np.concatenate([-ends, standard, ends], axis=-1)
    low, high = edges[..., :-1], edges[..., 1:]
    # Differences of the smaller tails: no accuracy is lost.
    inside = np.where(high < 0, stats.norm.cdf(high) - stats.norm.cdf(low), stats.norm.sf(low) - stats.norm.sf(high))
    return means, 0.999 * inside + 0.001 / n_levels


def _ordinal_prior(params):
    # Weights of the normals (..., n_means), all scales alike, and the Dirichlet's alpha (..., n_levels).
    means, shapes = ordinal_shapes(params["cuts"])
    distance = (means - np.asarray(params["location"])[..., None]) / np.asarray(params["spread"])[..., None]
    log_weights = -0.5 * distance**2 - logsumexp(-0.5 * distance**2, axis=-1, keepdims=True)
    mean_shape = (np.exp(log_weights)[..., None, :] @ shapes.mean(axis=-2))[..., 0, :]
    return log_weights, shapes, np.asarray(params["mass"])[..., None] * mean_shape


def _marginal_ordinal(x, params):
    # (1 - free) sum_g weight_g prod_l shape_gl^n_l + free DirichletMultinomial(n; alpha)
    log_weights, shapes, alpha = _ordinal_prior(params)
    counts = np.bincount(x.astype(int), minlength=shapes.shape[-1])
    of_means = logsumexp(np.log(shapes) @ counts, axis=-1) - np.log(shapes.shape[-2])
    shaped = logsumexp(log_weights + of_means, axis=-1)
    return np.logaddexp(np.log1p(-params["free"]) + shaped, np.log(params["free"]) + _dirichlet(counts, alpha))


def _marginal_multinomial(x, params):
    # Of the tokens in order: without the multinomial coefficients, which are the same for every partition.
    beta = params["beta"]
    return _dirichlet(x.sum(0), np.broadcast_to(beta, x.shape[1:]) if beta.ndim == 0 else beta)


# --- The Gaussian block -----------------------------------------------------------------------------------------


def natural_block(params: Params) -> dict[str, Any]:
    """Return the hyperparameters with psi, where variances sigma2 stand for it: psi = (nu - d + 1) diag(sigma2).

    Examples
    --------
    >>> natural_block({"mu": [0.0, 0.0], "kappa": 1.0, "sigma2": [1.0, 2.0], "nu": 4.0})["psi"]
    array([[3., 0.],
           [0., 6.]])
    """
    if "psi" in params:
        return {name: value for name, value in params.items() if name != "sigma2"}
    own = {name: value for name, value in params.items() if name != "sigma2"}
    sigma2 = np.asarray(params["sigma2"], dtype=float)
    d = sigma2.shape[-1]
    own["psi"] = (np.asarray(params["nu"])[..., None] - d + 1)[..., None] * sigma2[..., None] * np.eye(d)
    return own


def _update_gaussian(x, params):
    # psi_n = psi + sum (x - m)(x - m)' + kappa n / kappa_n (m - mu)(m - mu)'
    n = x.shape[-2]
    mean = x.mean(-2) if n else np.zeros(x.shape[-1])
    centred, shift = x - mean[..., None, :], mean - params["mu"]
    kappa = params["kappa"] + n
    weight = np.asarray(params["kappa"] * n / kappa)[..., None, None]
    psi = params["psi"] + np.swapaxes(centred, -1, -2) @ centred + weight * shift[..., :, None] * shift[..., None, :]
    mu = params["mu"] + np.asarray(n / kappa)[..., None] * shift
    return {"mu": mu, "kappa": kappa, "psi": psi, "nu": params["nu"] + n}


def _complete_gaussian(x, params):
    # pi^(-nd/2) Gamma_d(nu_n/2) / Gamma_d(nu/2) |psi|^(nu/2) / |psi_n|^(nu_n/2) (kappa / kappa_n)^(d/2)
    n, d = x.shape[-2:]
    after = _update_gaussian(x, params)
    volume = [q["nu"] / 2 * np.linalg.slogdet(q["psi"])[1] - multigammaln(q["nu"] / 2, d) for q in (params, after)]
    return volume[0] - volume[1] + d / 2 * np.log(params["kappa"] / after["kappa"]) - n * d / 2 * np.log(np.pi)


def sub_block(params: Params, coordinates: Sequence[int]) -> dict[str, np.ndarray]:
    """Return the hyperparameters of a sub-vector: S_oo ~ InvWishart(nu - n_dropped, psi_oo)."""
    index, mu, psi = np.asarray(coordinates), np.asarray(params["mu"]), np.asarray(params["psi"])
    nu = np.asarray(params["nu"]) - (mu.shape[-1] - len(index))
    block = psi[..., index[:, None], index[None, :]]
    return {"mu": mu[..., index], "kappa": np.asarray(params["kappa"]), "psi": block, "nu": nu}


def line_quadrature(half_width: float = 4.0, step: float = 1 / 16) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes u and log weights with integral f(u) du = sum w f(u) for f analytic with algebraic tails.

    The double-exponential rule u = sinh(pi/2 sinh t) of Takahasi and Mori (1974, doi:10.2977/prims/1195192451):
    a Gauss-Hermite rule would need far more nodes for the tails of Student's t.

    Examples
    --------
    >>> u, log_weights = line_quadrature()
    >>> bool(abs(np.sum(np.exp(log_weights) / (1 + u**2)) - np.pi) < 1e-12)
    True
    """
    t = np.arange(-half_width, half_width + step / 2, step)
    inner = np.pi / 2 * np.sinh(t)
    return np.sinh(inner), np.log(np.cosh(inner) * np.pi / 2 * np.cosh(t) * step)


def _marginal_gaussian(x, params):
    d = params["mu"].shape[-1]
    if np.any(params["nu"] <= d - 1):
        raise ValueError(f"nu={params['nu']} must exceed d - 1 = {d - 1}: raise it.")
    x = x[~np.isnan(x).all(1)]
    seen = np.flatnonzero(~np.isnan(x).all(0))
    if len(seen) < d:  # coordinates that no row of the cluster shows integrate out exactly
        x, params = x[:, seen], sub_block(params, seen)
    missing = np.isnan(x)
    if not missing.any():
        return _complete_gaussian(x, params) if x.size else np.zeros(params["kappa"].shape)
    # p(x) = int p(rows, z) p(last | rows, z) dz: rows that miss the same coordinates integrate out exactly, by the law
    # of the sub-vector they show; quadrature runs over the missing cells z of the other rows.
    patterns, of_row = np.unique(missing, axis=0, return_inverse=True)
    chosen = np.argmax(np.bincount(of_row.ravel()) * patterns.sum(1))
    last, known = of_row.ravel() == chosen, np.flatnonzero(~patterns[chosen])
    rows = x[~last]
    cells = np.argwhere(np.isnan(rows))
    if len(cells) > MAX_QUADRATURE_AXES:
        raise ValueError(
            f"x needs quadrature over {len(cells)} missing cells, above {MAX_QUADRATURE_AXES}: use fewer missing cells."
        )
    line, log_weight = line_quadrature()
    nodes = np.array(list(itertools.product(line, repeat=len(cells))))
    log_weights = np.array([sum(point) for point in itertools.product(log_weight, repeat=len(cells))])
    params = {
        name: np.expand_dims(value, value.ndim - {"mu": 1, "psi": 2}.get(name, 0)) for name, value in params.items()
    }
    leading = np.broadcast_shapes(params["kappa"].shape, params["nu"].shape, params["mu"].shape[:-1])[:-1]
    filled = np.broadcast_to(rows, (*leading, len(nodes), *rows.shape)).copy()
    log_scales = np.zeros(leading)
    complete = _update_gaussian(x[~missing.any(1)], params)
    for axis, (row, j) in enumerate(cells):
        center, scale = _conditional_t(rows[row], j, complete)
        filled[..., row, j] = center + scale * nodes[:, axis]
        log_scales = log_scales + np.log(scale)[..., 0]
    sub, shown = sub_block(params, known), filled[..., known]
    shown_last = x[last][:, known]
    with_last = np.concatenate([shown, np.broadcast_to(shown_last, (*shown.shape[:-2], *shown_last.shape))], axis=-2)
    integrand = _complete_gaussian(filled, params) + _complete_gaussian(with_last, sub) - _complete_gaussian(shown, sub)
    return logsumexp(integrand + log_weights, axis=-1) + log_scales


def _conditional_t(row, j, params):
    # Center and scale of cell j given the row's observed cells o: a t of v = nu - d + 1 degrees and shape
    # C = psi (kappa + 1) / (kappa v) has center mu_j + C_jo C_oo^-1 e, scale^2 (v + e' C_oo^-1 e) / (v + |o|) C_jj.o
    known = np.flatnonzero(~np.isnan(row))
    degrees = params["nu"] - len(row) + 1
    shape = params["psi"] * np.asarray((params["kappa"] + 1) / (params["kappa"] * degrees))[..., None, None]
    error = (row - params["mu"])[..., known, None]
    across = shape[..., [j], :][..., known]
    inverse = np.linalg.inv(shape[..., known[:, None], known[None, :]])
    center = params["mu"][..., j] + (across @ inverse @ error)[..., 0, 0]
    residual = shape[..., j, j] - (across @ inverse @ np.swapaxes(across, -1, -2))[..., 0, 0]
    distance = (np.swapaxes(error, -1, -2) @ inverse @ error)[..., 0, 0]
    return center, np.sqrt((degrees + distance) / (degrees + len(known)) * residual)


_MARGINALS: dict[str, Callable] = {
    "real": _marginal_real,
    "categorical": _marginal_categorical,
    "boolean": _marginal_boolean,
    "count": _marginal_count,
    "cyclic": _marginal_cyclic,
    "semicontinuous": _marginal_semicontinuous,
    "ordinal": _marginal_ordinal,
    "gaussian": _marginal_gaussian,
    "bag-of-words": _marginal_multinomial,
}


# --- Posterior predictive, by closed forms that share no code with the marginals --------------------------------


def log_predictive(kind: str, x_new: Any, x: np.ndarray, params: Params) -> float:
    """Return log p(x_new | x, params) of one new cell (or row of a block) of a cluster that holds `x`.

    Student t, multivariate t, negative binomial, the Dirichlet's ratios, and a sum over directions; a missing `x_new`
    gives 0. Where `x` of a Gaussian block has missing cells no closed form exists, and the ratio of marginal
    likelihoods stands in.

    Examples
    --------
    >>> round(float(np.exp(log_predictive("boolean", 1, [1, 1, 0], {"alpha": 1.0, "beta": 1.0}))), 12)
    0.6
    """
    x, new = np.asarray(x, dtype=float), np.asarray(x_new, dtype=float)
    if kind == "gaussian":
        return _predictive_gaussian(new, x, natural_block(params))
    if kind == "bag-of-words":
        weights = np.broadcast_to(params["beta"], new.shape) + x.sum(0)
        tokens = np.repeat(np.arange(len(new)), new.astype(int))
        seen = np.array([np.sum(tokens[:i] == token) for i, token in enumerate(tokens)])
        return float(np.log((weights[tokens] + seen) / (weights.sum() + np.arange(len(tokens)))).sum())
    if observed(kind, new[None]).size == 0:
        return 0.0
    x = observed(kind, x)
    if kind == "real":
        after = _update_real(x, params)
        scale = np.sqrt(after["sigma2"] * (1 + 1 / after["kappa"]))
        return float(stats.t.logpdf(new, after["nu"], after["mu"], scale))
    if kind == "semicontinuous":
        rest, counts = _split(x, params)
        own = np.concatenate([[new not in params["atoms"]], np.equal(params["atoms"], new)])
        share = np.log((params["alpha"] + counts @ own) / (len(counts) * params["alpha"] + x.size))
        return float(share) + (log_predictive("real", new, rest, params) if own[0] else 0.0)
    if kind == "categorical":
        alpha = _alphas(params)
        return float(np.log((alpha[int(new)] + np.sum(x == new)) / (np.sum(alpha) + x.size)))
    if kind == "boolean":
        own = params["alpha"] if new > 0 else params["beta"]
        return float(np.log((own + np.sum(x == new)) / (params["alpha"] + params["beta"] + x.size)))
    if kind == "count":
        shape, rate = params["shape"] + x.sum(), params["rate"] + x.size
        if not params.get("dispersion", 0.0):
            return float(stats.nbinom.logpmf(new, shape, rate / (rate + 1)))
        size = 1.0 / params["dispersion"]
        second = 2.0 + rate * size
        coefficient = gammaln(new + size) - gammaln(size) - gammaln(new + 1)
        return float(coefficient + betaln(second + size, shape + new) - betaln(second, shape))
    if kind == "ordinal":
        # The distributions that a cluster can have, weighted by their posterior probabilities.
        log_weights, shapes, alpha = _ordinal_prior(params)
        shapes = shapes.reshape(-1, len(alpha))
        joint = (1 - params["free"]) * np.repeat(np.exp(log_weights), len(shapes) // len(log_weights))
        joint *= len(log_weights) / len(shapes) * np.prod(shapes[:, x.astype(int)], axis=1)
        counts, value = np.bincount(x.astype(int), minlength=len(alpha)), int(new)
        free = params["free"] * np.exp(_dirichlet(counts, alpha))
        together = joint @ shapes[:, value] + free * (alpha[value] + counts[value]) / (alpha + counts).sum()
        return float(np.log(together / (joint.sum() + free)))
    if kind == "cyclic":
        # The trapezoidal rule over the direction m, which is exact for analytic periodic functions.
        m = np.arange(4096) * (2 * np.pi / 4096)
        log_posterior = params["r"] * np.cos(m - params["mu"]) + params["kappa"] * np.cos(x[:, None] - m).sum(axis=0)
        return float(
            logsumexp(log_posterior + stats.vonmises.logpdf(new, params["kappa"], loc=m)) - logsumexp(log_posterior)
        )
    raise ValueError(f"kind={kind!r} is unknown: choose one of {sorted(_MARGINALS)}.")


def _predictive_gaussian(new, x, params):
    known = np.flatnonzero(~np.isnan(new))
    if known.size == 0:
        return 0.0
    x = x[~np.isnan(x).all(1)]
    if np.isnan(x).any():
        together = np.concatenate([x, new[None]])
        return log_marginal("gaussian", together, params) - log_marginal("gaussian", x, params)
    after = sub_block(_update_gaussian(x, params), known)
    degrees = after["nu"] - len(known) + 1
    scale = after["psi"] * (after["kappa"] + 1) / (after["kappa"] * degrees)
    return float(stats.multivariate_t.logpdf(new[known], after["mu"], scale, df=degrees))


# --- Draws from the generative model ----------------------------------------------------------------------------


def draw_from_prior(kind: str, params: Params, n: Any, rng: np.random.Generator) -> tuple[dict, np.ndarray]:
    """Draw one cluster's parameters from the prior and `n` values given them.

    For "bag-of-words", `n` is the sequence of bag sizes and `beta` has one entry per token.

    Returns
    -------
    theta : dict
        The cluster's own parameters: mean and variance (covariance), probabilities, rate, or direction.
    x : array of shape (n,), or (n, d)
    """
    if kind == "real":
        variance = params["nu"] * params["sigma2"] / rng.chisquare(params["nu"])
        mean = rng.normal(params["mu"], np.sqrt(variance / params["kappa"]))
        return {"mean": mean, "variance": variance}, rng.normal(mean, np.sqrt(variance), n)
    if kind == "semicontinuous":
        atoms = np.asarray(params["atoms"], float)
        probabilities = rng.dirichlet(np.full(1 + len(atoms), params["alpha"]))
        theta, rest = draw_from_prior("real", params, n, rng)
        codes = rng.choice(len(probabilities), size=n, p=probabilities)
        return theta | {"probabilities": probabilities}, np.where(codes == 0, rest, np.append(0.0, atoms)[codes])
    if kind == "gaussian":
        params = natural_block(params)
        covariance = _draw_inverse_wishart(params["nu"], np.asarray(params["psi"], dtype=float), rng)
        root = np.linalg.cholesky(covariance)
        mean = params["mu"] + root @ rng.standard_normal(len(root)) / np.sqrt(params["kappa"])
        return {"mean": mean, "covariance": covariance}, mean + rng.standard_normal((n, len(root))) @ root.T
    if kind == "count":
        if not params.get("dispersion", 0.0):
            rate = rng.gamma(params["shape"], 1 / params["rate"])
            return {"rate": rate}, rng.poisson(rate, n)
        size = 1.0 / params["dispersion"]
        share = rng.beta(2.0 + params["rate"] * size, params["shape"])
        return {"share": share, "size": size}, rng.negative_binomial(size, share, n)
    if kind == "cyclic":
        direction = rng.vonmises(params["mu"], params["r"])
        x = rng.vonmises(direction, params["kappa"], n) % (2 * np.pi)
        return {"direction": direction, "kappa": params["kappa"]}, x
    if kind == "boolean":
        probability = rng.beta(params["alpha"], params["beta"])
        return {"probability": probability}, (rng.random(n) < probability).astype(int)
    if kind == "bag-of-words":
        probabilities = rng.dirichlet(params["beta"])
        return {"probabilities": probabilities}, np.array([rng.multinomial(size, probabilities) for size in n])
    if kind == "ordinal":
        log_weights, shapes, alpha = _ordinal_prior(params)
        probabilities = shapes[rng.choice(len(log_weights), p=np.exp(log_weights)), rng.integers(shapes.shape[1])]
        if rng.random() < params["free"]:
            probabilities = rng.dirichlet(alpha)
        return {"probabilities": probabilities}, rng.choice(len(probabilities), size=n, p=probabilities)
    if kind == "categorical":
        probabilities = rng.dirichlet(_alphas(params))
        return {"probabilities": probabilities}, rng.choice(len(probabilities), size=n, p=probabilities)
    raise ValueError(f"kind={kind!r} is unknown: choose one of {sorted(_MARGINALS)}.")


def _draw_inverse_wishart(nu, psi, rng):
    # Bartlett: W = (L A)(L A)' ~ Wishart(nu, psi^-1) with L L' = psi^-1, A_ii^2 ~ chi2(nu - i), A_ij ~ N(0, 1) below.
    d = len(psi)
    factor = np.tril(rng.standard_normal((d, d)), -1) + np.diag(np.sqrt(rng.chisquare(nu - np.arange(d))))
    factor = np.linalg.cholesky(np.linalg.inv(psi)) @ factor
    return np.linalg.inv(factor @ factor.T)
