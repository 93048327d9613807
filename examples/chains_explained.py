"""Why chains disagree
===================

Unless the text above the code says otherwise, all fits are those of :class:`~sklearn_subanneal.SubsampleAnnealedDPMM`
with its defaults, except that four chains always run, and that columns are independent within a cluster
(``covariance_type="diag"``).

In short, there are four reasons: the table leaves the clusters open, the chains are slow, a chain is stuck, or it has
not yet arrived at good partitions. A slow chain moves, but not far between two draws; a stuck one stays, in all of its
draws, near a partition that predicts worse; one that has not yet arrived still improves, and ``fit`` warns of this
separately. In the first two cases use averages over all chains, and not a single partition; in the others give more
work first. The table near the end tells the cases apart.

It is for readers who know scikit-learn and what a Gaussian is. The page explains the rest.
"""

# %%
# What a chain is
# ---------------
#
# A division of the rows into clusters is called a *partition*. Many partitions of a table are plausible. A *chain*
# walks from one to the next, so that in the long run it is at each partition in proportion to its probability. If one
# partition is three times as probable as another, the chain is there three times as often. Some of the partitions that
# it visits are kept: these are the *draws*. By default a fit has two chains, which do not know of one another, and two
# more unless these agree almost perfectly. It keeps ten draws of each. Here, ``n_chains=4``.
#
# If the chains walk long enough, it does not matter where they began: all visit the same partitions. Where the clusters
# are clear, a short walk is enough; on most real tables, no walk is long enough to visit all that is plausible. Then
# each chain has missed some partitions that are as good as its own, or better. The longer they walk, the more of these
# each of them visits, and the closer are their averages. Here are three tables:
#
# - *groups*: three groups of points with gaps between them;
# - *square*: points that are spread evenly over a square, without any gap;
# - *hospitals*: thirty numbers for each of 306 American hospital regions.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SequentialGibbs
from sklearn_subanneal.datasets import load_hospitals
from sklearn_subanneal.mixtures import Gibbs

# The page explains the warning.
warnings.simplefilter("ignore", ConvergenceWarning)

rng = np.random.default_rng(0)
centres = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])
hospitals = load_hospitals().data.drop(index="United States US").iloc[:, :30]
tables = {
    "groups": centres[rng.integers(3, size=400)] + rng.normal(size=(400, 2)),
    "square": rng.uniform(0, 10, (400, 2)),
    "hospitals": hospitals,
}
models = {
    name: SubsampleAnnealedDPMM(covariance_type="diag", n_chains=4, random_state=0).fit(X) for name, X in tables.items()
}

# %%
# The pictures show the last draw of the first three chains. Colours are clusters; which colour a cluster has means
# nothing.

figure, panels = plt.subplots(2, 3, figsize=(8, 5.4))
for row, name in zip(panels, ("groups", "square"), strict=True):
    for chain, axes in enumerate(row):
        axes.scatter(*tables[name].T, s=5, c=models[name].posterior_labels_[chain, -1], cmap="tab20")
        axes.set(title=f"{name}, chain {chain}", xticks=[], yticks=[], aspect="equal")
figure.tight_layout()

# %%
# On the groups, the chains agree, except for single points or a small piece of a group. On the square, each chain cuts
# the points in its own way.
#
# To measure this, compare any two draws by the adjusted Rand index: 1 means that two partitions are the same, 0
# that they have nothing in common but chance. Rows and columns of each picture are the same forty draws, ten of each
# chain; a cell is the agreement of two draws. Lines separate the chains.


def agreement(model):
    """The index of all pairs of draws; its means within a chain and between chains."""
    draws = model.posterior_labels_.reshape(-1, model.posterior_labels_.shape[2])
    matrix = np.array([[adjusted_rand_score(one, other) for other in draws] for one in draws])
    chain = np.arange(len(draws)) // model.posterior_labels_.shape[1]
    same = chain[:, None] == chain
    return matrix, matrix[same & ~np.eye(len(draws), dtype=bool)].mean(), matrix[~same].mean()


