"""An opened model, and the states of its streams.

Shapes are those of the generated header: rows of features, `[time, features]`, where a time symbol counts the rows. A
result with one row per sequence is `[features]` of one sequence and `[sequences, features]` of a batch; what `step`
gives for a sample is `[features]`. A single column may be given as `[time]`.

float32 arrays (int32 for ids, uint8 or bool for masks) go to the model by address: never converted, never copied. An
array of another type is a TypeError, one of another shape, order or alignment a ValueError, with what was found and what
is expected; what the runtime refuses is an Error with its status.

The calls release Python's lock while they run. A model may be used by several threads at once; a state belongs to one
call at a time, and a second one is refused.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, TypeAlias

import numpy as np

from burin import arrays
from burin.arrays import Array, Memory, Rows
from burin.description import Axis, Description, Stream, Tensor
from burin.errors import Error
from burin.library import Library, OpenOptions
from burin.parameters import flatten_parameters, safetensors_bytes

Weights: TypeAlias = "str | os.PathLike[str] | bytes | Mapping[str, Any]"
MESSAGE_BYTES = 512


class Handle:
    """An opened model of the runtime. It is closed when nobody holds it any more: a call that is in progress does."""

    def __init__(self, library: Library, options: OpenOptions, address_of_options: int) -> None:
        message = ctypes.create_string_buffer(MESSAGE_BYTES)
        options.message, options.message_bytes = ctypes.addressof(message), MESSAGE_BYTES
        opened = ctypes.c_void_p()
        status = library.open(address_of_options, ctypes.addressof(opened))
        if status:
            library.refuse("open", status, message.value.decode(errors="replace"))
        self.address = opened.value
        weakref.finalize(self, library.close, opened.value)


def open_handle(library: Library, weights: Weights | None, **settings: Any) -> Handle:
    """Opens with a file, its bytes, or arrays by name; `settings` are the fields of the same names."""
    description = library.description
    # A runtime that is newer than this package may read a longer structure: zeros are its defaults too.
    room = Memory(max(ctypes.sizeof(OpenOptions), description.open_options_bytes))
    options = OpenOptions.from_address(room.address)
    for name, value in settings.items():
        setattr(options, name, value)
    if weights is None:
        if description.parameters:
            raise Error(f"{description.model}.open: weights are missing, expected a file, its bytes or arrays for "
                        f"{len(description.parameters)} parameters")
        weights = {}
    if isinstance(weights, Mapping):
        weights = safetensors_bytes(flatten_parameters(weights))
    if isinstance(weights, bytes):
        # At least a byte, so that there is an address; read while opening only.
        held = np.frombuffer(weights or b"\0", np.uint8)
        options.weights, options.weights_bytes = held.ctypes.data, len(weights)
    else:
        options.weights_path = os.fsencode(weights)
    return Handle(library, options, room.address)


class Call:
    """A call that is bound to its arrays, and keeps them."""

    __slots__ = ("_call", "_held")

    def __init__(self, call: Callable[[], dict[str, Array]], held: object) -> None:
        self._call = call
        self._held = held

    def __call__(self) -> dict[str, Array]:
        """Makes the call; the outputs by name."""
        return self._call()


class Model:
    """A compiled model with its weights. `burin.open` makes one; a `with` statement closes it."""

    def __init__(self, library: Library, handle: Handle) -> None:
        self._library = library
        self._handle: Handle | None = handle
        self._scratch: list[Memory] = []  # that no call uses at the moment

    # ---- What it is

    @property
    def name(self) -> str:
        return self.description.model

    @property
    def description(self) -> Description:
        """Names, types and shapes of everything that the model takes and gives."""
        return self._library.description

    @property
    def isa(self) -> str:
        """The target whose code runs, as `burin targets` names it: what opening chose."""
        text: bytes = self._library.isa(self._opened().address)
        return text.decode()

    def __repr__(self) -> str:
        def listed(tensors: Sequence[Tensor]) -> str:
            return ", ".join(f"{tensor.name} {arrays.written(tensor.type, arrays.expected_shape(tensor))}"
                             for tensor in tensors)

        closed = ", closed" if self._handle is None else ""
        inputs, outputs = listed(self.description.inputs), listed(self.description.outputs)
        return f"<burin.Model {self.name}: {inputs} -> {outputs}{closed}>"

    # ---- Calls

    def forward(self, *inputs: Array, out: Mapping[str, Array] | None = None,
                lengths: Mapping[str, int] | None = None, **named: Array) -> dict[str, Array]:
        """One whole sequence: the outputs by name.

        Inputs come in the header's order, or by name. `out` has arrays to write to, for outputs by name; the others are
        made. `lengths` says how many rows a time symbol has that no input counts.
        """
        return self.bind_forward(*inputs, out=out, lengths=lengths, **named)()

    def bind_forward(self, *inputs: Array, out: Mapping[str, Array] | None = None,
                     lengths: Mapping[str, int] | None = None, **named: Array) -> Call:
        """A call of `forward` on these arrays, to be made again and again: it takes what is in them then, and checks
        nothing but what the runtime checks. Its outputs are the same arrays each time.
        """
        entry = f"{self.name}.forward"
        unknown = set(lengths or ()) - {axis.name for axis in self.description.time}
        if unknown:
            raise TypeError(f"{entry}: lengths has {', '.join(sorted(unknown))}, expected "
                            f"{', '.join(axis.name for axis in self.description.time)}")
        rows = Rows(entry, lengths or {})
        checked = [arrays.settle_rows(tensor, array, rows)
                   for tensor, array in zip(self.description.inputs, self._inputs(entry, inputs, named))]
        counts = [rows.of(axis.name) for axis in self.description.time]
        require_lengths(entry, self.description.time, counts)
        shapes = [shape_of(tensor, tensor.rows_each if tensor.rows == "sequence" else
                           rows.of(tensor.rows) * tensor.rows_each) for tensor in self.description.outputs]
        outputs = arrays.outputs_for(entry, self.description.outputs, shapes, out)
        function, scratch_bytes = self._library.forward, self._library.scratch_bytes(*counts)
        passed = (*counts, *arrays.addresses(checked), *arrays.addresses([*outputs.values()]))

        def forward() -> dict[str, Array]:
            handle, scratch = self._opened(), self._take_scratch(scratch_bytes)
            status = function(handle.address, scratch.address, scratch.size, *passed)
            self._scratch.append(scratch)
            if status:
                self._library.refuse("forward", status)
            return outputs

        return Call(forward, checked)

    def forward_batch(self, offsets: Array | Mapping[str, Array], *inputs: Array,
                      out: Mapping[str, Array] | None = None, **named: Array) -> dict[str, Array]:
        """Several sequences, their rows one after another, without padding: the outputs by name, in the same order.

        `offsets` is int64 `[sequences + 1]`: sequence i has rows offsets[i] to offsets[i + 1], and the first is 0. A
        graph with several time symbols takes a mapping from each to its offsets. Masks are `[elements]`: those of each
        sequence, one after another. Every sequence gives the bits that it gives alone.
        """
        entry = f"{self.name}.forward_batch"
        axes = self.description.time
        by_axis = self._offsets(entry, offsets)
        sequences = len(next(iter(by_axis.values()))) - 1
        totals = {axis.name: int(by_axis[axis.name][-1]) for axis in axes}

        def shape(tensor: Tensor) -> tuple[int, ...]:
            if isinstance(tensor.columns, str):
                return (int(np.dot(np.diff(by_axis[tensor.rows]), np.diff(by_axis[tensor.columns]))),)
            count = sequences if tensor.rows == "sequence" else totals[tensor.rows]
            return count * tensor.rows_each, tensor.columns

        checked = [arrays.require_rows(f"{entry}: {tensor.name}", tensor, array, shape(tensor))
                   for tensor, array in zip(self.description.inputs, self._inputs(entry, inputs, named))]
        outputs = arrays.outputs_for(entry, self.description.outputs, [*map(shape, self.description.outputs)], out)
        handle = self._opened()
        scratch = self._take_scratch(self._library.batch_scratch_bytes(sequences, *totals.values()))
        status = self._library.forward_batch(handle.address, scratch.address, scratch.size, sequences,
                                             *arrays.addresses([by_axis[axis.name] for axis in axes]),
                                             *arrays.addresses(checked), *arrays.addresses([*outputs.values()]))
        self._scratch.append(scratch)
        if status:
            self._library.refuse("forward_batch", status)
        return outputs

    def state(self, position: int = 0) -> State:
        """An empty state, whose next sample has this position. A graph that looks ahead has none."""
        if not self.description.streams:
            raise Error(f"{self.name}.state: there is no step: {self.description.no_step}")
        return State(self, position)

    # ---- Closing

    def close(self) -> None:
        """Gives the weights' memory back, after the calls in progress. Later calls, also of states, are errors."""
        self._handle = None
        self._scratch.clear()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    # ---- Inside

    def _opened(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise Error(f"{self.name}: the model is closed")
        return handle

    def _inputs(self, entry: str, positional: Sequence[object], named: Mapping[str, object]) -> list[object]:
        return arrays.by_name(entry, "input", self.description.inputs, positional, named)

    def _offsets(self, entry: str, given: Array | Mapping[str, Array]) -> dict[str, Array]:
        axes = [axis.name for axis in self.description.time]
        if not isinstance(given, Mapping):
            if len(axes) != 1:
                raise TypeError(f"{entry}: offsets is a {type(given).__name__}, expected a mapping with "
                                f"{', '.join(axes) or 'no time symbol'}")
            given = {axes[0]: given}
        if set(given) != set(axes):
            raise TypeError(f"{entry}: offsets has {', '.join(map(str, given))}, expected {', '.join(axes)}")
        checked = {axis: arrays.require_array(f"{entry}: offsets of {axis}", given[axis], np.dtype(np.int64))
                   for axis in axes}
        lengths = {axis: array.shape for axis, array in checked.items()}
        if any(array.ndim != 1 or not len(array) for array in checked.values()) or len(set(lengths.values())) != 1:
            raise ValueError(f"{entry}: offsets have shapes {lengths}, expected [sequences + 1] for each")
        for axis in self.description.time:
            most = axis.max * (len(checked[axis.name]) - 1)
            if not 0 <= (end := int(checked[axis.name][-1])) <= most:
                raise ValueError(f"{entry}: offsets of {axis.name} end with {end}, expected 0 to {most}")
        return checked

    def _take_scratch(self, size: int) -> Memory:
        """Memory for one call, which puts it back for the next; of several calls at once each has its own."""
        try:
            scratch = self._scratch.pop()
        except IndexError:
            return Memory(size)
        return scratch if scratch.size >= size else Memory(size)


def shape_of(tensor: Tensor, rows: int) -> tuple[int, ...]:
    """Of an output whose columns are a number: one row per sequence or sample stands without its axis."""
    assert isinstance(tensor.columns, int)
    return (tensor.columns,) if tensor.rows in ("sequence", "sample") and rows == 1 else (rows, tensor.columns)


def require_lengths(entry: str, axes: Sequence[Axis], counts: Sequence[int]) -> None:
    """The runtime checks this too; here the symbol and both numbers can be named."""
    for axis, count in zip(axes, counts):
        if not 0 <= count <= axis.max:
            raise ValueError(f"{entry}: {count} rows of {axis.name}, expected 0 to {axis.max}")


class State:
    """What the streams of a model keep between samples: plain memory, which a copy of is another stream.

    `model.state()` makes one. After n samples the outputs are those of `forward` on the n samples, up to rounding.
    """

    def __init__(self, model: Model, position: int = 0, memory: Memory | None = None) -> None:
        self._model = model
        self._library = model._library
        self._lock = threading.Lock()
        self._memory = memory or Memory(self._library.state_bytes())
        if memory is None:
            self.reset(position)

    @property
    def model(self) -> Model:
        return self._model

    @property
    def position(self) -> int:
        """Of the next sample that `step` takes."""
        return self.position_of(self._streams[0].name)

    def position_of(self, stream: str) -> int:
        """Of the next sample of a stream."""
        number = self._number(stream)
        with self._call("position") as (_, state):
            position: int = self._library.position(state, number)
        return position

    def reset(self, position: int = 0) -> None:
        """Makes the state empty, with the next sample of the first stream at `position`."""
        with self._call("reset") as (model, state):
            status = self._library.reset_at(model, state, self._memory.size, position)
        if status:
            self._library.refuse("reset", status)

    def step(self, *inputs: Array, out: Mapping[str, Array] | None = None, **named: Array) -> dict[str, Array]:
        """One more sample, `[features]` for each input, or `[1, features]`: the outputs by name, `[features]` each.

        `out` has arrays to write to. After the last sample that the caches hold, an Error with Status.STATE_FULL.
        """
        return self.bind_step(*inputs, out=out, **named)()

    def bind_step(self, *inputs: Array, out: Mapping[str, Array] | None = None, **named: Array) -> Call:
        """A call of `step` on these arrays, to be made for each sample: it takes what is in them then, and checks nothing
        but what the runtime checks. Its outputs are the same arrays each time.
        """
        first = self._streams[0]
        entry = f"{self._model.name}.step"
        checked = [self._sample(entry, tensor, array)
                   for tensor, array in zip(first.inputs, self._inputs(entry, first, inputs, named))]
        shapes = [shape_of(tensor, tensor.rows_each) for tensor in first.outputs]
        outputs = arrays.outputs_for(entry, first.outputs, shapes, out)
        function, opened, lock, state = self._library.step, self._model._opened, self._lock, self._memory.address
        scratch = Memory(self._scratch_bytes(first, 1))
        passed = (state, scratch.address, scratch.size, *arrays.addresses(checked),
                  *arrays.addresses([*outputs.values()]))

        def step() -> dict[str, Array]:
            handle = opened()
            if not lock.acquire(blocking=False):
                raise self._busy("step")
            try:
                status = function(handle.address, *passed)
            finally:
                lock.release()
            if status:
                self._library.refuse("step", status)
            return outputs

        return Call(step, (checked, scratch, self))

    def advance(self, *inputs: Array, out: Mapping[str, Array] | None = None, count: int | None = None,
                **named: Array) -> dict[str, Array]:
        """Some more samples at once, `[count, features]`: what so many steps take and give, up to rounding.

        `count` is said by the inputs, unless there is none.
        """
        return self._take(0, "advance", inputs, named, out, count)

    def append(self, context: str, *inputs: Array, out: Mapping[str, Array] | None = None, count: int | None = None,
               **named: Array) -> dict[str, Array]:
        """Some more samples `[count, features]` of a context, for the steps that come after them."""
        number = self._number(context)
        if number == 0:
            raise Error(f"{self._model.name}.append: {context} is what step and advance take, expected one of "
                        f"{', '.join(stream.name for stream in self._streams[1:]) or 'no context'}")
        return self._take(number, f"append_{context}", inputs, named, out, count)

    def read(self, name: str) -> Array:
        """A value of the state, such as "block0.attn.k_cache": float32 `[rows, features]`, the oldest first."""
        value = next((value for value in self._model.description.state if value.name == name), None)
        if value is None:
            raise Error(f"{self._model.name}.read: no value {name}, expected one of "
                        f"{', '.join(value.name for value in self._model.description.state) or 'none'}")
        rows = ctypes.c_int64()
        with self._call("read") as (model, state):
            def read(into: int | None, capacity: int) -> None:
                status = self._library.state_read(model, state, name.encode(), into, capacity, ctypes.addressof(rows))
                if status:
                    self._library.refuse("state_read", status)

            read(None, 0)
            values = np.empty((rows.value, value.features), np.float32)
            read(values.ctypes.data, values.size)
        return values

    # ---- Copies

    def copy(self) -> State:
        """Another state, which goes on from the same point."""
        memory = Memory(self._memory.size)
        with self._call("copy"):
            ctypes.memmove(memory.address, self._memory.address, memory.size)
        return State(self._model, memory=memory)

    def save(self) -> bytes:
        """The state as bytes that `load` takes: in any process, on any target, of a model of the same graph."""
        size = ctypes.c_size_t()
        with self._call("save") as (model, state):
            def save(into: int | None, capacity: int) -> None:
                status = self._library.state_save(model, state, into, capacity, ctypes.addressof(size))
                if status:
                    self._library.refuse("state_save", status)

            save(None, 0)
            saved = np.empty(size.value, np.uint8)
            save(saved.ctypes.data, len(saved))
        return saved.tobytes()

    def load(self, saved: bytes) -> None:
        """Becomes the state that was saved; on an error it stays as it was."""
        held = np.frombuffer(saved or b"\0", np.uint8)
        with self._call("load") as (model, state):
            status = self._library.state_load(model, state, self._memory.size, held.ctypes.data, len(saved))
        if status:
            self._library.refuse("state_load", status)

    # ---- Inside

    @property
    def _streams(self) -> tuple[Stream, ...]:
        return self._model.description.streams

    def _number(self, name: str) -> int:
        for number, stream in enumerate(self._streams):
            if stream.name == name:
                return number
        raise Error(f"{self._model.name}: no stream {name}, expected one of "
                    f"{', '.join(stream.name for stream in self._streams)}")

    @contextmanager
    def _call(self, entry: str) -> Iterator[tuple[int | None, int]]:
        """The addresses of model and state, which are this call's alone and stay until it ends."""
        handle = self._model._opened()
        if not self._lock.acquire(blocking=False):
            raise self._busy(entry)
        try:
            yield handle.address, self._memory.address
        finally:
            self._lock.release()

    def _busy(self, entry: str) -> Error:
        return Error(f"{self._model.name}.{entry}: the state is in another call")

    def _scratch_bytes(self, stream: Stream, count: int) -> int:
        """For so many rows of one stream and none of the others."""
        rows = [min(max(count, 1), stream.most_rows) if axis.name == stream.name else 0
                for axis in self._model.description.time]
        size: int = self._library.scratch_bytes(*rows)
        return size

    @staticmethod
    def _inputs(entry: str, stream: Stream, positional: Sequence[object], named: Mapping[str, object]) -> list[object]:
        return arrays.by_name(entry, "input", stream.inputs, positional, named)

    @staticmethod
    def _sample(entry: str, tensor: Tensor, array: object) -> Array:
        shape = shape_of(tensor, tensor.rows_each)
        if len(shape) == 1 and isinstance(array, np.ndarray) and array.ndim == 2:
            shape = (1, *shape)
        return arrays.require_rows(f"{entry}: {tensor.name}", tensor, array, shape)

    def _take(self, number: int, entry: str, positional: Sequence[object], named: Mapping[str, object],
              out: Mapping[str, Array] | None, count: int | None) -> dict[str, Array]:
        stream = self._streams[number]
        name = f"{self._model.name}.{entry}"
        rows = Rows(name, {} if count is None else {"sample": count})
        checked = [arrays.settle_rows(tensor, array, rows)
                   for tensor, array in zip(stream.inputs, self._inputs(name, stream, positional, named))]
        if "sample" not in rows.found:
            raise ValueError(f"{name}: no input says how many samples there are, expected count=…")
        samples = rows.found["sample"]
        shapes = [(samples * tensor.rows_each, int(tensor.columns)) for tensor in stream.outputs]
        outputs = arrays.outputs_for(name, stream.outputs, shapes, out)
        with self._call(entry) as (model, state):
            scratch = self._model._take_scratch(self._scratch_bytes(stream, samples))
            status = self._library.advance[number](model, state, scratch.address, scratch.size, samples,
                                                   *arrays.addresses(checked), *arrays.addresses([*outputs.values()]))
            self._model._scratch.append(scratch)
        if status:
            self._library.refuse(entry, status)
        return outputs


def open(library: str | os.PathLike[str], weights: Weights | None = None, *, threads: int = 1, isa: str | None = None,
         allow_extra_tensors: bool = False, prefault: bool = False, lock_memory: bool = False,
         verify_content: bool = False, copy: bool = False) -> Model:
    """Opens a compiled model with its weights.

    library   the shared library that `burin.compile`, or `burin compile --shared`, wrote
    weights   a safetensors file or a packed one (`burin pack`); the bytes of either; or arrays by name, nested as
              `flatten_parameters` takes them. A model without parameters needs none
    threads   more than 1: `forward` and `forward_batch` share their work among so many; no bit of a result changes
    isa       a target's name, such as "x86-64-avx2": its code and no other; the best that runs unless given

    The others are those of `burin_open_options` in runtime/burin.h. What does not open is an Error with a Status.
    """
    loaded = Library(library)
    settings = dict(threads=threads, isa=isa.encode() if isa else None, allow_extra_tensors=allow_extra_tensors,
                    prefault=prefault, lock_memory=lock_memory, verify_content=verify_content, copy=copy)
    return Model(loaded, open_handle(loaded, weights, **settings))
