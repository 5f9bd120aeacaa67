# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# The Python package. pip builds and installs it (pyproject.toml); here its module is built for the
# tests, with the libraries inside, as the tools have them.

EXTRA_DIST += \
	m4/sx_python.m4 \
	python/README.md \
	python/module/py.h \
	python/module/py_arrow.h \
	python/module/py_columns.h \
	python/module/py_index.h \
	python/pyproject.toml \
	python/setup.py \
	python/simidx/__init__.py \
	python/simidx/_dedup.py \
	python/simidx/_index.py \
	python/simidx/_simidx.pyi \
	python/simidx/py.typed \
	python/tests/arrow_rows.py \
	python/tests/conftest.py \
	python/tests/test_arrow.py \
	python/tests/test_dedup.py \
	python/tests/test_index.py \
	python/tests/package.sh \
	python/tests/test_life.py \
	python/tests/test_pages.py

if WITH_PYTHON
check_LTLIBRARIES += python/_simidx.la
TESTS += python/tests/package.sh
AM_TESTS_ENVIRONMENT += SX_PYTHON='$(PYTHON)'; export SX_PYTHON;
endif

python__simidx_la_SOURCES = \
	python/module/py_arrow.c \
	python/module/py_call.c \
	python/module/py_columns.c \
	python/module/py_dedup.c \
	python/module/py_errors.c \
	python/module/py_index.c \
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
