"""The number of topics that documents support, by fits from more and more topics and held-out words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from sklearn_subanneal.topics.corpus import MemoryCorpus, Totals
from sklearn_subanneal.topics.latent_dirichlet import LatentDirichlet
from sklearn_subanneal.topics.topic_learner import learn_passes
from sklearn_subanneal.topics.topic_scores import split_words
from sklearn_subanneal.topics.topic_settings import LEAST_WORD_PRIOR, TopicSettings, default_batch_size

# Topics at the start of the first fit; each further fit has twice as many.
FIRST = 10
# Every so many-th document is held out.
HELD_OUT_STRIDE = 5
# Standard errors by which further topics must predict held-out words better.
MARGIN = 1.0
# Fits in a row that predict no better, after which no more follow: with far too few topics, none may be supported.
PATIENCE = 3


def learned_number(documents: sparse.csr_matrix, settings: TopicSettings, generator: np.random.Generator) -> int:
    """The number of topics that documents support, at most ``settings.max_components``.

    In each of a few fits, topics that are not supported are removed. From twice as many at the start further ones
    are found, as long as these predict the other words of held-out documents better.

    Parameters
    ----------
    documents : csr_matrix of shape (n_documents, n_words)
        A sample of the corpus.
    settings : TopicSettings
    generator : numpy.random.Generator

    Returns
    -------
    n_topics : int

    Raises
    ------
    ValueError
        If topics do not start from documents, or if the prior of each is given.
    """
    if settings.init != "documents" or np.ndim(settings.doc_topic_prior):
        raise ValueError(
            'n_components="learn" needs init="documents" and a doc_topic_prior that is a number, "learn" or None; got '
            f"init={settings.init!r} and doc_topic_prior={settings.doc_topic_prior!r}"
        )
    if settings.doc_topic_prior is None:
        # Too small a prior would count against many topics, of which each document has several.
        settings = replace(settings, doc_topic_prior="learn")
    if settings.topic_word_prior is None:
        # With a larger prior, none of far too few topics may be supported.
        settings = replace(settings, topic_word_prior=LEAST_WORD_PRIOR)
    held = np.arange(documents.shape[0]) % HELD_OUT_STRIDE == HELD_OUT_STRIDE - 1
    train, (observed, rest) = documents[~held], split_words(documents[held], generator)
    limit, best, number, n_worse = min(FIRST, settings.max_components), None, 1, 0
    while n_worse < PATIENCE:
        model = _model(train, replace(settings, max_components=limit), generator)
        scores = model.completion_likelihoods(observed, rest)
        if best is None or _is_better(scores - best):
            best, number, n_worse = scores, model.topics.n_topics, 0
        else:
            n_worse += 1
        if limit >= settings.max_components:
            break
        limit = min(2 * limit, settings.max_components)
    return number


def _is_better(gains) -> bool:
    """Whether the sum of the gains of documents is above 0 beyond chance."""
    return len(gains) > 1 and gains.sum() > MARGIN * gains.std(ddof=1) * np.sqrt(len(gains))


def _model(documents, settings, generator) -> LatentDirichlet:
    """The model fitted to the documents from ``settings.max_components`` topics, of which some are removed."""
    totals = Totals.of_corpus(documents, settings.max_components)
    passes = settings.passes(totals, generator)
    learner = settings.learner(passes, totals, removal=True)
    corpus = MemoryCorpus(documents, default_batch_size(documents.shape[0]), generator)
    learn_passes(learner, corpus, passes, lambda record: False)
    return LatentDirichlet(learner.topics, learner.prior.values, n_threads=settings.n_threads)
