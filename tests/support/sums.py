"""Tables whose rows are sums of known components with noise, for the tests of factorial mixtures."""

from __future__ import annotations

import numpy as np


def bars(rng, side):
    """Horizontal and vertical bars of images of side x side pixels."""
    lines = np.kron(np.eye(side), np.ones(side))
    upright = lines.reshape(side, side, side).transpose(0, 2, 1).reshape(side, side**2)
    return np.concatenate([lines, upright])


def blobs(rng, n_components, side, width=2.0):
    """Spots at random places of an image, which overlap."""
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    centers = rng.uniform(0.0, side - 1.0, (n_components, 2))
    distances = ((places[None] - centers[:, None]) ** 2).sum(axis=-1)
    return np.exp(-distances / (2.0 * width**2)) * rng.uniform(0.7, 1.3, (n_components, 1))


def similar(rng, n_components, n_features, share):
    """Components with a part in common, which is a share of their variance."""
    common = rng.normal(size=n_features)
    return share**0.5 * common + (1.0 - share) ** 0.5 * rng.normal(size=(n_components, n_features))


def normal(rng, n_components, n_features):
    return rng.normal(size=(n_components, n_features))


# Components, the least and the largest activation probability, variance of the noise, rows.
GENERATORS = {
    "bars": (lambda rng: bars(rng, 6), (0.2, 0.2), 0.1, 1500),
    "many bars": (lambda rng: bars(rng, 10), (0.15, 0.15), 0.2, 3000),
    "blobs": (lambda rng: blobs(rng, 8, 14), (0.3, 0.3), 0.05, 1000),
    "many blobs": (lambda rng: blobs(rng, 20, 20), (0.1, 0.5), 0.05, 5000),
    "similar": (lambda rng: similar(rng, 8, 30, 0.6), (0.3, 0.3), 0.5, 1500),
    "many similar": (lambda rng: similar(rng, 16, 64, 0.7), (0.25, 0.25), 0.3, 3000),
    "unequal": (lambda rng: normal(rng, 8, 40), (0.1, 0.5), 1.0, 1000),
    "rare": (lambda rng: normal(rng, 10, 60), (0.1, 0.1), 1.0, 1000),
    "many": (lambda rng: normal(rng, 20, 100), (0.2, 0.2), 1.0, 2000),
    "more than features": (lambda rng: normal(rng, 20, 16), (0.2, 0.2), 0.05, 5000),
    "half of the rows": (lambda rng: normal(rng, 12, 400), (0.5, 0.5), 2.0, 1000),
}


def planted_sums(name, seed):
    """Rows (n, n_features), the components that they are sums of, and which: (n, n_components) of bool."""
    components, (least, largest), variance, n = GENERATORS[name]
    rng = np.random.default_rng([seed, sum(map(ord, name))])
    truth = components(rng)
    probabilities = rng.permutation(np.linspace(least, largest, len(truth)))
    active = rng.random((n, len(truth))) < probabilities
    return active @ truth + variance**0.5 * rng.normal(size=(n, truth.shape[1])), truth, active
