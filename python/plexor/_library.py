# SPDX-License-Identifier: Apache-2.0
"""The library behind the module: where it is, and its stable door (<plexor/call.h>, <plexor/in_memory.h>) in ctypes.

It is looked for in PLEXOR_LIBRARY (a file), beside the module (a wheel brings it), and where the system has libraries.
"""
import ctypes
import ctypes.util
import os
from ctypes import POINTER, c_bool, c_char, c_char_p, c_float, c_int, c_int64, c_size_t, c_void_p

ABI = 1
SONAME = "libplexor.so.0"
MAX_RANK = 8

# numbers of px_dtype
DTYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool",
          10: "float16", 11: "float64", 12: "uint32", 13: "uint64", 16: "uint16"}
NUMBERS = {name: number for number, name in reversed(DTYPES.items())}
BFLOAT16 = 16

STATUSES = ("PX_OK", "PX_E_USAGE", "PX_E_INPUT", "PX_E_UNSUPPORTED", "PX_E_MISMATCH", "PX_E_IO", "PX_E_NOMEM",
            "PX_E_CANCELLED", "PX_E_INTERNAL")


class Shape(ctypes.Structure):
    _fields_ = [("rank", c_int), ("dim", c_int64 * MAX_RANK)]


class Tensor(ctypes.Structure):
    _fields_ = [("dtype", c_int), ("shape", Shape), ("data", c_void_p)]


class CError(ctypes.Structure):
    _fields_ = [("status", c_int), ("message", c_char * 512)]


class Progress(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("label", c_char_p), ("done", c_int64), ("total", c_int64), ("text", c_char_p)]


ProgressFunction = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Progress))
RemarkFunction = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)


class Finding(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("json", c_char_p), ("input", Tensor), ("original", Tensor)]


FoundFunction = ctypes.CFUNCTYPE(c_bool, c_void_p, POINTER(Finding))


class CallIO(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("progress", ProgressFunction),
                ("remark", RemarkFunction), ("cancelled", c_void_p), ("stop", POINTER(c_int)),
                ("found", FoundFunction)]


class CallArray(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("file", c_char_p), ("name", c_char_p), ("tensor", Tensor)]


class CallResult(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("owned", c_void_p), ("status", c_int), ("error", c_char_p),
                ("json", c_char_p), ("text", c_char_p), ("array_count", c_size_t),
                ("arrays", POINTER(POINTER(CallArray)))]


class Array(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("dtype", c_int), ("shape", Shape), ("stride", c_int64 * MAX_RANK)]


ReleaseFunction = ctypes.CFUNCTYPE(None, c_void_p)


class Arrays(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("inputs", Array), ("layout", c_int), ("labels", Array), ("targets", Array),
                ("class_names", POINTER(c_char_p)), ("class_count", c_int), ("names", POINTER(c_char_p)),
                ("release", ReleaseFunction), ("context", c_void_p)]


ReadFunction = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, POINTER(c_float), POINTER(CError))
LabelFunction = ctypes.CFUNCTYPE(c_int64, c_void_p, c_int64)


class Source(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("count", c_int64), ("shape", Shape), ("is_8bit", c_bool),
                ("class_names", POINTER(c_char_p)), ("class_count", c_int), ("read", ReadFunction),
                ("label", LabelFunction), ("name", c_void_p), ("free", ReleaseFunction)]


_error = POINTER(CError)
_FUNCTIONS = {  # name: (what it returns, what it takes)
    "px_abi_version": (c_int, []),
    "px_version": (c_char_p, []),
    "px_call": (c_int, [c_int, POINTER(c_char_p), POINTER(CallIO), POINTER(CallResult)]),
    "px_call_done": (None, [POINTER(CallResult)]),
    "px_dataset_from_arrays": (c_int, [POINTER(Arrays), c_char_p, POINTER(c_void_p), _error]),
    "px_dataset_from_source": (c_int, [POINTER(Source), c_char_p, POINTER(c_void_p), _error]),
    "px_dataset_open_split": (c_int, [c_char_p, c_char_p, POINTER(c_void_p), _error]),
    "px_dataset_close": (None, [c_void_p]),
    "px_dataset_count": (c_int64, [c_void_p]),
    "px_dataset_shape": (Shape, [c_void_p]),
    "px_dataset_is_8bit": (c_bool, [c_void_p]),
    "px_dataset_pixels": (c_int, [c_void_p, c_int64, c_void_p, _error]),
    "px_dataset_label": (c_int64, [c_void_p, c_int64]),
    "px_dataset_name": (c_char_p, [c_void_p, c_int64, c_char_p, c_size_t]),
    "px_dataset_class_count": (c_int, [c_void_p]),
    "px_dataset_class_name": (c_char_p, [c_void_p, c_int]),
    "px_mem_put": (c_int, [c_char_p, c_void_p, _error]),
    "px_mem_put_model": (c_int, [c_char_p, c_void_p, c_size_t, _error]),
    "px_mem_remove": (c_bool, [c_char_p]),
}


def _places():
    named = os.environ.get("PLEXOR_LIBRARY")
    if named:
        yield named
        return
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_lib", SONAME)
    if os.path.exists(beside):
        yield beside
        return
    yield SONAME


def _load():
    for place in _places():
        try:
            found = ctypes.CDLL(place)
        except OSError as error:
            raise ImportError(f"plexor: the library '{place}' cannot be loaded ({error}); install the package "
                              f"libplexor0, or name a file {SONAME} in PLEXOR_LIBRARY") from None
    for name, (returns, takes) in _FUNCTIONS.items():
        try:
            function = getattr(found, name)
        except AttributeError:
            raise ImportError(f"plexor: the library '{place}' has no {name}(): it is older than the module; install "
                              "both from one release") from None
        function.restype, function.argtypes = returns, takes
    if found.px_abi_version() != ABI:
        raise ImportError(f"plexor: the library '{place}' has the binary interface {found.px_abi_version()}, the "
                          f"module was written for {ABI}; install both from one release")
    return found


lib = _load()


def version():
    return lib.px_version().decode()
