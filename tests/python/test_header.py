"""What the package repeats of runtime/burin.h is what stands there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import burin
from burin.library import OpenOptions
from conftest import SOURCE

HEADER = SOURCE / "runtime" / "burin.h"


def test_statuses_are_those_of_the_header() -> None:
    declared = {name: int(code) for name, code in re.findall(r"^  BURIN_(\w+) = (\d+)", HEADER.read_text(), re.MULTILINE)}
    assert {status.name: status.value for status in burin.Status} == declared


def test_every_status_has_a_text_in_the_library(causal: burin.Model) -> None:
    texts = [causal._library.status_text(status).decode() for status in burin.Status]
    assert len(set(texts)) == len(burin.Status)
    assert causal._library.status_text(1000).decode() == "unknown status"


def test_a_status_of_a_later_runtime_is_its_number() -> None:
    assert burin.Error("from the future", 1000).status == 1000


def test_open_options_lie_as_in_the_header(tmp_path: Path) -> None:
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler:
        pytest.skip("no C compiler")
    fields = [name for name, _ in OpenOptions._fields_]
    prints = "".join(f'printf("%zu ", offsetof(burin_open_options, {name}));' for name in fields)
    (tmp_path / "offsets.c").write_text('#include "burin.h"\n#include <stdio.h>\n'
                                        f'int main(void) {{ {prints} printf("%zu", sizeof(burin_open_options)); }}\n')
    subprocess.run([compiler, f"-I{HEADER.parent}", "-o", tmp_path / "offsets", tmp_path / "offsets.c"], check=True)
    printed = subprocess.run([tmp_path / "offsets"], check=True, capture_output=True, text=True).stdout
    import ctypes
    expected = [getattr(OpenOptions, name).offset for name in fields] + [ctypes.sizeof(OpenOptions)]
    assert [int(number) for number in printed.split()] == expected
