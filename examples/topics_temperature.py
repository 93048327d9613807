"""Tempering of topic models
=========================

Topic models with and without tempering are fitted to documents that are drawn from known topics.
"""

# %%
# The vocabulary is an image of eight by eight words. Every topic is a row or a column of the image, and a document
# mixes a few topics. Known and learned topics can therefore be shown as images.

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.plotting import TemperatureDisplay

SIDE, N_TOPICS = 8, 16
rng = np.random.default_rng(0)
rows = np.kron(np.eye(SIDE), np.ones(SIDE))
columns = np.kron(np.ones(SIDE), np.eye(SIDE))
bars = np.concatenate([rows, columns]) / SIDE
mixed = rng.dirichlet(np.full(N_TOPICS, 0.1), 1500) @ bars
counts = csr_matrix(np.array([rng.multinomial(100, words / words.sum()) for words in mixed]))
train, test = counts[:1000], counts[1000:]


def n_found(model):
    """Number of known topics that have a nearly identical learned topic."""
    return int(((np.sqrt(model.topic_word_) @ np.sqrt(bars.T)).max(axis=0) > 0.95).sum())


# %%
# Variational inference with the updates of scikit-learn (``topic_update="variational"``) ends in a local optimum near
# its start: some topics are mixtures of known topics, and some known topics are learned twice. A decreasing temperature
# is given by a schedule or inferred as a latent variable. With so few documents it improves the result only a little,
# and not in every run.

fitted = {}
for update in ("variational", "plug-in"):
    for tempering in ("none", "annealed", "global"):
        models = [
            VariationalTemperingLDA(
                N_TOPICS, tempering=tempering, topic_update=update, max_iter=40, random_state=seed
            ).fit(train)
            for seed in range(3)
        ]
        scores = [model.document_completion_score(test) for model in models]
        print(
            f"{update:11} {tempering:9} {np.mean(scores):.3f} nats per held-out word; known topics found, of "
            f"{N_TOPICS}: {[n_found(model) for model in models]}"
        )
        fitted[update, tempering] = models[int(np.argmax(scores))]

# %%
# With the default updates of this package (``"plug-in"``), inference without tempering finds all topics of this simple
# corpus, so tempering gains nothing. On real texts tempering can gain; see the benchmarks.
# ``document_completion_score`` on held-out documents shows which setting is better for a corpus.
#
# The figure shows the temperature during a run, as given by the schedule and as inferred.

figure, axes = plt.subplots(figsize=(6, 3.5))
for tempering in ("annealed", "global"):
    TemperatureDisplay.from_estimator(fitted["variational", tempering], ax=axes)
figure.tight_layout()

# %%
# The upper row shows the topics of the best run without tempering, the lower row those of the best annealed run. The
# most used topics are first. In the upper row, one topic is a mixture of two known topics, and another topic is
# superfluous.

figure, panels = plt.subplots(2, N_TOPICS, figsize=(12, 2))
for row, tempering in zip(panels, ("none", "annealed"), strict=True):
    model = fitted["variational", tempering]
    order = np.argsort(-model.transform(train).sum(axis=0))
    for axes, topic in zip(row, model.topic_word_[order], strict=True):
        axes.imshow(topic.reshape(SIDE, SIDE), cmap="Blues", vmin=0.0)
        axes.set(xticks=[], yticks=[])
figure.tight_layout()
