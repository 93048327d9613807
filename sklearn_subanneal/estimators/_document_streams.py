"""Fits to documents in chunks: read one after the other, or kept and fitted by workers of Dask."""

from __future__ import annotations

from collections.abc import Iterator

from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from sklearn_subanneal._core.dask_tasks import Tasks
from sklearn_subanneal._core.random_states import seeded_generator
from sklearn_subanneal.estimators._lda_passes import run_passes
from sklearn_subanneal.estimators._lda_queries import validate_chunks, validate_counts
from sklearn_subanneal.topics.corpus import StreamedCorpus, open_chunks
from sklearn_subanneal.topics.document_groups import sample_limit
from sklearn_subanneal.topics.remote_documents import RemoteCorpus

# Temperatures that do not depend on the documents.
PLANNED = ("annealed", "none")


class DelayedChunks:
    """The partitions of a collection of Dask, computed one after the other whenever they are read.

    Parameters
    ----------
    parts : list of dask.delayed.Delayed
    """

    def __init__(self, parts: list):
        self.parts = parts

    def __iter__(self) -> Iterator:
        return (stacked(part.compute()) for part in self.parts)


def fit_stream(estimator, chunks, client=None) -> None:
    """Learn the topics of documents in chunks, and set the fitted attributes of the estimator."""
    if client is not None:
        fit_on_workers(estimator, chunks, client)
        return
    opened = open_chunks(
        DelayedChunks(delayed_parts(chunks)) if hasattr(chunks, "to_delayed") else chunks,
        lambda chunks, reset: validate_chunks(estimator, chunks, reset),
        estimator.total_samples,
        estimator.max_iter,
        sample_limit(estimator._settings().most_topics),
    )
    n_documents = opened.totals.n_documents
    corpus = StreamedCorpus(opened.read, n_documents, estimator._batch_size(n_documents))
    run_passes(estimator, corpus, opened.totals, seeded_generator(estimator.random_state))


def delayed_parts(chunks) -> list:
    """The partitions of a bag or an array of Dask, whose chunks are made to have all columns."""
    if hasattr(chunks, "rechunk"):
        return list(chunks.rechunk({1: -1}).to_delayed().ravel())
    return list(chunks.to_delayed())


def stacked(part):
    """The documents of a partition: a matrix, or in a bag several."""
    if not isinstance(part, list | tuple) and (hasattr(part, "shape") or not hasattr(part, "__iter__")):
        return part
    return sparse.vstack([sparse.csr_matrix(own) for own in part], format="csr") if (part := list(part)) else None


def fit_on_workers(estimator, chunks, client) -> None:
    """Learn the topics of documents that workers of Dask keep, and set the fitted attributes of the estimator.

    Raises
    ------
    ValueError
        If the temperature would be inferred from the documents, or these are not as ``fit_chunks`` takes them.
    """
    if estimator.tempering not in PLANNED:
        raise ValueError(
            f"tempering={estimator.tempering!r} does not suit documents on workers, from which no temperature is "
            "inferred; take 'annealed' or 'none', or leave out client"
        )
    bare = type(estimator)()
    with Tasks(client) as tasks:
        if hasattr(chunks, "to_delayed"):
            given = tasks.compute(delayed_parts(chunks))
        else:
            given = [tasks.compute([own])[0] if hasattr(own, "compute") else tasks.send(own) for own in chunks]
        both = [tasks.submit(_validated, bare, part) for part in given]
        parts = [tasks.submit(_first, own) for own in both]
        corpus = RemoteCorpus(tasks, parts, sample_limit(estimator._settings().most_topics), estimator.batch_size)
        headers = [own for own in tasks.results([tasks.submit(_second, own) for own in both]) if own is not None]
        for number, header in enumerate(headers):
            # Names of words, as of chunks that are read here.
            validate_data(estimator, header, reset=number == 0, skip_check_array=True)
        run_passes(estimator, corpus, corpus.totals, seeded_generator(estimator.random_state))


def _validated(bare, part) -> tuple:
    """Word counts as CSR, and the part without its rows, which has the names of words; None if the part is empty."""
    documents = stacked(part)
    if documents is None or (hasattr(documents, "shape") and not documents.shape[0]):
        return None, None
    # Tasks of one process have the same object.
    counts = validate_counts(clone(bare), documents, "fit_chunks", reset=True)
    return counts, (documents if hasattr(documents, "columns") else counts)[:0]


def _first(pair):
    return pair[0]


def _second(pair):
    return pair[1]
