"""Calls: errors as exceptions, objects that are freed, texts that are written."""

from __future__ import annotations

import ctypes
import operator
import weakref
from typing import Mapping, Optional

from . import _c
from ._c import lib


class Error(Exception):
    """A call of the library failed.

    status   the kind of error, in words, such as "syntax error"
    code     its number in the C headers (stow_status)
    message  what was wrong, what was expected, what to do
    line, column, node, value   the position concerned, or None
    """

    def __init__(self, message: str, code: int = 0, *, line: Optional[int] = None,
                 column: Optional[int] = None, node: Optional[int] = None,
                 value: Optional[int] = None):
        super().__init__(message)
        self.message = message
        self.code = code
        self.status: str = lib.stow_status_text(code).decode()
        self.line = line
        self.column = column
        self.node = node
        self.value = value


def diag():
    result = _c.stow_diag()
    lib.stow_diag_defaults(ctypes.byref(result))
    return result


def error_of(status, found, where=None):
    """The exception for |status| and its diagnostic; |where| is the file."""
    message = found.message.decode("utf-8", "replace") or lib.stow_status_text(status).decode()
    position = f":{found.line}:{found.column}" if found.line else ""
    prefix = f"{where}{position}: " if where else f"line {found.line}: " if found.line else ""
    known = lambda number: None if number == _c.NONE_32 else number
    return Error(prefix + message, status, line=found.line or None, column=found.column or None,
                 node=known(found.node), value=known(found.value))


def check(status, found, where=None):
    if status != 0:
        raise error_of(status, found, where)


def call(function, *arguments, where=None):
    """Calls a function whose last argument is the diagnostic."""
    found = diag()
    check(function(*arguments, ctypes.byref(found)), found, where)


def integer(name, value, least=0, most=2**64 - 2):
    """The argument |name| as a number that C takes as it is."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: expected an integer, not {value!r}") from None
    if not least <= number <= most:
        raise ValueError(f"{name}: {number} is not within {least} and {most}")
    return number


def word(option, value, known):
    """What |known| has for a word; None is a default, not a word."""
    if value not in known:
        names = ", ".join(str(name) for name in known if name is not None)
        raise ValueError(f"{option}: unknown {value!r}; expected one of {names}")
    return known[value]


def mapping(name, value):
    """The argument |name|, a dict or None, as its items."""
    if value is not None and not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a dict, not {value!r}")
    return (value or {}).items()


def make(function, *arguments, where=None):
    """Calls a function whose last arguments are the diagnostic and a pointer that it sets."""
    found = diag()
    out = ctypes.c_void_p()
    check(function(*arguments, ctypes.byref(found), ctypes.byref(out)), found, where)
    return out.value


def _destroy(destroy, address, keeps):
    destroy(address)


class Handle:
    """An object of the library, freed when the last reference to this is gone.

    Its finalizer, not the object, holds what it borrows: the garbage collector would free a cycle's
    objects in any order. So |keeps| must not refer to this in turn.
    """

    def __init__(self, address, destroy, *keeps):
        self.address = address
        weakref.finalize(self, _destroy, destroy, address, keeps)

    @property
    def _as_parameter_(self):
        return ctypes.c_void_p(self.address)

    def __reduce__(self):
        raise TypeError("an object of the C library can be neither pickled nor copied")


class Made:
    """What only the library makes, by `_make`: it holds addresses, which a caller has none of."""

    _maker = ""  # the function that returns such objects

    def __init__(self, *_: object, **__: object):
        raise TypeError(f"{type(self).__name__}: not for callers; {self._maker} returns one")

    @classmethod
    def _make(cls, *parts):
        made = cls.__new__(cls)
        made._set(*parts)
        return made


class Borrowed:
    """A string that the library borrows; keeps its bytes."""

    def __init__(self, text):
        if not isinstance(text, (str, bytes)):
            raise TypeError(f"expected a name, not {text!r}")
        self.bytes = text if isinstance(text, bytes) else text.encode()
        self._as_parameter_ = _c.stow_str(
            ctypes.cast(ctypes.c_char_p(self.bytes), ctypes.c_void_p), len(self.bytes))


def written(function, *arguments, has_diag=True):
    """The bytes that a function writes: its arguments end in the writer and the diagnostic."""
    string = _c.stow_string()
    found = diag()
    lib.stow_string_init(ctypes.byref(string), _c.heap)
    try:
        writer = lib.stow_string_writer(ctypes.byref(string))
        last = (ctypes.byref(found),) if has_diag else ()
        check(function(*arguments, writer, *last), found)
        return ctypes.string_at(string.data, string.size) if string.size else b""
    finally:
        lib.stow_string_free(ctypes.byref(string))
