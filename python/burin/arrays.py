"""numpy arrays as a compiled model takes them: checked, then passed by address. Nothing is converted or copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from burin.description import Tensor

Array: TypeAlias = npt.NDArray[Any]

ALIGNMENT = 64  # of state and scratch, as burin.h asks for
DTYPES: dict[str, np.dtype[Any]] = {"f32": np.dtype(np.float32), "f64": np.dtype(np.float64), "i64": np.dtype(np.int64),
                                    "i32": np.dtype(np.int32), "u8": np.dtype(np.uint8)}


class Memory:
    """Zeroed bytes at an address that a state or scratch may have."""

    __slots__ = ("address", "size", "_block")

    def __init__(self, size: int) -> None:
        self.size = size
        self._block = np.zeros(size + ALIGNMENT, np.uint8)
        self.address: int = -(-self._block.ctypes.data // ALIGNMENT) * ALIGNMENT


def written(dtype: object, shape: Sequence[object]) -> str:
    """A type and shape as messages write them: "float32 [time, 32]"."""
    return f"{dtype} [{', '.join(map(str, shape))}]"


def require_array(what: str, array: object, dtype: np.dtype[Any]) -> Array:
    """The array itself, when its elements and their order in memory are what the runtime reads."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{what} is a {type(array).__name__}, expected a numpy array of {dtype}")
    fits = array.dtype == dtype or (dtype == np.uint8 and array.dtype == np.bool_)
    if not fits:
        raise TypeError(f"{what} is {written(array.dtype, array.shape)}, expected elements of {dtype}")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what} {list(array.shape)} is not C-contiguous, as its strides {array.strides} say; expected "
                         "rows one after another (numpy.ascontiguousarray makes such a copy)")
    if not array.flags.aligned:
        raise ValueError(f"{what} is not aligned, expected an address that is a multiple of {dtype.itemsize}")
    return array


class Rows:
    """How many rows each time symbol has in one call, as its arrays say it."""

    def __init__(self, entry: str, given: Mapping[str, int]) -> None:
        self.entry = entry
        self.found: dict[str, int] = dict(given)
        self.by: dict[str, str] = dict.fromkeys(given, "lengths")

    def settle(self, symbol: str, rows: int, by: str) -> None:
        known = self.found.setdefault(symbol, rows)
        if known != rows:
            raise ValueError(f"{self.entry}: {by} has {rows} rows of {symbol}, {self.by[symbol]} has {known}")
        self.by.setdefault(symbol, by)

    def of(self, symbol: str) -> int:
        if symbol not in self.found:
            raise ValueError(f"{self.entry}: no input says how many rows of {symbol} there are, expected "
                             f"lengths={{'{symbol}': …}}")
        return self.found[symbol]


def expected_shape(tensor: Tensor) -> list[object]:
    rows = tensor.rows if tensor.rows_each == 1 else f"{tensor.rows_each} * {tensor.rows}"
    return [rows, tensor.columns]


def require_rows(what: str, tensor: Tensor, array: object, shape: Sequence[int]) -> Array:
    """An array of this shape; a single column may stand without its axis."""
    checked = require_array(what, array, DTYPES[tensor.type])
    given = checked.shape
    alone = len(shape) == 2 and shape[-1] == 1 and given == tuple(shape[:-1])
    if given != tuple(shape) and not alone:
        raise ValueError(f"{what} is {written(checked.dtype, given)}, expected "
                         f"{written(DTYPES[tensor.type], shape)}")
    return checked


def settle_rows(tensor: Tensor, array: object, rows: Rows) -> Array:
    """An input of one sequence: its first axis says how many rows there are of its symbol, a mask's second as well."""
    what = f"{rows.entry}: {tensor.name}"
    checked = require_array(what, array, DTYPES[tensor.type])
    is_mask = isinstance(tensor.columns, str)
    given = checked.shape + (1,) if checked.ndim == 1 and tensor.columns == 1 else checked.shape
    if len(given) != 2 or given[0] % tensor.rows_each or (not is_mask and given[1] != tensor.columns):
        raise ValueError(f"{what} is {written(checked.dtype, checked.shape)}, expected "
                         f"{written(DTYPES[tensor.type], expected_shape(tensor))}")
    rows.settle(tensor.rows, given[0] // tensor.rows_each, tensor.name)
    if isinstance(tensor.columns, str):
        rows.settle(tensor.columns, given[1], tensor.name)
    return checked


def by_name(entry: str, kind: str, tensors: Sequence[Tensor], positional: Sequence[object],
            named: Mapping[str, object]) -> list[object]:
    """The arrays of a call in the order of its tensors."""
    names = [tensor.name for tensor in tensors]
    if len(positional) > len(tensors):
        raise TypeError(f"{entry} was given {len(positional)} {kind}s, expected {len(tensors)}: {', '.join(names)}")
    values = dict(zip(names, positional))
    for name, value in named.items():
        if name not in names:
            raise TypeError(f"{entry} has no {kind} {name}, expected {', '.join(names) or 'none'}")
        if name in values:
            raise TypeError(f"{entry} was given {kind} {name} twice")
        values[name] = value
    missing = [name for name in names if name not in values]
    if missing:
        raise TypeError(f"{entry} was not given {kind} {', '.join(missing)}, expected {', '.join(names)}")
    return [values[name] for name in names]


def outputs_for(entry: str, tensors: Sequence[Tensor], shapes: Sequence[tuple[int, ...]],
                given: Mapping[str, object] | None) -> dict[str, Array]:
    """The caller's arrays where there are some, new ones for the other outputs."""
    unknown = set(given or ()) - {tensor.name for tensor in tensors}
    if unknown:
        raise TypeError(f"{entry} has no output {', '.join(sorted(unknown))}, expected "
                        f"{', '.join(tensor.name for tensor in tensors)}")
    outputs = {}
    for tensor, shape in zip(tensors, shapes):
        if given is None or tensor.name not in given:
            outputs[tensor.name] = np.empty(shape, DTYPES[tensor.type])
            continue
        what = f"{entry}: out['{tensor.name}']"
        array = require_rows(what, tensor, given[tensor.name], shape)
        if not array.flags.writeable:
            raise ValueError(f"{what} is read-only, expected an array that can be written")
        outputs[tensor.name] = array
    return outputs


def addresses(arrays: Sequence[Array]) -> list[int]:
    return [array.ctypes.data for array in arrays]
