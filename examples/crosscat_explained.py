"""How CrossCat reads a table
==========================

The first half of the page, up to the film, uses a small sampler in NumPy, and not the package. All later results are
those of :class:`~sklearn_subanneal.CrossCat` with its defaults, unless the text above the code says otherwise.

It is for readers who know scikit-learn and what a Gaussian is. The page explains the rest: what a view is, how columns
find their views, what the fitted model can be asked, and when to use something else.
"""

# %%
# One table, two stories
# ----------------------
#
# The table is made up. It has the answers of 120 people to ten questions, yes or no. Four answers depend on where a
# person lives, in town or in the country. Five depend on age, in three groups. One depends on nothing. Place and
# age are not in the table, and are independent of one another.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.animation import FuncAnimation
from scipy.special import betaln
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from sklearn_subanneal import CrossCat, CrossCatRegressor, SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import load_hospitals
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay

# "Why chains disagree" explains the warning that some of these fits would give.
warnings.simplefilter("ignore", ConvergenceWarning)

ABOUT_PLACE = {"car": [0.1, 0.9], "garden": [0.2, 0.95], "bus": [0.9, 0.1], "hens": [0.05, 0.7]}
ABOUT_AGE = {
    "school": [0.95, 0.05, 0.05],
    "work": [0.1, 0.9, 0.1],
    "pension": [0.05, 0.05, 0.9],
    "games": [0.9, 0.2, 0.1],
    "glasses": [0.1, 0.2, 0.9],
}


def make_people(n_people, random_state):
    rng = np.random.default_rng(random_state)
    place, age = rng.integers(2, size=n_people), rng.integers(3, size=n_people)
    answers = {name: rng.random(n_people) < np.array(share)[place] for name, share in ABOUT_PLACE.items()}
    answers |= {name: rng.random(n_people) < np.array(share)[age] for name, share in ABOUT_AGE.items()}
    answers["left-handed"] = rng.random(n_people) < 0.1
    return pd.DataFrame(answers)[rng.permutation(list(answers))], place, age


people, place, age = make_people(120, random_state=0)
figure, axes = plt.subplots(figsize=(4, 4))
axes.imshow(people, aspect="auto", cmap="Greys", interpolation="nearest")
axes.set_xticks(range(people.shape[1]), people.columns, rotation=90)
axes.set(ylabel="people", title="the table: black is yes")
figure.tight_layout()

# %%
# An ordinary mixture model clusters the rows *once*, by all columns. It then needs a cluster for each combination
# of place and age: two times three. With more stories there are more combinations, and each cluster has fewer rows.
#
# The idea of CrossCat: several clusterings, each of some columns
# ---------------------------------------------------------------
#
# CrossCat (cross-categorization) divides the *columns* into groups, called *views*. Each view has its own clusters
# of the rows. Here a good answer would be a view of the four questions about place, with two clusters of people,
# and a view of the five questions about age, with three clusters of *the same* people.
#
# How does a column know where it belongs? Take a clustering of the people, and one column. The clustering explains the
# column well if, within each cluster, most answers are the same. The measure is the probability of these answers. If
# the share s of yes in a cluster were known, it would be a product: s for each yes, and 1 - s for each no. But s is not
# known, so the product is averaged over all s from 0 to 1 (those near 0 and 1 count somewhat more; ``prior`` in the
# code below sets this). The probabilities of all clusters are multiplied. The logarithm of the result is the *log
# marginal likelihood* of the column.


def log_likelihood(answers, labels, prior=0.5):
    """The log marginal likelihood of one column, given the clusters of its rows."""
    yes = np.bincount(labels, answers)
    no = np.bincount(labels) - yes
    return (betaln(yes + prior, no + prior) - betaln(prior, prior)).sum()


clusterings = {"all in one cluster": np.zeros(len(people), int), "by place": place, "by age": age}
table = pd.DataFrame(
    {name: [log_likelihood(people[column], labels) for column in people] for name, labels in clusterings.items()},
    people.columns,
)
print(table.round(1).to_string())
best = table.idxmax(axis=1)
figure, axes = plt.subplots(figsize=(8, 3.2))
table.sub(table["all in one cluster"], axis=0)[["by place", "by age"]].plot.bar(ax=axes)
axes.axhline(0, color="black", lw=0.5)
axes.set(ylabel="log likelihood, minus\nthat of one cluster", title="which clustering explains which column?")
figure.tight_layout()
assert (best[list(ABOUT_PLACE)] == "by place").all() and (best[list(ABOUT_AGE)] == "by age").all()
assert best["left-handed"] == "all in one cluster"

