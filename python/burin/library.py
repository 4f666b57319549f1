"""A shared model as ctypes sees it: the functions of its header, and the structure that opens it.

Nothing here checks an array: `model` does, and passes addresses.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, NoReturn

from burin.description import Description, read_description
from burin.errors import Error


class OpenOptions(ctypes.Structure):
    """`burin_open_options` of runtime/burin.h; zeros are the defaults."""

    _fields_ = [("weights_path", c_char_p), ("weights", c_void_p), ("weights_bytes", c_size_t),
                ("weights_stay", c_int), ("memory", c_void_p), ("memory_bytes", c_size_t),
                ("copy", c_int), ("verify_content", c_int), ("prefault", c_int), ("lock_memory", c_int),
                ("allow_extra_tensors", c_int), ("isa", c_char_p), ("message", c_char_p), ("message_bytes", c_size_t),
                ("threads", c_int), ("workers", c_void_p)]


def load(path: Path) -> ctypes.CDLL:
    """The library in the file as it is now.

    A loader knows a library by the path that it was asked for, and answers a second request with the first file,
    whatever stands there now. So each request has a path of its own; for the same file it is still the same library.
    """
    with tempfile.TemporaryDirectory(prefix="burin") as folder:
        link = os.path.join(folder, path.name)
        os.symlink(path.resolve(strict=True), link)
        return ctypes.CDLL(link)


class Library:
    """The functions of a shared model, and what they return when called with numbers and addresses."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise Error(f"{self.path}: no such file, expected a shared library that `burin compile --shared` wrote")
        try:
            self.library = load(self.path)
            text = ctypes.addressof(ctypes.c_char.in_dll(self.library, "burin_library_description"))
        except OSError as problem:
            raise Error(f"{self.path}: cannot be loaded: {problem}") from problem
        except ValueError as problem:
            raise Error(f"{self.path}: has no description of a model, expected a shared library that `burin compile "
                        "--shared` wrote") from problem
        try:
            self.description: Description = read_description(ctypes.string_at(text).decode(), str(self.path))
        except ValueError as problem:
            raise Error(str(problem)) from problem
        self.open = self.function("open", c_int, c_void_p, c_void_p)
        self.close = self.function("close", None, c_void_p)
        axes = len(self.description.time)
        self.scratch_bytes = self.function("scratch_bytes", c_size_t, *[c_int64] * axes)
        self.batch_scratch_bytes = self.function("batch_scratch_bytes", c_size_t, *[c_int64] * (axes + 1))
        self.forward = self.function("forward", c_int, c_void_p, c_void_p, c_size_t, *[c_int64] * axes,
                                     *self.pointers(self.description.inputs, self.description.outputs))
        self.forward_batch = self.function("forward_batch", c_int, c_void_p, c_void_p, c_size_t, c_int64,
                                           *[c_void_p] * axes,
                                           *self.pointers(self.description.inputs, self.description.outputs))
        self.status_text = self.runtime("burin_status_text", c_char_p, c_int)
        self.isa = self.runtime("burin_model_isa", c_char_p, c_void_p)
        if self.description.streams:
            self.bind_streams()

    def bind_streams(self) -> None:
        memory = [c_void_p, c_void_p, c_void_p, c_size_t]  # model, state, scratch, its size
        self.state_bytes = self.function("state_bytes", c_size_t)
        self.reset_at = self.function("reset_at", c_int, c_void_p, c_void_p, c_size_t, c_int64)
        first = self.description.streams[0]
        self.step = self.function("step", c_int, *memory, *self.pointers(first.inputs, first.outputs))
        self.advance = [
            self.function("advance" if stream is first else f"append_{stream.name}", c_int, *memory, c_int64,
                          *self.pointers(stream.inputs, stream.outputs)) for stream in self.description.streams]
        self.state_read = self.function("state_read", c_int, c_void_p, c_void_p, c_char_p, c_void_p, c_size_t, c_void_p)
        self.state_save = self.function("state_save", c_int, c_void_p, c_void_p, c_void_p, c_size_t, c_void_p)
        self.state_load = self.function("state_load", c_int, c_void_p, c_void_p, c_size_t, c_void_p, c_size_t)
        self.position = self.runtime("burin_state_stream_position", c_int64, c_void_p, c_int)

    @staticmethod
    def pointers(*tensors: tuple[object, ...]) -> list[Any]:
        return [c_void_p] * sum(map(len, tensors))

    def function(self, entry: str, result: Any, *arguments: Any) -> Any:
        return self.runtime(f"{self.description.model}_{entry}", result, *arguments)

    def runtime(self, name: str, result: Any, *arguments: Any) -> Any:
        function = self.library[name]
        function.restype, function.argtypes = result, arguments
        return function

    def refuse(self, entry: str, status: int, message: str = "") -> NoReturn:
        """Raises the runtime's status as an Error, with its text unless there is a message."""
        raise Error(f"{self.description.model}.{entry}: {message or self.status_text(status).decode()}", status)
