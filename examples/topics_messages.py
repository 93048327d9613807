"""From texts to topics that everyone can read
============================================

Dated messages to a bicycle hire service become counts of words, topics, a figure, tables, and an interactive page.
"""

# %%
# The messages are made up: each is put together from remarks on a few subjects. Ice is mentioned in winters, and
# trouble with the app from October 2023 on, when a new version came out.

import numpy as np
import pandas as pd
from _example import Example
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.plotting import TopicsDisplay
from sklearn_subanneal.topics import document_shares, to_pyldavis, topic_summary, topics_to_frame

# What messages are about, and what is said of it.
REMARKS = {
    "repairs": (
        "front tyre, rear brake, chain, saddle, pedal, bell, gear lever",
        "is broken, is loose, squeaks, is missing, needs repair, came off",
    ),
    "payment": (
        "card, account, invoice, deposit, monthly pass, discount",
        "was charged twice, shows a wrong price, was refused, is not refunded, has a false amount",
    ),
    "app": (
        "map, code, login, password, screen, update",
        "crashes on my phone, freezes, shows an error, does not load, fails in the new version",
    ),
    "stations": (
        "harbour station, university station, railway station, hospital station, market station",
        "is full in the evening, has no bikes in the morning, needs more docks, has no free dock",
    ),
    "winter": (
        "lane, bridge, ramp, path, curve",
        "is covered with ice, is full of snow, is frozen, is slippery in the cold, needs grit and salt",
    ),
}
rng = np.random.default_rng(0)
dates = pd.Series(pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 3 * 365, 1500)), unit="D"))


def message(date: pd.Timestamp) -> str:
    """Three to six remarks, on subjects that depend on the date."""
    weights = [
        1.0,
        0.7,
        2.0 if date >= pd.Timestamp("2023-10-01") else 0.3,
        0.8,
        1.5 if date.month in (12, 1, 2) else 0.1,
    ]
    mixed = rng.dirichlet(0.3 * np.array(weights))
    parts = [REMARKS[subject] for subject in rng.choice(list(REMARKS), rng.integers(3, 7), p=mixed)]
    return ". ".join(" ".join(["The", *(str(rng.choice(words.split(", "))) for words in part)]) for part in parts) + "."


messages = pd.Series([message(date) for date in dates], index=[f"message {number}" for number in range(len(dates))])
city = rng.choice(["North", "South"], len(messages))
example = Example(__doc__)
print(*messages.iloc[[0, 700, 1400]], sep="\n")

# %%
# A pipeline counts the words and learns the topics. All that follows takes the pipeline and the texts.

model = make_pipeline(
    CountVectorizer(stop_words="english", min_df=5), VariationalTemperingLDA(n_components=5, random_state=0)
).fit(messages)

# %%
# The figure shows for each topic its share of all words, the expected number of messages, the most probable words, and
# below them, quarter by quarter, the mean share of the topic in the messages, with a standard error to either side.

display = TopicsDisplay.from_estimator(model, messages, n_words=8, groups=dates, period="quarter")
example.save(display, "messages_by_date")

# %%
# Labels instead of dates compare groups of messages. The cities were drawn at random: what differs by one or two
# standard errors may be chance. With ``relevance_weight`` below 1, words rank higher if they are rare in other topics.

display = TopicsDisplay.from_estimator(model, messages, n_words=8, groups=city, relevance_weight=0.6)
example.save(display, "messages_by_city")

# %%
# The same as tables: a summary of the topics,

print(topic_summary(model, messages, n_words=5, coherence="npmi").round(2).to_string())

# %%
# the words of each topic with their probabilities,

frame = topics_to_frame(model, n_words=4)
print(frame.head(4).round(3).to_string())
print(frame.pivot(index="rank", columns="topic", values="word").to_string())

# %%
# and the shares of the topics in each message, with its name. Any grouping by pandas follows from these.

shares = document_shares(model, messages)
print(shares.tail(3).round(2).to_string())
print(shares.groupby(dates.dt.year.to_numpy()).agg(["mean", "sem"]).round(3).to_string())

# %%
# `pyLDAvis <https://pypi.org/project/pyLDAvis/>`_ makes an interactive page of it, if it is installed
# (``pip install pyLDAvis``). Topics keep their numbers by ``sort_topics=False, start_index=0``.

try:
    import pyLDAvis
except ImportError:
    print("pyLDAvis is not installed: no page.")
else:
    prepared = pyLDAvis.prepare(**to_pyldavis(model, messages), sort_topics=False, start_index=0, n_jobs=1)
    pyLDAvis.save_html(prepared, str(example.output / "messages.html"))
