"""Whether the package that is installed here works: all modules import, two models fit, the command line answers.

For an environment that has nothing but the wheel and what it requires: `python try_wheel.py`.
"""

import importlib
import pkgutil
import subprocess
import sys

import sklearn_subanneal
from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.datasets import load_hospitals

modules = [module.name for module in pkgutil.walk_packages(sklearn_subanneal.__path__, "sklearn_subanneal.")]
for name in modules:
    importlib.import_module(name)
X = load_hospitals(as_frame=False).data
model = SubsampleAnnealedDPMM(n_chains=1, random_state=0).fit(X)
print(f"{len(modules)} modules import; {model.n_clusters_} clusters of hospitals, score {model.score(X):.1f}")
model = CrossCat(n_chains=1, random_state=0).fit(X)
print(f"{model.n_views_} views, score {model.score(X):.1f}")
# -P: not the package in the current folder, which may be the checkout.
command = [sys.executable, "-P", "-m", "sklearn_subanneal", "--help"]
print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0])
