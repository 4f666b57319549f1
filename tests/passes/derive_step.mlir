// RUN: burin-opt %s --burin-derive-step | FileCheck %s

#time = #encoder.rows<"time", 16>

// CHECK-LABEL: func.func @step
// CHECK-SAME:  (%[[X:.*]]: tensor<1x8xf32> {encoder.name = "x"}, %[[T:.*]]: tensor<1x1xi64> {encoder.positions}, %[[N:.*]]: tensor<1x1xi64> {encoder.count = "time"})
// CHECK-SAME:  -> (tensor<1x8xf32> {encoder.name = "y"})
// An operand that counts rows gets the stream's position.
// CHECK:       %[[P:.*]] = encoder.sinusoidal_positions %[[T]], 8 : tensor<1x1xi64>
// CHECK:       %[[H:.*]] = encoder.add %[[X]], %[[P]] : tensor<1x8xf32>, tensor<1x8xf32>
// An operand that looks back becomes all rows so far; it is named below its op's scope.
// CHECK:       %[[KP:.*]] = encoder.state "block0.attn.k_cache" {encoder.keys, encoder.stream = "time"} : tensor<16x8xf32, #encoder.cache<0, 16>>
// CHECK:       %[[K:.*]] = encoder.append %[[H]], %[[N]], %[[KP]]
// CHECK:       %[[VP:.*]] = encoder.state "block0.attn.v_cache" {encoder.stream = "time"} : tensor<16x8xf32, #encoder.cache<0, 16>>
// CHECK:       %[[V:.*]] = encoder.append %[[H]], %[[N]], %[[VP]]
// CHECK:       %[[A:.*]] = encoder.attention %[[H]], %[[K]], %[[V]] heads 2 {{.*}} : tensor<1x8xf32>, tensor<?x8xf32, #encoder.rows<"", 16>>
// A pool runs: its partial result is kept, in double.
// CHECK:       %[[S:.*]] = encoder.state "sum" {encoder.stream = "time"} : tensor<8xf64>
// CHECK:       %[[M:.*]] = encoder.accumulate %[[A]], %[[N]], %[[S]] "add" "divide_by_count"
// CHECK:       return %[[M]] : tensor<1x8xf32>

// Some rows at once: rows of the same symbol, and a pool gives a row for each.
// CHECK-LABEL: func.func @advance
// CHECK-SAME:  (%{{.*}}: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}
// CHECK-SAME:  -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"})
// CHECK-SAME:  encoder.many
// CHECK:       encoder.accumulate {{.*}} : tensor<?x8xf32, #encoder.rows<"time", 16>>
module @model {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}, %t: tensor<?x1xi64, #time> {encoder.positions}) -> (tensor<?x8xf32, #encoder.per_sequence> {encoder.name = "y"}) {
    %p = encoder.sinusoidal_positions %t, 8 : tensor<?x1xi64, #time>
    %h = encoder.add %x, %p : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %a = encoder.attention %h, %h, %h heads 2 scale 0.5 causal true {encoder.scope = "block0.attn"} : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    %m = encoder.mean_over_time %a : tensor<?x8xf32, #time>
    return %m : tensor<?x8xf32, #encoder.per_sequence>
  }
}
