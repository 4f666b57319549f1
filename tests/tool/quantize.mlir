// burin quantize: what fewer bits cost, and a graph that has as few as its errors allow.

// One small case for all: what takes long is compiling and timing each shape of a contract in each precision.
// RUN: burin quantize %S/../golden/mhsa_page.safetensors --at-most 0.002 -o %t.mlir | FileCheck %s --check-prefix=REPORT
// REPORT: contracts of mhsa_page: error on the rows that float64 gives them
// REPORT: W_Q 8x8 {{.*}} float32{{$}}
// REPORT: W_V 8x8 {{.*}} bf16{{$}}
// REPORT: W_O 8x8 {{.*}} bf16{{$}}
// REPORT: bf16: cosine with float64 0.99999
// REPORT: int8: cosine with float64 0.9999
// REPORT: chosen: cosine with float64 0.99999
// RUN: burin inspect %t.mlir --json | FileCheck %s --check-prefix=GRAPH
// GRAPH: "precision": "float32 and bf16"

// Without error nothing is smaller; with any, everything is as small as can be.
// RUN: burin quantize %S/../golden/mhsa_page.safetensors --at-most 0 --json | FileCheck %s --check-prefix=NONE
// NONE-NOT: "chosen": "int8"
// NONE-NOT: "chosen": "bf16"
// RUN: burin quantize %S/../golden/mhsa_page.safetensors --at-most 1 --sequences 1 --json | FileCheck %s --check-prefix=ALL
// ALL-NOT: "chosen": "float32"

// RUN: not burin quantize %t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: {{.*}}absent
// RUN: not burin quantize %S/../golden/mhsa_page.safetensors --at-most -1 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: --at-most
// RUN: not burin quantize %S/../golden/mhsa_page.safetensors -o %t.none/no/file.mlir 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: {{.*}}No such file or directory
