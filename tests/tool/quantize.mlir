// burin quantize: what fewer bits cost, and a graph that has as few as its errors allow.

// RUN: burin quantize %S/../golden/encoder_causal_deep.safetensors --at-most 0.002 -o %t.mlir | FileCheck %s --check-prefix=REPORT
// REPORT: contracts of encoder_causal_deep: error on the rows that float64 gives them
// REPORT: bf16: cosine with float64 0.9999
// REPORT: int8: cosine with float64 0.99
// REPORT: chosen: cosine with float64 0.9999
// RUN: burin inspect %t.mlir --json | FileCheck %s --check-prefix=GRAPH
// GRAPH: "precision": "bf16

// Without error nothing is smaller; with any, everything is as small as can be.
// RUN: burin quantize %S/../golden/mhsa_page.safetensors --at-most 0 --json | FileCheck %s --check-prefix=NONE
// NONE-NOT: "chosen": "int8"
// NONE-NOT: "chosen": "bf16"
// RUN: burin quantize %S/../golden/mhsa_page.safetensors --at-most 1 --sequences 1 --json | FileCheck %s --check-prefix=ALL
// ALL-NOT: "chosen": "float32"

// RUN: not burin quantize %t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: {{.*}}absent
// RUN: not burin quantize %S/../golden/encoder_causal_deep.safetensors --at-most -1 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: --at-most
// RUN: not burin quantize %S/../golden/mhsa_page.safetensors -o %t.none/no/file.mlir 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: error: {{.*}}No such file or directory
