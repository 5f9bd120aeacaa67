# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# The Python package. pip builds and installs it (pyproject.toml, setup.py); here its module is built for the
# tests, with the libraries inside, as the tools have them.

EXTRA_DIST += \
	MANIFEST.in \
	pyproject.toml \
	setup.py \
	m4/sx_python.m4 \
	python/README.md \
	python/module/py.h \
	python/module/py_arrow.h \
	python/module/py_columns.h \
	python/module/py_index.h \
	python/simidx/__init__.py \
	python/simidx/_dedup.py \
	python/simidx/_errors.py \
	python/simidx/_evidence.py \
	python/simidx/_index.py \
	python/simidx/_simidx.pyi \
	python/simidx/_tables.py \
	python/simidx/_temporary.py \
	python/simidx/py.typed \
	python/wheel.sh \
	python/tests/arrow_rows.py \
	python/tests/conftest.py \
	python/tests/test_arrow.py \
	python/tests/test_dedup.py \
	python/tests/test_index.py \
	python/tests/test_join.py \
	python/tests/test_life.py \
	python/tests/test_load.py \
	python/tests/test_pages.py \
	python/tests/test_random.py \
	python/tests/test_stop.py \
	$(python_tests)

# They skip what needs a Python that was not there.
python_tests = python/tests/install.sh python/tests/package.sh python/tests/wheel.sh
TESTS += $(python_tests)
if WITH_PYTHON
check_LTLIBRARIES += python/_simidx.la
AM_TESTS_ENVIRONMENT += SX_PYTHON='$(PYTHON)'; export SX_PYTHON;
else
EXTRA_LTLIBRARIES = python/_simidx.la
endif

python__simidx_la_SOURCES = \
	python/module/py_arrow.c \
	python/module/py_call.c \
	python/module/py_columns.c \
	python/module/py_dedup.c \
	python/module/py_errors.c \
	python/module/py_index.c \
	python/module/py_join.c \
	python/module/py_module.c \
	python/module/py_rows.c \
	python/module/py_search.c \
	python/module/py_stream.c \
	python/module/py_take.c \
	python/module/py_walk.c \
	python/module/py_write.c
python__simidx_la_CPPFLAGS = -I$(top_srcdir)/include $(PYTHON_CFLAGS)
# Python finds its symbols when the module is loaded.
python__simidx_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere -pthread \
	-export-symbols-regex '^PyInit__simidx$$'
python__simidx_la_LIBADD = lib/dedup/libsd.la lib/text/libsx-text.la lib/libsx-core.la

# A wheel for other machines: LMDB_SRC and ICU_SRC are absolute paths of unpacked sources.
wheel:
	SX_SRCDIR='$(abs_top_srcdir)' SX_PYTHON='$(PYTHON)' CC='$(CC)' CXX='$(CXX)' \
		LMDB_SRC='$(LMDB_SRC)' ICU_SRC='$(ICU_SRC)' $(srcdir)/python/wheel.sh python/wheel
.PHONY: wheel
