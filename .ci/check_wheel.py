"""Whether wheels have what they should, and nothing of the machine on which they were built.

Each module is compiled; no library is searched in a folder of this machine; and vector registers beyond the baseline of
x86-64 occur only in the clones of kernels that are chosen when a module is loaded: `python check_wheel.py WHEEL...`.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "sklearn_subanneal"
# The linker adds code of its own to each function that is cloned: the resolver, which has no vector registers.
CLONE = re.compile(r"\.arch_x86_64_v[34](\.|$)")
BEYOND_BASELINE = re.compile(r"%[yz]mm|\bv[a-z0-9]+[ps][sd]\b")


def output(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def machine_code(extension: Path) -> list[str]:
    """Functions of an extension, other than the clones, that have instructions beyond the baseline."""
    parts = re.split(r"^[0-9a-f]+ <(.+)>:$", output("objdump", "-d", "--no-show-raw-insn", extension), flags=re.M)
    named = zip(parts[1::2], parts[2::2], strict=True)
    return [name for name, code in named if not CLONE.search(name) and BEYOND_BASELINE.search(code)]


def faults(folder: Path, is_x86_linux: bool) -> list[str]:
    """What is wrong with an unpacked wheel, a line each."""
    out = []
    sources = sorted((folder / PACKAGE).rglob("*.pyx"))
    if not sources:
        out.append("there are no sources of compiled modules")
    out += [
        f"{source.relative_to(folder)} is not compiled"
        for source in sources
        if not [one for one in source.parent.glob(f"{source.stem}.*") if one.suffix in (".so", ".pyd")]
    ]
    for extension in sorted(folder.rglob("*.so")) if is_x86_linux else ():
        name = extension.relative_to(folder)
        if path := re.search(r"\((?:RUNPATH|RPATH)\).*", output("readelf", "-d", extension)):
            out.append(f"{name} searches libraries in folders: {path[0]}; build with LDSHARED='gcc -shared'")
        out += [f"{name}: {function} needs more than the baseline of x86-64" for function in machine_code(extension)]
    return out


def main(wheels: list[str]) -> int:
    code = 0
    for wheel in map(Path, wheels):
        with tempfile.TemporaryDirectory() as folder:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(folder)
            found = faults(Path(folder), "linux" in wheel.name and wheel.name.endswith("x86_64.whl"))
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(found) or 'no'} faults", *found, sep="\n  ")
        code |= bool(found)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
