"""Estimates of the log partition function of tempered topic models.

C(T) integrates the likelihood of the corpus to the power of 1/T over all corpora of the same shape, and over topics and
topic proportions under their priors. All functions give log C(T) divided by the number of tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq
from scipy.special import entr, psi

from sklearn_subanneal._core.log_space import log_sum_exp

# log C is smooth in 1/T: the error of a polynomial through so many points is far below that of the draws.
N_NODES = 9
# Range of the priors of topics in the search for one of a given entropy, and the number of its iterations.
PRIORS = (1e-4, 1e3)
N_DRAWS_OF_DOCUMENTS = 3


def draw_log_dirichlet(generator: np.random.Generator, prior: ArrayLike, size: tuple) -> NDArray:
    """Logs of draws from a Dirichlet distribution, in log space: components far below the least float64 are kept.

    log Gamma(a) is drawn as log Gamma(a + 1) + log(U) / a.

    Parameters
    ----------
    generator : numpy.random.Generator
    prior : float or array-like of shape (size[-1],)
    size : tuple
        Shape of the result; each last axis is one draw.

    Returns
    -------
    draws : ndarray of the shape given
    """
    prior = np.asarray(prior, dtype=np.float64)
    draws = np.log(generator.gamma(prior + 1.0, size=size))
    # 1 - U is in (0, 1].
    draws += np.log1p(-generator.random(size)) / prior
    return draws - log_sum_exp(draws)[..., None]


def log_partition(
    temperatures: ArrayLike,
    n_words: int,
    doc_topic_prior: ArrayLike,
    topic_word_prior: ArrayLike,
    generator: np.random.Generator,
    n_topics_draws: int = 4,
    n_document_draws: int = 50,
) -> NDArray:
    """E log sum_v (sum_k theta_k beta_kv)^(1/T) over the priors of theta and beta: the value that is typical of C(T).

    It is a lower bound by Jensen's inequality, and the only estimate whose variance does not grow with the corpus: a
    mean of ``exp(n_tokens ...)`` over draws is dominated by the largest draw.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)
    n_words : int
    doc_topic_prior : array-like of shape (n_topics,)
    topic_word_prior : float or array-like of shape (n_words,)
    generator : numpy.random.Generator
    n_topics_draws, n_document_draws : int
        Draws of all topics, and of topic proportions for each of these.

    Returns
    -------
    log_partition : ndarray of shape (n_temperatures,)
        Values for one token; 0 at T = 1.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, supplement B.1,
    first inequality. The second one there is a lower bound, too.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.partition_function import log_partition
    >>> generator = np.random.default_rng(0)
    >>> one_word = log_partition([1.0, 2.0], 1, [0.5, 0.5], 0.1, generator)
    >>> bool(np.allclose(one_word, 0.0))
    True
    """
    rho = 1.0 / np.asarray(temperatures, dtype=np.float64)
    lowest = float(rho.min())
    if lowest == 1.0:
        return np.zeros(len(rho))
    # Chebyshev points with both ends.
    nodes = 1.0 - (1.0 - lowest) * 0.5 * (1.0 - np.cos(np.pi * np.arange(N_NODES) / (N_NODES - 1)))
    values = np.zeros(N_NODES)
    for log_words in _draw_log_words(
        n_words, doc_topic_prior, topic_word_prior, generator, n_topics_draws, n_document_draws
    ):
        values += [log_sum_exp(node * log_words).mean() / n_topics_draws for node in nodes]
    values[0] = 0.0
    return BarycentricInterpolator(nodes, values, random_state=0)(rho)


def log_partition_as_printed(
    temperatures: ArrayLike,
    n_words: int,
    doc_topic_prior: ArrayLike,
    topic_word_prior: ArrayLike,
    n_documents: float,
    n_tokens: float,
    generator: np.random.Generator,
    n_topics_draws: int = 4,
    n_document_draws: int = 50,
) -> NDArray:
    """The nested Monte Carlo estimate of equation 18, with the assignments z, as in the paper's update of q(y).

    The sum over the outcomes of one token is that over words and topics, sum_kv (theta_k beta_kv)^(1/T). With the
    energy of equation 9 it does not cool; it is provided for reproduction.

    Parameters
    ----------
    temperatures, n_words, doc_topic_prior, topic_word_prior, generator, n_topics_draws, n_document_draws
        See :func:`log_partition`.
    n_documents, n_tokens : float
        Of the corpus.

    Returns
    -------
    log_partition : ndarray of shape (n_temperatures,)
        Of one token.

    References
    ----------
    S. Mandt et al. (2016), Variational Tempering, AISTATS, supplement, equations 18 and 19.
    """
    rho = 1.0 / np.asarray(temperatures, dtype=np.float64)
    n_topics = len(doc_topic_prior)
    length = n_tokens / n_documents
    by_topics = np.empty((n_topics_draws, len(rho)))
    for b in range(n_topics_draws):
        log_topics = draw_log_dirichlet(generator, topic_word_prior, (n_topics, n_words))
        log_mixing = draw_log_dirichlet(generator, doc_topic_prior, (n_document_draws, n_topics))
        for m, power in enumerate(rho):
            outcomes = log_sum_exp(power * log_mixing + log_sum_exp(power * log_topics))
            by_topics[b, m] = n_documents * (log_sum_exp(length * outcomes) - np.log(n_document_draws))
    return (log_sum_exp(by_topics.T) - np.log(n_topics_draws)) / n_tokens


def prior_of_entropy(entropy: float, n_words: int, doc_topic_prior: ArrayLike, generator: np.random.Generator) -> float:
    """The symmetric prior of topics under which a token of a document has a given entropy, given the document's mixing.

    The entropy is the slope of ``-log_partition`` in 1/T at T = 1: the temperature cools to 1 if the energy of a token
    exceeds minus the entropy.

    Parameters
    ----------
    entropy : float
        In nats.
    n_words : int
    doc_topic_prior : array-like of shape (n_topics,)
    generator : numpy.random.Generator

    Returns
    -------
    prior : float
        The nearest from 1e-4 to 1e3 if no prior has this entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.partition_function import prior_of_entropy
    >>> round(prior_of_entropy(np.log(100.0) - 0.5, 100, [1.0], np.random.default_rng(0)), 1)
    0.8
    """

    def of_one_topic(log_prior):
        prior = np.exp(log_prior)
        return float(psi(n_words * prior + 1.0) - psi(prior + 1.0))

    low, high = np.log(PRIORS)
    aim = entropy
    for number in range(N_DRAWS_OF_DOCUMENTS):
        if aim <= of_one_topic(low) or aim >= of_one_topic(high):
            return PRIORS[0] if aim <= of_one_topic(low) else PRIORS[1]
        prior = float(np.exp(brentq(lambda x, aim=aim: of_one_topic(x) - aim, low, high)))
        if number < N_DRAWS_OF_DOCUMENTS - 1:
            # A document mixes topics: its words have a higher entropy than those of one topic.
            (log_words,) = _draw_log_words(n_words, doc_topic_prior, prior, generator, 1, 100)
            aim += entropy - float(entr(np.exp(log_words)).sum(axis=1).mean())
    return prior


def _draw_log_words(n_words, doc_topic_prior, topic_word_prior, generator, n_topics_draws, n_document_draws):
    """Log probabilities of words in documents of the prior, (n_document_draws, n_words), for each draw of topics."""
    n_topics = len(doc_topic_prior)
    for _ in range(n_topics_draws):
        topics = np.exp(draw_log_dirichlet(generator, topic_word_prior, (n_topics, n_words)))
        mixing = np.exp(draw_log_dirichlet(generator, doc_topic_prior, (n_document_draws, n_topics)))
        # Words of probability 0 in all topics have no weight at any temperature.
        yield np.log(np.maximum(mixing @ topics, np.finfo(float).tiny))
