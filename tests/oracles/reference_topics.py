"""Topic models in plain NumPy: coordinate updates of one document after another, with phi in memory."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, xlogy


def log_sum_exp(x, axis):
    """That of scipy takes a quarter of a millisecond, however little there is to add up."""
    largest = x.max(axis=axis, keepdims=True)
    return np.log(np.exp(x - largest).sum(axis=axis)) + largest.squeeze(axis)


def log_weights(statistics, eta, topic_update):
    """Log weights of words (n_words, n_topics): log E[beta] ("plug-in") or E[log beta] ("variational").

    ``statistics`` (n_words, n_topics) are those of the whole vocabulary, without the prior ``eta``, a number or one
    for each word.
    """
    total = np.ascontiguousarray(statistics + np.broadcast_to(np.asarray(eta, float), len(statistics))[:, None])
    if topic_update == "plug-in":
        return np.log(total) - np.log(total.sum(axis=0))
    return digamma(total) - digamma(total.sum(axis=0))


def responsibilities(logs, gamma, rho, factor="digamma"):
    """phi (n_entries, n_topics) of a document whose words have these log weights."""
    if factor == "digamma":
        scores = rho * (digamma(gamma) - digamma(gamma.sum()) + logs)
    else:
        scores = rho * (np.log(gamma) + logs)
    return np.exp(scores - log_sum_exp(scores, 1)[:, None])


def fit_document(counts, logs, gamma, prior, rho, max_iter, tol, factor="digamma"):
    """(gamma, phi at that gamma, number of iterations) of one document."""
    gamma = np.array(gamma, float)
    n_iter = 0
    if len(counts) == 0:
        return np.array(prior, float), np.zeros((0, len(gamma))), 0
    while n_iter < max_iter:
        new = prior + rho * counts @ responsibilities(logs, gamma, rho, factor)
        change = np.abs(new - gamma).sum()
        gamma = new
        n_iter += 1
        if change < tol * len(gamma):
            break
    return gamma, responsibilities(logs, gamma, rho, factor), n_iter


def extrapolated_document(counts, logs, gamma, prior, max_iter, tol, settled):
    """(gamma, lengths allowed to the extrapolations made) of one document at T = 1, by scheme S3 of SQUAREM.

    Two updates at a time, once one moves less than the share ``settled`` of the tokens; then gamma goes on by a step,
    at most as long as allowed, at which no excess over the prior is less than a quarter. The length allowed is 16 at
    first; a quarter of it, but 1 at least, after an update that moves further than the first one before the last
    extrapolation, and twice, but 16 at most, after others.
    """
    gamma, longest, lengths, before, n_iter = np.array(gamma, float), 16.0, [], None, 0

    def update():
        nonlocal gamma, n_iter
        change = prior + counts @ responsibilities(logs, gamma, 1.0) - gamma
        gamma, n_iter = gamma + change, n_iter + 1
        return change, np.abs(change).sum()

    while n_iter < max_iter:
        first, moved = update()
        if moved < tol * len(gamma):
            break
        if before is None and not moved < settled * counts.sum():
            continue
        if before is not None:
            longest = max(longest / 4, 1.0) if moved > before else min(2 * longest, 16.0)
        before = moved
        if n_iter == max_iter:
            break
        second, moved = update()
        if moved < tol * len(gamma) or n_iter == max_iter:
            break
        step = np.clip(np.linalg.norm(first) / np.linalg.norm(second - first), 1.0, longest)
        start = gamma - first - second
        target = start + 2 * step * first + step**2 * (second - first)
        gamma = np.maximum(target, prior + 0.25 * (gamma - prior))
        lengths.append(longest)
    return gamma, lengths


def fit_documents(indptr, indices, counts, logs, gamma, prior, rho, max_iter, tol, factor="digamma"):
    """(gamma, statistics, iterations) of all documents; ``logs`` are untempered, rho a number or one a document."""
    n_documents = len(indptr) - 1
    rho = np.broadcast_to(np.asarray(rho, float), n_documents)
    gamma, statistics = np.array(gamma, float), np.zeros(logs.shape)
    n_iter = np.zeros(n_documents, int)
    for d in range(n_documents):
        entries = slice(indptr[d], indptr[d + 1])
        words, n = indices[entries], np.asarray(counts[entries], float)
        gamma[d], phi, n_iter[d] = fit_document(n, logs[words], gamma[d], prior, rho[d], max_iter, tol, factor)
        np.add.at(statistics, words, rho[d] * n[:, None] * phi)
    return gamma, statistics, n_iter


def document_bound(counts, logs, gamma, prior, rho):
    """Annealed bound of a document's variational distribution q(theta) q(z), z at its optimum given gamma.

    E[log p(theta)] + H[theta] + rho E[log p(z, w | theta, beta)] + H[z], with E[log beta] (or log E[beta]) in ``logs``:
    with q(z) summed out, the third and fourth term are the counts times the log normalisers of phi. The updates of
    one document never let it fall.
    """
    expected = digamma(gamma) - digamma(gamma.sum())
    words = (counts * log_sum_exp(rho * (expected + logs), 1)).sum() if len(counts) else 0.0
    theta = gammaln(prior.sum()) - gammaln(prior).sum() + gammaln(gamma).sum() - gammaln(gamma.sum())
    return words + theta + ((prior - gamma) * expected).sum()


def topics_bound(statistics, eta):
    """E[log p(beta)] + H[beta] of all topics, with q(beta_k) = Dirichlet(eta + statistics_k)."""
    eta = np.broadcast_to(np.asarray(eta, float), len(statistics))
    lam = statistics + eta[:, None]
    expected = digamma(lam) - digamma(lam.sum(axis=0))
    prior = statistics.shape[1] * (gammaln(eta.sum()) - gammaln(eta).sum())
    entropy = gammaln(lam).sum() - gammaln(lam.sum(axis=0)).sum()
    return prior + entropy + ((eta[:, None] - lam) * expected).sum()


def log_probability(counts, theta, beta):
    """Log probability of a document's words, theta (n_topics,) and beta (n_entries, n_topics) given."""
    return xlogy(counts, beta @ theta).sum()
