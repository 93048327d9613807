"""Subsample annealing, step by step
=================================

The same mixture of the hospital regions of the Dartmouth Atlas, learned by three strategies that cost the same.
"""

# %%
# A schedule says how many rows are in the subsample as the work proceeds. Annealing exchanges rows while their number
# grows; the sequential start takes each row once and then sweeps over all of them; the third begins with a partition
# drawn from the prior.

import matplotlib.pyplot as plt
import numpy as np

from sklearn_subanneal import SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import Accelerating, PriorGibbs, SequentialGibbs, SubsampleAnneal
from sklearn_subanneal.datasets import load_hospitals
from sklearn_subanneal.plotting import ScheduleDisplay, TraceDisplay

X = load_hospitals().data.drop(index="United States US")
strategies = {
    "prior + Gibbs": PriorGibbs(passes=20),
    "sequential + Gibbs": SequentialGibbs(passes=20),
    "subsample annealing": SubsampleAnneal(passes=20),
}

figure, axes = plt.subplots(figsize=(6, 3.5))
for name in ("sequential + Gibbs", "subsample annealing"):
    ScheduleDisplay.from_schedule(strategies[name], 10_000, name=name, ax=axes)
ScheduleDisplay.from_schedule(Accelerating(), 10_000, name="accelerating", ax=axes)
axes.legend(loc="center left")
figure.tight_layout()

# %%
# On ten thousand rows the accelerating schedule does nearly all of its work with a few hundred of them.
#
# Seven rows in eight are learned, four chains each, and the others scored: the mean log density of a held-out row.

held_out = np.random.default_rng(0).permutation(len(X)) < len(X) // 8
for name, schedule in strategies.items():
    model = SubsampleAnnealedDPMM(schedule=schedule, n_chains=4, random_state=0).fit(X[~held_out])
    seconds = sum(model.trace_["seconds"][model.trace_["chain"] == chain].max() for chain in range(4))
    print(f"{name:20} {model.score(X[held_out]):7.1f} nats a row, {model.n_clusters_} clusters, {seconds:.1f} s")

# %%
# On some three hundred rows the strategies are near one another: split-merge moves, which all of them make, do what
# annealing would. The gap opens with the number of rows; the benchmarks have it for 10,000 and more.
#
# What a chain does can be watched. The log joint falls while rows enter, since it is a sum over the rows that are in;
# the shaded part is the annealing, and only what comes after it is kept.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
TraceDisplay.from_estimator(model, "n_clusters", ax=left)
TraceDisplay.from_estimator(model, "log_joint", ax=right)
figure.tight_layout()
