// RUN: burin-opt %s --burin-derive-step --burin-allocate-state=target=x86-64-avx2 | FileCheck %s

#time = #encoder.rows<"time", 40>

// Header, then 2 tiles of 32 keys × 8, then 40 rows × 8, then 8 doubles; each on a line of 64 bytes.
// CHECK: module @model attributes {{{.*}}encoder.state_bytes = 3520 : i64
// CHECK: func.func @step
// CHECK: encoder.state "k_cache" at 128 {encoder.stream = "time"} : tensor<40x8xf32, #encoder.cache<32, 40>>
// CHECK: encoder.state "v_cache" at 2176 {encoder.stream = "time"} : tensor<40x8xf32, #encoder.cache<0, 40>>
// CHECK: encoder.state "sum" at 3456 {encoder.stream = "time"} : tensor<8xf64>
// Some rows at once use the same state, and are as many as a tile.
// CHECK: func.func @advance{{.*}}encoder.most_rows = 32 : i64
// CHECK: encoder.state "k_cache" at 128
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.per_sequence> {encoder.name = "y"}) {
    %a = encoder.attention %x, %x, %x heads 2 scale 0.5 causal true : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %m = encoder.mean_over_time %a : tensor<?x8xf32, #time>
    return %m : tensor<?x8xf32, #encoder.per_sequence>
  }
}
