"""LearningRun: passes over a corpus, between which topics are removed, halved or parted; it can be resumed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from sklearn_subanneal.topics.document_groups import DocumentGroups
from sklearn_subanneal.topics.similar_topics import TWIN_AFFINITY, n_twins
from sklearn_subanneal.topics.topic_learner import TopicLearner
from sklearn_subanneal.topics.twin_trial import TwinTrial

# Topics that take the place of twins have so many passes.
PASSES_OF_NEW = 3
# Topics of which there are more than wanted at first are removed after so many passes, and so many must follow.
REMOVING_PASSES, PASSES_OF_REST = 3, 3
# Once as many topics are left as are wanted, mixtures are halved, at most so often, and after a pass others removed.
REVISIONS = 3
# Temperatures that never are exactly 1 may have settled after this share of the passes, as those of schedules at most.
SETTLED_SHARE = 0.5
# Topics with a larger affinity at T = 1 do not part by themselves.
SAME = 0.85


@dataclass(frozen=True)
class Passes:
    """Planned passes over a corpus, and those at most if topics have twins then.

    ``documents`` are those from which topics start, by ``generator``, and start anew where they were twins; None: they
    do not. If there are more than ``n_topics`` at first, some are removed at T = 1; None: as many as documents do not
    support.
    """

    planned: int
    most: int
    n_topics: int | None
    documents: DocumentGroups | None
    generator: np.random.Generator


class Removals:
    """Removes topics after some of the passes, so that others can take over their words in between.

    Attributes
    ----------
    n_revisions : int
        How often topics that are mixtures of several may still be halved, after which others are removed in turn.
    """

    def __init__(self, learner: TopicLearner, passes: Passes):
        self.learner = learner
        self.passes = passes
        self.n_revisions = 0
        if passes.n_topics is not None:
            further = learner.topics.n_topics - passes.n_topics
            self._a_pass = -(-further // REMOVING_PASSES)
            # Without further topics at the start there is no time for any.
            self.n_revisions = REVISIONS if further else 0

    def after_pass(self, number: int, cold: bool) -> bool:
        """Remove topics after a pass if it is time; whether there were more than wanted, or than are supported."""
        n_topics, wanted = self.learner.topics.n_topics, self.passes.n_topics
        if wanted is None:
            return cold and self.learner.remove_unsupported(self.passes.documents)
        if n_topics == wanted:
            return False
        if number >= self.passes.planned - PASSES_OF_REST:
            self.complete()
        elif cold:
            self.learner.remove_topics(self.passes.documents, max(n_topics - self._a_pass, wanted))
        in_time = cold and number + PASSES_OF_REST <= self.passes.most
        if in_time and self.learner.topics.n_topics == wanted and self.n_revisions:
            halved = self.learner.halve_mixed(self.passes.documents, self.passes.generator)
            self.n_revisions = self.n_revisions - 1 if halved else 0
        return True

    def complete(self) -> None:
        """Remove all that are too many, if it is known how many are wanted."""
        if self.passes.documents is not None and self.passes.n_topics is not None:
            self.learner.remove_topics(self.passes.documents, self.passes.n_topics)


class LearningRun:
    """Learns from a corpus in passes over its documents.

    At T = 1 topics of which there are too many are removed, mixtures of several are halved, and topics that are nearly
    the same are parted, as long as passes are left in which new ones are learned.

    Parameters
    ----------
    learner : TopicLearner
        Before its first minibatch.
    corpus : MemoryCorpus or StreamedCorpus
    passes : Passes
    report : callable or None, default=None
        Called after each pass with a record of it; a True result ends the run.
    tol : float, default=0.0
        The run ends once T = 1 and a pass moves less than this share of the tokens to other topics. Temperatures that
        are never exactly 1 count as such after half of the planned passes.

    Attributes
    ----------
    number : int
        Number of passes made.
    """

    def __init__(
        self,
        learner: TopicLearner,
        corpus,
        passes: Passes,
        report: Callable[[dict], bool] | None = None,
        tol: float = 0.0,
    ):
        self.learner, self.corpus, self.passes, self.report, self.tol = learner, corpus, passes, report, tol
        self.removals = Removals(learner, passes)
        self._trial = TwinTrial(learner, passes.documents, passes.generator)
        self.number, self._last = 0, passes.planned
        # Documents learned from, the share of tokens that the last pass moved, and whether a report asks to end.
        self._done, self._moved, self._stopped = 0, np.inf, False
        self._started = perf_counter()

    def run(self) -> None:
        """Make the passes that are left."""
        ended = self.number > 0 and self._ends()
        while not ended and self.number < self._last:
            self._learn_pass()
            ended = self._ends()

    def get_state(self, stopped: bool = False) -> dict:
        """The state after a pass, as arrays and numbers; ``stopped``: it is to be the last."""
        return {
            "learner": self.learner.get_state(),
            "generator": self.passes.generator.bit_generator.state,
            "number": self.number,
            "last": self._last,
            "done": self._done,
            "moved": self._moved,
            "revisions": self.removals.n_revisions,
            "trial": self._trial.get_state(),
            "stopped": stopped,
            "seconds": perf_counter() - self._started,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave; :meth:`run` continues bit for bit."""
        self.learner.set_state(state["learner"])
        self.passes.generator.bit_generator.state = state["generator"]
        self.number, self._last, self._done = state["number"], state["last"], state["done"]
        self._moved, self._stopped = state["moved"], state["stopped"]
        self.removals.n_revisions = state["revisions"]
        self._trial.set_state(state["trial"])
        self._started = perf_counter() - state["seconds"]

    def _is_cold(self) -> bool:
        return np.min(self.learner.trace[-1]) == 1.0

    def _may_settle(self, cold: bool) -> bool:
        warm = not self.learner.temperature.reaches_one
        return cold or (warm and self.number >= SETTLED_SHARE * self.passes.planned)

    def _learn_pass(self) -> None:
        learner, n_documents = self.learner, self.corpus.n_documents
        total = self.passes.planned * n_documents
        before = learner.topics.shares() if self.tol > 0.0 else None
        for documents in self.corpus.batches():
            n = documents.shape[0]
            learner.learn(documents, n / n_documents, min(self._done / (total - n), 1.0) if total > n else 1.0)
            self._done += n
        self.number += 1
        if before is not None:
            self._moved = 0.5 * float(np.abs(learner.topics.shares() - before).sum())
        if self.report is not None:
            record = {
                "chain": 0,
                "sweep": self.number,
                "seconds": perf_counter() - self._started,
                "progress": 1.0 if self._is_cold() else min(self.number / self.passes.planned, 1.0),
                "inverse_temperature": float(np.mean(learner.trace[-1])),
            }
            self._stopped = self.report(record)

    def _ends(self) -> bool:
        """Whether the pass is the last one; if not, topics are removed or parted before the next one."""
        learner, passes, number, cold = self.learner, self.passes, self.number, self._is_cold()
        if self._stopped:
            self._trial.judge()
            self.removals.complete()
            return True
        if self.removals.after_pass(number, cold):
            self._last = min(max(self._last, number + PASSES_OF_REST), passes.most)
            return False
        settled = self._may_settle(cold) and self._moved < self.tol
        if settled or number == self._last:
            self._trial.judge()
        if settled:
            return True
        if not cold or passes.documents is None or number + PASSES_OF_NEW > passes.most:
            return False
        if number == passes.planned - PASSES_OF_NEW:
            self._trial.start(SAME)
        elif number == self._last and n_twins(learner.topics.means()):
            # Topics may be on their way apart; if not, they are parted.
            if number > passes.planned:
                self._trial.start(TWIN_AFFINITY)
            self._last += PASSES_OF_NEW
        return False
