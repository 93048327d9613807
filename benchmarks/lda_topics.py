"""How good are the topics? Twins, diversity, coherence and stability beside held-out completion and CPU seconds.

"default" is ``fit`` with all parameters at their defaults except the number of topics. Tomotopy makes 400 sweeps with
each of some priors; scikit-learn makes four passes, with step sizes that are chosen on a tenth of the training
documents, outside of the CPU seconds. Each seed holds out another
tenth of the documents, since coherence in these depends much on chance. Coherence is NPMI of the ten top words in the
held-out documents, diversity that of 25 top words; "stable" is the share of topics of a seed that have a topic of the
seed before, learned from other documents, with an affinity above 0.9; "ahead" is by how much the coherence of the
default is above that of a peer in the same held-out documents, with the standard error over seeds.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from _common import Clock, note, parser, report, skip
from _lda import FILES, completion, load, qualities
from _lda_peers import STEPS, TRIED_STEPS, chosen, scikit_learn, tomotopy

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.measures import matched_affinities

# Priors of documents and topics of tomotopy; None: 1 / n_topics.
PRIORS = {
    "tomotopy": (None, 0.01),
    "tomotopy, .1, .05": (0.1, 0.05),
    "tomotopy, .1, .01": (0.1, 0.01),
    # Topics that predict words best; the others are those with the most coherent ones.
    "tomotopy, 1 / K, .2": (None, 0.2),
}
BARS = {"twins, median": 0, "twins, worst share": 0.02, "npmi over the best of tomotopy, at least": -0.005}


def judged(corpus, probabilities, cpu, **more) -> dict:
    """Measures of topics, given as weights of their words (n_topics, n_words), with these for the next seed."""
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    return {
        **qualities(corpus, probabilities),
        "nats": completion(corpus, probabilities),
        "cpu": cpu,
        "topics": probabilities,
        **more,
    }


def ours(corpus, n_topics: int, seed: int) -> dict:
    """The default."""
    model = VariationalTemperingLDA(n_topics, random_state=seed)
    with Clock() as clock:
        model.fit(corpus.train)
    return judged(corpus, model.topic_word_, clock.cpu, passes=model.n_iter_)


def methods(arguments) -> dict:
    """Functions from a corpus, a number of topics and a seed to measures, or None where a package is missing."""
    sweeps, passes = ([2], 1) if arguments.quick else ([400], 4)

    def gibbs(alpha, eta):
        def run(corpus, n_topics, seed):
            found = tomotopy(corpus, n_topics, seed, sweeps, {"alpha": alpha, "eta": eta}, judged)
            return found and found[-1]

        return run

    def online(corpus, n_topics, seed):
        steps = chosen(lambda part, own: scikit_learn(part, n_topics, 0, passes, own), corpus, STEPS, TRIED_STEPS)
        return scikit_learn(corpus, n_topics, seed, passes, steps, judged)[-1] | {"steps": steps}

    out = {"default": ours}
    if "scikit-learn" in arguments.peers:
        out["scikit-learn"] = online
    if "tomotopy" in arguments.peers:
        out |= {name: gibbs(*priors) for name, priors in PRIORS.items()}
    return out


def summary(runs: list[dict], own: list[dict]) -> dict:
    """Means over seeds, the twins of each, the topics that agree with the seed before, and how far ``own`` is ahead."""
    means = {key: float(np.mean([run[key] for run in runs])) for key in ("diversity", "npmi", "nats", "cpu")}
    agreement = [
        float((matched_affinities(run["topics"], before["topics"]) > 0.9).mean()) for before, run in pairwise(runs)
    ]
    found = {"twins": [run["twins"] for run in runs], **means, "stable": float(np.mean(agreement or [np.nan]))}
    if own is not runs:
        ahead = [mine["npmi"] - run["npmi"] for mine, run in zip(own, runs, strict=False)]
        found["ahead"] = float(np.mean(ahead))
        found["error of ahead"] = float(np.std(ahead, ddof=1) / len(ahead) ** 0.5) if len(ahead) > 1 else np.nan
    return found


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--corpora", nargs="+", choices=list(FILES), default=["kos", "nyt", "nips0_12", "arxiv"])
    given.add_argument("--topics", nargs="+", type=int, default=[20, 50, 100, 200])
    given.add_argument("--data", help="folder of the corpora (default: $SUBANNEAL_DATA)")
    given.add_argument("--peers", nargs="*", choices=["scikit-learn", "tomotopy"], default=["scikit-learn", "tomotopy"])
    given.add_argument("--peer-seeds", type=int, default=1, help="number of seeds of the peers, which are slow")
    arguments = given.parse_args()
    n_seeds, numbers, results = (1, [3], {}) if arguments.quick else (arguments.seeds, arguments.topics, {})
    for name in arguments.corpora:
        corpora = [load(name, arguments.data, arguments.quick, seed) for seed in range(n_seeds)]
        if corpora[0] is None:
            note(f"{name}: skipped, its file was not found; pass its folder by --data or SUBANNEAL_DATA")
            continue
        for n_topics in numbers:
            own = None
            for method, run in methods(arguments).items():
                n_own = n_seeds if method == "default" else min(n_seeds, arguments.peer_seeds)
                runs = [run(corpora[seed], n_topics, seed) for seed in range(n_own)]
                if None in runs:
                    note(f"{method}: skipped, it is not installed: pip install tomotopy")
                    continue
                own = own or runs
                found = results.setdefault(name, {}).setdefault(n_topics, {})[method] = summary(runs, own)
                shown = ", ".join(f"{key} {value:.4g}" for key, value in found.items() if key != "twins")
                note(f"{name}, {n_topics} topics, {method}: twins {found['twins']}, {shown}")
    if not results:
        skip("lda_topics", arguments, "no corpus was found")
        return
    report("lda_topics", arguments, results, bars=BARS)


if __name__ == "__main__":
    main()
