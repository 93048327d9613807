"""How subsample annealing works
=============================

The first sections do not use the package, but a small sampler in NumPy, short enough to be read. The last two sections
use :class:`~sklearn_subanneal.SubsampleAnnealedDPMM`, with settings that they state.

In short: annealing pays off in tables with many rows and many clusters, where time is short. In small tables it
gains next to nothing, since splits and merges of whole clusters, which the package makes too, mend most mistakes there.
The last sections show both. (The simple sampler of the first sections gains in a small table.)

You need to know what a Gaussian is. The page explains the rest: how points find their clusters, why this is slow in
large tables, and what subsample annealing does about it.
"""

# %%
# The task
# --------
#
# Here are 1200 points in the plane, in nine groups. The task is to find the groups. Their number is not given.
# scikit-learn's ``GaussianMixture`` needs this number. The model of this package does not: each point is in one of
# the present clusters or begins a new one.
#
# A division of the points into clusters is called a *partition*.

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation
from scipy.special import gammaln
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SequentialGibbs, SubsampleAnneal


def make_groups(n_points, random_state):
    rng = np.random.default_rng(random_state)
    groups = rng.integers(9, size=n_points)
    centres = 8.0 * np.column_stack(np.divmod(np.arange(9), 3))
    return centres[groups] + rng.normal(size=(n_points, 2)), groups


X, groups = make_groups(1200, random_state=0)
figure, axes = plt.subplots(figsize=(4, 4))
axes.scatter(*X.T, s=4, color="black")
axes.set(title=f"{len(X)} points", aspect="equal")
figure.tight_layout()

# %%
# One step: a point chooses its cluster
# -------------------------------------
#
# Take one point out, and keep the clusters of all others as they are. Where does it belong? Each cluster gets a
# weight:
#
# - the *number of points* in the cluster (this is its *prior* probability, which does not look at the point itself: a
#   further point is more likely to be of a large cluster), times
# - the *density* of the cluster at the point. A cluster is a Gaussian, but its centre and its width are not known.
#   So the density is an average over all centres and widths, each weighted by its prior probability and by how well it
#   suits the points of the cluster. This average is a t distribution, which is like a Gaussian, with heavier tails.
#
# A new cluster has a weight, too. It has no points yet, so in place of their number it has a constant, here 1. (It is
# called the concentration, and the package learns it.) Its density is wide and low, because nothing is known of it. The
# point then draws its cluster with probabilities in proportion to these weights.
#
# To do this for one point after the other, again and again, is called *Gibbs sampling*. The sequence of partitions
# that results is a *chain*. One such choice is a *row assignment*. A *pass* is as many row assignments as there are
# points.
#
# The sampler below has several chains at once, so that the page can show more than one: the first index of its
# arrays is the number of the chain.

# The prior of a cluster: its centre is near 0, known as if from 0.01 points, and its variance near 1, as if from 3.
PRIOR_POINTS, PRIOR_DEGREES, PRIOR_VARIANCE, N_SLOTS = 0.01, 3.0, 1.0, 30
# The constant of the t distribution, for each number of points in a cluster.
DEGREES = PRIOR_DEGREES + np.arange(2000)
CONSTANTS = gammaln((DEGREES + 1) / 2) - gammaln(DEGREES / 2)