figure, panels = plt.subplots(1, 3, figsize=(10, 3.4))
agreements = {}
for axes, (name, model) in zip(panels, models.items(), strict=True):
    matrix, within, between = agreements[name] = agreement(model)
    picture = axes.imshow(matrix, vmin=0, vmax=1, cmap="viridis")
    for edge in (9.5, 19.5, 29.5):
        axes.axhline(edge, color="white", lw=1)
        axes.axvline(edge, color="white", lw=1)
    axes.set_title(f"{name}\nwithin {within:.2f}, between {between:.2f}", fontsize=9)
    axes.set(xticks=[], yticks=[])
    print(f"{name:10} agreement within a chain {within:.2f}, between chains {between:.2f}; ", end="")
    print(f"clusters: {models[name].n_clusters_}; warning: ", end="")
    problems = " ".join(model.convergence_.problems)
    print(", ".join(words for words in ("disagree", "still rise") if words in problems) or "none", end="; ")
    print(f"weights of the chains: {model.chain_weights_.round(2)}")
figure.colorbar(picture, ax=panels, shrink=0.8)
assert agreements["groups"][2] > 0.9 > 0.5 > agreements["square"][1]
assert agreements["hospitals"][1] > agreements["hospitals"][2] + 0.1

# %%
# There are three kinds of pictures:
#
# - *groups*: all is bright. All draws of all chains have nearly the same clusters.
# - *square*: all is dark. Even draws of one chain agree badly, and those of different chains mostly worse: a chain
#   wanders, but not far enough within ten draws.
# - *hospitals*: bright squares along the diagonal. The draws of one chain are more like one another than like those of
#   the others. Within ten draws, each chain has stayed near its own place.
#
# (The printed number of clusters is that of ``labels_``, in which clusters are merged that differ from draw to draw: on
# the square nearly all of them. The pictures of draws have more.) ``fit`` warns if draws of different chains agree
# little (less than 0.8 on average), and clearly less (by 0.1) than the first and the last draw of the same chain. Both
# numbers are in ``convergence_``: ``row_agreement`` and ``row_agreement_within``. (They differ somewhat from those
# above: chains count by their weights, and within a chain only the first and the last draw are compared. So the second
# is a mean of four pairs of draws only, and it may be less than the first by chance.)
#
# The chains are slow
# -------------------
#
# A chain that walks slowly looks as if it were stuck. More work shows which it is. By default one draw is kept after
# every five passes over all points of a small table; here one after each pass (``thin=1``), and one after each twenty,
# of the square after each sixty (``thin=20`` and ``thin=60``), so that a chain comes farther from draw to draw. For the
# hospitals there are also fits with more work before the draws (``effort=20``). Agreements are means of four fits:

still_rise = {}
runs = [("square", 1, 1), ("square", 60, 1), ("hospitals", 1, 1), ("hospitals", 20, 1), ("hospitals", 20, 20)]
for name, thin, effort in runs:
    work = {"thin": thin, "effort": effort, "n_chains": 4}
    fits = [
        SubsampleAnnealedDPMM(covariance_type="diag", random_state=seed, **work).fit(tables[name]) for seed in range(4)
    ]
    found = [fit.convergence_ for fit in fits]
    within, between = np.mean([(own.row_agreement_within, own.row_agreement) for own in found], axis=0)
    print(f"{name:10} thin={thin:2}, effort={effort:2}: first and last draw of a chain {within:.2f}, ", end="")
    print(f"different chains {between:.2f}; warning in ", end="")
    warned = {words: sum(words in " ".join(own.problems) for own in found) for words in ("disagree", "still rise")}
    print(*(f"{n} ({words})" for words, n in warned.items()), "of 4 fits", sep=", ")
    still_rise[name, thin, effort] = warned["still rise"]
    assert (within - between < 0.08) == (thin > 1)
assert still_rise["hospitals", 20, 20] < still_rise["hospitals", 20, 1]
# Of the hospitals, with more work before and between the draws.
longer = fits[0]

