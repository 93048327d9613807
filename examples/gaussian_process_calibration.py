"""Calibration of a Gaussian process with sampled hyperparameters
==============================================================

With few rows and several features, many values of the hyperparameters are plausible. Intervals averaged over posterior
draws account for this uncertainty; intervals at the optimum do not.
"""

# %%
# The training data are thirty rows with four features, of which two are relevant. The experiment is repeated eight
# times. It measures the coverage of the predictive intervals.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from sklearn_subanneal import TemperedGaussianProcessRegressor

warnings.simplefilter("ignore", ConvergenceWarning)
LEVELS = np.linspace(0.1, 0.95, 18)


def draw(rng, n):
    X = rng.uniform(-2.0, 2.0, (n, 4))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] ** 2 + rng.normal(scale=0.4, size=n)


covered = {"drawn": [], "optimised": []}
densities = {"drawn": [], "optimised": []}
for repeat in range(8):
    rng = np.random.default_rng(repeat)
    (X, y), (X_test, y_test) = draw(rng, 30), draw(rng, 200)
    drawn = TemperedGaussianProcessRegressor(n_chains=2, n_draws=60, random_state=repeat).fit(X, y)
    intervals = [drawn.predict_interval(X_test, p).T for p in LEVELS]
    covered["drawn"].append([np.mean((low <= y_test) & (y_test <= high)) for low, high in intervals])
    densities["drawn"].append(drawn.log_predictive_density(X_test, y_test).mean())

    kernel = ConstantKernel() * RBF(np.ones(4)) + WhiteKernel()
    optimised = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=2, random_state=0).fit(X, y)
    mean, deviation = optimised.predict(X_test, return_std=True)
    away = np.abs(y_test - mean) / deviation
    covered["optimised"].append([np.mean(away <= norm.ppf(0.5 + p / 2.0)) for p in LEVELS])
    densities["optimised"].append(norm.logpdf(y_test, mean, deviation).mean())

for name, values in densities.items():
    error = np.std(values) / np.sqrt(len(values))
    print(f"{name:9} log density {np.mean(values):.3f} +/- {error:.3f} nats per held-out row")

# %%
# Calibrated intervals are on the diagonal: an interval of 90 % covers 90 % of the targets.

figure, axes = plt.subplots(figsize=(5, 5))
axes.plot([0, 1], [0, 1], color="grey", linewidth=1)
for name, values in covered.items():
    axes.plot(LEVELS, np.mean(values, axis=0), marker="o", markersize=3, label=name)
axes.set(xlabel="probability of the interval", ylabel="coverage", aspect="equal")
axes.legend()
figure.tight_layout()

# %%
# The figure shows the posterior of the length scales for the last table: two features are relevant, and two have almost
# no effect.

scales = drawn.posterior_hyperparameters_["length_scale"].reshape(-1, 4)
figure, axes = plt.subplots(figsize=(5, 3))
axes.boxplot(scales, tick_labels=[f"feature {j}" for j in range(4)], showfliers=False)
axes.set(yscale="log", ylabel="length scale")
figure.tight_layout()
