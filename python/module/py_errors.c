/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "py.h"

#include <stdarg.h>
#include <stdio.h>

/* Exception classes by codes, as simidx/_errors.py has given them. */
static PyObject *classes;

/* set_errors({code: class}) */
static PyObject *set_errors(PyObject *self, PyObject *dict)
{
	PyObject *old = classes;

	(void)self;
	classes = Py_NewRef(dict);
	Py_XDECREF(old);
	Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
	{ "set_errors", set_errors, METH_O, NULL },
	{ NULL, NULL, 0, NULL },
};

int py_errors_add(PyObject *module)
{
#define ADD_CODE(name, value, text) PyModule_AddIntConstant(module, #name, name) ||
	if (SIMIDX_ERRORS(ADD_CODE) 0)
		return -1;
#undef ADD_CODE
	return PyModule_AddFunctions(module, functions);
}

PyObject *py_raise(const simidx_error *err)
{
	PyObject *code, *class;

	if (err->code == SIMIDX_E_NOMEM)
		return PyErr_NoMemory();
	code = PyLong_FromLong(err->code);
	class = code && classes ? PyDict_GetItemWithError(classes, code) : NULL;
	Py_XDECREF(code);
	if (!PyErr_Occurred())
		PyErr_SetString(class ? class : PyExc_RuntimeError,
				*err->text ? err->text : simidx_strerror(err->code));
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
