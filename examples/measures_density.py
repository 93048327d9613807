"""Density and hierarchy of a normalized random measure mixture
============================================================

The data are points in the plane, in clusters whose sizes follow a power law: a few clusters are large and many are
small, as for the cell populations in a blood sample.
"""

# %%
# The density is averaged over the draws of all chains. The number of clusters need not be given. The prior is a
# normalized generalized gamma process; its parameter ``sigma``, which is learned from the data, determines how fast the
# number of clusters grows with the number of rows.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV

from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.plotting import DendrogramDisplay

rng = np.random.default_rng(0)
shares = np.arange(1, 13) ** -1.3
truth = rng.choice(12, size=1500, p=shares / shares.sum())
centres, shapes = rng.normal(0.0, 6.0, (12, 2)), rng.normal(0.0, 0.8, (12, 2, 2))
X = centres[truth] + np.einsum("nij,nj->ni", shapes[truth] + np.eye(2), rng.normal(size=(1500, 2)))
train, test = X[:1000], X[1000:]

model = TreeGuidedNRMM(n_chains=2, random_state=0).fit(train)
print(model.n_clusters_, "clusters; sigma about", model.hyperparameters_["sigma"].mean().round(2))

# %%
# For comparison, the held-out log density of scikit-learn's variational mixture with at most thirty components, and of
# its mixture by EM whose number of components is chosen by cross-validation within the training rows. The latter comes
# much nearer:

variational = BayesianGaussianMixture(n_components=30, max_iter=500, random_state=0).fit(train)
numbers = {"n_components": range(4, 17)}
tuned = GridSearchCV(GaussianMixture(random_state=0), numbers).fit(train).best_estimator_
for name, fitted in (
    ("TreeGuidedNRMM", model),
    ("BayesianGaussianMixture", variational),
    (f"GaussianMixture({tuned.n_components})", tuned),
):
    print(f"{name}: {fitted.score(test):.3f} nats per held-out row")

low, high = X.min(axis=0) - 1.0, X.max(axis=0) + 1.0
across, up = np.meshgrid(np.linspace(low[0], high[0], 150), np.linspace(low[1], high[1], 150))
grid = np.column_stack([across.ravel(), up.ravel()])
figure, panels = plt.subplots(1, 2, figsize=(10, 4.5), sharex=True, sharey=True)
for axes, fitted in zip(panels, (model, tuned), strict=True):
    density = fitted.score_samples(grid).reshape(across.shape)
    axes.contourf(across, up, density, levels=np.linspace(-14, density.max(), 15), cmap="Blues", extend="min")
    axes.scatter(*test.T, s=3, color="black", alpha=0.4)
    axes.set_title(f"{type(fitted).__name__}: {fitted.score(test):.2f} nats per held-out row")
figure.tight_layout()

# %%
# Incremental trees are a hierarchical clustering of the rows. ``partial_fit`` inserts further rows; the model can be
# used after each call.

online = TreeGuidedNRMM(random_state=0)
for part in np.array_split(train, 4):
    online.partial_fit(part)
    print(f"{online.hierarchy_.n_clusters} trees, {online.score(test):.3f} nats per held-out row")
display = DendrogramDisplay.from_estimator(online)
display.figure_.set_size_inches(10, 4)
