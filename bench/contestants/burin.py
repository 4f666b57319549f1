"""Burin: the shared library that `burin compile --shared` writes, called through ctypes; a form is a precision."""

from __future__ import annotations

import ctypes
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.contest import precision_of
from bench.contestants.contract import Prepared, Setting
from bench.models import model_of, weights_path
from bench.shapes import Workload
from bench.weights import Array, float_input, texts

STATES_BYTES = 16384  # copies of a state that one sample steps together: as many as leave the first cache half empty
ALIGNMENT = 64


class OpenOptions(ctypes.Structure):
    """burin_open_options of runtime/burin.h."""

    _fields_ = [("weights_path", ctypes.c_char_p), ("weights", ctypes.c_void_p), ("weights_bytes", ctypes.c_size_t),
                ("weights_stay", ctypes.c_int), ("memory", ctypes.c_void_p), ("memory_bytes", ctypes.c_size_t),
                ("copy", ctypes.c_int), ("verify_content", ctypes.c_int),
                ("prefault", ctypes.c_int), ("lock_memory", ctypes.c_int), ("allow_extra_tensors", ctypes.c_int),
                ("isa", ctypes.c_char_p), ("message", ctypes.c_char_p), ("message_bytes", ctypes.c_size_t),
                ("threads", ctypes.c_int), ("workers", ctypes.c_void_p)]


def memory(size: int) -> Array:
    """Zeroed bytes, aligned as a state or scratch has to be."""
    block = np.zeros(size + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return block[start:start + size]


def address(array: Array) -> Any:
    """An argument that a call has nothing left to convert of."""
    return ctypes.c_void_p.from_param(array.ctypes.data)


def number(value: int) -> Any:
    """The same, for a size or a count: both have 64 bits here."""
    return ctypes.c_int64.from_param(value)


class Model:
    """An opened model and the functions of its header."""

    def __init__(self, name: str, folder: Path, weights: Path, threads: int) -> None:
        self.name = name
        self.library = ctypes.CDLL(str(folder / name / f"{name}.so"))
        self.handle = ctypes.c_void_p()
        message = ctypes.create_string_buffer(512)
        options = OpenOptions(weights_path=str(weights).encode(), prefault=1, allow_extra_tensors=1,
                              message=ctypes.cast(message, ctypes.c_char_p), message_bytes=len(message), threads=threads)
        if self.function("open")(ctypes.byref(options), ctypes.byref(self.handle)):
            raise RuntimeError(message.value.decode())

    def function(self, entry: str) -> Any:
        return getattr(self.library, f"{self.name}_{entry}")

    def bytes_of(self, entry: str, *counts: int) -> int:
        size = self.function(entry)
        size.restype = ctypes.c_size_t
        return size(*map(ctypes.c_int64, counts))

    def bound(self, entry: str, *arguments: object) -> partial[int]:
        """A call with everything converted; its answer is a status."""
        return partial(self.function(entry), ctypes.c_void_p.from_param(self.handle.value), *arguments)


def succeed(status: object) -> None:
    if status:
        raise RuntimeError(f"Burin's status {status}")


def prepare(workload: Workload, form: str, setting: Setting) -> Prepared:
    precision, _ = precision_of(form)
    weights = weights_path(workload, setting.cache)
    model = Model(model_of(workload, precision), setting.models, weights, setting.threads)
    prepared = {"forward": forward, "step": step, "batch": batch}[workload.mode](model, workload)
    if prepared.rewind:
        prepared.rewind()
    for call in prepared.calls:
        succeed(call())
    return prepared


def forward(model: Model, workload: Workload) -> Prepared:
    rows = workload.rows
    x = float_input(workload) if workload.encoder.inputs else texts(workload)[0].astype(np.int32)
    y = np.zeros(workload.encoder.outputs or workload.encoder.d_model, np.float32)
    scratch = memory(model.bytes_of("scratch_bytes", rows))
    call = model.bound("forward", address(scratch), number(len(scratch)), number(rows), address(x),
                       address(y))
    return Prepared([call], lambda status: y, held=(x, scratch, model))


def step(model: Model, workload: Workload) -> Prepared:
    x = float_input(workload)
    past = len(x) - 1
    y = np.zeros(workload.encoder.outputs, np.float32)
    scratch = memory(max(1, model.bytes_of("scratch_bytes", past)))
    room = address(scratch), number(len(scratch))
    state_bytes = model.bytes_of("state_bytes")
    stride = -(-state_bytes // ALIGNMENT) * ALIGNMENT
    copies = max(1, min(16, STATES_BYTES // stride))
    states = memory(copies * stride)
    begun = states[:stride]
    succeed(model.bound("reset", address(begun), number(state_bytes))())
    ignored = np.zeros((past, len(y)), np.float32)
    succeed(model.bound("advance", address(begun), *room, number(past), address(x), address(ignored))())
    kept = memory(len(states))
    kept.reshape(copies, stride)[:] = begun
    new = x[past:]
    calls = [model.bound("step", address(states[i * stride:]), *room, address(new), address(y)) for i in range(copies)]
    rewind = partial(ctypes.memmove, address(states), address(kept), len(states))
    return Prepared(calls, lambda status: y, rewind, held=(x, scratch, states, kept, model))


def batch(model: Model, workload: Workload) -> Prepared:
    ids = np.concatenate(texts(workload)).astype(np.int32)
    offsets = np.concatenate([[0], np.cumsum(workload.lengths)]).astype(np.int64)
    sequences = len(workload.lengths)
    y = np.zeros((sequences, workload.encoder.d_model), np.float32)
    scratch = memory(model.bytes_of("batch_scratch_bytes", sequences, workload.rows))
    call = model.bound("forward_batch", address(scratch), number(len(scratch)), number(sequences),
                       address(offsets), address(ids), address(y))
    return Prepared([call], lambda status: y, held=(ids, offsets, scratch, model))
