"""Factorial mixture of bars
=========================

A factorial mixture learns the bars from images that are sums of horizontal and vertical bars, with noise.
"""

# %%
# There are eight bars. Each bar is present in an image with probability 0.3, so there are 256 kinds of images.

import numpy as np

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.plotting import ComponentsDisplay

rng = np.random.default_rng(0)
lines = np.kron(np.eye(4), np.ones(4))
bars = np.concatenate([lines, lines.reshape(4, 4, 4).transpose(0, 2, 1).reshape(4, 16)])
X = (rng.random((3500, 8)) < 0.3) @ bars + rng.normal(scale=0.1**0.5, size=(3500, 16))
train, test = X[:3000], X[3000:]

noisy = ComponentsDisplay(train[:16].reshape(16, 4, 4)).plot(n_columns=8)
noisy.figure_.set_size_inches(8, 2.4)

# %%
# The published algorithm updates each component given the others (``"cyclic"``). The output lists the number of bars
# found from each of four random starts. If bars are not found, two components share a bar, or one component is the sum
# of two bars.

unit = bars / np.linalg.norm(bars, axis=1, keepdims=True)


def n_found(model):
    cosines = model.components_ @ unit.T / np.linalg.norm(model.components_, axis=1)[:, None]
    return int((cosines.max(axis=0) > 0.98).sum())


for update in ("cyclic", "joint"):
    for tempering in ("none", "annealed", "global"):
        models = [
            VariationalTemperingFMM(
                8,
                init="random",
                tempering=tempering,
                component_update=update,
                noise_variance=0.1,
                random_state=seed,
            ).fit(train)
            for seed in range(4)
        ]
        held_out = np.mean([model.score(test) for model in models])
        found = [n_found(model) for model in models]
        print(f"{update:6} {tempering:9} bars found {found}, bound {held_out:.2f} nats per held-out image")

# %%
# Tempering helps most if the components are updated one by one. Updating all components jointly (``"joint"``, the
# default) helps as much. Neither guarantees that the optimum is found. By default, the fit also starts from independent
# components of the images, and searches for better components, until the bound no longer rises.

model = VariationalTemperingFMM(8, random_state=0).fit(train)
print(f"bars found by default: {n_found(model)}, bound {model.score(test):.2f} nats per held-out image")
components = ComponentsDisplay.from_estimator(model, shape=(4, 4), n_columns=8)
components.figure_.set_size_inches(8, 1.6)

# %%
# The first images are shown again, without noise.

clean = model.inverse_transform(model.predict(train[:16]))
denoised = ComponentsDisplay(clean.reshape(16, 4, 4)).plot(n_columns=8)
denoised.figure_.set_size_inches(8, 2.4)
