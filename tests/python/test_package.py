"""The package as users get it: installed, typed, and as its documents say."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from conftest import SOURCE

PACKAGE = SOURCE / "python"
DOCUMENTS = [SOURCE / "docs" / "python.md", PACKAGE / "README.md"]


def test_installs_into_a_fresh_environment_without_a_network(tmp_path: Path) -> None:
    shutil.copytree(PACKAGE, tmp_path / "python", ignore=shutil.ignore_patterns("*.egg-info", "build", "__pycache__"))
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    # pip and setuptools, and what the package needs, are those of this environment.
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    packages = tmp_path / "venv" / "lib" / version / "site-packages"
    (packages / "these.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    offline = ["--no-index", "--no-build-isolation", "--no-deps", "--force-reinstall"]
    done = subprocess.run([*pip, "install", *offline, tmp_path / "python"], env=environment, text=True,
                          capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr
    where = subprocess.run([python, "-c", "import burin; print(burin.__file__)"], cwd=tmp_path, env=environment,
                           check=True, text=True, capture_output=True).stdout.strip()
    assert Path(where).is_relative_to(tmp_path / "venv")
    assert Path(where).with_name("py.typed").exists()


def test_annotations_pass_a_strict_type_checker() -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", os.devnull],
                          cwd=PACKAGE, text=True, capture_output=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_public_name_is_documented() -> None:
    import burin
    assert sorted(burin.__all__) == sorted({name for name in burin.__all__})
    for name in burin.__all__:
        assert (getattr(burin, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=[document.name for document in DOCUMENTS])
def test_the_documents_programs_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another, as one program; those that import what is not installed are left out."""
    programs = re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)
    assert programs
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for program in programs:
        wanted = re.findall(r"^import (\w+)|^from (\w+)", program, re.MULTILINE)
        modules = {first or second for first, second in wanted}
        if any(module in modules and not installed(module) for module in ("torch", "jax")):
            continue
        exec(compile(program, str(document), "exec"), names)


def installed(module: str) -> bool:
    from importlib.util import find_spec
    return find_spec(module) is not None
