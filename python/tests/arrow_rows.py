# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
"""A producer and a consumer of Arrow batches through capsules: tests need no library for it.

Columns are (name, format, values): "u", "U", "vu" of str, "l", "L", "i", "I" of int, "g" of float,
"b" of bool, "+l" of lists of int, "+s" of pairs of int and str. None is a null.
"""

import ctypes
import struct

_api = ctypes.pythonapi
_new = _api.PyCapsule_New
_new.restype = ctypes.py_object
_new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_pointer = _api.PyCapsule_GetPointer
_pointer.restype = ctypes.c_void_p
_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class StreamStruct(ctypes.Structure):
    pass


_RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
_RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
_RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(StreamStruct))
_GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(StreamStruct), ctypes.POINTER(Schema))
_GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(StreamStruct), ctypes.POINTER(Array))
_GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(StreamStruct))

Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", _RELEASE_SCHEMA),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", _RELEASE_ARRAY),
    ("private_data", ctypes.c_void_p),
]
StreamStruct._fields_ = [
    ("get_schema", _GET_SCHEMA),
    ("get_next", _GET_NEXT),
    ("get_last_error", _GET_ERROR),
    ("release", _RELEASE_STREAM),
    ("private_data", ctypes.c_void_p),
]

_CODES = {"l": "q", "L": "Q", "i": "i", "I": "I", "g": "d"}
released = 0
"""Arrays that consumers have given back."""
_alive = []  # what the structs point to, for as long as the tests run


@_RELEASE_SCHEMA
def _release_schema(schema):
    schema.contents.release = _RELEASE_SCHEMA(0)


@_RELEASE_ARRAY
def _release_array(array):
    global released
    released += 1
    array.contents.release = _RELEASE_ARRAY(0)


