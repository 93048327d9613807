"""TwinTrial: twins are parted for a few passes, which is undone if documents became much less likely by it."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.similar_topics import twin_pairs
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.topic_removal import mean_log_likelihood

# Nats a token that documents may lose for topics without twins: these are easier to read, at no visible loss. Where
# similar topics are all needed, the loss is ten times as large.
TOLERATED_LOSS = 0.003


class TwinTrial:
    """Merges twins, starts new topics in their place, and keeps these if documents are about as likely as before.

    Topics that are similar in truth, such as those of which most documents have both, may all be needed; then the new
    ones explain less than the merged ones did. Passes without further trials part such topics better.

    Parameters
    ----------
    learner : TopicLearner
    documents : DocumentGroups or None
        From which new topics start, and by which they are judged; None: none start.
    generator : numpy.random.Generator

    Attributes
    ----------
    refused : bool
        Whether new topics explained less; no more are tried then.
    """

    def __init__(self, learner: TopicLearner, documents: DocumentGroups | None, generator: np.random.Generator):
        self.refused = False
        self._learner, self._documents, self._generator = learner, documents, generator
        # Topics and log-likelihood before a trial that is not judged yet.
        self._before: dict | None = None

    def start(self, threshold: float) -> None:
        """Part the topics with an affinity above the threshold, if there are any."""
        topics = self._learner.topics
        pairs = twin_pairs(topics.means(), threshold)
        if len(pairs) and not self.refused:
            self._before = topics.get_state() | {
                "table": topics.table.copy(),
                "document_prior": self._learner.prior.values.copy(),
                "likelihood": self._likelihood(),
            }
            self._learner.part_twins(self._documents, self._generator, pairs)

    def judge(self) -> None:
        """After the passes of a trial: return to the topics before it if they made documents clearly more likely.

        If others were removed in the meantime, the new topics stay.
        """
        whole = self._before is not None and self._before["table"].shape == self._learner.topics.table.shape
        if whole and self._likelihood() < self._before["likelihood"] - TOLERATED_LOSS:
            self.refused = True
            self._learner.topics = self._learner.topics.with_state(self._before)
            self._learner.prior.values = self._before["document_prior"].copy()
        self._before = None

    def get_state(self) -> dict:
        """The state after a pass, as arrays and numbers."""
        return {"refused": self.refused, "before": self._before}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        self.refused, self._before = state["refused"], state["before"]

    def _likelihood(self):
        return mean_log_likelihood(self._learner.topics, self._documents.documents, self._learner.prior.values)