class Chains:
    """Clusters of points, by their number, their sums, and their sums of squares. A label of -1: not in the sample."""

    def __init__(self, X, n_chains, random_state):
        self.X, self.rng, self.all = X, np.random.default_rng(random_state), np.arange(n_chains)
        self.labels = np.full((n_chains, len(X)), -1)
        self.counts = np.zeros((n_chains, N_SLOTS), int)
        self.sums, self.squares = np.zeros((n_chains, N_SLOTS, 2)), np.zeros((n_chains, N_SLOTS, 2))

    def _change(self, points, clusters, sign):
        self.counts[self.all, clusters] += sign
        self.sums[self.all, clusters] += sign * self.X[points]
        self.squares[self.all, clusters] += sign * self.X[points] ** 2

    def put(self, points, clusters):
        """In each chain, one point joins a cluster."""
        self._change(points, clusters, 1)
        self.labels[self.all, points] = clusters

    def remove(self, points):
        self._change(points, self.labels[self.all, points], -1)
        self.labels[self.all, points] = -1

    def log_weights(self, points):
        """Of each cluster, for one point of each chain. The first empty cluster is the new one."""
        counts = self.counts[:, :, None]
        mean = self.sums / (counts + PRIOR_POINTS)
        squares = PRIOR_DEGREES * PRIOR_VARIANCE + self.squares - self.sums * mean
        squares *= 1 + 1 / (counts + PRIOR_POINTS)
        distance = (self.X[points][:, None] - mean) ** 2 / squares
        log_density = CONSTANTS[counts] - 0.5 * np.log(squares) - (DEGREES[counts] + 1) / 2 * np.log1p(distance)
        sizes = self.counts.astype(float)
        sizes[self.all, self.counts.argmin(axis=1)] = 1.0
        with np.errstate(divide="ignore"):
            return np.log(sizes) + log_density.sum(axis=2)

    def assign(self, points):
        """In each chain, one point draws its cluster: in proportion to the weights."""
        log_weights = self.log_weights(points)
        # The largest of the log weights with Gumbel noise is a draw with these probabilities.
        self.put(points, (log_weights + self.rng.gumbel(size=log_weights.shape)).argmax(axis=1))


# %%
# The picture shows one such step for two points, the stars. All other points are in two clusters, left and right of
# the line. The left cluster holds six of the nine groups: it has more points, and it is wide. So a point somewhat right
# of the line may join it, too: this choice is open. Far from the line, the choice is clear.

chains = Chains(X, 1, random_state=0)
for i, left in enumerate(X[:, 0] < 12):
    chains.put([i], [0 if left else 1])
figure, panels = plt.subplots(1, 2, figsize=(8, 3.6))
for axes, place in zip(panels, ([12.3, 8.0], [0.0, 0.0]), strict=True):
    chosen = np.abs(X - place).sum(axis=1).argmin()
    before = chains.labels[0, chosen]
    axes.scatter(*X.T, s=4, color=np.array(["tab:blue", "tab:orange"])[chains.labels[0]])
    axes.scatter(*X[chosen], s=120, marker="*", color="black")
    axes.axvline(12, color="grey", linewidth=1)
    chains.remove([chosen])
    left, right, new = np.exp(chains.log_weights([chosen])[0, :3])
    total = left + right + new
    axes.set(title=f"left {left / total:.1%}, right {right / total:.1%}, new {new / total:.1%}", aspect="equal")
    chains.put([chosen], [before])
figure.tight_layout()

# %%
# Why it gets slow: one point at a time
# -------------------------------------
#
# Two kinds of mistakes need the moves of many points:
#
# - One cluster holds *two groups*. They have to part.
# - Two clusters share *one group*, each with half of its points. They have to join.
#
# Both are made here on purpose, with more and more points. Then Gibbs sampling tries to mend them. The picture counts
# the row assignments after which eight of fifteen chains have done so.


def work_until_mended(n_points, apart):
    """Row assignments until each group has 95 % of its points in a cluster of its own, or one cluster has 95 %."""
    half = np.arange(n_points) % 2
    rng = np.random.default_rng(0)
    chains = Chains(rng.normal(size=(n_points, 2)) + 7.0 * np.outer(half, [apart, 0]), 15, random_state=0)
    for i in range(n_points):
        chains.put(np.full(15, i), np.full(15, 0 if apart else half[i]))
    mended, steps = np.zeros(15, bool), 0
    while mended.sum() < 8:
        for _ in range(20):
            points = rng.integers(n_points, size=15)
            chains.remove(points)
            chains.assign(points)
        steps += 20
        for chain, labels in enumerate(chains.labels):
            sizes = [np.bincount(part, minlength=N_SLOTS) for part in (labels[half == 0], labels[half == 1])]
            if apart:
                own = min(size.max() for size in sizes) > 0.95 * n_points / 2
                mended[chain] |= own and sizes[0].argmax() != sizes[1].argmax()
            else:
                mended[chain] |= sum(sizes).max() > 0.95 * n_points
    return steps


