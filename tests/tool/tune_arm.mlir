// burin tune through an emulator: the way to a board, with times that mean nothing.

// REQUIRES: arm-64
// RUN: rm -rf %t && mkdir %t
// RUN: burin tune %s --target arm-64 --cpu cortex-a72 --runner qemu-aarch64 --database %t/tuned.json --budget 30s | FileCheck %s
// CHECK: small for arm-64 on cortex-a72
// CHECK: contract_{{[0-9a-f]+}} 1
// CHECK: contract_{{[0-9a-f]+}} 5-16
// CHECK: records are in
// RUN: not burin tune %s --target arm-64 --runner qemu-aarch64 2>&1 | FileCheck %s --check-prefix=NO-CPU
// NO-CPU: error: --runner without --cpu: the records are of the CPU that runs the programs, expected its name, such as cortex-a76
// RUN: burin compile %s -o %t/out --target arm-64 --database %t/tuned.json 2>&1 | FileCheck %s --check-prefix=COMPILE
// COMPILE-NOT: warning
// COMPILE: small.o

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x32xf32, #time> {encoder.name = "x"}) -> (tensor<?x32xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<32x32xf32>
    %y = encoder.dense %x, %W : tensor<?x32xf32, #time>, tensor<32x32xf32>
    return %y : tensor<?x32xf32, #time>
  }
}