def _bits(values):
    out = bytearray(len(values) // 8 + 1)
    for i, value in enumerate(values):
        out[i // 8] |= bool(value) << i % 8
    return bytes(out)


def _views(values):
    """Short strings in the views, others in a buffer beside them."""
    views, data = b"", b""
    for value in values:
        if len(value) <= 12:
            views += struct.pack("<i", len(value)) + value.ljust(12, b"\0")
        else:
            views += struct.pack("<i4sii", len(value), value[:4], 0, len(data))
            data += value
    return [views, data, struct.pack("<q", len(data))]


def _strings(values, code):
    offsets, at = [0], 0
    for value in values:
        at += len(value)
        offsets.append(at)
    return [struct.pack(f"<{len(offsets)}{code}", *offsets), b"".join(values)]


def _parts(kind, values):
    """Buffers behind the bitmap, and children, of some values."""
    n = len(values)
    if kind in ("u", "U", "vu"):
        encoded = [(value or "").encode() for value in values]
        if kind == "vu":
            return _views(encoded), []
        return _strings(encoded, "i" if kind == "u" else "q"), []
    if kind in _CODES:
        return [struct.pack(f"<{n}{_CODES[kind]}", *(value or 0 for value in values))], []
    if kind == "b":
        return [_bits(values)], []
    if kind == "+l":
        flat = [item for value in values for item in value or []]
        lists = [b"x" * len(value or []) for value in values]
        return _strings(lists, "i")[:1], [("item", "l", flat)]
    assert kind == "+s"
    first = [None if value is None else value[0] for value in values]
    second = [None if value is None else value[1] for value in values]
    return [], [("a", "l", first), ("b", "u", second)]


def _fill(schema, array, name, kind, values, before=0):
    """Make a column. `before` rows of rubbish come first, which the offset leaves out."""
    padded = values[:1] * before + values if values else values
    before = len(padded) - len(values)
    buffers, children = _parts(kind, padded)
    nulls = sum(value is None for value in values)
    buffers.insert(0, _bits([value is not None for value in padded]) if nulls else None)
    kept = [ctypes.create_string_buffer(b, len(b) + 8) if b is not None else None for b in buffers]
    pointers = (ctypes.c_void_p * len(buffers))(
        *(ctypes.cast(b, ctypes.c_void_p) if b else None for b in kept)
    )
    schemas = [Schema() for _ in children]
    arrays = [Array() for _ in children]
    for child, one, other in zip(children, schemas, arrays):
        _fill(one, other, *child)
    schema_list = (ctypes.POINTER(Schema) * max(1, len(children)))(
        *(ctypes.pointer(s) for s in schemas)
    )
    array_list = (ctypes.POINTER(Array) * max(1, len(children)))(
        *(ctypes.pointer(a) for a in arrays)
    )
    schema.format, schema.name, schema.flags = kind.encode(), name.encode(), 2
    schema.n_children = array.n_children = len(children)
    schema.children, array.children = schema_list, array_list
    schema.release, array.release = _release_schema, _release_array
    array.length, array.null_count, array.offset = len(values), nulls, before
    array.n_buffers, array.buffers = len(buffers), pointers
    _alive.append((kept, pointers, schemas, arrays, schema_list, array_list))


def _batch(schema, array, columns, before):
    n = len(columns[0][2])
    schemas = [Schema() for _ in columns]
    arrays = [Array() for _ in columns]
    for column, one, other in zip(columns, schemas, arrays):
        _fill(one, other, *column, before)
    pointers = (ctypes.c_void_p * 1)()
    schema_list = (ctypes.POINTER(Schema) * len(columns))(*map(ctypes.pointer, schemas))
    array_list = (ctypes.POINTER(Array) * len(columns))(*map(ctypes.pointer, arrays))
    schema.format, schema.name = b"+s", b""
    schema.n_children = array.n_children = len(columns)
    schema.children, array.children = schema_list, array_list
    schema.release, array.release = _release_schema, _release_array
    array.length, array.n_buffers, array.buffers = n, 1, pointers
    _alive.append((schemas, arrays, schema_list, array_list, pointers))


class Producer:
    """Batches as other libraries give them."""

    def __init__(self, batches, before=0, fail_after=None):
        self.batches = list(batches)
        self.before = before
        self.fail_after = fail_after

    def __arrow_c_stream__(self, requested_schema=None):
        rest = list(self.batches)

        @_GET_SCHEMA
        def get_schema(_, out):
            nothing = [(name, kind, []) for name, kind, _ in self.batches[0]]
            _batch(out.contents, Array(), nothing, 0)
            return 0

        @_GET_NEXT
        def get_next(_, out):
            if self.fail_after is not None and len(self.batches) - len(rest) >= self.fail_after:
                return 5
            if rest:
                _batch(Schema(), out.contents, rest.pop(0), self.before)
            else:
                out.contents.release = _RELEASE_ARRAY(0)
            return 0

        @_GET_ERROR
        def get_error(_):
            return b"the producer has had enough"

        @_RELEASE_STREAM
        def release(stream):
            stream.contents.release = _RELEASE_STREAM(0)

        stream = StreamStruct(get_schema, get_next, get_error, release, None)
        _alive.append((stream, get_schema, get_next, get_error, release))
        return _new(ctypes.addressof(stream), b"arrow_array_stream", None)


def _buffer(array, i, size):
    return ctypes.string_at(array.buffers[i], size) if size and array.buffers[i] else b""


def _offsets(array, code, width):
    size = (array.offset + array.length + 1) * width
    return struct.unpack(f"<{size // width}{code}", _buffer(array, 1, size))[array.offset :]


def _column(schema, array):
    kind, n, offset = schema.format.decode(), array.length, array.offset
    if kind in ("u", "U"):
        at = _offsets(array, "i" if kind == "u" else "q", 4 if kind == "u" else 8)
        data = _buffer(array, 2, at[-1])
        values = [data[a:b].decode() for a, b in zip(at, at[1:])]
    elif kind == "vu":
        values = []
        for i in range(offset, offset + n):
            view = ctypes.string_at(array.buffers[1] + 16 * i, 16)
            size, _, buffer, place = struct.unpack("<i4sii", view)
            far = size > 12
            whole = ctypes.string_at(array.buffers[2 + buffer] + place, size) if far else b""
            values.append((whole if far else view[4 : 4 + size]).decode())
    elif kind in _CODES:
        code = _CODES[kind]
        data = _buffer(array, 1, struct.calcsize(code) * (offset + n))
        values = list(struct.unpack(f"<{offset + n}{code}", data)[offset:])
    elif kind == "b":
        data = _buffer(array, 1, (offset + n) // 8 + 1)
        values = [bool(data[i // 8] >> i % 8 & 1) for i in range(offset, offset + n)]
    elif kind == "+l":
        at = _offsets(array, "i", 4)
        items = _column(schema.children[0].contents, array.children[0].contents)
        values = [items[a:b] for a, b in zip(at, at[1:])]
    else:
        both = [_column(schema.children[i].contents, array.children[i].contents) for i in (0, 1)]
        values = list(zip(*both))[offset : offset + n]
    if array.null_count and array.buffers[0]:
        bits = ctypes.string_at(array.buffers[0], (offset + n) // 8 + 1)
        for i in range(n):
            if not bits[(offset + i) // 8] >> (offset + i) % 8 & 1:
                values[i] = None
    return values


def rows(batch):
    """The columns of a batch by their names, read through its capsules."""
    one, other = batch.__arrow_c_array__()
    schema = Schema.from_address(_pointer(one, b"arrow_schema"))
    array = Array.from_address(_pointer(other, b"arrow_array"))
    return {
        schema.children[i].contents.name.decode(): _column(
            schema.children[i].contents, array.children[i].contents
        )
        for i in range(schema.n_children)
    }
