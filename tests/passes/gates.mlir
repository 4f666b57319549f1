// RUN: burin-opt %s --burin-graph --burin-form-kernels | FileCheck %s

#q = #encoder.rows<"query", 16>
#c = #encoder.rows<"context", 32>

// What only the gate reads is guarded, in forward the projection of the context as well; the gate's own kernel is not.
// CHECK-LABEL: func.func @forward
// CHECK:       call @{{.*}}encoder.guard = 0
// CHECK:       call @{{.*}}encoder.guard = 0
// CHECK:       call @{{.*}}encoder.guard = 0
// CHECK:       call @{{.*}}{encoder.gate = 0 : i64}
// In a stream the context is appended whether the gate is open or not.
// CHECK-LABEL: func.func @step
// CHECK:       call @{{.*}}{encoder.guard = 0 : i64}
// CHECK:       call @{{.*}}{encoder.guard = 0 : i64}
// CHECK:       call @{{.*}}{encoder.gate = 0 : i64}
// CHECK-LABEL: func.func @append.context
// CHECK-NOT:   encoder.guard
// CHECK-LABEL: func.func @append.context.many
// A row of the context is few enough operations for one kernel.
// CHECK:       encoder.kernel = "whole"
module @gated {
  func.func @forward(%x: tensor<?x8xf32, #q> {encoder.name = "x"}, %c: tensor<?x8xf32, #c> {encoder.name = "c"}, %signal: tensor<?x1xf32, #q> {encoder.name = "signal"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<8x8xf32>
    %V = encoder.parameter "V" init "normal" : tensor<8x8xf32>
    %y = encoder.gate %x, %signal above 0.25 {
      %k = encoder.dense %c, %V : tensor<?x8xf32, #c>, tensor<8x8xf32>
      %a = encoder.attention %x, %k, %k heads 2 scale 0.5 causal false : tensor<?x8xf32, #q>, tensor<?x8xf32, #c>, tensor<?x8xf32, #c>
      %o = encoder.dense %a, %W : tensor<?x8xf32, #q>, tensor<8x8xf32>
      encoder.yield %o : tensor<?x8xf32, #q>
    } : tensor<?x8xf32, #q>, tensor<?x1xf32, #q>
    return %y : tensor<?x8xf32, #q>
  }
}
