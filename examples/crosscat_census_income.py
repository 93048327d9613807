"""Census income: any column from any others
=========================================

This example shows the queries of CrossCat on a table of 10,000 persons x 42 columns of mixed types (Current Population
Survey 1994-95).

Income is predicted from all other columns and from a few of them. Further queries draw synthetic persons, measure the
dependence of two columns given other columns, and find anomalous persons.
"""

import numpy as np
import pandas as pd
from _example import Example
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from sklearn_subanneal import CrossCat
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay

REALS = (
    "age", "wage_per_hour", "capital_gains", "capital_losses", "dividends_from_stocks", "instance_weight",
    "num_persons_worked_for_employer", "weeks_worked_in_year",
)  # fmt: skip
INCOME, RICH = "income_class", "50000+."
SHOWN = ["age", "sex", "education", "marital_stat", "major_occupation_code", "weeks_worked_in_year", INCOME]


def main() -> None:
    example = Example(__doc__, "census_income_kdd", "census_income_test_extract_10000.csv.gz")
    X = pd.read_csv(example.data, na_values="?", keep_default_na=False)
    print(f"{X.shape[0]} persons x {X.shape[1]} columns, {X.isna().sum().sum()} cells missing.")
    # The codes of industries and occupations are integers. They would be real columns if not declared as categorical.
    types = {name: "real" if name in REALS else "categorical" for name in X.columns}
    train, test = train_test_split(X, test_size=0.125, random_state=0)
    model = CrossCat(feature_types=types, n_chains=4, n_draws=5, n_jobs=example.n_jobs, random_state=0).fit(train)

    example.heading("views of the representative draw")
    views = model.column_labels_[model.first_parts_]
    for view in range(model.n_views_):
        members = ", ".join(X.columns[views == view])
        print(f"{model.view_labels_[:, view].max() + 1:3} clusters: {members}")
    print(f"Log density: {model.score(test):.2f} nats per held-out person")

    example.heading("prediction of income from all or a few other columns")
    is_rich = test[INCOME] == RICH
    at = list(model.column_categories(INCOME)).index(RICH)
    for columns in (X.columns.drop(INCOME), ["age", "sex", "education", "marital_stat"], ["major_occupation_code"]):
        known = test[list(columns)].reindex(columns=X.columns)
        probability = model.predict_column_proba(INCOME, known)[:, at]
        about = f"all {len(columns)} others" if len(columns) > 9 else ", ".join(columns)
        print(f"area under the ROC curve {roc_auc_score(is_rich, probability):.3f}   from {about}")
    asked = pd.DataFrame(
        {"education": ["High school graduate", "Bachelors degree(BA AB BS)", "Doctorate degree(PhD EdD)"]}
    )
    for sex in ("Female", "Male"):
        probability = model.predict_column_proba(INCOME, asked.assign(sex=sex, age=45).reindex(columns=X.columns))[
            :, at
        ]
        shares = ", ".join(f"{name} {value:.1%}" for name, value in zip(asked["education"], probability, strict=True))
        print(f"P(more than 50,000) at 45, {sex.lower()}: {shares}")

    example.heading("imputation")
    holes = test.copy()
    hidden = pd.DataFrame(np.random.default_rng(0).random(test.shape) < 0.1, test.index, test.columns) & test.notna()
    filled, uncertainty = model.impute(holes.mask(hidden), return_uncertainty=True)
    sure = pd.DataFrame(uncertainty, test.index, test.columns) < 0.1
    print("Accuracy for categories hidden at random: all imputations, and those with an uncertainty below 0.1:")
    for name in ("education", "marital_stat", "major_occupation_code", "citizenship"):
        here, right = hidden[name], filled[name] == test[name]
        frequent = (test[name][here] == train[name].mode()[0]).mean()
        print(
            f"  {name:22}{right[here].mean():.0%} ({frequent:.0%} by the most frequent category)   "
            f"{right[here & sure[name]].mean():.0%}"
        )

    example.heading("dependence between columns")
    dependence = pd.DataFrame(model.dependence_, X.columns, X.columns)
    related = [
        (name, model.relatedness(INCOME, name, n_samples=4000, random_state=0).value)
        for name in X.columns.drop(INCOME)
        if dependence.loc[INCOME, name] > 0
    ]
    for name, value in sorted(related, key=lambda pair: -pair[1])[:6]:
        print(
            f"income and {name:36} relatedness {value:.2f}, in one view in {dependence.loc[INCOME, name]:.0%} of draws"
        )
    for given in (None, "education", ["education", "marital_stat"]):
        information = model.mutual_information("sex", INCOME, given=given, random_state=0)
        about = "" if given is None else f" given {given if isinstance(given, str) else ' and '.join(given)}"
        print(f"I(sex; income{about}) = {information.value:.4f} +/- {information.standard_error:.4f} nats")

    example.heading("densities and samples")
    asked = pd.DataFrame({"age": [20.0, 45.0, 70.0]}).reindex(columns=X.columns)
    alone, given = model.score_samples(asked), model.score_samples(asked, given={INCOME: RICH})
    for age, before, after in zip(asked["age"], alone, given, strict=True):
        print(f"log p(age = {age:.0f}) = {before:.2f}   given an income above 50,000: {after:.2f}")
    samples = model.sample(5, given={INCOME: RICH, "sex": "Female"}, random_state=0)
    print(samples[SHOWN].to_string(index=False))

    example.heading("anomalous cells and persons")
    surprisal = pd.DataFrame(model.surprisal(test), test.index, test.columns)
    excess = (surprisal - surprisal.median())[["age", "education", "marital_stat", "citizenship", INCOME]]
    for (person, name), nats in excess.stack().nlargest(6).items():
        others = ", ".join(str(test.loc[person, column]) for column in SHOWN if column != name)
        print(f"{nats:5.1f} nats  {name} = {test.loc[person, name]}; other columns: {others}")
    novelty = pd.Series(model.novelty(test), test.index).nlargest(3)
    print("Rows with the highest novelty:\n" + test.loc[novelty.index, SHOWN].to_string(index=False))

    example.heading("similar persons, and clusters")
    person = int(np.argmax(train[INCOME] == RICH))
    alike = pd.Series(model.row_similarity(person, np.arange(len(train)))[0], train.index)
    nearest = alike.drop(train.index[person]).nlargest(3)
    table = train.loc[[train.index[person], *nearest.index], SHOWN]
    print(table.assign(similarity=[1.0, *nearest.round(2)]).to_string(index=False))
    by_origin = model.row_similarity(person, np.arange(len(train)), columns=["citizenship"])[0]
    print(f"With respect to citizenship, {np.mean(by_origin > 0.9):.0%} of all persons are similar to the first one.")
    labels, confidence = model.view_labels_[:, 0], model.view_confidence_[:, 0]
    for cluster in range(5):
        here = train[labels == cluster]
        print(
            f"{len(here):5} persons, confidence {confidence[labels == cluster].mean():.2f}: "
            f"age {here['age'].median():.0f}, {here['marital_stat'].mode()[0]}, {here['education'].mode()[0]}, "
            f"{np.mean(here[INCOME] == RICH):.0%} above 50,000"
        )

    example.heading("figures")
    example.save(ViewsDisplay.from_estimator(model, train), "census_income_views")
    example.save(DependenceDisplay.from_estimator(model), "census_income_dependence")


if __name__ == "__main__":
    main()