# %%
# With the larger ``thin``, draws of one chain differ about as much as those of different chains. So these chains were
# slow, and not stuck.
#
# - *The square*: different chains agree no better than before. But each chain now goes so far that its own draws are
#   about as different. That the chains were slow had hidden another reason: the table leaves the clusters open.
# - *The hospitals* have two reasons at once. The chains are slow: with ``thin=20``, draws of one chain differ more. And
#   some had not yet reached good partitions: their log joint density, which says how well the clusters suit the table,
#   "still rises". That more fits say so with ``thin=20`` is no contradiction: within 10 passes a slow rise is often
#   hidden by chance, within 200 it shows. ``thin`` makes the rise visible; ``effort``, which is work before the draws,
#   ends it: with ``effort=20`` fewer fits warn of it.
#
# The table leaves it open
# ------------------------
#
# The square has no groups. A cluster of this model is a Gaussian, so it takes several of them to fill a square, and
# there are many ways to do so. Is one of them better? To see this, the next fits have one chain each, which is not the
# default. The score is the mean log density of 2,000 new points, in nats, the unit of natural logarithms: higher is
# better.

new = np.random.default_rng(1).uniform(0, 10, (2000, 2))
single = np.array(
    [
        SubsampleAnnealedDPMM(covariance_type="diag", n_chains=1, random_state=seed).fit(tables["square"]).score(new)
        for seed in range(6)
    ]
)
together = models["square"].score(new)
print("single chains:", *single.round(3), f"mean {single.mean():.3f}")
print(f"four chains:   {together:.3f} nats per new point")
assert together > single.mean()

# %%
# All single chains are in the same range: each is one description of the table among many. The average of four
# chains is a little better than a single chain is on average.
#
# So use results that do not depend on a single partition. The next pictures show the probability that a point is in the
# same cluster as the star: by the draws of two single chains, and by those of all chains (``co_clustering``).

square, model = tables["square"], models["square"]
star = np.abs(square - 5).sum(axis=1).argmin()
pairs = [np.mean([draw[:, None] == draw for draw in chain], axis=0) for chain in model.posterior_labels_]
shares = {"chain 0": pairs[0], "chain 1": pairs[1], "all four chains": model.co_clustering(rows=np.arange(len(square)))}
figure, panels = plt.subplots(1, 3, figsize=(10, 3.2))
for axes, (title, share) in zip(panels, shares.items(), strict=True):
    picture = axes.scatter(*square.T, s=14, c=share[star], vmin=0, vmax=1, cmap="viridis")
    axes.scatter(*square[star], marker="*", s=150, color="red")
    axes.set(title=title, xticks=[], yticks=[], aspect="equal")
figure.colorbar(picture, ax=panels)
one = np.mean([np.abs(pairs[i] - pairs[j]).mean() for i in range(4) for j in range(i)])
splits = ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))
two = np.mean([np.abs(pairs[a] + pairs[b] - pairs[c] - pairs[d]).mean() / 2 for a, b, c, d in splits])
print("Mean difference of these probabilities, over all pairs of points:")
print(f"between two chains {one:.3f}, between the average of two chains and that of the other two {two:.3f}.")
assert two < one

# %%
# As printed, averages of two chains differ less from one another than single chains do. So more chains make averages
# more certain, but they do not make single partitions alike. Other methods have the same difficulty. They return one
# partition, the best of some starts, without saying how the others differ. scikit-learn's mixture gives another one for
# each ``random_state``. With as many components as the fit above has clusters, and its default of one start each, its
# partitions of the hospitals differ, too:

number = models["hospitals"].n_clusters_
mixtures = [
    GaussianMixture(number, covariance_type="diag", random_state=seed).fit_predict(scale(hospitals))
    for seed in range(4)
]
index = np.mean([adjusted_rand_score(mixtures[i], mixtures[j]) for i in range(4) for j in range(i)])
print(f"GaussianMixture({number}) of the hospitals, four random states: mean agreement {index:.2f}")
assert index < 0.8

