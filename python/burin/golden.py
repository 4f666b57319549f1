"""Golden cases: one file with a graph, its parameters, inputs and expected values, which `burin check` compares.

`write_case` makes the expected values with a function of yours, in your own framework, so that the check proves that the
compiled model computes it: `forward`, `step` and the compiler's float64 reference, each within 1e-5 of the largest value.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import safetensors
import safetensors.numpy

from burin.arrays import Array
from burin.compiling import errors_in, find_program, run_whatever
from burin.errors import Error
from burin.parameters import flatten_parameters, safetensors_bytes

Function: TypeAlias = Callable[[dict[str, Array], dict[str, Array]], Any]


@dataclass(frozen=True)
class Case:
    """What a golden case holds. It has a layer (`op`) and its arguments, or a graph as text."""

    parameters: dict[str, Array]
    inputs: dict[str, Array]
    expected: dict[str, Array]
    graph: str = ""
    op: str = ""
    args: dict[str, Any] = field(default_factory=dict)
    source: str = ""  # where the expected values come from


def read_case(path: str | os.PathLike[str]) -> Case:
    """Reads a golden case. `burin check` says what does not fit in it; this only takes it apart."""
    parts: dict[str, dict[str, Array]] = {"param": {}, "in": {}, "out": {}}
    try:
        with safetensors.safe_open(path, "numpy") as file:
            metadata: dict[str, str] = file.metadata() or {}
            for name in file.keys():
                kind, _, rest = name.partition(".")
                if kind not in parts or not rest:
                    raise Error(f"{path}: tensor {name} is no part of a case, expected param., in. or out. before it")
                parts[kind][rest] = file.get_tensor(name)
    except (OSError, safetensors.SafetensorError) as problem:
        raise Error(f"{path}: cannot be read as a golden case: {problem}") from problem
    if not metadata.keys() & {"op", "graph"}:
        raise Error(f"{path}: metadata has neither 'op' nor 'graph', expected one of them")
    return Case(parts["param"], parts["in"], parts["out"], metadata.get("graph", ""), metadata.get("op", ""),
                json.loads(metadata.get("args", "{}")), metadata.get("source", ""))


def write_case(path: str | os.PathLike[str], function: Function, *, inputs: Mapping[str, Any],
               graph: str | os.PathLike[str] = "", op: str = "", args: Mapping[str, Any] | None = None,
               parameters: Any = None, offsets: Sequence[int] | Array | None = None, prefixes: str | Sequence[str] = (),
               source: str = "") -> Case:
    """Writes a golden case whose expected values are the function's; returns what was written.

    function    called as function(parameters, inputs), both by name; returns the output `y`, or a mapping of outputs by
                name. It is given float64 arrays that hold the float32 values of the file (ids and masks as they are), so
                it should compute in float64
    inputs      arrays by name: rows of floats, ids of integers, masks of bool or uint8
    graph       textual IR or a file of it; or else
    op, args    a layer of the graph language and its arguments, as tests/golden/README.md lists them
    parameters  a tree as `flatten_parameters` takes it
    offsets     `[sequences + 1]`: the inputs are several sequences, one after another; the function gets each alone
    prefixes    the names of the inputs that `step` takes: also stores, for each n, the last row of the function on their
                first n + 1 rows; for a causal graph that is what `step` gives. Of a graph with one output
    source      where the values come from, for readers
    """
    if bool(graph) == bool(op):
        raise Error(f"{path}: op is '{op}' and graph {'given' if graph else 'not given'}, expected one of them")
    weights = flatten_parameters({} if parameters is None else parameters)
    stored = {name: as_input(name, array) for name, array in inputs.items()}
    bounds = [0, None] if offsets is None else [int(offset) for offset in offsets]
    widened = {name: widen(array) for name, array in weights.items()}

    def evaluate(first: int | None, end: int | None) -> dict[str, Array]:
        given = {name: widen(array[first:end]) for name, array in stored.items()}
        result = function(widened, given)
        results = result if isinstance(result, Mapping) else {"y": result}
        return {name: np.asarray(value, np.float64) for name, value in results.items()}

    each = [evaluate(first, end) for first, end in zip(bounds, bounds[1:])]
    expected = {name: each[0][name] if offsets is None else joined(name, [one[name] for one in each], bounds)
                for name in each[0]}
    if prefixes:
        along = (prefixes,) if isinstance(prefixes, str) else tuple(prefixes)
        if len(expected) != 1 or offsets is not None:
            raise Error(f"{path}: prefixes of {len(expected)} outputs and {len(bounds) - 1} sequences, expected one of "
                        "each")
        if unknown := set(along) - set(stored):
            raise Error(f"{path}: prefixes names the input {', '.join(sorted(unknown))}, expected one of "
                        f"{', '.join(stored)}")
        expected["prefixes"] = prefixes_of(function, widened, stored, along)
    if offsets is not None:
        stored["offsets"] = np.asarray(offsets, np.int32)
    text = graph if isinstance(graph, str) and "func.func" in graph else Path(graph).read_text() if graph else ""
    case = Case(weights, stored, expected, text, op, dict(args or {}), source)
    write(path, case)
    return case


def as_input(name: str, array: Any) -> Array:
    """In the type that a case has for such an input."""
    given = np.asarray(array)
    if given.dtype == np.bool_ or given.dtype == np.uint8:
        return given.astype(np.uint8)
    if np.issubdtype(given.dtype, np.integer):
        return given.astype(np.int32)
    if np.issubdtype(given.dtype, np.floating):
        return given.astype(np.float32)
    raise Error(f"input {name} is {given.dtype}, expected floats, integers or bools")


def widen(array: Array) -> Array:
    return array.astype(np.float64) if array.dtype == np.float32 else array


def joined(name: str, parts: list[Array], bounds: Sequence[int | None]) -> Array:
    """Rows of all sequences, one after another; a row per sequence stands for itself."""
    lengths = [(end or 0) - (first or 0) for first, end in zip(bounds, bounds[1:])]
    if all(part.ndim == 1 for part in parts):
        return np.stack(parts)
    if any(len(part) not in (length, 1) for part, length in zip(parts, lengths)):
        raise Error(f"output {name} has {[len(part) for part in parts]} rows in sequences of {lengths}, expected as many "
                    "or one")
    return np.concatenate(parts)


def prefixes_of(function: Function, weights: dict[str, Array], inputs: Mapping[str, Array],
                along: Sequence[str]) -> Array:
    rows = []
    for length in range(1, len(inputs[along[0]]) + 1):
        given = {name: widen(array[:length] if name in along else array) for name, array in inputs.items()}
        result = function(weights, given)
        value = np.asarray(next(iter(result.values())) if isinstance(result, Mapping) else result, np.float64)
        rows.append(value if value.ndim == 1 else value[-1])
    return np.stack(rows)


def write(path: str | os.PathLike[str], case: Case) -> None:
    tensors = {f"param.{name}": array for name, array in case.parameters.items()}
    tensors |= {f"in.{name}": array for name, array in case.inputs.items()}
    tensors |= {f"out.{name}": array for name, array in case.expected.items()}
    metadata = {"graph": case.graph} if case.graph else {"op": case.op, "args": json.dumps(case.args)}
    Path(path).write_bytes(safetensors_bytes(tensors, metadata | ({"source": case.source} if case.source else {})))


def check(*cases: str | os.PathLike[str], target: str = "host",
          program: str | os.PathLike[str] | None = None) -> list[dict[str, Any]]:
    """Runs `burin check`: compiles each case's graph and compares. Returns a dict per comparison; where one fails, or
    where a case does not fit its graph, an Error with the tool's words.
    """
    done = run_whatever(find_program(program), ["check", "--json", "--target", target, *cases])
    comparisons = [found for found in map(json.loads, done.stdout.splitlines()) if "case" in found]
    failed = [f"{found['case']}: {found['what']} on {found['target']}: at {found['at']} expected {found['expected']}, got "
              f"{found['got']} (tolerance {found['tolerance']:.1e})" for found in comparisons if not found["ok"]]
    if done.returncode != 0:
        raise Error("; ".join([*failed, *errors_in(done.stderr)]))
    return comparisons
