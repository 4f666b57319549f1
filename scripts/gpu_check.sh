#!/bin/sh
# Golden cases and a benchmark on a GPU, as an object of JSON a line:
#
#     scripts/gpu_check.sh [--burin PROGRAM] [--kernels FOLDER] [--target cuda] [CASE…]
#     scripts/gpu_check.sh --prepare FOLDER [--burin PROGRAM] [--target cuda] [CASE…]
#
# Builds nothing but what it is not given. PROGRAM is the tool, build/bin/burin unless given: that of a build, or of an
# installation. FOLDER holds kernels that the same program compiled, which --prepare puts there on any machine: given it, the
# check compiles none. CASE: golden cases, those of the tests unless given; the benchmark is of the last one given. With --target
# opencl it is OpenCL's device, which may be a processor.
#
# The exit status is 0, 1 where a case differs or something is missing, 2 for wrong usage, and 77, which test runners read as
# skipped, where there is no GPU.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
burin=$here/build/bin/burin kernels='' prepare='' target=cuda

fail() { # status, key, text
  printf '{"gpu_check": "%s", "reason": "%s"}\n' "$2" "$3"
  exit "$1"
}

while [ $# -gt 0 ]; do
  case $1 in
    --burin | --kernels | --prepare | --target)
      [ $# -ge 2 ] || fail 2 'wrong usage' "$1 needs a value"
      case $1 in
        --burin) burin=$2 ;;
        --kernels) kernels=$2 ;;
        --prepare) kernels=$2 prepare=yes ;;
        --target) target=$2 ;;
      esac
      shift 2
      ;;
    -*) fail 2 'wrong usage' "$1 is not an option" ;;
    *) break ;;
  esac
done
timed=$here/tests/golden/block_wide.safetensors
if [ $# -gt 0 ]; then
  for timed; do :; done
else
  set -- "$here"/tests/golden/*.safetensors
fi

[ -x "$burin" ] || fail 1 'no program' "expected $burin"
if [ -n "$kernels" ]; then
  [ -n "$prepare" ] || [ -d "$kernels" ] || fail 1 'no kernels' "$kernels is not a folder; --prepare makes it"
  BURIN_KERNEL_CACHE=$kernels
  export BURIN_KERNEL_CACHE
fi

if [ -n "$prepare" ]; then
  folder=$(mktemp -d) || exit 1
  trap 'rm -rf "$folder"' EXIT
  for case; do
    "$burin" compile "$case" -o "$folder" --target "$target" --json || exit 1
  done
  exit 0
fi

case $target in
  cuda*)
    gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
    [ -n "$gpu" ] || fail 77 skipped 'no NVIDIA GPU: nvidia-smi finds none'
    ;;
  *) gpu=$target ;;
esac
printf '{"gpu_check": "running", "gpu": "%s"}\n' "$gpu"
"$burin" check --target "$target" --json "$@" || exit 1
exec "$burin" bench "$timed" --target "$target" --json