# %%
# A chain is stuck
# ----------------
#
# In the next fit, which is not the default, chains are stuck: they have little work, and move single points only. All
# draws of these chains stay at poor partitions, in which several groups are in one cluster. (No chain is stuck for
# ever. Single moves do part these groups: here within about 50 to 100 passes over the points, of which these chains
# have 12. One group in two clusters can take much longer, and that is what holds chains in large tables. A chain that
# has not yet arrived is different: its log joint density rises from draw to draw; that of a stuck one does not.) The
# table has nine groups.

groups = rng.integers(9, size=1200)
points = 8.0 * np.column_stack(np.divmod(np.arange(9), 3))[groups] + rng.normal(size=(1200, 2))
train, new = points[:900], points[900:]
poor = {"schedule": SequentialGibbs(passes=2), "moves": [Gibbs()], "max_sweeps": 0, "thin": 1, "random_state": 5}
fits = {
    "too little work": SubsampleAnnealedDPMM(covariance_type="diag", n_chains=4, **poor),
    "the defaults": SubsampleAnnealedDPMM(covariance_type="diag", n_chains=4, random_state=5),
}
figure, panels = plt.subplots(2, 4, figsize=(10, 5.4))
weights = {}
for row, (name, model) in zip(panels, fits.items(), strict=True):
    weights[name] = model.fit(train).chain_weights_
    for chain, axes in enumerate(row):
        labels = model.posterior_labels_[chain, -1]
        axes.scatter(*train.T, s=4, c=labels, cmap="tab20")
        right = adjusted_rand_score(groups[:900], labels)
        axes.set_title(f"{name}, chain {chain}\nright {right:.2f}, weight {weights[name][chain]:.2f}", fontsize=9)
        axes.set(xticks=[], yticks=[], aspect="equal")
    print(f"{name:16} weights {weights[name].round(2)}, score of new points {model.score(new):.3f}")
    print(f"{'':16} warning: {' '.join(model.convergence_.problems) or 'none'}")
figure.tight_layout()
assert weights["too little work"].max() > 0.5 > 0.3 > weights["the defaults"].max()
assert fits["too little work"].convergence_.problems and not fits["the defaults"].convergence_.problems
assert fits["the defaults"].score(new) > fits["too little work"].score(new)

