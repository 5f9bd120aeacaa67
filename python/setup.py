# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Build the module with configure and make of the tree that this directory is in, and the package.

The module has our own libraries inside, and needs LMDB, ICU, zlib and zstd of the system.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TREE = pathlib.Path(__file__).resolve().parent.parent


class BuildByMake(build_ext):
    """One module, for every Python from 3.11 on."""

    def build_extension(self, extension: Extension) -> None:
        build = pathlib.Path(self.build_temp).resolve() / "native"
        build.mkdir(parents=True, exist_ok=True)
        if not (TREE / "configure").exists():
            subprocess.run(["autoreconf", "-fi"], cwd=TREE, check=True)
        options = ["-q", "--with-python", "--disable-tests", "--disable-static"]
        configure = [str(TREE / "configure"), *options, f"PYTHON={sys.executable}"]
        subprocess.run(configure, cwd=build, check=True)
        jobs = f"-j{os.cpu_count() or 1}"
        subprocess.run(["make", "-s", jobs, "python/_simidx.la"], cwd=build, check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / ".libs" / "_simidx.so", target)


setup(
    ext_modules=[Extension("simidx._simidx", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildByMake},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