# %%
# The questions about place are explained best by the clusters of place, and those about age by the clusters of age.
# Bars are log likelihoods minus that of one cluster; one below zero says that clusters do harm: each further cluster
# has a share of its own, which has to be guessed from fewer people. So clusters must explain enough to pay for
# themselves. This acts like the penalty for parameters in a criterion such as BIC, and keeps the method from making as
# many clusters and views as it can. For ``left-handed``, clusters gain nothing, but a few cost little, so that they may
# appear by chance.
#
# Nobody tells CrossCat the place and the age. It has to find the clusters and the views together:
#
# 1. **Rows.** In each view, one person after the other draws its cluster, given the clusters of all others. Large
#    clusters attract, and so do clusters with similar answers. (:doc:`How subsample annealing works
#    <annealing_explained>` shows this step.)
# 2. **Columns.** One column after the other draws its view. A view is more probable if it has many columns, and if its
#    clusters explain the column, by the measure above. The column can also draw a new view, whose clusters are random.
#
# Both steps, in any order, once for all rows and all columns, are a *sweep*. Sweeps are repeated. This
# is Gibbs sampling, for rows and columns in turn. Here it is, short and slow, in NumPy:


class SmallCrossCat:
    """Yes or no in all columns. Each column starts in a view of its own, with all rows in one cluster."""

    def __init__(self, table, random_state):
        self.table, self.rng = np.asarray(table, dtype=float), np.random.default_rng(random_state)
        self.views = np.arange(self.table.shape[1])
        self.clusters = {view: np.zeros(len(self.table), int) for view in self.views}

    def draw(self, log_weights):
        log_weights = np.array(log_weights)
        return (log_weights + self.rng.gumbel(size=len(log_weights))).argmax()

    def clusters_from_prior(self):
        labels = [0]
        while len(labels) < len(self.table):
            sizes = np.bincount(labels)
            labels.append(self.draw(np.log(np.append(sizes, 1))))
        return np.array(labels)

    def move_rows(self, view):
        answers, labels = self.table[:, self.views == view], self.clusters[view]
        for row in self.rng.permutation(len(labels)):
            labels[row] = labels.max() + 1
            others = np.unique(np.delete(labels, row), return_inverse=True)[1]
            sizes = np.append(np.bincount(others), 0)
            yes = np.zeros((len(sizes), answers.shape[1]))
            np.add.at(yes, others, np.delete(answers, row, axis=0))
            share = (yes + 0.5) / (sizes[:, None] + 1)
            agrees = np.where(answers[row] == 1, share, 1 - share)
            labels[:] = np.insert(others, row, self.draw(np.log(np.maximum(sizes, 1)) + np.log(agrees).sum(axis=1)))

    def move_column(self, column):
        own, answers = self.views[column], self.table[:, column]
        self.views[column] = -1
        old = [view for view in np.unique(self.views) if view >= 0]
        candidates = {view: self.clusters[view] for view in old}
        # Three new views can be drawn; together they weigh as much as one column.
        free = [view for view in range(len(self.views) + 3) if view not in candidates][:3]
        candidates |= {view: self.clusters_from_prior() for view in free}
        if own not in old:  # the column was alone: its view is one of the new ones
            candidates[free[0]] = self.clusters[own]
        weights = [(self.views == view).sum() if view in old else 1 / 3 for view in candidates]
        likelihoods = [log_likelihood(answers, labels) for labels in candidates.values()]
        view = list(candidates)[self.draw(np.log(weights) + likelihoods)]
        self.views[column], self.clusters[view] = view, candidates[view]

    def sweep(self):
        for column in self.rng.permutation(len(self.views)):
            self.move_column(column)
        for view in np.unique(self.views):
            self.move_rows(view)


