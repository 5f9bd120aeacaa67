/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The module simidx._simidx: libsimidx, libsimidx-text and libsimidx-dedup for Python, thin. What
 * people use is the package beside it.
 */

#include "py_index.h"

#include <stdlib.h>

struct making {
	const struct py_texts *texts;
	uint64_t *fps;
	simidx_text *text[256];
};

static int make_some(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err)
{
	struct making *all = ctx;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		const struct py_text *text = &all->texts->at[i];
		simidx_sketch sketch = SIMIDX_SKETCH_INIT;

		rc = simidx_text_fingerprint(all->text[thread], text->bytes, text->size, 0, &sketch,
					     err);
		all->fps[i] = sketch.fp;
	}
	return rc;
}

static int make_all(struct making *all, const char *extractor, unsigned threads,
		    simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	unsigned n = py_threads(all->texts->n, threads);
	int rc;

	options.extractor = extractor;
	rc = simidx_text_open(&options, &all->text[0], err);
	for (unsigned i = 1; !rc && i < n; i++)
		rc = simidx_text_clone(all->text[0], &all->text[i], err);
	if (!rc)
		rc = py_parallel(all->texts->n, n, make_some, all, err);
	for (unsigned i = 0; i < n; i++)
		simidx_text_close(all->text[i]);
	return rc;
}

/* fingerprints(texts, extractor or None, threads) */
static PyObject *fingerprints(PyObject *self, PyObject *args)
{
	struct making all = { .fps = NULL };
	struct py_texts texts;
	const char *extractor;
	PyObject *object, *out;
	struct py_call call;
	simidx_error err;
	unsigned threads;
	int rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "OzI", &object, &extractor, &threads) ||
	    py_texts_from(&texts, object))
		return NULL;
	all.texts = &texts;
	out = py_new_bytes(texts.n * 8, &all.fps);
	if (out) {
		py_begin(&call);
		rc = make_all(&all, extractor, threads, &err);
		if (py_end(&call, rc, &err))
			Py_CLEAR(out);
	}
	py_texts_free(&texts);
	return out;
}

static PyMethodDef functions[] = {
	{ "fingerprints", fingerprints, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT, "simidx._simidx", "libsimidx for the package simidx.", -1, functions,
	NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit__simidx(void);

PyMODINIT_FUNC PyInit__simidx(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (module && !py_errors_add(module) && !py_stream_add(module) && !py_index_add(module) &&
	    !py_walk_add(module) && !py_dedup_add(module) &&
	    !PyModule_AddStringConstant(module, "version", simidx_version()) &&
	    !PyModule_AddStringConstant(module, "build_info", simidx_build_info()))
		return module;
	Py_XDECREF(module);
	return NULL;
}