# %%
# *Right* is the adjusted Rand index with the true groups, which the fit does not know.
#
# In the upper row, chains have made different mistakes and do not leave them within these draws. A slow chain wanders
# among partitions that predict about equally well; a stuck one stays at one that predicts clearly worse. The partitions
# in the upper row are not different descriptions of one table: some predict worse than others. This is what
# ``chain_weights_`` is for. Each chain predicts rows of the table by the other rows. A chain that predicts badly gets
# little weight in densities and imputations, and in ``co_clustering``. In the upper row, one chain has most of the
# weight. It need not be the one that is most *right*: two groups in one cluster predict badly, while one group in two
# clusters predicts nearly as well as it would in one (though it is the mistake that takes long to mend in large
# tables). In the lower row, the defaults have enough work and better moves: the chains nearly agree, share the weight
# evenly, and their average has a better score than that of the chains above.
#
# How to tell the reasons apart
# -----------------------------
#
# Look at the ``ConvergenceWarning`` of ``fit`` (the page of the command ``report`` warns below 0.9, ``fit`` below 0.8),
# at ``convergence_.row_agreement`` (above about 0.8 counts as high), and at ``chain_weights_``. (With ``CrossCat``, the
# chains may disagree on the views of columns, too; the remedies are the same. The command ``report`` has no ``thin``:
# the page on the report says what to do after its warning. ``fit`` has a second warning: that the log joint density
# still rises in the draws.)
#
# ==================================  ==========================================  ====================================
# what you see                        reason                                      what to do
# ==================================  ==========================================  ====================================
# no warning, high agreement          most large clusters are clear in the table  use those clusters of ``labels_``
#                                                                                 that recur (below the table)
# no warning, low agreement           the table probably leaves them open         use averages, and of ``labels_`` at
#                                                                                 most the clusters that recur
# warning that chains disagree, and   partitions that predict about equally, and  use averages; a larger ``thin``
# no weight above 1/2                 chains that move slowly between them        shows whether the table leaves
#                                                                                 the clusters open
# warning that chains disagree, and   the others predict worse: they may          a larger ``effort``, more chains
# one weight above 1/2                be stuck
# warning that the density rises      a chain was still improving at its end      a larger ``effort``, or a longer
#                                                                                 ``time_limit``; until then at most
#                                                                                 averages
# ==================================  ==========================================  ====================================
#
# After a fit with a larger ``thin``: if the warning is gone and the agreement still low, the table probably leaves the
# clusters open; if the warning is gone and the agreement high, most large clusters are clear; near 0.8 some are clear
# and others open, and the recurrence of each (below) says which. If the warning stays, chains are still too slow, or
# stuck: use averages, and of ``labels_`` at most the clusters that recur.
#
# Both ``effort`` and ``thin`` give each chain more work (``effort`` has no effect with a ``time_limit``). ``effort=5``
# does about five times as much before the draws: there is more time to mend mistakes while the subsample is small, and
# afterwards. ``thin=20`` keeps one draw after each twenty passes: four times as many steps between draws as by default
# in a small table, and twenty times as many as ``thin=1``. A weight above 1/2 says something where there are four
# chains or more. With ``thin=1``, most fits of the square warn that chains disagree; those of the hospitals warn of
# this, and some also that the density rises. With ``thin=60``, most fits of the square do not warn and have low
# agreement; with ``thin=20``, fewer fits of the hospitals warn that chains disagree, and more that the density rises.
# If ``effort=20`` is added to it, most of these do not warn, and have an agreement of about 0.8: some clusters are
# clear in the table, and others are open. If two rows apply, begin with a larger ``effort``. Where one chain has nearly
# all the weight, results are those of one chain: run more of them.
#
# That a warning is gone does not make ``labels_`` usable: look at the agreement, too. Which clusters can be relied on,
# although others cannot? ``cluster_stability`` estimates for each cluster how probable it is that a fit with another
# ``random_state`` has nearly the same one: the rows that both have are at least three quarters of the rows that either
# has (a Jaccard index of 0.75). This *recurrence* is printed here. Above 0.9, another fit to this table would very
# probably find the cluster, too. It does not say that another sample would, nor that the cluster means anything. It is
# estimated from the chains, roughly: with four, it is above 0.9 only if all of them have the cluster, which may also be
# luck. For a cluster that matters, use ``n_chains=8`` or more. And where ``fit`` warned that the density rises, as it
# did of the hospitals, give it more work first: chains that are still improving have not seen partitions that may be
# better. Until then take clusters that recur as a hint, as you would take averages. The last line is of a fit of the
# hospitals that had this work, ``thin=20`` and ``effort=20``, and did not warn. (It numbers its clusters anew: the two
# lines cannot be compared place by place.)

shown = [(name, model, tables[name]) for name, model in models.items()] + [("hospitals, more work", longer, hospitals)]
for name, model, table in shown:
    recurrence = model.cluster_stability(table).recurrence_
    print(f"{name:20} {len(recurrence):2} clusters, {(recurrence > 0.9).sum():2} of them recur:", end=" ")
    print(*recurrence.round(2)[:8], "..." if len(recurrence) > 8 else "")
    if name == "groups":
        assert (recurrence > 0.9).all()
    else:
        assert (recurrence < 0.9).any()

# %%
# When to use something else
# --------------------------
#
# - If you need the same partition in each run, fix ``random_state``, and report that you did. Without a
#   ``time_limit``, the same ``random_state`` gives the same chains, bit for bit. It does not make the partition more
#   certain.
# - If the table has no groups, as the square, do not report clusters at all. What the fit can tell is a density
#   (``score_samples``); ``co_clustering`` only says how near two rows are, and not that they belong together.
# - If you look for groups of any shape, merge clusters that overlap (``merge_components``), or use a method that
#   looks for gaps, such as scikit-learn's ``HDBSCAN``.
# - If a quick cut into k parts is enough, use ``KMeans``. It takes far less time, and shows no uncertainty.
#
# More: :doc:`chains that disagree </how_to/disagreeing_chains>` treats ``CrossCat``, and
# :doc:`clusters to rely on </how_to/stable_clusters>` explains the estimate above.
