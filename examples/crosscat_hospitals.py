"""Hospitals: a table by views
===========================

This example clusters a table of 306 hospital regions x 64 columns (Dartmouth Atlas) by views, and shows the dependence
between its columns.

It makes the figures of doc/crosscat.md; ``--output doc`` writes them to the folder of the documentation.
"""

from _example import Example

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.datasets import load_hospitals
from sklearn_subanneal.plotting import DependenceDisplay, ViewsDisplay


def main() -> None:
    example = Example(__doc__)
    X = load_hospitals().data.drop(index="United States US")
    X.insert(0, "STATE", X.index.str[-2:])
    # Not the default: with full covariance, most columns would be in one view with a single cluster.
    model = CrossCat(
        covariance_type="diag",
        schedule=SubsampleAnneal(passes=200),
        n_chains=4,
        n_jobs=example.n_jobs,
        random_state=0,
    ).fit(X)
    example.heading("views of the representative draw")
    views = model.column_labels_[model.first_parts_]
    for view in range(model.n_views_):
        print(model.view_labels_[:, view].max() + 1, "clusters:", *X.columns[views == view])
    example.heading("figures")
    example.save(ViewsDisplay.from_estimator(model, X), "crosscat_views")
    example.save(DependenceDisplay.from_estimator(model), "crosscat_dependence")


if __name__ == "__main__":
    main()