# %%
# The film shows the table as the sampler sees it. Each block is a view: its columns, and the people in the order of
# their clusters in this view. So the same person is at a different height in each block. Colours are clusters;
# strong colours mean yes. Before the first frame, each column is alone.

small, film = SmallCrossCat(people, random_state=0), []
for _ in range(30):
    small.sweep()
    film.append((small.views.copy(), {view: small.clusters[view].copy() for view in np.unique(small.views)}))


def blocks(views, clusters):
    """The table as an image, and the names below it."""
    image, names = [], []
    for view in sorted(clusters, key=lambda view: -(views == view).sum()):
        columns = np.flatnonzero(views == view)
        order = np.lexsort([*people.iloc[:, columns].to_numpy().T, clusters[view]])
        colours = plt.colormaps["tab10"](clusters[view][order] % 10)[:, None, :3]
        yes = people.iloc[order, columns].to_numpy()[:, :, None]
        image += [np.where(yes, colours, 0.8 + 0.2 * colours), np.ones((len(people), 1, 3))]
        names += [*people.columns[columns], ""]
    return np.concatenate(image, axis=1), names


figure, axes = plt.subplots(figsize=(6, 4.2), dpi=60)


def draw(frame):
    axes.clear()
    image, names = blocks(*film[frame])
    axes.imshow(image, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(len(names)), names, rotation=90)
    axes.tick_params(length=0)
    axes.set(yticks=[], title=f"sweep {frame + 1}: {len(film[frame][1])} views")
    figure.subplots_adjust(bottom=0.25, left=0.03, right=0.97)


animation = FuncAnimation(figure, draw, frames=len(film), interval=400)

views, clusters = film[-1]
for view in clusters:
    sizes = np.bincount(clusters[view])
    print(f"clusters of {sizes[sizes > 0]} people:", *people.columns[views == view])

# %%
# The last frame is one *draw*: a possible reading of the table, and not the only one. The stories of place and age have
# been found. ``left-handed`` has a view of its own here; its clusters mean nothing. The sampler goes on, and visits
# other readings as often as they are probable. Most of what a model reports is an average over many draws; the views
# and clusters that it shows are those of one.
#
# The same with CrossCat
# ----------------------
#
# :class:`~sklearn_subanneal.CrossCat` does this with faster moves, for columns of any type, with missing cells, and
# mostly with :doc:`subsample annealing <annealing_explained>` (some chains begin in another way, since no way to begin
# is best for all tables). It has two independent samplers, the *chains*, and two more unless these agree almost
# perfectly, and keeps ten draws of each. The draw that is most like the others is printed and shown here, after most
# small clusters that other draws do not have were merged with others:

model = CrossCat(random_state=0).fit(people)
for view in range(model.n_views_):
    sizes = np.bincount(model.view_labels_[:, view])
    print(f"clusters of {sizes} people:", *people.columns[model.column_labels_ == view])
display = ViewsDisplay.from_estimator(model, people)
display.figure_.set_size_inches(8, 4.5)

# %%
# In the picture, dark is yes, and lines separate clusters. The large clusters of the questions about age are the three
# ages, and those of the questions about place are town and country. The small clusters of people whose answers are
# unusual come and go from draw to draw, so do not take them for kinds of people; ``cluster_stability`` says which
# clusters another fit would probably find, too.
#
# How sure is this? ``dependence_`` has the share of draws in which two columns are in one view (chains that predict the
# table badly count less). It does not say how strong a dependence is, and 0 does not show independence (*How to read
# the views*, below). Values between 0 and 1 say that the draws do not agree. ``left-handed`` depends on nothing,
# so the table does not say where it belongs. Chains do not always agree as well as here: :doc:`Why chains disagree
# <chains_explained>` is the next page.

display = DependenceDisplay.from_estimator(model)
dependence = pd.DataFrame(model.dependence_, people.columns, people.columns)
print(dependence.loc["car"].round(2).to_string())
assert dependence.loc["car", list(ABOUT_PLACE)].min() > 0.9 > 0.1 > dependence.loc["car", list(ABOUT_AGE)].max()

# %%
# What the model can be asked
# ---------------------------
#
# One fit answers questions about any column given any other; none was named as the target. How probable is it that a
# person has a pension, if nothing is known? Glasses make it much more probable. Hens change hardly anything, as this
# column is in another view:

