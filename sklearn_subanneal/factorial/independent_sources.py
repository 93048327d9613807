"""Independent component analysis of rows: a start in which every activation is a source that is on or off.

The activations of the components are independent and not Gaussian, the noise is Gaussian. Rows are projected on their
principal components, which are scaled to the variance that is not noise; there, the sources are orthogonal, and are
found as the rotation with the largest sum of squared skewness and excess kurtosis. Gaussian noise has neither.

P. Comon (1994), Independent component analysis, a new concept?, Signal Processing 36.
A. Hyvarinen (1999), Fast independent component analysis with noisy data using Gaussian moments, ISCAS.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils.extmath import randomized_svd

# Principal directions of more features than this are computed by random projections.
MOST_EXACT = 500
# Rows, evenly spaced, from which the rotation is computed, at most.
MOST_ROWS = 10_000
MAX_ITER, TOLERANCE = 200, 1e-6
# Weights of the squared third and fourth cumulant in the expansion of negentropy.
SKEWNESS, KURTOSIS = 1.0 / 12.0, 1.0 / 48.0
# Directions with a smaller share of the largest variance are rounding errors.
LEAST_SHARE = 1e-12
# No direction is scaled as if it had less than this share of the noise variance.
LEAST_SIGNAL = 0.05
# Activation probabilities of sources that are on.
ON = 0.9
LEVEL_ITERATIONS = 50


def independent_activations(X: np.ndarray, n_components: int, generator: np.random.Generator) -> np.ndarray:
    """Activations that start from independent sources; random ones for components that have no source.

    Parameters
    ----------
    X : ndarray of shape (n, n_features)
    n_components : int
    generator : numpy.random.Generator
        For the first rotation, and for the random activations.

    Returns
    -------
    activations : ndarray of shape (n_components, n)
        Probabilities.
    """
    sample = X[:: max(-(-len(X) // MOST_ROWS), 1)].astype(np.float64)
    mean = sample.mean(axis=0)
    scaling = scaled_directions(sample - mean, n_components)
    activations = generator.uniform(0.3, 0.7, (n_components, len(X)))
    if len(scaling):
        unmixing = rotate(scaling @ (sample - mean).T, generator) @ scaling
        for k, source in enumerate(unmixing @ X.T.astype(np.float64)):
            activations[k] = np.where(switched_on(source), ON, 1.0 - ON)
    return activations.astype(X.dtype)


def principal_directions(centered: np.ndarray, n_directions: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest variances, (n_directions,), and their directions, (n_directions, n_features)."""
    n, n_features = centered.shape
    n_directions = min(n_directions, n, n_features)
    if n_features <= MOST_EXACT:
        variances, vectors = np.linalg.eigh(centered.T @ centered / n)
        return np.maximum(variances[::-1][:n_directions], 0.0), vectors[:, ::-1].T[:n_directions]
    _, lengths, vectors = randomized_svd(centered, n_directions, n_iter=4, random_state=0)
    return lengths**2 / n, vectors


def scaled_directions(centered: np.ndarray, n_directions: int) -> np.ndarray:
    """Principal directions, each divided by the standard deviation of the rows along it without that of the noise.

    Parameters
    ----------
    centered : ndarray of shape (n, n_features)
    n_directions : int
        At most.

    Returns
    -------
    directions : ndarray of shape (n_directions, n_features)
        Those that can be told from noise.
    """
    n, n_features = centered.shape
    variances, vectors = principal_directions(centered, n_directions)
    total = float(np.einsum("nd,nd->", centered, centered)) / n
    kept = int((variances > LEAST_SHARE * max(variances[0], np.finfo(float).tiny)).sum())
    noise_variance, last = 0.0, None
    while kept != last and n_features > kept:
        noise_variance = max(total - variances[:kept].sum(), 0.0) / (n_features - kept)
        # The largest eigenvalue of the covariance of noise alone, by Marchenko and Pastur.
        edge = noise_variance * (1.0 + np.sqrt(n_features / n)) ** 2
        last, kept = kept, min(kept, int((variances > edge).sum()))
    signal = np.maximum(variances[:kept] - noise_variance, LEAST_SIGNAL * noise_variance)
    return vectors[:kept] / np.sqrt(signal)[:, None]


def rotate(scaled: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Orthogonal rows that give the least Gaussian sources, by the fixed-point iteration of all rows at once.

    Parameters
    ----------
    scaled : ndarray of shape (n_sources, n)
    generator : numpy.random.Generator

    Returns
    -------
    rotation : ndarray of shape (n_sources, n_sources)
    """
    n_sources, n = scaled.shape
    covariance = scaled @ scaled.T / n
    rotation = np.linalg.qr(generator.normal(size=(n_sources, n_sources)))[0]
    for _ in range(MAX_ITER):
        sources = rotation @ scaled
        squares = sources * sources
        variance = squares.mean(axis=1)
        third = (squares * sources).mean(axis=1)
        fourth = (squares * squares).mean(axis=1) - 3.0 * variance**2
        gradient = 6.0 * SKEWNESS * third[:, None] * (squares @ scaled.T / n)
        slope = (squares * sources) @ scaled.T / n - 3.0 * variance[:, None] * (rotation @ covariance)
        gradient += 8.0 * KURTOSIS * fourth[:, None] * slope
        left, _, right = np.linalg.svd(gradient)
        last, rotation = rotation, left @ right
        if 1.0 - np.abs((last * rotation).sum(axis=1)).min() < TOLERANCE:
            break
    return rotation


def switched_on(source: np.ndarray) -> np.ndarray:
    """Where a source is on: the cluster, of two, whose mean is farther from zero; (n,) of bool."""
    low, high = np.quantile(source, [0.1, 0.9])
    for _ in range(LEVEL_ITERATIONS):
        above = source > 0.5 * (low + high)
        if above.all() or not above.any():
            break
        last, low, high = (low, high), source[~above].mean(), source[above].mean()
        if last == (low, high):
            break
    above = source > 0.5 * (low + high)
    return ~above if abs(high) < abs(low) else above
