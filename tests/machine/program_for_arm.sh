#!/bin/sh
# The README's lines for a program on ARM, with the digits of examples/02_digits: exit status 0 when its scores are those
# of the golden case.
#
#     sh tests/machine/program_for_arm.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1 build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
example=$build/examples/02_digits
"$build/bin/digit_reader_generator" compile -o "$folder" --target arm-64
aarch64-linux-gnu-gcc -std=c99 -O2 -static -I"$folder" -I"$source/runtime" -I"$example/cases" -o "$folder/digits" \
  "$source/examples/02_digits/digits.c" "$folder/digit_reader.o" "$build/lib/arm-64/libburin_runtime.a" -lm
qemu-aarch64 "$folder/digits" "$example/digits_weights.safetensors"
