"""What has to be on the machine before CMake can run: Debian packages, and pinned PyPI packages in `.venv`.

A container image or a package manager for C++ would pin more; both would ask a newcomer for another tool first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from progress import ROOT, Failure, run_quietly, say

VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "scripts" / "requirements.txt"


class Package(NamedTuple):
    """A Debian 12 package and what it is for."""

    name: str
    reason: str
    required: bool = True


# LLVM's major version is part of the names; for the rest, Debian 12 is the pin.
PACKAGES = [
    Package("g++", "compiles Burin, and the C programs that link its objects"),
    Package("python3-venv", "makes .venv, where the PyPI packages live"),
    Package("libmlir-22-dev", "MLIR: the dialect, the passes and the LLVM dialect"),
    Package("mlir-22-tools", "mlir-tblgen: turns .td files into C++"),
    Package("llvm-22-dev", "LLVM: turns the entry points' LLVM IR into objects"),
    Package("llvm-22-tools", "llvm-objcopy for symbols; FileCheck and not for tests"),
    Package("lld-22", "ld.lld: the partial link that makes one object of many"),
    Package("libgtest-dev", "GoogleTest: the tests in C++"),
    Package("libgmock-dev", "its matchers"),
    Package("libcli11-dev", "command lines of burin and of generators"),
    Package("libbenchmark-dev", "Google Benchmark: programs under bench/"),
    Package("qemu-user", "runs programs of other processors, and of lesser ones, in the tests", required=False),
    Package("nlohmann-json3-dev", "JSON: headers of safetensors files, reports"),
    Package("gcc-aarch64-linux-gnu", "links programs for 64-bit ARM, for tests", required=False),
    Package("libc6-dev-arm64-cross", "their C library", required=False),
    Package("gcc-riscv64-linux-gnu", "links programs for 64-bit RISC-V, for tests", required=False),
    Package("libc6-dev-riscv64-cross", "their C library", required=False),
    Package("clang-22", "compiles and links programs for WebAssembly, for tests", required=False),
    Package("wasi-libc", "their C library", required=False),
    Package("libclang-rt-22-dev", "libFuzzer and its sanitizers, for tests", required=False),
    Package("libclang-rt-22-dev-wasm32", "their compiler's own functions", required=False),
    Package("pocl-opencl-icd", "OpenCL on the processor: golden cases and laws of GPU schedules", required=False),
    Package("ocl-icd-libopencl1", "finds it", required=False),
    Package("ccache", "a second build from nothing takes seconds", required=False),
    Package("chromium", "tests look at the pages that the tool writes", required=False),
]


# ---- Debian packages


def installed_versions() -> dict[str, str]:
    """Versions of those of our packages that dpkg knows as installed; empty where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return {}
    query = ["dpkg-query", "--show", "--showformat=${Package} ${Version} ${db:Status-Status}\n"]
    answer = subprocess.run(query + [package.name for package in PACKAGES], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL).stdout
    rows = [line.split() for line in answer.splitlines()]
    return {row[0]: row[1] for row in rows if row[-1] == "installed"}


def missing_packages() -> list[Package]:
    installed = installed_versions()
    return [package for package in PACKAGES if package.name not in installed]


def reason_not_to_install() -> str | None:
    """Why packages cannot be installed from here, or None if they can."""
    release = Path("/etc/os-release")
    lines = release.read_text().splitlines() if release.exists() else []
    if not {"ID=debian", 'VERSION_ID="12"'} <= set(lines):
        return "this system is not Debian 12"
    return None if os.geteuid() == 0 else "this user is not root"


def install_packages() -> None:
    """Makes sure that every Debian package is there, or says which are not."""
    missing = missing_packages()
    if not missing:
        return
    names = [package.name for package in missing]
    obstacle = reason_not_to_install()
    if obstacle is None:
        apt_get_install(names)
    elif any(package.required for package in missing):
        rows = "\n".join(f"  {package.name:20} {package.reason}" for package in missing)
        raise Failure(f"packages are missing and cannot be installed, because {obstacle}:\n{rows}\n"
                      f"As root on Debian 12:\n"
                      f"  apt-get update && apt-get install --no-install-recommends {' '.join(names)}")
    else:
        say(f"going on without {', '.join(names)}, because {obstacle}")


def apt_get_install(names: list[str]) -> None:
    """Installs packages; tries twice, because archives and networks have bad moments."""
    options = "-q -y -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3"
    # `;` and not `&&`: an archive that has nothing to do with Burin may fail to update; the packages are what counts.
    script = (f"export DEBIAN_FRONTEND=noninteractive; apt-get {options} update; "
              f"apt-get {options} install --no-install-recommends {' '.join(names)}")
    title = f"apt-get install {' '.join(names)}"
    try:
        run_quietly(title, ["sh", "-c", script])
    except Failure as failure:
        say(f"trying once more: {failure}")
        run_quietly(title, ["sh", "-c", script])


# ---- PyPI packages


def pinned_versions() -> dict[str, str]:
    lines = REQUIREMENTS.read_text().splitlines()
    return dict(line.strip().split("==") for line in lines if not line.startswith("#"))


def requirements_stamp() -> str:
    """Changes whenever .venv has to be made anew: other pins, another Python, or a checkout that moved."""
    subject = f"{REQUIREMENTS.read_text()}\n{sys.version_info[:2]}\n{VENV}"
    return hashlib.sha256(subject.encode()).hexdigest()


def make_environment() -> None:
    """Makes .venv with exactly the pinned packages. The stamp comes last, so an interrupted run starts over."""
    stamp = VENV / "requirements.sha256"
    if stamp.exists() and stamp.read_text() == requirements_stamp():
        return
    run_quietly("making .venv", [sys.executable, "-m", "venv", "--clear", VENV])
    pins = ", ".join(f"{name} {version}" for name, version in pinned_versions().items())
    run_quietly(f"pip install {pins}",
                [VENV / "bin" / "python", "-m", "pip", "install", "--disable-pip-version-check", "--no-deps",
                 "--only-binary", ":all:", "--requirement", REQUIREMENTS])
    stamp.write_text(requirements_stamp())


def halide_cmake() -> Path:
    """Where the wheel keeps HalideConfig.cmake; HalideHelpers stands beside it and is found from there."""
    found = sorted(VENV.glob("lib/python3*/site-packages/halide/lib*/cmake/Halide"))
    if not found:
        raise Failure(f"the halide wheel in {VENV} holds no lib64/cmake/Halide")
    return found[0]


# ---- report


def doctor() -> int:
    """Says what is there and what is missing, and changes nothing; fails if something needed is missing."""
    versions = installed_versions()
    print("Debian packages")
    for package in PACKAGES:
        print(f"  {package.name:20} {versions.get(package.name, 'MISSING'):22} {package.reason}")
    print(f"PyPI packages in {VENV}")
    complete = not any(package.required for package in missing_packages())
    for name, version in pinned_versions().items():
        present = any(VENV.glob(f"lib/python3*/site-packages/{name}-{version}.dist-info"))
        complete = complete and present
        print(f"  {name:20} {version if present else 'MISSING'}")
    obstacle = reason_not_to_install()
    print("a build installs what is missing" if obstacle is None else
          f"a build installs what is missing from PyPI, but no Debian package: {obstacle}")
    return 0 if complete else 1
