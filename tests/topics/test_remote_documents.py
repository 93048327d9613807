"""Documents on workers of Dask: the topics of one process, whatever the parts and the number of workers are."""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics import remote_documents

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("dask.distributed")
SETTINGS = {"n_components": 3, "max_iter": 3, "random_state": 0}


def corpus(n_documents=700, n_words=60):
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(n_words, 0.1), 3)
    return sparse.csr_matrix(rng.poisson(30.0 * rng.dirichlet(np.full(3, 0.2), n_documents) @ topics))


X = corpus()
CUTS = {"many": [100, 200, 250, 600], "few": [650], "empty": [0, 300, 300]}


def in_parts(name):
    cuts = CUTS[name]
    return [X[a:b] for a, b in zip([0, *cuts], [*cuts, X.shape[0]], strict=True)]


def fit(chunks, client=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return VariationalTemperingLDA(**SETTINGS | settings).fit_chunks(chunks, client=client)


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.slow), 2])
def client(request):
    with (
        distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as own,
    ):
        yield own


def test_topics_are_those_of_one_process(client):
    own = fit([X], batch_size=64)
    assert own.n_features_in_ == 60
    for name in CUTS:
        assert np.array_equal(fit(in_parts(name), client).components_, own.components_)


def test_minibatches_in_pieces(client, monkeypatch):
    monkeypatch.setattr(remote_documents, "PIECE", 20)
    own = fit([X], batch_size=64)
    one, two = (fit(in_parts(name), client) for name in ("many", "few"))
    assert np.array_equal(one.components_, two.components_)
    assert np.allclose(one.components_, own.components_, rtol=1e-3, atol=1e-3)
    assert one.perplexity(X) == pytest.approx(own.perplexity(X), rel=1e-4)


def test_a_learned_prior(client):
    own, there = (fit([X], given, doc_topic_prior="learn", batch_size=70) for given in (None, client))
    assert np.array_equal(there.doc_topic_prior_, own.doc_topic_prior_)
    assert np.array_equal(there.components_, own.components_)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_collections(client, elsewhere):
    bag = pytest.importorskip("dask.bag").from_delayed([dask.delayed(list)([part]) for part in in_parts("many")])
    array = pytest.importorskip("dask.array").from_array(X.toarray(), chunks=(150, 20))
    delayed = [dask.delayed(part) for part in in_parts("few")]
    own = fit([X], batch_size=64)
    for chunks in (bag, array, *([delayed] if elsewhere else [])):
        found = fit(chunks, client if elsewhere else None, batch_size=64)
        assert np.array_equal(found.components_, own.components_)


def test_names_of_words(client):
    old, new = ([f"{kind}{number}" for number in range(60)] for kind in ("old", "new"))
    frames = [pd.DataFrame(part.toarray(), columns=new) for part in in_parts("many")]
    model = VariationalTemperingLDA(**SETTINGS).fit(pd.DataFrame(X.toarray(), columns=old))
    assert model.fit_chunks(frames, client=client).feature_names_in_.tolist() == new
    assert np.array_equal(model.components_, fit([X], client).components_)
    with pytest.raises(ValueError, match="feature names should match"):
        fit([frames[0], frames[1][new[::-1]]], client)
    assert not hasattr(model.fit_chunks(in_parts("few"), client=client), "feature_names_in_")


def test_refused(client):
    with pytest.raises(ValueError, match="tempering='local' does not suit documents on workers"):
        fit([X], client, tempering="local")
    with pytest.raises(ValueError, match="chunks must have the same number of features"):
        fit([X, X[:, :50]], client)
    with pytest.raises(ValueError, match="chunks must hold at least one chunk"):
        fit([X[:0]], client)
    with pytest.raises(ValueError, match="Negative values in data"):
        fit([-X], client)
    with pytest.raises(ValueError, match=r"client must be a dask.distributed.Client or None, got 3"):
        fit([X], 3)
    # Nothing is left; what is released is so after a moment.
    deadline = time.monotonic() + 10.0
    while client.futures and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not client.futures
