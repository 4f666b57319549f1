// What the tool says of targets, and of objects for several of them.

// RUN: burin targets | FileCheck %s --check-prefix=TABLE
// TABLE: target {{ *}}for {{ *}}vector {{ *}}this machine
// TABLE-DAG: x86-64-sse41 {{ *}}x86 from 2008 on, no fused products {{ *}}4 floats
// TABLE-DAG: x86-64-avx2 {{ *}}x86 with AVX2 and FMA {{ *}}8 floats
// TABLE-DAG: x86-64-avx512 {{ *}}x86 with AVX-512 {{ *}}16 floats
// TABLE-DAG: opencl {{ *}}GPUs and processors through OpenCL
// TABLE-DAG: riscv-64 {{ *}}RISC-V with V, vectors of 128 bits {{ *}}4 floats
// TABLE: Several in one object
// TABLE: x86-64 {{ *}}any x86 from 2008 on {{ *}}runs {{[0-3]}} of 3
// TABLE-NEXT: x86-64-avx512, x86-64-avx2, x86-64-sse41
// TABLE: Options:
// TABLE-DAG: cuda-capability_80 {{ *}}cuda with capability 80, as without the option
// TABLE-DAG: cuda-capability_86 {{ *}}cuda with capability 86{{$}}
// TABLE: Features
// TABLE-DAG: arm-64-dot_prod {{ *}}arm-64 with dot products of int8{{$}}
// TABLE-DAG: arm-64-fp16 {{ *}}arm-64 with arithmetic in half precision{{$}}

// RUN: burin targets --json | FileCheck %s --check-prefix=JSON
// JSON: {"name":"x86-64-sse41","for":"x86 from 2008 on, no fused products",{{.*}}"vector_floats":4,"runs_here":
// JSON: {"name":"x86-64","for":"any x86 from 2008 on","targets":["x86-64-avx512","x86-64-avx2","x86-64-sse41"]}
// JSON: {"feature":"dot_prod","of":"arm-64","for":"dot products of int8","names":["arm-64-dot_prod"]}

// RUN: not burin compile %s -o %t --target x86-64-avx3 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: target 'x86-64-avx3' is not known; near it is x86-64-avx2; `burin targets` lists all
// RUN: not burin compile %s -o %t --target cuda-capability_85 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: target 'cuda-capability_85' is not known; near it are cuda-capability_75, cuda-capability_80 and cuda-capability_86; `burin targets` lists all
// RUN: not burin compile %s -o %t --target riscv64 2>&1 | FileCheck %s --check-prefix=NEAREST
// NEAREST: error: target 'riscv64' is not known; near it is riscv-64; `burin targets` lists all
// RUN: not burin compile %s -o %t --target x86-64-sse41,riscv-64 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: targets x86-64-sse41 and riscv-64 cannot be in one object: it is for x86_64-unknown-linux-gnu or for riscv64-unknown-linux-gnu; compile once for each
// RUN: not burin inspect %s --target x86-64 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: error: 'x86-64' are several targets, expected one of x86-64-avx512, x86-64-avx2 and x86-64-sse41

// RUN: not burin compile %s -o %t --target wasm --shared 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: target 'wasm' has no shared libraries, expected a program that links the object

// The header of an object for several says so, and gives sizes that are enough for each.
// RUN: burin compile %s -o %t --target x86-64-sse41,x86-64-avx2
// RUN: cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../runtime -x c %t/small.h
// RUN: FileCheck %s --check-prefix=HEADER < %t/small.h
// HEADER: Model `small`, compiled by Burin for x86-64-avx2 and x86-64-sse41.
// HEADER-NEXT: Opening chooses the first of these that the processor has, or the one that the options name in `isa`.
// HEADER: #define SMALL_WEIGHTS_BYTES {{[0-9]+}} /* packed, at most */

// A case, from the outputs of one.
// RUN: burin init %s -o %t.safetensors --seed 7
// RUN: python3 %S/tensors.py inputs %t.inputs x=5x3
// RUN: burin run %s --weights %t.safetensors --inputs %t.inputs -o %t.y --target x86-64-sse41
// RUN: python3 %S/tensors.py case %t.case %s %t.safetensors %t.inputs %t.y

// Each of an object's plans that this machine runs is checked.
// RUN: burin check %t.case --target x86-64-sse41,generic-x86-64 | FileCheck %s --check-prefix=CHECK
// CHECK: on x86-64-sse41
// CHECK: on generic-x86-64
// CHECK: 0 failed

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %b = encoder.parameter "b" init "normal" : tensor<8xf32>
    %y = encoder.dense %x, %W, %b : tensor<?x3xf32, #time>, tensor<3x8xf32>, tensor<8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
