// RUN: burin-opt %s --burin-derive-step --burin-form-kernels | FileCheck %s
// RUN: burin-opt %s --burin-derive-step --burin-form-kernels=whole-limit=100 | FileCheck %s --check-prefix=LARGE

#time = #encoder.rows<"time", 16>

// A step of 128 multiply-adds is one kernel, whose groups are kernels; beyond the limit it is several calls.
// CHECK-LABEL: func.func @step
// CHECK-COUNT-1: call @[[WHOLE:kernel_[0-9]+]]
// CHECK-NOT:   call
// CHECK:       return
// CHECK:       func.func private @[[WHOLE]]({{.*}}attributes {encoder.kernel = "whole"}
// CHECK-COUNT-2: call @kernel_
// LARGE-LABEL: func.func @step
// LARGE-COUNT-2: call @kernel_
// LARGE-NOT:   encoder.kernel = "whole"
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W1 = encoder.parameter "W1" init "normal" : tensor<8x8xf32>
    %W2 = encoder.parameter "W2" init "normal" : tensor<8x8xf32>
    %h = encoder.dense %x, %W1 : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %r = encoder.relu %h : tensor<?x8xf32, #time>
    %y = encoder.dense %r, %W2 : tensor<?x8xf32, #time>, tensor<8x8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
