"""Burin from Python: compile a transformer encoder ahead of time, and run it on numpy arrays without copying them.

    compiled = burin.compile(burin.export_torch(encoder, "policy", max_len=64, causal=True), "build")
    model = compiled.open()
    y = model.forward(x)["y"]

`compile` runs the program `burin` and needs it; `open` needs only the shared library that it wrote.
"""

from burin.compiling import Compiled, Source, compile, find_program
from burin.description import Axis, Description, StateValue, Stream, Tensor
from burin.errors import Error, Status
from burin.golden import Case, check, read_case, write_case
from burin.model import Model, State, open
from burin.parameters import flatten_parameters, save_parameters
from burin.torch_encoder import export_torch

__all__ = [
    "Axis", "Case", "Compiled", "Description", "Error", "Model", "Source", "State", "StateValue", "Status", "Stream",
    "Tensor", "check", "compile", "export_torch", "find_program", "flatten_parameters", "open", "read_case",
    "save_parameters", "write_case",
]
