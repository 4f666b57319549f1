"""The program `burin`, and what it makes of a graph."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from burin.errors import Error
from burin.model import Model, Weights, open

PROGRAM = "burin"


def find_program(given: str | os.PathLike[str] | None = None) -> Path:
    """The program `burin`: the one given; or what the variable BURIN names; or the first on PATH, beside this Python,
    or in a prefix of CMAKE_PREFIX_PATH. A folder that is given or named is one that Burin was installed to.
    """
    for named, origin in ((given, "the argument"), (os.environ.get("BURIN") or None, "the variable BURIN")):
        if named is None:
            continue
        path = Path(named)
        path = path / "bin" / PROGRAM if path.is_dir() else path
        if not os.access(path, os.X_OK):
            raise Error(f"{path}, which {origin} says, is not a program, expected burin or the prefix it is installed to")
        return path
    prefixes = [sys.prefix, *os.environ.get("CMAKE_PREFIX_PATH", "").split(os.pathsep)]
    folders = os.pathsep.join(str(Path(prefix) / "bin") for prefix in prefixes if prefix)
    found = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=folders)
    if found is None:
        raise Error("the program burin is not on PATH, nor in a prefix of CMAKE_PREFIX_PATH, expected it there or named "
                    "by the variable BURIN")
    return Path(found)


def run_whatever(program: Path, arguments: Sequence[object]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(program), *map(str, arguments)], text=True, capture_output=True)


def run(program: Path, arguments: Sequence[object]) -> str:
    """What the program prints. Its errors become an Error, with their text."""
    done = run_whatever(program, arguments)
    if done.returncode != 0:
        said = "\n".join(errors_in(done.stderr)) or "nothing was said"
        raise Error(f"{program} {' '.join(map(str, arguments))}: exit status {done.returncode}: {said}")
    return done.stdout


def errors_in(text: str) -> list[str]:
    """The lines of what the program said on stderr, without those of its progress."""
    return [line for line in text.splitlines() if line.strip() and not re.search(r": \d+ of \d+ \(\d+ s\)$", line)]


@dataclass(frozen=True)
class Source:
    """A graph to compile, and the weights that belong to it."""

    graph: Path
    weights: Path | Mapping[str, Any] | None = None
    allow_extra_tensors: bool = False  # the weights hold tensors that the graph does not read

    @staticmethod
    def of(path: str | os.PathLike[str]) -> Source:
        """Of a model's directory or a golden case, with its weights; of anything else without."""
        graph = Path(path)
        if not graph.exists():
            raise Error(f"{graph}: no such file or directory, expected a graph")
        if graph.is_dir():
            return Source(graph, weights_of_folder(graph), allow_extra_tensors=True)
        if graph.suffix == ".safetensors":
            from burin.golden import read_case
            return Source(graph, read_case(graph).parameters or None)
        return Source(graph)

    @property
    def is_generator(self) -> bool:
        """A program that declares its own graph (burin_main of the graph language)."""
        if not self.graph.is_file() or not os.access(self.graph, os.X_OK):
            return False
        with self.graph.open("rb") as file:  # some file systems call every file executable
            return file.read(4).startswith((b"\x7fELF", b"#!"))


def weights_of_folder(folder: Path) -> Path:
    """model.safetensors of a transformers or sentence-transformers directory, which may have it one folder down."""
    modules = folder / "modules.json"
    below = json.loads(modules.read_text())[0].get("path", "") if modules.exists() else ""
    return folder / below / "model.safetensors"


@dataclass(frozen=True)
class Compiled:
    """The files of a compiled model."""

    library: Path  # shared, with the runtime in it: what `open` takes
    header: Path
    object: Path  # for a program in C or C++
    source: Source

    def open(self, weights: Weights | None = None, **options: Any) -> Model:
        """Opens the model: with these weights, or else with those of its source. Options are those of `burin.open`."""
        if weights is None:
            weights = self.source.weights
            options.setdefault("allow_extra_tensors", self.source.allow_extra_tensors)
        return open(self.library, weights, **options)


def compile(graph: str | os.PathLike[str] | Source, folder: str | os.PathLike[str], *, target: str = "host",
            precision: str | None = None, jobs: int | None = None,
            program: str | os.PathLike[str] | None = None) -> Compiled:
    """Compiles a graph; writes NAME.so, NAME.h and NAME.o to the folder, where NAME is the model's.

    graph      a model's directory as `burin import` reads it (config.json, model.safetensors), a file of textual IR, a
               golden case, a program that declares a graph, or what `export_torch` returns
    folder     made where it is missing
    target     as `burin targets` lists them; "x86-64" holds code for every x86-64 processor
    precision  "float32", "bf16" or "int8", of all contracts; what the graph says unless given
    jobs       how many kernels are compiled at once; as many as there are processors unless given
    program    as `find_program` takes it
    """
    source = graph if isinstance(graph, Source) else Source.of(graph)
    options = ["-o", folder, "--shared", "--target", target, *(["--precision", precision] if precision else []),
               *(["-j", jobs] if jobs else [])]
    if source.is_generator:
        printed = run(source.graph.resolve(), ["compile", *options])
    else:
        printed = run(find_program(program), ["compile", source.graph, *options])
    written = {path.suffix: path for path in map(Path, printed.splitlines())}
    return Compiled(written[".so"], written[".h"], written[".o"], source)
