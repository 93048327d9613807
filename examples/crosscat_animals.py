"""Animals: a first table
======================

CrossCat with its defaults reads a table of 50 animals and 85 attributes, such as "swims" or "stripes", each yes or
no (Osherson et al., 1991). It is a good first table: you can check every result by what you know of animals.
"""

# %%
# The table
# ---------
#
# No cell is missing. Zeros and ones are taken for yes and no. The fit warns that its chains disagree on the views:
# with 85 attributes of only 50 animals, there is more than one way to group the attributes (:doc:`why chains
# disagree <chains_explained>`). So trust averages over the draws (similarities, probabilities, imputed cells) more
# than a single list of views.

import warnings

import numpy as np
import pandas as pd
from _example import Example
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat
from sklearn_subanneal.plotting import ViewsDisplay

example = Example(__doc__, "animals", "animals.csv")
animals = pd.read_csv(example.data, index_col=0).rename_axis("animal")
animals.index = animals.index.str.replace("+", " ")
print(animals.loc[["tiger", "dolphin", "cow"], ["stripes", "flippers", "hooves", "swims", "fierce", "domestic"]])

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", ConvergenceWarning)
    model = CrossCat(random_state=0, n_jobs=example.n_jobs).fit(animals)
print(*(str(warning.message).split(": ")[0] for warning in caught))

# %%
# Views and their clusters
# ------------------------
#
# A *view* is a group of attributes that share one clustering of the animals (:doc:`how CrossCat reads a table
# <crosscat_explained>`). In the first view you should find groups such as hoofed animals, predators, rodents, and
# animals of the sea. The other views group the same animals by other attributes.

views = model.column_labels_[model.first_parts_]
for view in range(model.n_views_):
    attributes = animals.columns[views == view]
    some = ", ".join(attributes[:: max(1, len(attributes) // 10)])
    print(f"\nView {view}: {len(attributes)} attributes, such as {some}")
    labels = model.view_labels_[:, view]
    for cluster in range(labels.max() + 1):
        print("  -", ", ".join(animals.index[labels == cluster]))

# %%
# The picture shows the table by views. Rows are animals, sorted by the clusters of each view.

ViewsDisplay.from_estimator(model, animals).figure_.set_size_inches(12, 7)

# %%
# Which animals are alike?
# ------------------------
#
# The similarity of two animals is the share of views, over all draws, in which they are in the same cluster.

every = np.arange(len(animals))
similarity = pd.DataFrame(model.row_similarity(every, every), animals.index, animals.index)
for animal in ("lion", "dolphin", "mouse", "horse", "gorilla", "skunk"):
    nearest = similarity[animal].drop(animal).nlargest(3)
    print(f"{animal:8}", ", ".join(f"{name} {value:.2f}" for name, value in nearest.items()))

# %%
# The skunk is not very similar to any other animal. Which attributes depend on one another?

related = pd.DataFrame(model.relatedness_matrix(random_state=0), animals.columns, animals.columns)
for attribute in ("swims", "hooves", "meat", "flys"):
    nearest = related[attribute].drop(attribute).nlargest(4)
    print(f"{attribute:8}", ", ".join(f"{name} {value:.2f}" for name, value in nearest.items()))

# %%
# What is surprising?
# -------------------
#
# The surprisal of a cell says how improbable it is, given the rest of its row. These are the most surprising cells:

surprisal = pd.DataFrame(model.surprisal(animals), animals.index, animals.columns)
for (animal, attribute), nats in surprisal.stack().nlargest(8).items():
    print(f"{nats:.1f} nats: {animal:14} {attribute:12} {'yes' if animals.loc[animal, attribute] else 'no'}")

# %%
# An animal that is not in the table
# ----------------------------------
#
# Tell the model three things of an unknown animal, and ask for the rest. A question has the form of a comparison.

for given in (
    {"ocean": 1, "fish": 1, "big": 1},
    {"hooves": 1, "grazer": 1, "big": 1},
    {"meat": 1, "claws": 1, "hunter": 1},
):
    asked = ("flippers", "vegetation", "fierce", "quadrapedal")
    answers = ", ".join(f"{name} {model.probability(name, given=given):.2f}" for name in asked)
    print(f"{' + '.join(given):24} {answers}")

# %%
# Missing cells
# -------------
#
# One cell in ten is hidden, and the table is fitted again. The simple rule to compare with fills in the more
# frequent value of each attribute.

hidden = np.random.default_rng(0).random(animals.shape) < 0.1
gaps = animals.astype(float).mask(hidden)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    filled = CrossCat(random_state=0, n_jobs=example.n_jobs).fit(gaps).impute(gaps)
right = (filled.to_numpy() == animals.to_numpy())[hidden].mean()
simple = ((gaps.mean() > 0.5).to_numpy() == animals.to_numpy())[hidden].mean()
print(f"{hidden.sum()} hidden cells: {right:.0%} are filled in correctly, {simple:.0%} by the simple rule.")

# %%
# These fillings are those of the model; more about them, and how sure each of them is, in the how-to page on
# imputation. The next table to read is :doc:`that of satellites <crosscat_satellites>`, with columns of many types.
