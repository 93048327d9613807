"""NumberSearch: how many topics documents support, by fits from more and more topics and held-out words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse

from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.latent_dirichlet import LatentDirichlet
from sklearn_subanneal.topics.topic_passes import LearningRun
from sklearn_subanneal.topics.topic_scores import split_words
from sklearn_subanneal.topics.topic_settings import LEAST_WORD_PRIOR, TopicSettings, default_batch_size

# Temperings at the end of which T is exactly 1, where topics without support are told.
REACHING_ONE = ("annealed", "none", "global")
# Topics at the start of the first fit; each further fit has twice as many.
FIRST = 10
# Every so many-th document is held out.
HELD_OUT_STRIDE = 5
# Standard errors by which further topics must predict held-out words better.
MARGIN = 1.0
# Fits in a row that predict no better, after which no more follow: with far too few topics, none may be supported.
PATIENCE = 3
# The prior of topic proportions is doubled at most so often, as long as words are predicted better. The bound, by which
# it is learned, gives documents too few topics if most of their words are common to all, and the more so the more
# topics there are.
MOST_DOUBLINGS = 4


class NumberSearch:
    """The search for the number of topics that documents support, at most ``settings.max_components``.

    In each of a few fits, topics that are not supported are removed. From twice as many at the start further ones
    are found, as long as these predict the other words of held-out documents better.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
        A sample of the corpus.
    settings : TopicSettings
    generator : numpy.random.Generator

    Attributes
    ----------
    number : int
        The number of topics of the best fit so far.

    Raises
    ------
    ValueError
        If topics do not start from documents, if the prior of each is given, or if T would never be exactly 1.
    """

    def __init__(self, documents: sparse.csr_matrix, settings: TopicSettings, generator: np.random.Generator):
        if settings.init != "documents" or np.ndim(settings.doc_topic_prior):
            raise ValueError(
                'n_components="learn" needs init="documents" and a doc_topic_prior that is a number, "learn" or None; '
                f"got init={settings.init!r} and doc_topic_prior={settings.doc_topic_prior!r}"
            )
        if settings.tempering not in REACHING_ONE:
            raise ValueError(
                'n_components="learn" removes topics at T = 1, which is not reached by '
                f"tempering={settings.tempering!r}; take one of {list(REACHING_ONE)}, or give a number of topics"
            )
        if settings.doc_topic_prior is None:
            # Too small a prior would count against many topics, of which each document has several.
            settings = replace(settings, doc_topic_prior="learn")
        if settings.topic_word_prior is None:
            # With a larger prior, none of far too few topics may be supported.
            settings = replace(settings, topic_word_prior=LEAST_WORD_PRIOR)
        self._settings, self._generator = settings, generator
        held = np.arange(documents.shape[0]) % HELD_OUT_STRIDE == HELD_OUT_STRIDE - 1
        self._train, self._held_out = documents[~held], split_words(documents[held], generator)
        self.number, self._n_worse, self._n_fits, self._best = 1, 0, 0, None

    def run(self, tell: Callable[[], None] = lambda: None) -> int:
        """Make the fits that are left, and give the number; ``tell`` is called after each of them."""
        while (limit := self._next_limit()) is not None:
            model = _model(self._train, replace(self._settings, max_components=limit), self._generator)
            scores = _best_completion(model, *self._held_out)
            if self._best is None or _is_better(scores - self._best):
                self._best, self.number, self._n_worse = scores, model.topics.n_topics, 0
            else:
                self._n_worse += 1
            self._n_fits += 1
            tell()
        return self.number

    def _next_limit(self) -> int | None:
        """Topics that the next fit starts from; None if there is none."""
        most, last = self._settings.max_components, FIRST << max(self._n_fits - 1, 0)
        if self._n_worse >= PATIENCE or (self._n_fits and last >= most):
            return None
        return min(FIRST << self._n_fits, most)

    def get_state(self) -> dict:
        """The state after a fit, as arrays and numbers."""
        return {
            "number": self.number,
            "n_worse": self._n_worse,
            "n_fits": self._n_fits,
            "best": self._best,
            "generator": self._generator.bit_generator.state,
        }

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave, of a search among the same documents with the same held-out words."""
        self.number, self._n_worse, self._n_fits = state["number"], state["n_worse"], state["n_fits"]
        self._best, self._generator.bit_generator.state = state["best"], state["generator"]


def _best_completion(model: LatentDirichlet, observed, held_out):
    """Log probability of the held-out words of each document, with the scale of the prior that predicts them best."""
    best = model.completion_likelihoods(observed, held_out)
    for _ in range(MOST_DOUBLINGS):
        model = replace(model, doc_topic_prior=2.0 * model.doc_topic_prior)
        scores = model.completion_likelihoods(observed, held_out)
        if scores.sum() <= best.sum():
            break
        best = scores
    return best


def _is_better(gains) -> bool:
    """Whether the sum of the gains of documents is above 0 beyond chance."""
    return len(gains) > 1 and gains.sum() > MARGIN * gains.std(ddof=1) * np.sqrt(len(gains))


def _model(documents, settings, generator) -> LatentDirichlet:
    """The model fitted to the documents from ``settings.max_components`` topics, of which some are removed."""
    totals = Totals.of_corpus(documents, settings.max_components)
    passes = settings.passes(totals, generator)
    learner = settings.learner(passes, totals, removal=True)
    corpus = MemoryCorpus(documents, default_batch_size(documents.shape[0]), generator)
    LearningRun(learner, corpus, passes).run()
    return LatentDirichlet(learner.topics, learner.prior.values, n_threads=settings.n_threads)
