// burin compile --runtime bare: the same object, a header that says what to link, and nothing that needs an operating system.

// RUN: burin compile %s -o %t.bare --runtime bare | FileCheck %s --check-prefix=PRINTED
// PRINTED: small.o
// PRINTED-NEXT: small.h
// PRINTED-NEXT: link with libburin_runtime_bare.a; the program provides memcpy, memset, memcmp, memchr, strlen, strcmp

// RUN: burin compile %s -o %t.hosted --runtime hosted | FileCheck %s --check-prefix=HOSTED
// HOSTED-NOT: link with
// RUN: cmp %t.bare/small.o %t.hosted/small.o

// RUN: cat %t.bare/small.h | FileCheck %s --check-prefix=HEADER
// HEADER: Without an operating system: link libburin_runtime_bare.a; the program provides
// HEADER: memcpy: kernels copy rows
// HEADER: #define SMALL_WEIGHTS_BYTES 192 /* packed */
// HEADER: options->weights are the bytes of a packed file
// RUN: cat %t.hosted/small.h | FileCheck %s --check-prefix=WHOLE
// WHOLE-NOT: libburin_runtime_bare
// WHOLE: options->memory has BURIN_MODEL_BYTES + SMALL_WEIGHTS_BYTES

// RUN: not burin compile %s -o %t.shared --runtime bare --shared 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: a shared library is loaded by an operating system, and runtime 'bare' is for programs without one
// RUN: not burin compile %s -o %t.gpu --runtime bare --target opencl 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: error: target opencl needs a GPU's driver, and runtime 'bare' is for programs without an operating system
// RUN: not burin compile %s -o %t.none --runtime none 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --runtime: {{.*}}none

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %b = encoder.parameter "b" init "normal" : tensor<8xf32>
    %y = encoder.dense %x, %W, %b : tensor<?x3xf32, #time>, tensor<3x8xf32>, tensor<8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
