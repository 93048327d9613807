"""Flow cytometry: populations of cells
====================================

The data are two samples of blood (Brinkman et al. 2007): 9,083 cells of a patient with graft-versus-host disease and
6,809 cells of a patient without the disease. Four markers were measured on each cell. Cell populations are clusters;
some are large and some are rare, and their number is unknown.
"""

# %%
# The model is fitted to the cells of both samples together, without their labels. One eighth of the cells is held out.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from _example import Example
from matplotlib.colors import TwoSlopeNorm
from sklearn.mixture import GaussianMixture

from sklearn_subanneal import TreeGuidedNRMM
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.plotting import DendrogramDisplay

example = Example(__doc__, "gvhd", "GvHD.pos.csv.gz")
samples = {"with the disease": example.data, "without": example.data.with_name("GvHD.control.csv.gz")}
cells = pd.concat([pd.read_csv(path).assign(sample=name) for name, path in samples.items()], ignore_index=True)
cells = cells.sample(frac=1.0, random_state=0, ignore_index=True)
markers = ["CD4", "CD8b", "CD3", "CD8"]
X = cells[markers].astype(float)
train, test = X.iloc[: len(X) * 7 // 8], X.iloc[len(X) * 7 // 8 :]

model = TreeGuidedNRMM(schedule=SubsampleAnneal(passes=40), n_chains=2, n_jobs=example.n_jobs, random_state=0).fit(
    train
)
populations = model.predict(X)
example.heading("populations, and log density of held-out cells")
numbers = model.posterior_labels_.max(axis=2) + 1
print(f"{model.n_clusters_} populations, most of them small; {numbers.min()} to {numbers.max()} in the draws.")
for n_components in (5, 10, 20):
    fixed = GaussianMixture(n_components, random_state=0).fit(train)
    print(f"scikit-learn with {n_components:2} Gaussians: {fixed.score(test):.3f} nats per held-out cell")
print(f"this mixture, with a learned number of clusters: {model.score(test):.3f} nats per held-out cell")

# %%
# The table shows the proportion of each population in the two samples. There are no manual labels for comparison, but
# there is a published result: Brinkman et al. found cells with CD3, CD4 and CD8b in patients who developed the disease,
# and few such cells in other patients.

example.heading("populations of more than 2 % of a sample")
share = pd.crosstab(populations, cells["sample"], normalize="columns")
centres = X.groupby(populations).mean()
positive = (centres[["CD3", "CD4", "CD8b"]] > X[["CD3", "CD4", "CD8b"]].mean()).all(axis=1)
large = share.max(axis=1) > 0.02
table = (
    centres.round().astype(int).join((100.0 * share).round(1)).assign(triple=np.where(positive, "CD3+ CD4+ CD8b+", ""))
)
print(table[large].to_string())
triple = share[positive].sum()
print("\nPopulations above the mean in CD3, CD4 and CD8b:", ", ".join(f"{v:.1%} {k}" for k, v in triple.items()))

# %%
# Each cell has the colour of its population: red if the proportion of the population is larger in the patient with the
# disease, blue if it is larger in the other patient. The cells with all three markers are at the upper right of the
# first column. There are other differences: most cells without CD3 are in different populations in the two patients.
# From a single pair of samples, effects of the disease and of the person can be distinguished only by prior knowledge.

ratio = np.log2((share["with the disease"] + 1e-3) / (share["without"] + 1e-3))
figure, panels = plt.subplots(2, 2, figsize=(9, 8), sharex=True, sharey="row", layout="constrained")
for column, name in zip(panels.T, samples, strict=True):
    own = (cells["sample"] == name).to_numpy()
    for axes, marker in zip(column, ("CD8b", "CD3"), strict=True):
        dots = axes.scatter(
            X.loc[own, "CD4"],
            X.loc[own, marker],
            c=ratio[populations[own]],
            norm=TwoSlopeNorm(0.0, -6.0, 6.0),
            cmap="coolwarm",
            s=3,
        )
        axes.set(xlabel="CD4" if marker == "CD3" else None, ylabel=marker)
    column[0].set_title(f"{name}: {own.sum():,} cells")
figure.colorbar(dots, ax=panels, shrink=0.6, label="log2 ratio of proportions, with / without the disease")
example.save(figure, "cytometry_populations")

# %%
# A tree over 150 cells shows which populations are similar. At the height of the dashed line, one cluster and two
# clusters are equally probable.

display = DendrogramDisplay.from_hierarchy(model.hierarchy(X.iloc[:150]))
display.figure_.set_size_inches(9, 4)
example.save(display, "cytometry_tree")
