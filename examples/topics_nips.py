"""Topics of the NIPS papers
=========================

The data are the words of 1,500 papers (UCI bag of words, 7,605 words). The example compares numbers of topics, with and
without tempering, and shows the words of the topics.
"""

# %%
# A tenth of the papers is held out. Half of the distinct words of each held-out paper are observed, and the occurrences
# of the other half are predicted. The perplexity is the exponential of the mean negative log probability of a held-out
# word.

import matplotlib.pyplot as plt
import numpy as np
from _example import Example
from scipy import sparse

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.plotting import TopicsDisplay

example = Example(__doc__, "nips", "nips_uci_1500x7605.npz")
with np.load(example.data, allow_pickle=True) as file:
    arrays = file["data"].astype(np.float32), file["indices"], file["indptr"]
    papers, words = sparse.csr_matrix(arrays, shape=tuple(file["shape"])), file["vocab"]
order = np.random.default_rng(0).permutation(papers.shape[0])
train, test = papers[order[150:]], papers[order[:150]]

frequency = np.asarray(train.sum(axis=0)).ravel() + 0.1
counts = np.asarray(test.sum(axis=0)).ravel()
alike = np.exp(-counts @ np.log(frequency / frequency.sum()) / counts.sum())
example.heading("perplexity of a held-out word")
print(f"word frequencies of all papers: {alike:.0f}")

# %%
# The figure shows perplexities for increasing numbers of topics, with and without tempering. Each is from one run;
# another seed changes it by a few per cent. More topics give lower perplexities. Tempering does not help on papers of a
# thousand words. It helps on abstracts; the benchmarks have results.

numbers, fitted = (5, 10, 20, 40), {}
figure, axes = plt.subplots(figsize=(6, 3.8), layout="constrained")
for tempering in ("none", "annealed"):
    models = [VariationalTemperingLDA(n, tempering=tempering, random_state=0).fit(train) for n in numbers]
    fitted[tempering] = models[-1]
    found = [np.exp(-model.document_completion_score(test)) for model in models]
    print(f"{tempering:9}", *(f"{n} topics {value:.0f}" for n, value in zip(numbers, found, strict=True)), sep="  ")
    axes.plot(numbers, found, marker="o", label=tempering)
axes.set(xscale="log", xlabel="topics", ylabel="perplexity of a held-out word")
axes.set_xticks(numbers, numbers)
axes.minorticks_off()
axes.legend(title="tempering")
example.save(figure, "nips_perplexity")

# %%
# The figure shows the most probable words of the twelve largest of the 40 topics. Above each line are the proportion of
# all occurrences of words in the topic, and the expected number of papers. Words that are frequent in all papers, such
# as model and network, are in many topics.

model = fitted["annealed"]
display = TopicsDisplay.from_estimator(model, train, n_words=10, max_topics=12, feature_names=words)
example.save(display, "nips_topics")

# %%
# Words that are much more probable in a topic than in all papers characterise the topic better.

example.heading("characteristic words of each topic")
overall = frequency / frequency.sum()
telling = model.topic_word_ * np.log(model.topic_word_ / overall)
for topic in np.argsort(-model.components_.sum(axis=1))[:12]:
    print(f"{topic:2}:", ", ".join(words[np.argsort(-telling[topic])[:9]]))
