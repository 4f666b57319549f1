// Int8 on ARM: products in pairs of 16 bits, and four of 8 in one instruction where the processor has it.

// REQUIRES: arm-64
// RUN: burin check %S/../golden/mhsa_odd.safetensors %S/../golden/block_causal_odd.safetensors --precision int8 --target arm-64 | FileCheck %s
// RUN: burin check %S/../golden/mhsa_odd.safetensors %S/../golden/block_causal_odd.safetensors --precision int8 --target arm-64-dot_prod | FileCheck %s
// CHECK: comparisons, 0 failed
// RUN: burin compile %s -o %t.dir --precision int8 --target arm-64-dot_prod
// RUN: llvm-objdump -d %t.dir/wide.o | FileCheck %s --check-prefix=DOT
// DOT: sdot

#time = #encoder.rows<"time", 8>
module @wide {
  func.func @forward(%x: tensor<?x256xf32, #time> {encoder.name = "x"}) -> (tensor<?x96xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<256x96xf32>
    %y = encoder.dense %x, %W : tensor<?x256xf32, #time>, tensor<256x96xf32>
    return %y : tensor<?x96xf32, #time>
  }
}
