"""The same graph gives the same object, byte for byte: wherever, whenever and on whichever machine it is compiled.

    python3 same_object_test.py BURIN SCRATCH

Each setting has a cache of its own, which is empty, and its object is compared with the first. A library that is loaded before the
compiler moves its clock by a year, and starts its workers under an emulator of another processor, which the compiler
itself runs under as well.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROWS = 'tensor<?x6xf32, #encoder.rows<"time", 40>>'
GRAPH = """module @small {
  func.func @forward(%x: ROWS {encoder.name = "x"}) -> (ROWS {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<6x6xf32>
    %h = encoder.dense %x, %W : ROWS, tensor<6x6xf32>
    %y = encoder.attention %h, %h, %h heads 2 scale 0.3 causal true : ROWS, ROWS, ROWS
    return %y : ROWS
  }
}
""".replace("ROWS", ROWS)

PRELOADED = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static long later(void) { return getenv("BURIN_TEST_LATER") ? 366L * 24 * 3600 : 0; }

time_t time(time_t *out) {
  time_t now = ((time_t (*)(time_t *))dlsym(RTLD_NEXT, "time"))(NULL) + later();
  return out ? *out = now : now;
}
int gettimeofday(struct timeval *now, void *zone) {
  int status = ((int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday"))(now, zone);
  now->tv_sec += later();
  return status;
}
int clock_gettime(clockid_t clock, struct timespec *now) {
  int status = ((int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
  now->tv_sec += clock == CLOCK_REALTIME ? later() : 0;
  return status;
}

typedef int spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);
int posix_spawn(pid_t *child, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
                char *const arguments[], char *const environment[]) {
  spawn *next = (spawn *)dlsym(RTLD_NEXT, "posix_spawn");
  char *emulator = getenv("BURIN_TEST_EMULATOR");
  if (!emulator || !arguments[1] || strcmp(arguments[1], "--burin-kernel-worker"))
    return next(child, path, actions, attributes, arguments, environment);
  char *emulated[] = {emulator, "-cpu", getenv("BURIN_TEST_PROCESSOR"), arguments[0], arguments[1], arguments[2], arguments[3], NULL};
  return next(child, emulator, actions, attributes, emulated, environment);
}
"""

PROCESSOR = "Nehalem"  # without AVX: whatever looks at the processor here finds another there


def main() -> int:
    burin, scratch = sys.argv[1], Path(sys.argv[2])
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    (scratch / "small.mlir").write_text(GRAPH)
    (scratch / "preloaded.c").write_text(PRELOADED)
    preloaded = scratch / "preloaded.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", scratch / "preloaded.c", "-o", preloaded, "-ldl"], check=True)
    elsewhere = scratch / "another folder, 40 letters away from here" / "größer"
    elsewhere.mkdir(parents=True)
    shutil.copy(scratch / "small.mlir", elsewhere)
    emulator = shutil.which("qemu-x86_64")

    def compiled(name: str, target: str, before=(), folder: Path = scratch, cores=None, mask=0o022, **environment: str) -> bytes | None:
        """The object's bytes; `before` is what the command line begins with."""
        def settle() -> None:
            os.umask(mask)
            if cores:
                os.sched_setaffinity(0, cores)
        out = folder / f"{name}_{target}"
        done = subprocess.run([*before, burin, "compile", "small.mlir", "-o", out, "--target", target],
                              cwd=folder, env={**os.environ, **environment, "BURIN_KERNEL_CACHE": str(folder / f"{name}_{target}_kernels")}, preexec_fn=settle, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            print(f"{name}: {done.stdout}")
            return None
        return (out / "small.o").read_bytes()

    first_core = {min(os.sched_getaffinity(0))}
    settings = [
        ("again", "x86-64-avx2", {}),
        ("in another folder", "x86-64-avx512",
         {"folder": elsewhere, "mask": 0o077, "HOME": str(elsewhere), "TMPDIR": str(elsewhere), "USER": "somebody"}),
        ("a year later", "x86-64-avx2",
         {"LD_PRELOAD": str(preloaded), "BURIN_TEST_LATER": "1", "TZ": "Pacific/Kiritimati", "LC_ALL": "C.UTF-8"}),
        ("on one core", "x86-64-avx2", {"cores": first_core, "LC_ALL": "C"}),
    ]
    # Another host's name; addresses that are the same in every run.
    for name, before in [("with another host name", ["unshare", "--uts", "sh", "-c", 'hostname elsewhere; exec "$@"', "sh"]),
                         ("at fixed addresses", ["setarch", "-R"])]:
        if subprocess.run([*before, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            settings.append((name, "x86-64-avx2", {"before": before}))
        else:
            print(f"skipped: {name}: '{before[0]}' may not, or is missing")
    if emulator:
        settings.append((f"on a processor of {PROCESSOR}", "generic-x86-64", {
            "before": [emulator, "-cpu", PROCESSOR, "-E", f"LD_PRELOAD={preloaded}"],
            "BURIN_TEST_EMULATOR": emulator, "BURIN_TEST_PROCESSOR": PROCESSOR}))
    else:
        print("skipped: on another processor: qemu-x86_64 is missing (Debian's package qemu-user)")

    wrong = 0
    expected = {target: compiled("first", target) for target in dict.fromkeys(target for _, target, _ in settings)}
    for name, target, how in settings:
        got = compiled(name.replace(" ", "_"), target, **how)
        good = got is not None and got == expected[target]
        print(f"{name}, {target}: {'the same' if good else 'another'} object, {len(got or b'')} bytes")
        wrong += not good
    return 1 if wrong or None in expected.values() else 0


if __name__ == "__main__":
    sys.exit(main())
