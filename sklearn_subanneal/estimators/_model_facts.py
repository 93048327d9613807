"""Facts of a fitted model in a line or two, for notebooks: what was found, and whether it has converged."""

from __future__ import annotations

from sklearn_subanneal._core.counted_nouns import counted


def facts_of(model) -> list[str]:
    """Lines of plain text.

    Parameters
    ----------
    model : fitted estimator
        One of the models; of an estimator that adds another interface to a model, that model.
    """
    if hasattr(model, "n_views_"):
        found = f"{counted(model.n_views_, 'view')} of {counted(model.n_features_in_, 'column')}; {_rows(model)}"
        return [f"{found}; {_draws(model)}", *_convergence(model)]
    if hasattr(model, "n_clusters_"):
        found = f"{counted(model.n_clusters_, 'cluster')} of {_rows(model)}"
        return [f"{found}, {counted(model.n_features_in_, 'column')}; {_draws(model)}", *_convergence(model)]
    if hasattr(model, "topic_word_"):
        n_topics, n_words = model.topic_word_.shape
        passes = f"; iterations: {model.n_iter_}" if hasattr(model, "n_iter_") else ""
        bound = [f"Perplexity of training documents, by the bound: {model.bound_:.5g}"] * hasattr(model, "bound_")
        return [f"{counted(n_topics, 'topic')} of {counted(n_words, 'word')}{passes}", *bound]
    if hasattr(model, "component_variances_"):
        n_components, n_features = model.components_.shape
        found = f"{counted(n_components, 'component')} of {counted(n_features, 'feature')}; iterations: {model.n_iter_}"
        state = {True: ["Converged."], False: ["Not converged, see converged_."]}
        return [found, *state.get(getattr(model, "converged_", None), [])]
    n_chains, n_draws = model.result_.draws.shape[:2]
    found = f"Kernel: {model.kernel_}; {counted(n_chains, 'chain')} of {counted(n_draws, 'draw')}"
    return [found, _judgement(model.result_.problems, n_chains)]


def _rows(model) -> str:
    return counted(getattr(model, "n_samples_seen_", len(model.labels_)), "row")


def _draws(model) -> str:
    n_chains, n_draws = model.log_joint_.shape
    return f"{counted(n_chains, 'chain')} of {counted(n_draws, 'draw')}"


def _convergence(model) -> list[str]:
    """Nothing where the fit does not warn either: clusters on which chains disagree may predict equally well."""
    if not model._warns or not hasattr(model, "convergence_"):
        return []
    return [_judgement(model.convergence_.problems, model.convergence_.n_chains)]


def _judgement(problems: list[str], n_chains: int) -> str:
    if problems:
        return " ".join(["Not converged.", *problems])
    return "No sign of poor convergence" + (", as far as one chain can show." if n_chains == 1 else ".")
