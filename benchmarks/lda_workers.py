"""Topics of a million documents on the workers of a Dask cluster, against one process that reads the same chunks.

Documents are drawn with replacement from the training ones of a corpus, and written to files, which are what the chunks
are read from. Completion is that of held-out words of the corpus's test documents, in nats a token.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import dask
import numpy as np
from _common import note, parser, report, skip, spread
from _lda import completion, load
from dask.distributed import Client, LocalCluster
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA

N_FILES = 40


class Chunks:
    """The documents in some files, read again for each pass."""

    def __init__(self, paths: list[Path]):
        self.paths = paths

    def __iter__(self):
        return map(sparse.load_npz, self.paths)


def write(documents: sparse.csr_matrix, folder: Path, n_documents: int, seed: int) -> list[Path]:
    """Files of documents drawn with replacement."""
    rng, paths = np.random.default_rng(seed), []
    for k in range(N_FILES):
        rows = np.sort(rng.integers(documents.shape[0], size=n_documents // N_FILES))
        paths.append(folder / f"chunk{k:02d}.npz")
        sparse.save_npz(paths[-1], documents[rows], compressed=False)
    return paths


def fit(chunks, n_topics: int, seed: int, client=None) -> tuple[VariationalTemperingLDA, float]:
    """A fit, and its seconds."""
    start = time.perf_counter()
    model = VariationalTemperingLDA(n_topics, random_state=seed).fit_chunks(chunks, client=client)
    return model, time.perf_counter() - start


def main() -> None:
    given = parser(__doc__, seeds=1)
    given.add_argument("--data", help="folder of the corpora (default: $SUBANNEAL_DATA)")
    given.add_argument("--corpus", default="arxiv")
    given.add_argument("--documents", type=int, default=1_000_000)
    given.add_argument("--topics", type=int, default=50)
    given.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    arguments = given.parse_args()
    corpus = load(arguments.corpus, arguments.data, arguments.quick)
    if corpus is None:
        skip("lda_workers", arguments, f"no {arguments.corpus}")
        return
    n_documents = 4000 if arguments.quick else arguments.documents
    found: dict[str, list] = {}
    for seed in range(arguments.seeds):
        with tempfile.TemporaryDirectory() as name:
            paths = write(corpus.train, Path(name), n_documents, seed)
            fits = {"one process": fit(Chunks(paths), arguments.topics, seed)}
            for n_workers in arguments.workers:
                with (
                    LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
                    Client(cluster) as client,
                ):
                    chunks = [dask.delayed(sparse.load_npz)(path) for path in paths]
                    fits[f"{n_workers} workers"] = fit(chunks, arguments.topics, seed, client)
            for kind, (model, seconds) in fits.items():
                score = completion(corpus, model.topic_word_)
                found.setdefault(kind, []).append({"seconds": seconds, "completion": score, "passes": model.n_iter_})
                note(f"{kind}, seed {seed}: {seconds:.1f} s, completion {score:.4f}, {model.n_iter_} passes")
    results = {kind: {key: spread([run[key] for run in runs]) for key in runs[0]} for kind, runs in found.items()}
    report("lda_workers", arguments, results)


if __name__ == "__main__":
    main()
