"""The log partition function of tempered topic models, and the prior of topics under which words have an entropy.

C(T) integrates the likelihood of the corpus to the power of 1/T over all corpora of the same shape, and over topics and
topic proportions under their priors. All functions give log C(T) divided by the number of tokens.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, psi, softmax

from sklearn_subanneal._core.log_space import log_sum_exp

# Integrals are sums over evenly spaced points: for smooth functions that vanish at both ends their error falls faster
# than any power of the spacing. Terms below exp(-TAIL) of the largest are left out. Beyond about so many widths NEAR of
# the mode, where a function may fall slowly, points are further apart.
SPACING, TAIL, NEAR = 0.25, 40.0, 40.0
# With a smaller prior each topic is a single word, and with a larger one all are uniform, to the last digits.
SINGLE, UNIFORM = 1e-12, 1e8
# Range of the priors of topics in the search for one of a given entropy.
PRIORS = (1e-4, 1e3)


def log_partition(
    temperatures: ArrayLike, n_words: int, doc_topic_prior: ArrayLike, topic_word_prior: float
) -> NDArray:
    """log E sum_v (sum_k theta_k beta_kv)^(1/T) over the priors of theta and beta: log C(T) of a single token, exactly.

    For a corpus it is a lower bound of log C(T) for each token, by Jensen's inequality. log C(T) itself rises with the
    number of tokens, for any prior, to (1 - 1/T) log(n_words): the value of equation 15 of the paper, at the topics
    where the integrand is largest. It is the same for all topics that are uniform, and says nothing of the prior.

    Notes
    -----
    Let b_k be independent draws of the Beta(eta, (n_words - 1) eta) distribution. The probability X = sum_k theta_k b_k
    of a word has E (1 + t X)^-a = prod_k E (1 + t b_k)^-alpha_k =: F(t) with a = sum_k alpha_k, by the identity of
    Markov and Krein. The Mellin transform of F gives, for 0 < rho < 2,

        E X^rho = Gamma(a) / (Gamma(2 - rho) Gamma(a + rho)) times the integral of t^(1 - rho) F''(t) from 0 on.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)
        At least 1.
    n_words : int
    doc_topic_prior : array-like of shape (n_topics,)
    topic_word_prior : float

    Returns
    -------
    log_partition : ndarray of shape (n_temperatures,)
        Values for one token; 0 at T = 1.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, supplement B.1,
    second inequality, which is a lower bound, too.
    D. Cifarelli, E. Regazzini (1990), Distribution functions of means of a Dirichlet process, Annals of Statistics 18.

    Examples
    --------
    >>> from sklearn_subanneal.topics.partition_function import log_partition
    >>> log_partition([1.0, 2.0], 1000, [0.5, 0.5], 0.1).round(4)
    array([0.    , 2.9141])
    """
    rho = 1.0 / np.asarray(temperatures, dtype=np.float64)
    if n_words == 1:
        return np.zeros(len(rho))
    total = np.sum(doc_topic_prior)
    log_t, log_terms = _log_transform(n_words, doc_topic_prior, topic_word_prior, float(rho.min()))
    integrals = log_sum_exp(log_terms + (1.0 - rho[:, None]) * log_t)
    integrals += gammaln(total + 1.0) - gammaln(2.0 - rho) - gammaln(total + rho)
    # The integral is known at T = 1; the difference leaves no error of the sum there.
    return integrals - log_sum_exp(log_terms)


def log_partition_at_frequencies(temperatures: ArrayLike, word_counts: ArrayLike) -> NDArray:
    """log sum_v f_v^(1/T): equation 15 of the paper, at topics that all are the frequencies f of the words of a corpus.

    At a high temperature the optimal topics are these. The slope in 1/T at 1 is minus the entropy of the corpus.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)
    word_counts : array-like of shape (n_words,)

    Returns
    -------
    log_partition : ndarray of shape (n_temperatures,)
        Values for one token; 0 at T = 1.

    References
    ----------
    S. Mandt et al. (2016), Variational Tempering, AISTATS, supplement, equation 15, whose sign is wrong as printed.

    Examples
    --------
    >>> from sklearn_subanneal.topics.partition_function import log_partition_at_frequencies
    >>> log_partition_at_frequencies([1.0, 2.0], [3.0, 3.0, 0.0]).round(4)
    array([0.    , 0.3466])
    """
    counts = np.asarray(word_counts, dtype=np.float64)
    counts = counts[counts > 0.0]
    if len(counts) == 0:
        return np.zeros(len(np.asarray(temperatures)))
    rho = 1.0 / np.asarray(temperatures, dtype=np.float64)
    return log_sum_exp(rho[:, None] * np.log(counts)) - rho * np.log(counts.sum())


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
    temperatures, n_words, doc_topic_prior
        See :func:`log_partition`.
    topic_word_prior : float or array-like of shape (n_words,)
    n_documents, n_tokens : float
        Of the corpus.
    generator : numpy.random.Generator
    n_topics_draws, n_document_draws : int
        Draws of all topics, and of topic proportions for each of these.

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


def entropy_of_words(n_words: int, doc_topic_prior: ArrayLike, topic_word_prior: float) -> float:
    """E of the entropy of a word given topics and topic proportions, in nats: the slope of -log_partition in 1/T at 1.

    Examples
    --------
    >>> from sklearn_subanneal.topics.partition_function import entropy_of_words
    >>> round(entropy_of_words(1000, [0.5, 0.5], 0.1), 4)
    5.341
    """
    total = np.sum(doc_topic_prior)
    log_t, log_terms = _log_transform(n_words, doc_topic_prior, topic_word_prior, 1.0)
    return float(psi(total + 1.0) - psi(1.0) + softmax(log_terms) @ log_t)


def prior_of_entropy(entropy: float, n_words: int, doc_topic_prior: ArrayLike) -> float:
    """The symmetric prior of topics under which a word of a document has a given entropy.

    The temperature cools to 1 if the energy of a token exceeds minus this entropy.

    Parameters
    ----------
    entropy : float
        In nats; see :func:`entropy_of_words`.
    n_words : int
    doc_topic_prior : array-like of shape (n_topics,)

    Returns
    -------
    prior : float
        The nearest from 1e-4 to 1e3 if no prior has this entropy.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.partition_function import prior_of_entropy
    >>> round(prior_of_entropy(np.log(100.0) - 0.5, 100, [1.0]), 3)
    0.804
    """
    if n_words == 1:
        return PRIORS[1]

    def excess(log_prior):
        return entropy_of_words(n_words, doc_topic_prior, np.exp(log_prior)) - entropy

    low, high = np.log(PRIORS)
    if excess(low) >= 0.0 or excess(high) <= 0.0:
        return PRIORS[0] if excess(low) >= 0.0 else PRIORS[1]
    return float(np.exp(brentq(excess, low, high, xtol=1e-6)))


def _log_transform(n_words, doc_topic_prior, topic_word_prior, lowest) -> tuple[NDArray, NDArray]:
    """log t at some points, and the logs of their shares in the integral of F''(t), for exponents ``lowest`` to 1."""
    prior_of_words = min(max(float(topic_word_prior), SINGLE), UNIFORM)
    priors, times = np.unique(np.asarray(doc_topic_prior, dtype=np.float64), return_counts=True)
    # t F''(t) falls as t towards 0, where t X is below 1, and towards infinity as F does.
    fall = lowest + float(times @ np.minimum(priors, prior_of_words))
    log_n, log_total = np.log(n_words), np.log(max(float(times @ priors), 1.0))
    log_t, log_terms = _points(TAIL + log_n + log_total, TAIL / fall - np.log(min(prior_of_words, 1.0)), 1.0)
    log_t += log_n
    log_b, log_weights = _log_beta(prior_of_words, (n_words - 1) * prior_of_words)
    log_one = np.logaddexp(0.0, log_t[:, None] + log_b)
    # t b / (1 + t b): derivatives are with respect to log t as far as they can be, so that none is denormal.
    share = np.exp(log_t[:, None] + log_b - log_one)
    slopes, curvatures = np.zeros(len(log_t)), np.zeros(len(log_t))
    for prior, n in zip(priors, times, strict=True):
        logs = log_weights - prior * log_one
        log_f = log_sum_exp(logs)
        terms = np.exp(logs - log_f[:, None])
        first, second = prior * (terms * share).sum(axis=1), (terms * share * share).sum(axis=1)
        log_terms += n * log_f
        slopes += n * first
        curvatures += n * (prior * (prior + 1.0) * second - first**2)
    with np.errstate(divide="ignore"):
        # Far out, where points are far apart, it may be 0.
        return log_t, log_terms + np.log(slopes**2 + curvatures) - log_t


def _log_beta(one: float, other: float) -> tuple[NDArray, NDArray]:
    """Logs of points in (0, 1), and of their probabilities, which stand for the Beta(one, other) distribution."""
    mode, width = np.log(one / other), min(1.0, one**-0.5)
    # In log-odds s = log(b / (1 - b)) the density is b^one (1 - b)^other. It falls with exp(one s) on the left.
    high = TAIL / other
    right = (np.log(np.expm1(high)) if high < TAIL else high) - mode
    log_odds, logs = _points(max(TAIL / one, TAIL * width), max(right, TAIL * width), width)
    log_odds += mode
    log_b = -np.logaddexp(0.0, -log_odds)
    logs += one * log_b - other * np.logaddexp(0.0, log_odds)
    return log_b, logs - log_sum_exp(logs)


def _points(left: float, right: float, width: float) -> tuple[NDArray, NDArray]:
    """Points from -left to right, with the spacing SPACING * width near 0, and the logs of their weights in a sum."""
    first, last = (NEAR * np.arcsinh(end / (width * NEAR)) for end in (left, right))
    y = np.arange(-first, last + SPACING, SPACING)
    return width * NEAR * np.sinh(y / NEAR), np.log(np.cosh(y / NEAR))
