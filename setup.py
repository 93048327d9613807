"""Build the Cython extensions; everything else is declared in pyproject.toml."""

import os
import subprocess
import sys
import time
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
    "show_performance_hints": False,
    "freethreading_compatible": True,
}
# Every machine computes the same bits: no contraction into fused multiply-adds, no fast-math.
GNU_FLAGS = ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
# With SUBANNEAL_SANITIZE: reads and writes outside of arrays, and undefined behaviour, end the process.
SANITIZERS = ["-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"]
SANITIZER_FLAGS = ["-O1", "-g1", "-fno-omit-frame-pointer", "-ffp-contract=off", "-DSUBANNEAL_BASELINE", *SANITIZERS]


# Compilation takes minutes, in which nothing else is printed.
SECONDS_BETWEEN_LINES = 5.0


class BuildExtensions(build_ext):
    """Choose flags by compiler; compile the modules side by side, and say every few seconds how far it is."""

    def build_extensions(self):
        self.n_built, self.begun, self.said = 0, time.monotonic(), time.monotonic()
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
            if self.compiler.compiler_type != "msvc":
                # gcc calls sincos of glibc where a kernel takes sine and cosine of one angle.
                extension.libraries = [*extension.libraries, "m"]
        super().build_extensions()

    def build_extension(self, extension):
        super().build_extension(extension)
        self.n_built += 1
        now, n_modules = time.monotonic(), len(self.extensions)
        if now - self.said >= SECONDS_BETWEEN_LINES:
            self.said = now
            left = (now - self.begun) / self.n_built * (n_modules - self.n_built)
            print(f"compiled {self.n_built} of {n_modules} modules, about {left:.0f} s left", flush=True)


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

if not GENERATED.exists():
    print(f"translating {len(modules)} modules from Cython to C, about a minute", flush=True)

setup(
    ext_modules=[
        shared_utility(),
        *cythonize(
            modules,
            shared_utility_qualified_name=UTILITY,
            compiler_directives=DIRECTIVES,
            nthreads=os.cpu_count() or 1,
            quiet=True,
            build_dir=str(GENERATED),
        ),
    ],
    cmdclass={"build_ext": BuildExtensions},
)
