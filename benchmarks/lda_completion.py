"""Held-out document completion against CPU seconds: topic models of this package, scikit-learn, gensim and tomotopy.

All packages have the same documents, the same evaluator (see ``_lda.py``) and one thread. "default" is ``fit`` with all
parameters at their defaults except the number of topics. "two passes" is the same with ``max_iter=2`` and a point every
quarter of a pass, to find the time to the score of scikit-learn's four passes. The peers have the minibatches, step
sizes and priors with which they predict a tenth of the training documents best (``chosen`` in ``_lda_peers.py``), for
the number of passes, once for each corpus; CPU seconds are those of the training alone, without this choice. One tenth
of the documents is held out, the same for all seeds, which differ in what the packages draw.

    python lda_completion.py --corpora nips --seeds 5
"""

from __future__ import annotations

from functools import partial

from _common import note, parser, report, skip, spread
from _lda import FILES, N_TOPICS, fitted, learned, load
from _lda_peers import (
    PRIORS,
    STEPS,
    SWEEPS_OF_CHOICE,
    TRIED_PRIORS,
    TRIED_STEPS,
    chosen,
    gensim,
    scikit_learn,
    tomotopy,
)
from threadpoolctl import threadpool_limits

SWEEPS = [10, 20, 50, 100, 200, 400]
PEERS = ("scikit-learn", "gensim", "tomotopy")
BARS = {
    "time to scikit-learn's score, at most": {"nips": 1 / 10, "arxiv": 1 / 30},
    "default, nats at least": {"nips": -7.35, "arxiv": -7.50},
    "time of the default over tomotopy's 400 sweeps, at most": 1 / 20,
}


def choices(corpus, n_topics: int, arguments) -> dict:
    """The settings of each peer, chosen on training documents; None if it is not installed."""
    passes, sweeps = (1, [1]) if arguments.quick else (arguments.passes, [SWEEPS_OF_CHOICE])
    steps, priors = ({}, {}) if arguments.quick else (TRIED_STEPS, TRIED_PRIORS)
    found = {
        "scikit-learn": lambda part, own: scikit_learn(part, n_topics, 0, passes, own),
        "gensim": lambda part, own: gensim(part, n_topics, 0, passes, own),
        "tomotopy": lambda part, own: tomotopy(part, n_topics, 0, sweeps, own),
    }
    return {
        name: chosen(run, corpus, *((PRIORS, priors) if name == "tomotopy" else (STEPS, steps)))
        for name, run in found.items()
        if name in arguments.peers
    }


def methods(n_topics: int, settings: dict, arguments) -> dict:
    """Functions from a corpus and a seed to a learning curve."""
    quick = arguments.quick
    passes, sweeps = (1, [1, 2]) if quick else (arguments.passes, SWEEPS)
    peers = {
        "scikit-learn": lambda corpus, seed, own: scikit_learn(corpus, n_topics, seed, passes, own),
        "gensim": lambda corpus, seed, own: gensim(corpus, n_topics, seed, passes, own),
        "tomotopy": lambda corpus, seed, own: tomotopy(corpus, n_topics, seed, sweeps, own),
    }
    return {
        "default": lambda corpus, seed: fitted(corpus, n_topics, seed, {}),
        "two passes": lambda corpus, seed: learned(corpus, n_topics, seed, {"max_iter": 2}, parts=1 if quick else 4),
        **{name: partial(peers[name], own=own) for name, own in settings.items() if own is not None},
    }


def compared(curves: dict) -> dict:
    """The quantities of the bars, for each seed."""
    out = {}
    theirs = curves.get("scikit-learn", [])
    ratios = []
    for ours, of in zip(curves["two passes"], theirs, strict=False):
        reached = [at["cpu"] for at in ours if at["nats"] >= of[-1]["nats"]]
        ratios.append(of[-1]["cpu"] / reached[0] if reached else 0.0)
    if ratios:
        out["times_faster_to_the_score_of_scikit_learn"] = spread(ratios)
    pairs = list(zip(curves["default"], curves.get("tomotopy", []), strict=False))
    if pairs:
        out["times_faster_than_tomotopy"] = spread([of[-1]["cpu"] / ours[-1]["cpu"] for ours, of in pairs])
        out["nats_over_tomotopy"] = spread([ours[-1]["nats"] - of[-1]["nats"] for ours, of in pairs])
    return out


def of_corpus(name: str, n_seeds: int, arguments) -> dict | None:
    """Curves of all methods, and the settings of the peers; None if the file of the corpus is missing."""
    corpus = load(name, arguments.data, arguments.quick)
    if corpus is None:
        note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
        return None
    n_topics = 5 if arguments.quick else N_TOPICS[name]
    curves: dict[str, list] = {}
    settings = choices(corpus, n_topics, arguments)
    for method, own in settings.items():
        note(f"{name} {method}: {own}" if own else f"{method}: skipped, it is not installed: pip install {method}")
    for seed in range(n_seeds):
        for method, run in methods(n_topics, settings, arguments).items():
            if method in PEERS[1:] and seed >= (arguments.peer_seeds or n_seeds):
                continue
            found = run(corpus, seed)
            curves.setdefault(method, []).append(found)
            note(f"{name} {method} seed {seed}: {found[-1]['nats']} at {found[-1]['cpu']} s")
    last = {
        method: {key: spread([of[-1][key] for of in found]) for key in ("nats", "cpu")}
        for method, found in curves.items()
    }
    for key, value in (ratios := compared(curves)).items():
        note(f"{name} {key}: {value['median']:.3g} ({value['min']:.3g} to {value['max']:.3g})")
    shape = {"documents": corpus.train.shape[0], "words": corpus.train.shape[1], "topics": n_topics}
    return {**shape, "settings of peers": settings, "last": last, **ratios, "curves": curves}


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--corpora", nargs="+", choices=list(FILES), default=["kos", "nips", "arxiv"])
    given.add_argument("--data", help="folder of kos/, nips/ and arxiv/ (default: $SUBANNEAL_DATA)")
    given.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    given.add_argument("--passes", type=int, default=4, help="passes of scikit-learn and gensim (default 4)")
    given.add_argument("--peer-seeds", type=int, help="number of seeds of gensim and tomotopy, which are slow")
    arguments = given.parse_args()
    n_seeds = 1 if arguments.quick else arguments.seeds
    with threadpool_limits(1):
        found = {name: of_corpus(name, n_seeds, arguments) for name in arguments.corpora}
    results = {name: of for name, of in found.items() if of is not None}
    if not results:
        skip("lda_completion", arguments, "no corpus was found")
        return
    report("lda_completion", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
