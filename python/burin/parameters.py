"""Parameters from anywhere to a safetensors file: nested dicts and lists of arrays, JAX pytrees, PyTorch state dicts.

A parameter's name is its path, joined by dots; an index follows what it counts without one, as the layers of the graph
language name their blocks:

    {"embed": {"W": …}, "block": [{"attn": {"W_Q": …}}, …]}     embed.W, block0.attn.W_Q, …

Matrices are `[in, out]`, as JAX has them; PyTorch's `nn.Linear` has `[out, in]`, so transpose those, or export a whole
encoder with `export_torch`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import safetensors.numpy

from burin.arrays import Array
from burin.errors import Error


def flatten_parameters(tree: Any, rename: Callable[[str], str] | Mapping[str, str] | None = None) -> dict[str, Array]:
    """The arrays of a tree by name, float32 and C-contiguous: what is already so is not copied.

    tree     dicts, lists, tuples, named tuples, and where JAX is loaded any pytree; the leaves are arrays of floats
             (numpy, JAX, PyTorch). float64 is rounded to float32; a value that becomes infinite is an error
    rename   a function from path to name, or a mapping with the paths that have another name
    """
    found: dict[str, Array] = {}
    for path, leaf in leaves(tree, ""):
        name = path if rename is None else rename(path) if callable(rename) else rename.get(path, path)
        if name in found:
            raise Error(f"parameter {name} is there twice, expected one array of each name")
        found[name] = as_float32(name, leaf)
    return found


def save_parameters(path: str | os.PathLike[str], tree: Any,
                    rename: Callable[[str], str] | Mapping[str, str] | None = None) -> dict[str, Array]:
    """Writes the arrays of a tree, as `flatten_parameters` names them, to a safetensors file; returns them."""
    found = flatten_parameters(tree, rename)
    with open(path, "wb") as file:
        file.write(safetensors_bytes(found))
    return found


def safetensors_bytes(tensors: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    # The library writes an array's memory as it lies, whatever its strides: so it has to lie in order.
    ordered = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    return safetensors.numpy.save(ordered, dict(metadata) if metadata else None)


def leaves(node: Any, path: str) -> Iterator[tuple[str, Any]]:
    for key, child in children(node, path):
        if isinstance(key, int):
            yield from leaves(child, f"{path}{key}")
        else:
            yield from leaves(child, f"{path}.{key}" if path else key)
    if is_leaf(node):
        yield path, node


def is_leaf(node: Any) -> bool:
    return hasattr(node, "shape") and hasattr(node, "dtype")


def children(node: Any, path: str) -> list[tuple[str | int, Any]]:
    """A node's children by key, one level down."""
    if is_leaf(node) or node is None:
        return []
    if isinstance(node, Mapping):
        for key in node:
            if not isinstance(key, (str, int)):
                raise Error(f"{path or 'the tree'} has the key {key!r}, expected names or indices")
        return list(node.items())
    if hasattr(node, "_asdict"):
        return list(node._asdict().items())
    if isinstance(node, (list, tuple)):
        return list(enumerate(node))
    below = children_by_jax(node)
    if below is None:
        raise Error(f"{path or 'the tree'} is a {type(node).__name__}, expected an array, a mapping or a sequence of them")
    return below


def children_by_jax(node: Any) -> list[tuple[str | int, Any]] | None:
    """Of a type that was registered as a pytree. Who made such a tree has loaded JAX."""
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    paths, _ = jax.tree_util.tree_flatten_with_path(node, is_leaf=lambda child: child is not node)
    if len(paths) == 1 and not paths[0][0]:  # itself: not a pytree
        return None

    def key_of(entry: Any) -> str | int:
        for field in ("key", "idx", "name"):
            if hasattr(entry, field):
                key = getattr(entry, field)
                return key if isinstance(key, int) else str(key)
        return str(entry)

    return [(key_of(path[0]), child) for path, child in paths]


def as_float32(name: str, leaf: Any) -> Array:
    if hasattr(leaf, "detach"):  # a PyTorch tensor: numpy knows no bfloat16, and asks that no gradient be lost silently
        leaf = leaf.detach().cpu()
        leaf = leaf.float() if leaf.is_floating_point() else leaf
    array = np.asarray(leaf)
    is_float = np.issubdtype(array.dtype, np.floating) or array.dtype.name == "bfloat16"
    if not is_float:
        raise Error(f"parameter {name} is {array.dtype} {list(array.shape)}, expected floats")
    with np.errstate(over="ignore"):
        rounded = np.ascontiguousarray(array, dtype=np.float32)
    if rounded.shape != array.shape:  # ascontiguousarray makes a number a row
        rounded = rounded.reshape(array.shape)
    if array.dtype.itemsize > 4 and not np.array_equal(np.isfinite(rounded), np.isfinite(array)):
        raise Error(f"parameter {name} has values beyond float32, largest {np.nanmax(np.abs(array)):g}, expected at most "
                    f"{np.finfo(np.float32).max:g}")
    return rounded
