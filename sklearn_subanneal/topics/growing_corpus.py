"""GrowingCorpus: how much the documents of a stream count, where their number is not known in advance."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class GrowingCorpus:
    """A corpus of a known number of documents, or a stream, of which topics stand for the documents so far.

    A minibatch of B among N documents takes a step s from the statistics S to (1 - s) S + s N / B S_B. In a stream, N
    is the number so far. Statistics of earlier documents are not scaled up while it grows, so that with s near B / N a
    document counts in proportion to the number of those before it: topics forget what they learned while they were
    poor. The sum of all is scaled, to stand for as many documents as there are.

    Attributes
    ----------
    n_documents : float
        Documents that the statistics stand for.
    counted : float
        Documents that they would stand for if they were not scaled.
    wanted : float or None, default=None
        Documents that they are to stand for after the next minibatch; None: they are not scaled.

    Examples
    --------
    >>> from sklearn_subanneal.topics.growing_corpus import GrowingCorpus
    >>> corpus = GrowingCorpus(n_documents=100.0, counted=100.0, wanted=200.0)
    >>> share, growth, ratio = corpus.blend(step=0.5, ratio=2.0, n_batch=100)
    >>> round(share, 2), growth, ratio  # half of 200 new documents, and half of 100 old ones
    (0.67, 2.0, 2.0)
    """

    n_documents: float
    counted: float
    wanted: float | None = None

    def blend(self, step: float, ratio: float, n_batch: int) -> tuple[float, float, float]:
        """Count a minibatch that takes a step.

        Parameters
        ----------
        step : float
            In [0, 1].
        ratio : float
            Documents so far, those of the minibatch included, for each one of the minibatch.
        n_batch : int
            Documents of the minibatch.

        Returns
        -------
        share, growth, ratio : float
            The statistics are to become (1 - share) growth S + share ratio S_batch.
        """
        new = step * ratio * n_batch
        self.counted = (1.0 - step) * self.counted + new
        if self.wanted is None:
            self.n_documents = (1.0 - step) * self.n_documents + new
            return step, 1.0, ratio
        growth, self.n_documents = self.wanted / self.n_documents, self.wanted
        return new / self.counted, growth, self.wanted / n_batch
