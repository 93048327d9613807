"""Clusters of documents by TreeGuidedNRMM with its defaults, against k-means on LSA and the topics of LDA.

Corpora: NIPS (1,500 papers), KOS (3,430 entries of a blog), 2,000 abstracts of arXiv in ten categories and 2,000
articles of the New York Times in twelve. "large" clusters have five documents or more. ARI is the adjusted Rand index
with the categories; the other methods are given their number. For held-out log probabilities half of the documents are
fitted by one chain with three draws, also with the multinomial of all occurrences (repeats="cluster", base=1).
"""

import warnings

import numpy as np
from _common import Clock, find_data, note, parser, report, skip, spread
from _lda import FILES, read
from sklearn.cluster import KMeans
from sklearn.decomposition import LatentDirichletAllocation, TruncatedSVD
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from sklearn_subanneal import TreeGuidedNRMM, VariationalTemperingLDA

LABELLED = ("arxiv", "nyt")
MULTINOMIAL = {"bag-of-words": {"base": 1.0, "repeats": "cluster"}}
N_DOCUMENTS = 2000


def corpus(name: str, data: str | None, quick: bool):
    """Word counts and categories (or None), of labelled corpora those of 2,000 documents at random."""
    X, labels = read(name, data).astype(np.int32), None
    rows = np.arange(X.shape[0])
    if name in LABELLED:
        with np.load(find_data(data, *FILES[name]), allow_pickle=True) as file:
            labels = file["label"]
        rows = np.sort(np.random.default_rng(0).choice(X.shape[0], N_DOCUMENTS, replace=False))
    rows = rows[:: len(rows) // 200] if quick else rows
    X = X[rows]
    return X[:, np.asarray(X.sum(axis=0)).ravel() > 0].tocsr(), None if labels is None else labels[rows]


def peers(n_clusters: int, seed: int) -> dict:
    """Methods that are given the number of clusters; each gives labels."""
    latent = {
        name: make_pipeline(
            TfidfTransformer(sublinear_tf=name.endswith("sublinear")),
            TruncatedSVD(100, random_state=seed),
            Normalizer(),
            KMeans(n_clusters, n_init=10, random_state=seed),
        )
        for name in ("k-means on LSA", "k-means on LSA, sublinear")
    }
    lda = LatentDirichletAllocation(n_clusters, learning_method="batch", max_iter=30, random_state=seed)
    ours = VariationalTemperingLDA(n_clusters, random_state=seed)
    return {
        **{name: pipeline.fit_predict for name, pipeline in latent.items()},
        "LatentDirichletAllocation": lambda X: lda.fit_transform(X).argmax(axis=1),
        "VariationalTemperingLDA": lambda X: ours.fit_transform(X).argmax(axis=1),
    }


def grouping(labels: np.ndarray) -> dict:
    """Number of clusters, of those of five documents or more, and the share of the documents that are in these."""
    sizes = np.bincount(labels)
    return {
        "n_clusters": int(np.count_nonzero(sizes)),
        "n_large": int(np.count_nonzero(sizes >= 5)),
        "share_in_large": float(sizes[sizes >= 5].sum() / len(labels)),
    }


def main() -> None:
    given = parser(__doc__)
    given.add_argument("--data", default=None, help="folder of the development data")
    given.add_argument("--corpora", nargs="*", default=["nips", "kos", *LABELLED])
    given.add_argument("--chains", type=int, default=4)
    arguments = given.parse_args()
    found = [name for name in arguments.corpora if find_data(arguments.data, *FILES[name])]
    if not found:
        return skip("nrmm_documents", arguments, "none of the corpora is there")
    results = {}
    warnings.simplefilter("ignore", ConvergenceWarning)
    for name in found:
        X, labels = corpus(name, arguments.data, arguments.quick)
        runs: dict[str, list] = {}
        for seed in range(arguments.seeds):
            settings = {"feature_types": "bag-of-words", "n_chains": arguments.chains, "random_state": seed}
            model = TreeGuidedNRMM(**settings)
            with Clock() as clock:
                model.fit(X)
            one = grouping(model.labels_) | {"cpu_seconds": clock.cpu}
            one["largest_number_in_a_draw"] = max(grouping(own[-1])["n_large"] for own in model.posterior_labels_)
            if labels is not None:
                one["ari"] = adjusted_rand_score(labels, model.labels_)
                for peer, fit_predict in peers(len(np.unique(labels)), seed).items():
                    with Clock() as clock:
                        other = fit_predict(X)
                    runs.setdefault(peer, []).append(
                        {"ari": adjusted_rand_score(labels, other), "cpu_seconds": clock.cpu}
                    )
            half = np.random.default_rng(seed).permutation(X.shape[0])
            train, test = X[np.sort(half[::2])], X[np.sort(half[1::2])]
            n_words = test.sum()
            single = TreeGuidedNRMM(**settings | {"n_chains": 1, "n_draws": 3})
            one["held_out_per_word"] = single.fit(train).score_samples(test).sum() / n_words
            single.set_params(feature_params=MULTINOMIAL).fit(train)
            one["held_out_per_word_multinomial"] = single.score_samples(test).sum() / n_words
            runs.setdefault("TreeGuidedNRMM", []).append(one)
            for kind, ones in runs.items():
                note(f"{name} seed {seed} {kind}: " + ", ".join(f"{key} {v:.4g}" for key, v in ones[-1].items()))
        results[name] = {
            kind: {key: spread([one[key] for one in ones]) for key in ones[0]} for kind, ones in runs.items()
        }
    report("nrmm_documents", arguments, results)


if __name__ == "__main__":
    main()
