/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The module simidx._simidx: libsimidx, libsimidx-text and libsimidx-dedup for Python, thin. What
 * people use is the package beside it.
 */

#include "py_index.h"

static PyMethodDef functions[] = {
	{ "fingerprints", py_fingerprints, METH_VARARGS, NULL },
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
	    !py_dedup_add(module) &&
	    !PyModule_AddStringConstant(module, "version", simidx_version()) &&
	    !PyModule_AddStringConstant(module, "build_info", simidx_build_info()))
		return module;
	Py_XDECREF(module);
	return NULL;
}
