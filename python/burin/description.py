"""What a compiled model says of itself: its time symbols, inputs, outputs, parameters and streams.

The shared library carries it as JSON (compiler/emit/description.h), so that no header and no second file is needed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

FORMAT = 1  # of the JSON: a library of a later one was made for a later package


@dataclass(frozen=True)
class Axis:
    """A time symbol: what the rows of a sequence count, and how many of them there are at most."""

    name: str
    max: int


@dataclass(frozen=True)
class Tensor:
    """An input or output.

    `type` is f32, i32 (ids) or u8 (masks). `rows` is the time symbol that the rows count; or "sequence", of which each
    has `rows_each`; or in a stream "sample". `columns` is a number, or for masks the symbol that the columns count. Ids
    are at least 0 and below `limit`.
    """

    name: str
    type: str
    rows: str
    rows_each: int
    columns: int | str
    limit: int | None = None


@dataclass(frozen=True)
class Stream:
    """A sequence that goes on while the program runs: the first of a model is `step`'s, the others are appended to."""

    name: str
    most_rows: int  # that are taken at once
    capacity: int | None  # samples that it takes after a reset; None: no bound
    position_end: int | None  # where a learned table ends; None: no bound
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass(frozen=True)
class StateValue:
    """A value that a state keeps, such as the keys of an attention so far."""

    name: str
    stream: str
    window: int | None  # only so many last samples count
    features: int


@dataclass(frozen=True)
class Description:
    """All that a shared library says of its model."""

    model: str
    targets: tuple[str, ...]
    time: tuple[Axis, ...]
    parameters: dict[str, tuple[int, ...]]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    streams: tuple[Stream, ...]
    state: tuple[StateValue, ...]
    no_step: str  # why there is no step; empty where there is one
    open_options_bytes: int  # of the structure that opens it


def read_description(text: str, source: str) -> Description:
    """The description in a library's JSON; `source` is what an error calls the library."""
    found: dict[str, Any] = json.loads(text)
    if found["format"] != FORMAT:
        raise ValueError(f"{source}: its description has format {found['format']}, this package reads {FORMAT}")

    def tensors(entry: dict[str, Any], key: str) -> tuple[Tensor, ...]:
        return tuple(Tensor(**tensor) for tensor in entry[key])

    return Description(
        model=found["model"],
        targets=tuple(found["targets"]),
        time=tuple(Axis(**axis) for axis in found["time"]),
        parameters={parameter["name"]: tuple(parameter["shape"]) for parameter in found["parameters"]},
        inputs=tensors(found, "inputs"),
        outputs=tensors(found, "outputs"),
        streams=tuple(Stream(**{**stream, "inputs": tensors(stream, "inputs"), "outputs": tensors(stream, "outputs")})
                      for stream in found["streams"]),
        state=tuple(StateValue(**value) for value in found["state"]),
        no_step=found.get("no_step", ""),
        open_options_bytes=found["open_options_bytes"])
