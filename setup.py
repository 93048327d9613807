"""Build the Cython extensions; everything else is declared in pyproject.toml."""

import os
import subprocess
import sys
from pathlib import Path

import Cython
import numpy as np
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

PACKAGE = Path("sklearn_subanneal")
HEADERS = sorted(map(str, PACKAGE.rglob("*.h")))
GENERATED = Path("build", f"cython-{Cython.__version__}")
UTILITY = "sklearn_subanneal._core._cyutility"
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": bool(os.environ.get("SUBANNEAL_DEBUG")),
    "wraparound": False,
    "initializedcheck": False,
    "nonecheck": False,
    "cdivision": True,
    "embedsignature": True,
    "freethreading_compatible": True,
}
# Every machine computes the same bits: no contraction into fused multiply-adds, no fast-math.
GNU_FLAGS = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
# With SUBANNEAL_SANITIZE: reads and writes outside of arrays, and undefined behaviour, end the process.
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
SANITIZER_FLAGS = ["-O1", "-g1", "-fno-omit-frame-pointer", "-ffp-contract=off", "-DSUBANNEAL_BASELINE", *SANITIZERS]


class BuildExtensions(build_ext):
    """Choose flags by compiler; compile the modules side by side."""

    def build_extensions(self):
        self.parallel = self.parallel or os.cpu_count()
        flags = ["/O2", "/fp:precise"] if self.compiler.compiler_type == "msvc" else GNU_FLAGS
        if os.environ.get("SUBANNEAL_SANITIZE"):
            flags = SANITIZER_FLAGS
            for extension in self.extensions:
                extension.extra_link_args = [*extension.extra_link_args, *SANITIZERS]
        if march := os.environ.get("SUBANNEAL_MARCH"):
            flags = [*flags, f"-march={march}"]
        for extension in self.extensions:
            extension.extra_compile_args = [*extension.extra_compile_args, *flags]
        super().build_extensions()


def shared_utility():
    """The one copy of Cython's own run-time code, written once for each version of Cython."""
    source = GENERATED / "_cyutility.c"
    if not source.exists():
        GENERATED.mkdir(parents=True, exist_ok=True)
        subprocess.check_call([sys.executable, "-m", "cython", f"--generate-shared={source}"])
    return Extension(UTILITY, [str(source)])


modules = [
    Extension(
        ".".join(path.with_suffix("").parts),
        [str(path)],
        # The headers of the package are included by their path from here.
        include_dirs=[".", np.get_include()],
        depends=HEADERS,
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")],
    )
    for path in sorted(PACKAGE.rglob("*.pyx"))
]

setup(
    ext_modules=[
        shared_utility(),
        *cythonize(
            modules,
            shared_utility_qualified_name=UTILITY,
            compiler_directives=DIRECTIVES,
            nthreads=os.cpu_count() or 1,
            build_dir=str(GENERATED),
        ),
    ],
    cmdclass={"build_ext": BuildExtensions},
)
