"""Topic proportions of many documents for given topics: documents per CPU second at equal held-out completion.

Proportions are fitted to the observed half of the words of held-out documents, and predict the other half: nats a
token, with the mean topics. Scikit-learn's estimator is given our topics (``components_``). The row "default" compares
both packages with their defaults; the rows of the other tolerances of scikit-learn (``mean_change_tol``) the fastest of
our settings with which completion is within 0.005 of scikit-learn's or better (our best one, if it is so with none).
Tomotopy learns its own topics, and we infer proportions from these, with its prior, at the default tolerance; it is
compared at the fewest Gibbs sweeps of documents with which its completion is within 0.005 of its best. Its time is that
of ``infer`` alone, without the conversion of documents.

All run on one core, and have the same documents: the held-out ones, repeated so that each call has "many". Calls are
repeated until they have taken long enough.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from _common import Clock, note, parser, report, skip, spread
from _lda import FILES, Corpus, load
from _lda_peers import learned_topics, proportions_of_scikit_learn
from scipy import sparse
from threadpoolctl import threadpool_limits

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.latent_dirichlet import PROPORTIONS_TOL, LatentDirichlet
from sklearn_subanneal.topics.topic_scores import document_lengths, log_likelihoods
from sklearn_subanneal.topics.word_statistics import Topics

# Tolerances of scikit-learn, whose default is the first one, and our settings.
TOLERANCES = (1e-3, 1e-2, 1e-1)
DEFAULT = {"mean_change_tol": None, "max_doc_update_iter": None}
SETTINGS = (
    DEFAULT,
    *({**DEFAULT, "mean_change_tol": tol} for tol in (1e-3, 3e-2, 1e-1)),
    *({**DEFAULT, "max_doc_update_iter": updates} for updates in (3, 5)),
)
SWEEPS = (1, 2, 5, 10, 20, 50, 100)
# Priors of tomotopy's documents and topics, with which its topics are best.
ALPHA, ETA = 0.1, 0.05
SPEED = "documents_per_cpu_second"
# Completions that differ by less than this count as equal.
EQUAL = 0.005
BARS = {"times scikit-learn": 10.0, "times tomotopy": 10.0, "completion over theirs, at least": -EQUAL}


def many(documents: sparse.csr_matrix, least: int) -> sparse.csr_matrix:
    """The documents, repeated until there are so many."""
    return sparse.vstack([documents] * -(-least // documents.shape[0]), format="csr")


def completion(corpus: Corpus, topics: np.ndarray, proportions: np.ndarray) -> float:
    """Nats per held-out token; topics (n_topics, n_words) and proportions (n_documents, n_topics) sum to 1."""
    weights = np.ascontiguousarray(topics.T, np.float32)
    total = log_likelihoods(corpus.held_out, weights, proportions.astype(np.float32)).sum()
    return float(total / document_lengths(corpus.held_out).sum())


def measured(run, corpus: Corpus, topics: np.ndarray, n_documents: int, seconds: float) -> dict:
    """Documents per CPU second of ``run``, which gives proportions of documents, and the completion they have."""
    if seconds:
        run()
    cpu = []
    while not cpu or sum(cpu) < seconds:
        with Clock() as clock:
            proportions = run()
        cpu.append(clock.cpu)
    nats = completion(corpus, topics, proportions[: corpus.observed.shape[0]])
    return {SPEED: n_documents / float(np.median(cpu)), "nats": nats}


def as_good(ours: list[dict], theirs: dict) -> dict:
    """The fastest of ours whose completion is not below theirs, or the one with the best completion if all are."""
    equal = [of for of in ours if of["nats"] > theirs["nats"] - EQUAL]
    return max(equal, key=lambda of: of[SPEED]) if equal else max(ours, key=lambda of: of["nats"])


def against_scikit_learn(corpus: Corpus, n_topics: int, seed: int, arguments) -> dict[str, tuple[dict, dict]]:
    """Our topics: for some settings of scikit-learn, what is measured of ours and of theirs."""
    model = VariationalTemperingLDA(n_topics, random_state=seed).fit(corpus.train)
    X, topics = many(corpus.observed, arguments.documents), model.topic_word_
    ours = []
    for setting in SETTINGS:
        model.set_params(**setting)
        ours.append(measured(partial(model.transform, X), corpus, topics, X.shape[0], arguments.seconds))
    pairs = {}
    for tol in TOLERANCES:
        run = proportions_of_scikit_learn(X, model, tol)
        theirs = measured(run, corpus, topics, X.shape[0], arguments.seconds)
        if tol == TOLERANCES[0]:
            pairs["default"] = ours[0], theirs
        pairs[f"tolerance {tol:g}"] = as_good(ours, theirs), theirs
    return pairs


def against_tomotopy(corpus: Corpus, n_topics: int, seed: int, arguments) -> dict[str, tuple[dict, dict]] | None:
    """Topics of tomotopy: we at the default, and it at the fewest sweeps that suffice; None if it is not installed."""
    found = learned_topics(corpus, n_topics, seed, arguments.training_sweeps, ALPHA, ETA)
    if found is None:
        return None
    topics, infer = found
    statistics = np.ascontiguousarray(topics.T, np.float32)
    model = LatentDirichlet(Topics(statistics, 0.0, "plug-in"), np.full(n_topics, ALPHA), tol=PROPORTIONS_TOL)
    X = many(corpus.observed, arguments.documents)

    def ours():
        gamma = model.infer(X).gamma
        return gamma / gamma.sum(axis=1, keepdims=True)

    nats = {sweeps: completion(corpus, topics, infer(corpus.observed, sweeps)[1]) for sweeps in SWEEPS}
    chosen = next(sweeps for sweeps in SWEEPS if nats[sweeps] > max(nats.values()) - EQUAL)
    cpu, _ = infer(X, chosen)
    theirs = {SPEED: X.shape[0] / cpu, "nats": nats[chosen], "sweeps": chosen}
    return {"default": (measured(ours, corpus, topics, X.shape[0], arguments.seconds), theirs)}


def summary(runs: list[dict[str, tuple[dict, dict]]], peer: str) -> dict:
    """Spreads over seeds: speed and completion of both packages, ratios of speed, differences of completion."""
    out = {}
    for setting in runs[0]:
        ours, theirs = ([run[setting][which] for run in runs] for which in (0, 1))
        out[setting] = {
            f"{name} {key}": spread([of[key] for of in some])
            for name, some in (("ours", ours), (peer, theirs))
            for key in (SPEED, "nats")
        }
        pairs = list(zip(ours, theirs, strict=True))
        out[setting][f"times {peer}"] = spread([mine[SPEED] / other[SPEED] for mine, other in pairs])
        out[setting]["completion over theirs"] = spread([mine["nats"] - other["nats"] for mine, other in pairs])
    return out


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--corpora", nargs="+", choices=list(FILES), default=["kos", "nyt", "nips"])
    given.add_argument("--topics", nargs="+", type=int, default=[20, 50, 200])
    given.add_argument("--data", help="folder of the corpora (default: $SUBANNEAL_DATA)")
    given.add_argument("--peers", nargs="*", choices=["scikit-learn", "tomotopy"], default=["scikit-learn", "tomotopy"])
    given.add_argument("--documents", type=int, default=5000, help="documents of a call, at least")
    given.add_argument("--seconds", type=float, default=0.5, help="CPU seconds of the calls that are timed, at least")
    given.add_argument("--training-sweeps", type=int, default=100, help="Gibbs sweeps of tomotopy's training")
    arguments = given.parse_args()
    n_seeds, numbers, results = arguments.seeds, arguments.topics, {}
    if arguments.quick:
        n_seeds, numbers = 1, [3]
        arguments.documents, arguments.seconds, arguments.training_sweeps = 100, 0.0, 2
    methods = {"scikit-learn": against_scikit_learn, "tomotopy": against_tomotopy}
    with threadpool_limits(1):
        for name in arguments.corpora:
            corpus = load(name, arguments.data, arguments.quick)
            if corpus is None:
                note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
                continue
            for n_topics in numbers:
                for peer in arguments.peers:
                    runs = [methods[peer](corpus, n_topics, seed, arguments) for seed in range(n_seeds)]
                    if None in runs:
                        note(f"{peer}: skipped, it is not installed: pip install {peer}")
                        continue
                    found = results.setdefault(name, {}).setdefault(n_topics, {})[peer] = summary(runs, peer)
                    for setting, row in found.items():
                        shown = ", ".join(
                            f"{key} {of['median']:.5g} ({of['min']:.5g} to {of['max']:.5g})" for key, of in row.items()
                        )
                        note(f"{name}, {n_topics} topics, {setting}: {shown}")
    if not results:
        skip("lda_inference", arguments, "no corpus was found")
        return
    report("lda_inference", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
