"""Subsample annealing, step by step
=================================

A mixture model of hospital regions (Dartmouth Atlas) is fitted by three strategies with the same amount of work.
"""

# %%
# A schedule gives the number of rows in the subsample as a function of the work that is done. Subsample annealing
# exchanges rows while the subsample grows. The sequential strategy assigns each row once and then sweeps over all rows.
# The third strategy starts from a partition drawn from the prior and sweeps over all rows.

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
# With ten thousand rows, the accelerating schedule does nearly all of its work while the subsample has a few hundred
# rows.
#
# Each strategy fits four chains to seven eighths of the rows. The score is the mean log density of the held-out rows.

held_out = np.random.default_rng(0).permutation(len(X)) < len(X) // 8
for name, schedule in strategies.items():
    model = SubsampleAnnealedDPMM(schedule=schedule, n_chains=4, random_state=0).fit(X[~held_out])
    seconds = sum(model.trace_["seconds"][model.trace_["chain"] == chain].max() for chain in range(4))
    score = model.score(X[held_out])
    print(f"{name:20} {score:7.1f} nats per held-out row, {model.n_clusters_} clusters, {seconds:.1f} s")

# %%
# With about three hundred rows the three strategies have similar scores, because all of them use split-merge moves,
# which also cross the barriers between modes. The difference grows with the number of rows; the benchmarks compare
# 10,000 rows and more.
#
# The trace shows the progress of the chains. The log joint density decreases while rows enter, because it is a sum over
# the rows of the subsample. The shaded part is the annealing; only the draws after it are kept.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5))
TraceDisplay.from_estimator(model, "n_clusters", ax=left)
TraceDisplay.from_estimator(model, "log_joint", ax=right)
figure.tight_layout()