figure, axes = plt.subplots(figsize=(6, 3.8))
sizes, powers = np.array([20, 40, 80, 160]), {}
for apart, mistake in ((True, "two groups in one cluster"), (False, "one group in two clusters")):
    work = [work_until_mended(n, apart) for n in sizes]
    powers[mistake] = np.polyfit(np.log(sizes), np.log(work), 1)[0]
    axes.loglog(sizes, work, "o-", label=mistake)
    for n, steps in zip(sizes, work, strict=True):
        print(f"{mistake}, {n:3} points: {steps:6.0f} row assignments, {steps / n:3.0f} passes")
    print(f"The work grows as the number of points to the power {powers[mistake]:.1f}.")
axes.set(xlabel="points", ylabel="row assignments until mended", xticks=sizes, xticklabels=sizes)
axes.minorticks_off()
axes.legend()
figure.tight_layout()
assert powers["one group in two clusters"] > 1.2 > powers["two groups in one cluster"] > 0.3

# %%
# To part two groups, the work grows more slowly than the number of points; in passes, it even falls. So this is not
# what makes large tables hard. What makes them hard is the other mistake: the work to join two clusters that share a
# group grows faster than the number of points. Points wander between the two clusters one by one, until one happens to
# be empty. They wander without direction: the larger cluster gains points faster than the smaller one, and loses them
# faster, too. So one group in two clusters is cheap to mend in a small table and expensive in a large one.
#
# The remedy: begin with few points, exchange them, and let the sample grow
# -------------------------------------------------------------------------
#
# *Subsample annealing* (Obermeyer, Glidden and Jonas, 2014) works with a subsample of the points:
#
# 1. Begin with a few points. Mistakes are mended with little work.
# 2. Exchange points: the point that has been in the subsample for the longest time leaves, and a point from outside
#    enters and draws its cluster.
# 3. Let the subsample grow slowly, up to the whole table.
#
# It is called annealing because the number of points does here what the temperature does in simulated annealing: with
# few points, partitions differ little in probability, and the chain moves freely, as at a high temperature. But the
# end is no single optimum: when all points are in, the chain goes on sampling as usual.
#
# Why exchange them? In this small sampler, a point chooses its cluster only when it enters. One that never left would
# keep a choice that was made when little was known; one that leaves and enters again chooses anew. (In the package, the
# points inside choose again, too.)
#
# Annealing is compared with Gibbs sampling of all points, which can be started in two ways. In the *blind start*, each
# point joins a cluster with a probability in proportion to the size of the cluster, or begins a new one; where the
# point lies is not looked at. Or the points enter *one after the other*, and each chooses its cluster as above.

PASSES, N_CHAINS = 12, 60


