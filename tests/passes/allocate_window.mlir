// RUN: burin-opt %s --burin-derive-step --burin-allocate-state=target=x86-64-avx2 | FileCheck %s

#time = #encoder.rows<"time", 40>

// A ring holds the window, a tile, and is whole tiles: 10 − 1 + 32 rows become 64. The stream has no end.
// CHECK: func.func @step{{.*}}encoder.capacity = -1
// CHECK: encoder.state "k_cache" at 128 {{.*}} : tensor<64x8xf32, #encoder.cache<32, 64, 10>>
// CHECK: encoder.append {{.*}}, tensor<64x8xf32, #encoder.cache<32, 64, 10>>
// CHECK: encoder.state "v_cache" at 2176 {{.*}} : tensor<64x8xf32, #encoder.cache<0, 64, 10>>
// CHECK: encoder.attention {{.*}} window 10 {{.*}} tensor<?x8xf32, #encoder.rows<"", 64>>
// CHECK: func.func @advance
// CHECK: encoder.attention {{.*}} window 10 {{.*}} tensor<?x8xf32, #encoder.rows<"", 104>>
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %a = encoder.attention %x, %x, %x heads 2 scale 0.5 causal true window 10 : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    return %a : tensor<?x8xf32, #time>
  }
}
