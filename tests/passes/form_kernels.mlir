// RUN: burin-opt %s --burin-form-kernels | FileCheck %s

#time = #encoder.rows<"time", 16>

// Bias, residual and norm are the epilogue of the contract before them; the residual itself, read twice, is a kernel's
// result and comes in from outside.
// CHECK-LABEL: func.func @forward
// CHECK:       %[[H:.*]] = call @[[EMBED:kernel_[0-9]+]](%{{.*}}, %{{.*}}, %{{.*}}, %[[T:.*]])
// CHECK:       %[[A:.*]] = call @[[ATTEND:kernel_[0-9]+]](%[[H]])
// CHECK:       call @[[OUT:kernel_[0-9]+]](%[[A]], %{{.*}}, %[[H]], %{{.*}}, %{{.*}})
// CHECK:       call @[[POOL:kernel_[0-9]+]]
// CHECK-NOT:   call
// CHECK:       func.func private @[[EMBED]]({{.*}}attributes {encoder.kernel = "contract"}
// CHECK-NEXT:  encoder.dense
// CHECK-NEXT:  encoder.sinusoidal_positions
// CHECK-NEXT:  encoder.add
// CHECK:       func.func private @[[ATTEND]]({{.*}}attributes {encoder.kernel = "attend"}
// CHECK-NEXT:  encoder.slice
// CHECK-NEXT:  encoder.attention
// CHECK:       func.func private @[[OUT]]({{.*}}attributes {encoder.kernel = "contract"}
// CHECK-NEXT:  encoder.dense
// CHECK-NEXT:  encoder.add
// CHECK-NEXT:  encoder.layer_norm
// CHECK-NEXT:  return
// CHECK:       func.func private @[[POOL]]({{.*}}attributes {encoder.kernel = "pool"}
module @model {
  func.func @forward(%x: tensor<?x4xf32, #time> {encoder.name = "x"}, %t: tensor<?x1xi64, #time> {encoder.positions}) -> (tensor<?x8xf32, #encoder.per_sequence> {encoder.name = "y"}) {
    %We = encoder.parameter "embed.W" init "normal" : tensor<4x8xf32>
    %be = encoder.parameter "embed.b" init "zeros" : tensor<8xf32>
    %e = encoder.dense %x, %We, %be : tensor<?x4xf32, #time>, tensor<4x8xf32>, tensor<8xf32>
    %p = encoder.sinusoidal_positions %t, 8 : tensor<?x1xi64, #time>
    %h = encoder.add %e, %p : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %s = encoder.slice %h[0, 4] : tensor<?x8xf32, #time>
    %a = encoder.attention %s, %s, %h heads 2 scale 0.5 causal true : tensor<?x4xf32, #time>, tensor<?x4xf32, #time>, tensor<?x8xf32, #time>
    %Wo = encoder.parameter "W_O" init "normal" : tensor<8x8xf32>
    %o = encoder.dense %a, %Wo : tensor<?x8xf32, #time>, tensor<8x8xf32>
    %r = encoder.add %h, %o : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %g = encoder.parameter "gamma" init "ones" : tensor<8xf32>
    %b = encoder.parameter "beta" init "zeros" : tensor<8xf32>
    %n = encoder.layer_norm %r, %g, %b, 1.0e-5 : tensor<?x8xf32, #time>, tensor<8xf32>, tensor<8xf32>
    %m = encoder.mean_over_time %n : tensor<?x8xf32, #time>
    return %m : tensor<?x8xf32, #encoder.per_sequence>
  }
}
