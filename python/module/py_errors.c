/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py.h"

#include <stdarg.h>
#include <stdio.h>

/* A class for each kind of error: those of several codes stand together. */
static struct kind {
	const char *name, *about;
	int codes[4];
	PyObject *class;
} kinds[] = {
	{ "ArgumentError", "A value is not allowed, or does not fit others.",
	  { SIMIDX_E_ARG, SIMIDX_E_RANGE }, NULL },
	{ "StateError", "The index is closed, or was opened before fork().",
	  { SIMIDX_E_STATE, SIMIDX_E_FORK, SIMIDX_E_READ_ONLY }, NULL },
	{ "NotFoundError", "There is no such index or document.",
	  { SIMIDX_E_NOT_FOUND, SIMIDX_E_END }, NULL },
	{ "ExistsError", "Something is there already.", { SIMIDX_E_EXISTS }, NULL },
	{ "DuplicateError", "Another document has the id or label.", { SIMIDX_E_DUPLICATE }, NULL },
	{ "MismatchError", "This does not fit what the index holds.", { SIMIDX_E_MISMATCH }, NULL },
	{ "NotIndexError", "What is at the path is no index, or one of another version.",
	  { SIMIDX_E_NOT_INDEX, SIMIDX_E_VERSION }, NULL },
	{ "DamageError", "The index is damaged.", { SIMIDX_E_CORRUPT }, NULL },
	{ "SpaceError", "No space is left, on the disk or in the address space.",
	  { SIMIDX_E_NO_SPACE, SIMIDX_E_MAP_FULL }, NULL },
	{ "PermissionError", "It is not permitted.", { SIMIDX_E_PERMISSION }, NULL },
	{ "BusyError", "Another writer has the lock.", { SIMIDX_E_BUSY }, NULL },
	{ "MovedError", "Another index has taken its place: open it again.", { SIMIDX_E_MOVED },
	  NULL },
	{ "UnsupportedError", "Not supported here.", { SIMIDX_E_UNSUPPORTED }, NULL },
	{ "StoppedError", "It was stopped.", { SIMIDX_E_STOPPED }, NULL },
	{ "IOError", "Reading or writing failed.", { SIMIDX_E_IO }, NULL },
	{ "UnknownError", "Whether a commit is stored is not known.", { SIMIDX_E_UNKNOWN }, NULL },
};

static PyObject *error;

static int add_class(PyObject *module, const char *name, const char *about, PyObject *base,
		     PyObject **out)
{
	char whole[64];

	snprintf(whole, sizeof(whole), "simidx.%s", name);
	*out = PyErr_NewExceptionWithDoc(whole, about, base, NULL);
	return *out ? PyModule_AddObjectRef(module, name, *out) : -1;
}

int py_errors_add(PyObject *module)
{
	if (add_class(module, "Error", "What went wrong in libsimidx.", NULL, &error))
		return -1;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (add_class(module, kinds[i].name, kinds[i].about, error, &kinds[i].class))
			return -1;
	return 0;
}

static PyObject *class_of(int code)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t k = 0; k < sizeof(kinds[i].codes) / sizeof(int); k++)
			if (kinds[i].codes[k] == code)
				return kinds[i].class;
	return error;
}

PyObject *py_raise(const simidx_error *err)
{
	if (err->code == SIMIDX_E_NOMEM)
		return PyErr_NoMemory();
	PyErr_SetString(class_of(err->code), *err->text ? err->text : simidx_strerror(err->code));
	return NULL;
}

PyObject *py_refuse(const char *format, ...)
{
	simidx_error err = { .code = SIMIDX_E_ARG };
	va_list ap;

	va_start(ap, format);
	vsnprintf(err.text, sizeof(err.text), format, ap);
	va_end(ap);
	return py_raise(&err);
}
