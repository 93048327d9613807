"""StanProgram, a Stan program with its data, compiled by what the package httpstan brings along."""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

INTERFACE = Path(__file__).with_suffix(".cpp")
LIBRARIES = ("sundials_cvodes", "sundials_idas", "sundials_kinsol", "sundials_nvecserial")
# As httpstan compiles programs, whose libraries have the older names of strings.
OPTIONS = ("-std=c++17", "-O2", "-w", "-shared", "-fPIC", "-D_REENTRANT", "-DBOOST_DISABLE_ASSERTS")
OLDER_STRINGS = "-D_GLIBCXX_USE_CXX11_ABI=0"
LONGEST_MESSAGE = 4000


def toolchain() -> Path | None:
    """The folder of httpstan: the compiler stanc, the sources of Stan, libraries; None if it is not installed."""
    spec = find_spec("httpstan")
    return None if spec is None or not spec.submodule_search_locations else Path(spec.submodule_search_locations[0])


class StanProgram:
    """A Stan program with its data: what BridgeStan's ``StanModel`` offers to :class:`StanDensity`.

    It is compiled beside its file, if it is newer than what was compiled before, for which a C++ compiler is needed:
    that of the environment variable CXX, or c++. Stan's derivatives are computed in one thread at a time.

    Parameters
    ----------
    file : path
        The .stan file.
    data : str, path or dict, default=None
        JSON, a file of it, or the data by name.

    Raises
    ------
    ValueError
        If stanc refuses the program, or the program the data.
    RuntimeError
        If the C++ compiler fails.
    """

    def __init__(self, file: str | os.PathLike, data=None) -> None:
        # The interpreter's lock is held during a call: the stack of derivatives is one for all threads.
        self._library = ctypes.PyDLL(os.fspath(_compiled(Path(file).resolve())))
        self._library.program_new.restype = ctypes.c_void_p
        for name in ("program_log_density", "program_constrain"):
            getattr(self._library, name).restype = ctypes.c_bool
        error = ctypes.create_string_buffer(LONGEST_MESSAGE)
        program = self._library.program_new(_as_json(data).encode(), error, ctypes.c_size_t(len(error)))
        if not program:
            raise ValueError(f"data do not suit {os.fspath(file)}: {error.value.decode()}")
        self._program = ctypes.c_void_p(program)
        self._names = self._read_names()

    def __del__(self) -> None:
        if getattr(self, "_program", None):
            self._library.program_delete(self._program)

    def param_unc_num(self) -> int:
        """Number of unconstrained parameters."""
        return self._library.program_n_parameters(self._program)

    def param_names(self) -> list[str]:
        """Names of the constrained parameters, such as "x.2.1"."""
        return self._names

    def param_constrain(self, theta: NDArray) -> NDArray:
        """The constrained parameters, in the order of their names."""
        values = np.empty(len(self._names))
        self._call("program_constrain", _pointer(theta), _pointer(values))
        return values

    def log_density(self, theta: NDArray) -> float:
        """With all constants and the Jacobian; a RuntimeError if the program rejects the point."""
        value = ctypes.c_double()
        self._call("program_log_density", _pointer(theta), ctypes.byref(value), None)
        return value.value

    def log_density_gradient(self, theta: NDArray) -> tuple[float, NDArray]:
        """As :meth:`log_density`, with its gradient."""
        value, gradient = ctypes.c_double(), np.empty(len(theta))
        self._call("program_log_density", _pointer(theta), ctypes.byref(value), _pointer(gradient))
        return value.value, gradient

    def _read_names(self):
        size = 1 << 12
        while True:
            names = ctypes.create_string_buffer(size)
            n_names = self._library.program_names(self._program, names, ctypes.c_size_t(size))
            if len(names.value) < size - 1:
                return names.value.decode().split(",") if n_names else []
            size *= 4

    def _call(self, name, *arguments):
        error = ctypes.create_string_buffer(LONGEST_MESSAGE)
        if not getattr(self._library, name)(self._program, *arguments, error, ctypes.c_size_t(len(error))):
            raise RuntimeError(error.value.decode())


def _compiled(file: Path) -> Path:
    """The shared library of the program, beside its file."""
    library = file.with_name(f"{file.stem}_httpstan.so")
    if library.exists() and library.stat().st_mtime > max(file.stat().st_mtime, INTERFACE.stat().st_mtime):
        return library
    folder = toolchain()
    with tempfile.TemporaryDirectory() as scratch:
        source, built = Path(scratch) / "program.cpp", Path(scratch) / library.name
        stanc = [folder / "stanc", "--name", "program", f"--include-paths={file.parent}", "--o", source, file]
        made = subprocess.run(stanc, capture_output=True, text=True, check=False)
        if made.returncode:
            raise ValueError(f"stanc refuses {file}:\n{made.stderr.strip()}")
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        compile_it = [*compiler, *OPTIONS, OLDER_STRINGS, f'-DSTAN_PROGRAM="{source}"', f"-I{folder / 'include'}"]
        link = [f"-L{folder / 'lib'}", *(f"-l{name}" for name in LIBRARIES), "-ltbb", f"-Wl,-rpath,{folder / 'lib'}"]
        made = subprocess.run([*compile_it, INTERFACE, "-o", built, *link], capture_output=True, text=True, check=False)
        if made.returncode:
            raise RuntimeError(f"{compiler[0]} cannot compile {file}:\n{made.stderr[-LONGEST_MESSAGE:]}")
        # Under a name of its own first, since another process may load or write the file.
        part = library.with_suffix(f".{os.getpid()}.part")
        part.write_bytes(built.read_bytes())
        part.replace(library)
    return library


def _as_json(data) -> str:
    if data is None:
        return "{}"
    if isinstance(data, str | os.PathLike):
        text = os.fspath(data)
        return Path(text).read_text(encoding="utf-8") if text.endswith(".json") else text
    return json.dumps(dict(data), default=_plain)


def _plain(value):
    """What JSON has in place of arrays and NumPy's numbers."""
    return np.asarray(value).tolist()


def _pointer(array: NDArray):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