for event, given in (("pension", {}), ("pension", {"glasses": True}), ("pension", {"hens": True})):
    print(f"P({event} | {given or 'nothing'}) = {model.probability(event, given=given or None):.2f}")

# %%
# Missing cells are filled in from the clusters that a row belongs to. One cell in ten is hidden here, and the table
# is fitted again. The simple rule to compare with fills in the more frequent answer of the column.

hidden = np.random.default_rng(1).random(people.shape) < 0.1
gaps = people.astype(object).mask(hidden).astype("boolean")
filled = CrossCat(random_state=0).fit(gaps).impute(gaps)
right = (filled.to_numpy(bool) == people.to_numpy())[hidden].mean()
simple = (np.tile(people.mean() > 0.5, (len(people), 1)) == people.to_numpy())[hidden].mean()
print(f"{hidden.sum()} hidden cells: {right:.0%} are filled in correctly, {simple:.0%} by the simple rule.")
assert right > simple

# %%
# When it helps: several stories in one table
# -------------------------------------------
#
# The score is the mean log probability of the answers of 2,000 new people, in nats, the unit of natural logarithms:
# higher is better. :class:`~sklearn_subanneal.SubsampleAnnealedDPMM` has a single clustering for all columns. Both
# models are fitted to the whole table, which has two stories, and to the questions about place alone, which are one
# story.

new, _, _ = make_people(2000, random_state=1)
new, gain = new[people.columns], {}
for name, columns in (("two stories", list(people.columns)), ("one story", list(ABOUT_PLACE))):
    views = CrossCat(random_state=0).fit(people[columns])
    single = SubsampleAnnealedDPMM(random_state=0).fit(people[columns])
    gain[name] = views.score(new[columns]) - single.score(new[columns])
    print(
        f"{name}: CrossCat {views.score(new[columns]):.2f}, one clustering {single.score(new[columns]):.2f} nats, with "
        f"{single.n_clusters_} clusters; CrossCat gains {gain[name]:.2f}"
    )
assert gain["two stories"] > 0.05 > abs(gain["one story"])

# %%
# With two stories, a new person is 12 to 13 % more probable by CrossCat (0.12 nats), in this one example. The single
# clustering needs many clusters for it: six combinations of place and age, and small clusters besides. For a single
# story, one clustering does as well and is simpler.
#
# When not to use it
# ------------------
#
# **One column has to be predicted, and is a smooth curve of few others.** ``CrossCatRegressor`` and
# ``CrossCatClassifier`` predict one column by a CrossCat, and in many tables as well as other methods do: compare by
# cross-validation. But within a cluster, the model knows only linear correlations of numbers: a curve is approximated
# by straight pieces, one for each cluster. A regressor that is made for the task learns only y given x,
# while CrossCat describes x as well. The error of scikit-learn's Gaussian process is a third of CrossCat's here, though
# the curves look alike:

rng = np.random.default_rng(0)
x = rng.uniform(-6, 6, (300, 1))
y = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=300)
grid = np.linspace(-6, 6, 200)[:, None]
figure, axes = plt.subplots(figsize=(7, 3))
axes.scatter(x[:, 0], y, s=4, color="grey")
errors = {}
for regressor in (CrossCatRegressor(random_state=0), GaussianProcessRegressor(RBF() + WhiteKernel(), random_state=0)):
    name, curve = type(regressor).__name__, regressor.fit(x, y).predict(grid)
    errors[name] = np.sqrt(np.mean((curve - np.sin(2 * grid[:, 0])) ** 2))
    axes.plot(grid, curve, label=f"{name}: error {errors[name]:.3f}")
    print(f"{name}: root mean squared error {errors[name]:.3f}")
axes.set_ylim(-1.3, 2.1)
axes.legend(loc="upper right")
figure.tight_layout()
assert errors["CrossCatRegressor"] > errors["GaussianProcessRegressor"]

