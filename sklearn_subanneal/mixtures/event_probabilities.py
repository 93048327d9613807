"""Probabilities of events about the cells of a row, given some cells, and what one event says of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import rel_entr, softmax

from sklearn_subanneal.mixtures.ensemble import Ensemble, missing
from sklearn_subanneal.mixtures.events import AllOf, Complement, Event, disjoint_boxes


def event_probabilities(average: Ensemble, events: Sequence[Event], given: list[np.ndarray]) -> np.ndarray:
    """The probabilities of events, given the observed cells of a row: without sampling.

    Of a box of values, one set for each of some models, each draw gives the product over its factors of
    sum_k w_k prod_j p(x_j in its set | cluster k), where w are the probabilities of the clusters given the observed
    cells; j is a model, or the models of a block. A draw counts by the density that it gives to the observed cells. As
    with :meth:`Ensemble.sample`, categories that `fit` did not see are left out.

    Parameters
    ----------
    average : Ensemble
    events : sequence of Event
    given : list of ndarray of shape (1,)
        Typed columns of one row, missing where nothing is given.

    Returns
    -------
    probabilities : ndarray of shape (n_events,)

    Raises
    ------
    ValueError
        If an event has too many parts; see :func:`disjoint_boxes`.
    """
    shares, of_draws = _of_draws(average, events, given)
    # Sums of many boxes may be beyond 1 by rounding.
    return np.minimum(shares @ of_draws, 1.0)


def event_information(average: Ensemble, one: Event, other: Event, given: list[np.ndarray]) -> float:
    """Mutual information of whether two events occur, in nats, averaged over draws, given the observed cells of a row.

    In each draw it is the sum over the four cases of p log(p / q), where p is the probability of the case, and q would
    be its probability if the events were independent.

    Parameters
    ----------
    average : Ensemble
    one, other : Event
    given : list of ndarray of shape (1,)
        As of :func:`event_probabilities`.

    Returns
    -------
    information : float
        At least 0. Draws count by their own weights, not by the density that they give to the observed cells.
    """
    cases = [AllOf((a, b)) for a in (one, Complement(one)) for b in (other, Complement(other))]
    _, of_draws = _of_draws(average, cases, given)
    joint = of_draws.reshape(-1, 2, 2)
    joint = joint / joint.sum(axis=(1, 2), keepdims=True)
    rival = joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    found = rel_entr(joint, rival).sum(axis=(1, 2))
    # Independent events have rounding errors of either sign.
    return max(float(softmax(average.log_weights) @ found), 0.0)


def _of_draws(average, events, given):
    """Shares (n_draws,) of the draws given the observed cells, and probabilities (n_draws, n_events) in each."""
    models = average.models
    observed = ~missing(given)[0]
    known = {
        m: float(given[model.sources[0]][0])
        for m, model in enumerate(models)
        if model.single and observed[model.sources[0]]
    }
    n_values = {m: model.n_values for m, model in enumerate(models) if model.discrete}
    found = [disjoint_boxes(event, n_values, known) for event in events]
    boxes = [box for own in found for box in own]
    cells, shares = average.evidence(given)
    values, places = _distinct(boxes)
    owner = np.repeat(np.arange(len(events)), [len(own) for own in found])
    out = np.empty((len(average.products), len(events)))
    for draw, factors in enumerate(average.products):
        probabilities = np.ones(len(boxes))
        for factor in factors:
            asked = [m for m in factor.members if m in values]
            if asked:
                touched = np.flatnonzero(np.any([places[m] >= 0 for m in asked], axis=0))
                own = {m: places[m][touched] for m in asked}
                weights = softmax(factor.log_joint(cells)[0])
                probabilities[touched] *= _in_clusters(models, factor, values, own, cells) @ weights
        out[draw] = np.bincount(owner, probabilities, len(events))
    return shares, out


def _distinct(boxes):
    """The distinct sets of values of each model in the boxes, and which of them each box has; -1: none, it is free."""
    numbers: dict[int, dict] = {}
    places: dict[int, np.ndarray] = {}
    for i, box in enumerate(boxes):
        for m, own in box.items():
            number = numbers.setdefault(m, {}).setdefault(own, len(numbers[m]))
            places.setdefault(m, np.full(len(boxes), -1))[i] = number
    return {m: list(own) for m, own in numbers.items()}, places


def _in_clusters(models, factor, values, places, cells):
    """Probability (n_boxes, n_clusters + 1) of each box in each cluster of a factor; arguments as of ``_distinct``."""
    n_clusters, out = factor.n_clusters + 1, 1.0
    for part in factor.parts:
        asked = [m for m in part.members if m in places]
        if not asked:
            continue
        row, n_asked = cells.of_part(part)[0], np.sum([places[m] >= 0 for m in asked], axis=0)
        own = np.ones((len(n_asked), n_clusters))
        for m in asked:
            at = np.flatnonzero((places[m] >= 0) & (n_asked == 1))
            if at.size:
                own[at] = part.cell_probabilities(models[m], m, values[m], row, n_clusters)[places[m][at]]
        at = np.flatnonzero(n_asked > 1)
        if at.size:
            distinct, inverse = np.unique(np.column_stack([places[m][at] for m in asked]), axis=0, return_inverse=True)
            boxes = [{m: values[m][v] for m, v in zip(asked, line, strict=True) if v >= 0} for line in distinct]
            own[at] = part.box_probabilities(models, boxes, row, n_clusters)[inverse]
        out = out * own
    return out
