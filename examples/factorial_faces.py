"""Factorial mixture of faces
==========================

The data are 1,774 photographs of 28 persons under 64 lights each (Extended Yale B, 32 x 32 pixels). Every image is
modelled as a sum of some of the components, which all images share.
"""

# %%
# A quarter of the faces is held out.

import numpy as np
from _example import Example
from scipy.io import loadmat

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.plotting import ComponentsDisplay

SHAPE = 32, 32
example = Example(__doc__, "yaleb", "YaleB_32x32.mat")
table = loadmat(example.data)
# Only the subjects of the extended set. Images are stored column by column.
X = table["fea"][table["gnd"].ravel() > 10].astype(np.float32)
X = X.reshape(-1, *SHAPE).transpose(0, 2, 1).reshape(len(X), -1)
X = (X - X.mean()) / X.std()
order = np.random.default_rng(0).permutation(len(X))
held_out, train = X[order[: len(X) // 4]], X[order[len(X) // 4 :]]

# %%
# Inference with and without tempering is compared from a random start, with 30 components and after sixty iterations,
# when no run has fully converged. The results differ by a few nats per held-out face: in this run, the cooling schedule
# is better than no tempering, and the inferred temperature is worse. The model with the highest bound on held-out faces
# is selected.

example.heading("bound on the log density of held-out faces")
fitted = {}
for tempering in ("none", "annealed", "global"):
    model = VariationalTemperingFMM(30, init="random", tempering=tempering, max_iter=60, random_state=0)
    fitted[tempering] = model.fit(train)
    score, n_iter = fitted[tempering].score(held_out), fitted[tempering].n_iter_
    print(f"{tempering:9} {score:.1f} nats per held-out face, {n_iter} iterations")

# %%
# The figure shows the components, the most frequently active first. Red adds light and blue removes it: the components
# are lights from the left, from the right and from below, and the shadows of noses and brows. The image of a person is
# a combination of many components.

model = max(fitted.values(), key=lambda model: model.score(held_out))
often = model.transform(held_out).mean(axis=0)
by_use = np.argsort(-often)
components = ComponentsDisplay(model.components_[by_use].reshape(-1, *SHAPE)).plot(n_columns=10)
components.figure_.set_size_inches(10, 3.4)
example.save(components, "faces_components")
print("fraction of the faces with an active component: from", often.max().round(2), "to", often.min().round(2))

# %%
# The upper row shows held-out faces, the lower row the sums of their active components. Thirty binary variables
# describe the light and the type of face. Sharp edges of shadows and the identity of the person need more components.

shown, active = held_out[:10], model.predict(held_out)
sums = model.inverse_transform(active)
kept = 1.0 - ((held_out - sums) ** 2).mean() / held_out.var()
print(f"{active.sum(axis=1).mean():.0f} of 30 components explain {kept:.0%} of the variance of held-out faces")
faces = ComponentsDisplay(np.concatenate([shown, sums[:10]]).reshape(-1, *SHAPE)).plot(
    n_columns=10, colorbar=False, cmap="gray", vmin=-2.0, vmax=2.0
)
faces.figure_.set_size_inches(10, 2.3)
example.save(faces, "faces_sums")
