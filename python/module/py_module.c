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
	uint64_t *fps, *fps2;
	simidx_text *text[256];
};

static int make_some(void *ctx, unsigned thread, size_t from, size_t to, simidx_error *err)
{
	unsigned flags = SIMIDX_SKETCH_FP2;
	struct making *all = ctx;
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < to; i++) {
		const struct py_text *text = &all->texts->at[i];
		simidx_sketch sketch = SIMIDX_SKETCH_INIT;

		rc = simidx_text_fingerprint(all->text[thread], text->bytes, text->size,
					     all->fps2 ? flags : 0, &sketch, err);
		all->fps[i] = sketch.fp;
		if (all->fps2)
			all->fps2[i] = sketch.fp2;
	}
	return rc;
}

static int make_all(struct making *all, const char *extractor, unsigned threads,
		    struct py_call *call, simidx_error *err)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	unsigned n = py_threads(all->texts->n, threads);
	int rc;

	options.extractor = extractor;
	rc = simidx_text_open(&options, &all->text[0], err);
	for (unsigned i = 1; !rc && i < n; i++)
		rc = simidx_text_clone(all->text[0], &all->text[i], err);
	if (!rc)
		rc = py_parallel(all->texts->n, n, make_some, py_stop, call, all, err);
	for (unsigned i = 0; i < n; i++)
		simidx_text_close(all->text[i]);
	return rc;
}

/* fingerprints(texts, extractor or None, with second ones?, threads) */
static PyObject *fingerprints(PyObject *self, PyObject *args)
{
	PyObject *object, *out[2] = { NULL, NULL };
	struct making all = { .fps = NULL };
	struct py_texts texts;
	const char *extractor;
	struct py_call call;
	simidx_error err;
	unsigned threads;
	int has_fp2, rc;

	(void)self;
	if (!PyArg_ParseTuple(args, "OzpI", &object, &extractor, &has_fp2, &threads) ||
	    py_texts_from(&texts, object))
		return NULL;
	all.texts = &texts;
	out[0] = py_new_bytes(texts.n * 8, &all.fps);
	if (has_fp2)
		out[1] = py_new_bytes(texts.n * 8, &all.fps2);
	rc = !out[0] || (has_fp2 && !out[1]);
	if (!rc) {
		py_begin(&call);
		rc = make_all(&all, extractor, threads, &call, &err);
		rc = py_end(&call, rc, &err);
	}
	py_texts_free(&texts);
	if (!rc)
		return has_fp2 ? Py_BuildValue("(NN)", out[0], out[1]) : out[0];
	Py_XDECREF(out[0]);
	Py_XDECREF(out[1]);
	return NULL;
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
