#!/bin/sh
# Golden cases and a benchmark on an NVIDIA GPU, as an object of JSON a line:
#
#     scripts/gpu_check.sh [BURIN]      BURIN: the program, build/bin/burin unless given
#
# Builds nothing. Where there is no NVIDIA GPU, it says so and ends with 77, which test runners read as skipped.
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
burin=${1:-$here/build/bin/burin}

if [ ! -x "$burin" ]; then
  echo "{\"gpu_check\": \"no program\", \"expected\": \"$burin\"}"
  exit 1
fi
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1)
if [ -z "$gpu" ]; then
  echo '{"gpu_check": "skipped", "reason": "no NVIDIA GPU: nvidia-smi finds none"}'
  exit 77
fi
echo "{\"gpu_check\": \"running\", \"gpu\": \"$gpu\"}"
"$burin" check --target cuda --json "$here"/tests/golden/*.safetensors || exit 1
exec "$burin" bench "$here"/tests/golden/block_wide.safetensors --target cuda --json
