# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""Build the module of the Python package with configure and make, in build-python/.

It has our own libraries inside, and needs LMDB, ICU, xxHash, libstemmer, zlib and zstd of the
system. Variables that configure knows, such as CC or LMDB_LIBS, are taken as it takes them. make
wheel, which sets them, has SIMIDX_LICENSES name a directory of the licences of what is in the
module then.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

TREE = pathlib.Path(__file__).resolve().parent
OURS = TREE / "build-python"
VARIABLE = re.compile(r"CC|CXX|CPP|[A-Z]+_(CFLAGS|LIBS)|(C|CPP|CXX|LD)FLAGS|LIBS")


def version() -> str:
    """The only place that states it is the header."""
    header = (TREE / "include" / "simidx.h").read_text()
    found = re.search(r'^#define SIMIDX_VERSION_STRING "(.*)"$', header, re.MULTILINE)
    assert found
    return found[1]


def make_configure() -> None:
    """A checkout has none."""
    if not (TREE / "configure").exists():
        subprocess.run(["autoreconf", "-fi"], cwd=TREE, check=True)


class BuildByMake(build_ext):
    """One module, for every Python from 3.11 on."""

    def build_extension(self, extension: Extension) -> None:
        make_configure()
        options = ["-q", "--with-python", "--disable-tests", "--disable-static", "--without-json"]
        configure = [str(TREE / "configure"), *options, f"PYTHON={sys.executable}"]
        # What was built with other libraries or flags is not taken.
        given = {name: value for name, value in os.environ.items() if VARIABLE.fullmatch(name)}
        kind = hashlib.sha256(repr(sorted(given.items())).encode()).hexdigest()[:16]
        build = pathlib.Path(self.build_temp).resolve() / kind
        build.mkdir(parents=True, exist_ok=True)
        subprocess.run(configure, cwd=build, check=True)
        jobs = f"-j{len(os.sched_getaffinity(0))}"
        subprocess.run(["make", "-s", jobs, "python/_simidx.la"], cwd=build, check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build / "python" / ".libs" / "_simidx.so", target)


class SdistWithConfigure(sdist):
    """Who builds from it needs no autoconf."""

    def run(self) -> None:
        make_configure()
        super().run()


LICENSES = OURS / "licenses"
shutil.rmtree(LICENSES, ignore_errors=True)
if "SIMIDX_LICENSES" in os.environ:
    shutil.copytree(os.environ["SIMIDX_LICENSES"], LICENSES)
LICENSES.mkdir(parents=True, exist_ok=True)
shutil.copy2(TREE / "LICENSE", LICENSES)
setup(
    version=version(),
    ext_modules=[Extension("simidx._simidx", [], py_limited_api=True)],
    cmdclass={"build_ext": BuildByMake, "sdist": SdistWithConfigure},
    options={
        "bdist_wheel": {"py_limited_api": "cp311"},
        "build": {"build_base": str(OURS.relative_to(TREE))},
        "egg_info": {"egg_base": str(OURS.relative_to(TREE))},
    },
)