# %%
# **A single clustering of the rows is wanted.** Use :class:`~sklearn_subanneal.SubsampleAnnealedDPMM`, whose clusters
# are those of all columns together.
#
# How to read the views
# ---------------------
#
# **With the default, views of numbers say little.** By default, numbers may be correlated within a cluster. (This holds
# in tables of moderate size, up to 128 columns of numbers and not too many rows. It never holds for counts and ordinal
# columns, such as answers from 1 to 5. The page on CrossCat has the exact rules.) Correlated numbers then need no
# clusters, and columns that have little to do with one another can share a view at little cost. This predicts well and
# shows few views. ``covariance_type="diag"``, which is not the default, makes columns independent within a cluster:
# there are more views, which can be read. The code has both:

hospitals = load_hospitals().data.drop(index="United States US").iloc[:, :30]
n_views = {}
for covariance in ("auto", "diag"):
    fit = CrossCat(covariance_type=covariance, random_state=0).fit(hospitals)
    n_views[covariance], n_missed = fit.n_views_, len(fit.contradictions(hospitals))
    sizes = np.bincount(fit.column_labels_)
    print(f"covariance_type={covariance!r}: {fit.n_views_} views, of {', '.join(map(str, sizes))} columns;", end=" ")
    print(f"{n_missed} of {30 * 29 // 2} pairs are independent in the model, but not by a test")
assert n_views["diag"] > n_views["auto"] and n_missed > 30 * 29 / 4

# %%
# The ``DependenceWarning`` is that of the second fit. It counts only pairs of which the test leaves no doubt (its
# p-value times the number of pairs is below 1e-10); ``contradictions`` lists all where this product is below 0.001, of
# which the code prints
# the number. The few of the first fit are not that clear, so that it does not warn. With ``"diag"``, more than half of
# all pairs of columns are in different views although a rank correlation shows that they depend on one another. So such
# views show which columns go together best, and not which are independent. Why this is so:
#
# **Two columns in different views need not be independent.** A column is in one view only. If it is nearly a copy of
# another column, it stays with its copy, and a weaker dependence on further columns is lost. Below, a and b are
# correlated, and each has a copy. The fit does not use the default, but ``covariance_type="diag"``: columns are
# independent within a cluster. A column and its copy then need many narrow clusters. If all four were in one view, it
# would need a narrow cluster for each combination of a value of a and a value of b: too many. So b goes to another
# view, and its correlation with a is lost. (With the default this happens less, since correlated numbers usually share
# a view.)

a = rng.normal(size=300)
b = 0.5 * a + np.sqrt(0.75) * rng.normal(size=300)
copies = pd.DataFrame({"a": a, "copy of a": a + 0.05 * rng.normal(size=300)})
copies = copies.assign(b=b, **{"copy of b": b + 0.05 * rng.normal(size=300)})
fit = CrossCat(covariance_type="diag", random_state=0).fit(copies)
print(f"correlation of a and b: {np.corrcoef(a, b)[0, 1]:.2f}; share of draws in one view: {fit.dependence_[0, 2]:.2f}")
correlation = np.corrcoef(a, copies["copy of a"])[0, 1]
print(f"correlation of a and its copy: {correlation:.2f}; share of draws in one view: {fit.dependence_[0, 1]:.2f}")
assert fit.dependence_[0, 2] < 0.1 and fit.dependence_[0, 1] > 0.9

# %%
# So do not read too much into ``dependence_``. A value of zero does not say that two columns are independent in the
# table. A high value says that they share a view: with ``"diag"``, because the same clusters explain both; with the
# default, numbers that have little to do with one another may share a view. ``relatedness`` says how strong a
# dependence is, on the scale of a correlation; but like ``dependence_`` it describes the model, and not the table: for
# a and b the relatedness is 0, although their correlation is about 0.5.
# What the model misses is found by ``contradictions``, by an ordinary correlation, or by the tests of the command
# ``report``.
#
# In short: use CrossCat to see what a table of many columns is about, to fill in its missing cells, to find odd cells,
# and to ask many questions of one fit. If most columns are numbers, look at the views of a second fit with ``"diag"``,
# and take all else from the default. Use :class:`~sklearn_subanneal.SubsampleAnnealedDPMM` for a single clustering; and
# for a single target compare :class:`~sklearn_subanneal.CrossCatRegressor` or
# :class:`~sklearn_subanneal.CrossCatClassifier` with other methods.
#
# Next: :doc:`why chains disagree <chains_explained>`.