def gibbs(X, one_after_the_other, watch=None):
    """All points from the first pass on, after a blind start or one after the other."""
    chains = Chains(X, N_CHAINS, random_state=0)
    orders = chains.rng.permuted(np.tile(np.arange(len(X)), (N_CHAINS, 1)), axis=1).T
    for number, points in enumerate(orders):
        if one_after_the_other:
            chains.assign(points)
        else:
            sizes = chains.counts.astype(float)
            sizes[chains.all, chains.counts.argmin(axis=1)] = 1.0
            chains.put(points, (sizes.cumsum(axis=1) < chains.rng.random((N_CHAINS, 1)) * (number + 1)).sum(axis=1))
    for step in range((PASSES - 1) * len(X)):
        if watch is not None and step % (PASSES * len(X) // 24) == 0:
            watch.append(chains.labels[0].copy())
        points = orders[step % len(X)]
        chains.remove(points)
        chains.assign(points)
    return chains.labels


def anneal(X, watch=None):
    """A subsample that grows in proportion to the work."""
    chains = Chains(X, N_CHAINS, random_state=0)
    orders = chains.rng.permuted(np.tile(np.arange(len(X)), (N_CHAINS, 1)), axis=1).T
    entered = left = 0
    for step in range(PASSES * len(X)):
        if watch is not None and step % (PASSES * len(X) // 24) == 0:
            watch.append(chains.labels[0].copy())
        if entered - left >= (step + 1) / PASSES:  # the subsample has its size: one point leaves
            chains.remove(orders[left % len(X)])
            left += 1
        chains.assign(orders[entered % len(X)])
        entered += 1
    return chains.labels


# %%
# The film shows a chain of Gibbs sampling after a blind start, and a chain of annealing, with the same number of row
# assignments. On the left, all points are there from the start. On the right, the subsample grows. Colours are
# clusters; grey points are outside. (The third method, one after the other, is only in the scores below.)

films = {"all points, blind start": [], "subsample annealing": []}
found = {
    "Gibbs sampling, blind start": gibbs(X, False, films["all points, blind start"]),
    "Gibbs sampling, start one after the other": gibbs(X, True),
    "subsample annealing": anneal(X, films["subsample annealing"]),
}

figure, panels = plt.subplots(1, 2, figsize=(6.4, 3.6), dpi=60)
colours = np.vstack([plt.colormaps["tab20"](np.arange(N_SLOTS) % 20), [0.88, 0.88, 0.88, 1.0]])
dots = [axes.scatter(*X.T, s=2) for axes in panels]
for axes in panels:
    axes.set(xticks=[], yticks=[], aspect="equal")


def draw(frame):
    for axes, points, (name, film) in zip(panels, dots, films.items(), strict=True):
        labels = film[min(frame, len(film) - 1)]
        points.set_color(colours[labels])
        inside = labels[labels >= 0]
        axes.set_title(f"{name}\n{len(inside)} points, {len(np.unique(inside))} clusters", fontsize=9)


film = FuncAnimation(figure, draw, frames=24, interval=400)

# %%
# One chain is one example. Here are sixty of each. The score compares the clusters with the nine groups: 1 means
# that they are the same, 0 that they have nothing in common but chance (the adjusted Rand index).

means, errors = {}, {}
for name, labels in found.items():
    scores = np.array([adjusted_rand_score(groups, chain) for chain in labels])
    means[name] = scores.mean()
    errors[name] = scores.std() / np.sqrt(N_CHAINS)
    print(f"{name:42} mean {means[name]:.2f} ± {errors[name]:.2f}, ", end="")
    print(f"worst {scores.min():.2f}, {(scores > 0.95).sum()} above 0.95")
for other in list(means)[:2]:
    of_difference = np.hypot(errors[other], errors["subsample annealing"])
    assert means["subsample annealing"] > means[other] + 2 * of_difference

# %%
# The numbers after ± are standard errors of the means. Annealing is the best on average, by more than two standard
# errors of the difference. But most of its chains still end with a mistake. It makes chains better, and not perfect.
# This is why the estimators run several independent chains and compare them.
#
# (This sampler moves single points only, so that annealing gains even in a small table. The package does more.)
#
# When it helps
# -------------
#
# From here on the page uses the package, but not with the defaults: each fit has a single chain and a single draw, so
# that single chains can be compared. (The default is two chains of ten draws, and two more unless these agree almost
# perfectly.) The package also proposes to split a whole cluster, or to merge two at once (*split-merge moves*), in all
# fits below. These mend the same mistakes, so that annealing has less left to gain. Does it gain anything?
#
# The first table has 20,000 rows, 20 columns of categories, and 200 clusters. The score is the mean log density of
# rows that the fit has not seen, in nats, the unit of natural logarithms. Higher is better, and one nat more means that
# a row is 2.7 times as probable. There are three tables of this kind, and one chain for each.

# The comparison needs fits that are too short, about which the package warns.
warnings.simplefilter("ignore", ConvergenceWarning)


def make_table(n_rows, n_clusters, random_state):
    rng = np.random.default_rng(random_state)
    clusters = rng.choice(n_clusters, p=rng.dirichlet(np.full(n_clusters, 5.0)), size=n_rows + 2000)
    shares = rng.dirichlet(np.full(4, 0.5), (n_clusters, 20))
    codes = (shares[clusters].cumsum(axis=2) < rng.random((n_rows + 2000, 20, 1))).sum(axis=2).clip(0, 3)
    return codes[:n_rows], codes[n_rows:]


def fit(train, schedule, random_state):
    settings = {"feature_types": ["categorical"] * 20, "n_chains": 1, "n_draws": 1}
    return SubsampleAnnealedDPMM(schedule=schedule, random_state=random_state, **settings).fit(train)


STRATEGIES = {"start one row after the other": SequentialGibbs, "subsample annealing": SubsampleAnneal}


def compare(n_rows, n_clusters):
    """The scores of three tables, by strategy and passes."""
    scores, tables = {}, [make_table(n_rows, n_clusters, seed) for seed in range(3)]
    figure, axes = plt.subplots(figsize=(5.5, 3.5))
    for name, schedule in STRATEGIES.items():
        used = []
        for passes in (5, 20):
            seconds = time.process_time()
            models = [fit(train, schedule(passes), seed) for seed, (train, _) in enumerate(tables)]
            used.append((time.process_time() - seconds) / len(tables))
            scores[name, passes] = [model.score(test) for model, (_, test) in zip(models, tables, strict=True)]
            print(f"{name:30} {passes:2} passes:", *(f"{score:.2f}" for score in scores[name, passes]), end="")
            print(f"  {used[-1]:.2f} CPU seconds")
        axes.plot(used, [np.mean(scores[name, passes]) for passes in (5, 20)], "o-", label=name)
    axes.set(xlabel="CPU seconds", ylabel="nats per unseen row", title=f"{n_rows} rows, {n_clusters} clusters")
    axes.legend()
    figure.tight_layout()
    return scores


large = compare(20_000, 200)
assert np.mean(large["subsample annealing", 5]) > np.mean(large["start one row after the other", 20]) - 0.2

# %%
# Each line has a dot for 5 passes and one for 20. A pass does not cost the same in both methods: it costs more with
# more clusters, and rows that leave and enter cost time. (The plan of how the subsample grows is the *schedule*. After
# it, the package may go on while the fit improves: for up to 20 more passes over all rows after the schedule of 20
# passes, and for none after that of 5. The seconds include them.) So compare the seconds: annealing with 5 passes
# scores about as well as the other method with 20, in clearly less time.
#
# The default schedule anneals, too. While the subsample has up to 3,000 rows, it makes about 20 row assignments for
# each row that is added; later fewer, down to one. After it, up to 60 passes may follow (more in small tables; after a
# schedule that you pass yourself, fewer). Here is one chain of it for each of the three tables:

for seed in range(3):
    train, test = make_table(20_000, 200, seed)
    seconds = time.process_time()
    model = fit(train, "auto", seed)
    seconds = time.process_time() - seconds
    print(f"{model.score(test):.2f} nats per row, {model.n_clusters_} clusters, {seconds:.2f} CPU seconds")

# %%
# Their scores are those of annealing with 20 passes, and they take longer, as printed: the default must be long enough
# for harder tables, too, and need not be changed for this one. A single draw has small clusters besides the 200 true
# ones. Such clusters come and go from draw to draw, and ``labels_`` merges most of them if there are several draws.
#
# When not to use it
# ------------------
#
# The second table has 300 rows and ten clusters. Again, each fit has a single chain and a single draw.

small = compare(300, 10)
assert np.mean(small["subsample annealing", 5]) - np.mean(small["start one row after the other", 5]) < 0.1

# %%
# In the small table annealing gains next to nothing. (Mind the axis: all four means are within 0.1 nats.) So:
#
# - **Annealing pays off in tables with many rows and many clusters**, where the time is short for the table.
# - **It gains next to nothing in small tables.** The default schedule of ``SubsampleAnnealedDPMM`` anneals there as
#   well, which costs hundredths of a second.
# - If the number of clusters is known, and the clusters are round and well apart, scikit-learn's
#   ``GaussianMixture`` or ``KMeans`` is enough.
# - Annealing only finds a better start. Draws are kept after all rows are included, and come from sampling as usual. A
#   poor schedule costs time, but does not change what a chain converges to if it is long enough.
# - Annealing does not make a wrong model right. In ``SubsampleAnnealedDPMM``, columns are independent within a cluster,
#   except that columns of numbers may be correlated (``covariance_type``), but not counts, nor ordinal columns, such
#   as answers from 1 to 5.
#
# Next: :doc:`how CrossCat reads a table <crosscat_explained>`, and :doc:`why chains disagree <chains_explained>`.
