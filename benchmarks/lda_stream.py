"""CPU seconds and memory of one pass over the arXiv abstracts with 500 topics, in memory and from chunks on disk.

Each fit runs in a separate process, whose peak memory includes the interpreter and the libraries. The chunks are ten
files, of which one is in memory at a time. The topics of both must be the same.
"""

from __future__ import annotations

import hashlib
import json
import resource
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
from _common import Clock, note, parser, report, skip, spread
from _lda import read
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA

BARS = {"cpu_seconds": 15.0, "peak_gigabytes": 1.5, "same_topics": True}
N_CHUNKS = 10


class Chunks:
    """The documents in the files of a folder, read again for each pass."""

    def __init__(self, folder: Path):
        self.paths = sorted(folder.glob("chunk*.npz"))

    def __iter__(self):
        return (sparse.load_npz(path) for path in self.paths)


def fit(folder: str, kind: str, n_topics: str, seed: str) -> None:
    """Fit in this process, and print the measurements as JSON."""
    model = VariationalTemperingLDA(int(n_topics), max_iter=1, shuffle=False, random_state=int(seed))
    with Clock() as clock:
        if kind == "memory":
            model.fit(sparse.load_npz(Path(folder, "all.npz")))
        else:
            model.fit_chunks(Chunks(Path(folder)))
    measured = {
        "cpu_seconds": clock.cpu,
        "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        "digest": hashlib.sha256(model.components_.tobytes()).hexdigest(),
    }
    print(json.dumps(measured))


def main() -> None:
    given = parser(__doc__, seeds=5)
    given.add_argument("--data", help="folder of arxiv/ (default: $SUBANNEAL_DATA)")
    given.add_argument("--topics", type=int, default=500)
    arguments = given.parse_args()
    documents = read("arxiv", arguments.data)
    if documents is None:
        skip("lda_stream", arguments, "arxiv/ was not found below --data or $SUBANNEAL_DATA")
        return
    if arguments.quick:
        documents, arguments.topics, arguments.seeds = documents[:500], 5, 1
    runs: dict[str, list] = {"memory": [], "chunks": []}
    with tempfile.TemporaryDirectory() as folder:
        sparse.save_npz(Path(folder, "all.npz"), documents)
        bounds = np.linspace(0, documents.shape[0], N_CHUNKS + 1).astype(int)
        for number, (start, stop) in enumerate(pairwise(bounds)):
            sparse.save_npz(Path(folder, f"chunk{number}.npz"), documents[start:stop])
        for seed in range(arguments.seeds):
            for kind, found in runs.items():
                command = [sys.executable, __file__, "--fit", folder, kind, str(arguments.topics), str(seed)]
                found.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
                note(f"seed {seed} {kind}: {found[-1]['cpu_seconds']:.3g} s, {found[-1]['peak_gigabytes']:.3g} GB")
    results = {
        kind: {key: spread([run[key] for run in found]) for key in ("cpu_seconds", "peak_gigabytes")}
        for kind, found in runs.items()
    }
    same = [a["digest"] == b["digest"] for a, b in zip(runs["memory"], runs["chunks"], strict=True)]
    report("lda_stream", arguments, {**results, "same_topics": all(same), "documents": documents.shape[0]}, bars=BARS)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        fit(*sys.argv[2:])
    else:
        main()
