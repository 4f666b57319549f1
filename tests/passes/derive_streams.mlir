// RUN: burin-opt %s --split-input-file --burin-derive-step | FileCheck %s

#q = #encoder.rows<"query", 16>
#c = #encoder.rows<"context", 32>

// A query looks at all rows of the context so far, which another entry appends, and changes nothing of them.
// CHECK-LABEL: module @two_streams
// CHECK-SAME:  encoder.streams = ["query", "context"]
// CHECK-LABEL: func.func @step
// CHECK-SAME:  (%[[Q:.*]]: tensor<1x8xf32> {encoder.name = "q"}, %[[N:.*]]: tensor<1x1xi64> {encoder.count = "context"})
// CHECK-SAME:  encoder.capacity = -1
// CHECK:       %[[KP:.*]] = encoder.state "k_cache" {encoder.keys, encoder.stream = "context"} : tensor<32x8xf32, #encoder.cache<0, 32>>
// CHECK:       %[[K:.*]] = encoder.recall %[[N]], %[[KP]]
// CHECK:       encoder.attention %[[Q]], %[[K]]
// CHECK-NOT:   encoder.store
// CHECK-LABEL: func.func @advance
// CHECK-LABEL: func.func @append.context
// CHECK-SAME:  (%[[X:.*]]: tensor<1x8xf32> {encoder.name = "c"}, %[[N:.*]]: tensor<1x1xi64> {encoder.count = "context"}) attributes {
// CHECK-SAME:  encoder.capacity = 32
// CHECK:       %[[R:.*]] = encoder.relu %[[X]]
// CHECK:       encoder.store %[[R]], %[[N]],
// CHECK:       encoder.store %[[X]], %[[N]],
// CHECK-NOT:   encoder.attention
// CHECK-LABEL: func.func @append.context.many
module @two_streams {
  func.func @forward(%c: tensor<?x8xf32, #c> {encoder.name = "c"}, %q: tensor<?x8xf32, #q> {encoder.name = "q"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %r = encoder.relu %c : tensor<?x8xf32, #c>
    %a = encoder.attention %q, %r, %c heads 2 scale 0.5 causal false : tensor<?x8xf32, #q>, tensor<?x8xf32, #c>, tensor<?x8xf32, #c>
    return %a : tensor<?x8xf32, #q>
  }
}

// -----

#time = #encoder.rows<"time", 16>

// Queries of a fixed number see what there is after each row: there is no computation of some rows at once.
// CHECK-LABEL: module @latents
// CHECK-LABEL: func.func @step
// CHECK:       encoder.append
// CHECK:       encoder.attention {{.*}} : tensor<4x8xf32>
// CHECK:       return %{{.*}} : tensor<4x8xf32>
// CHECK-NOT:   func.func @advance
module @latents {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.per_sequence<4>> {encoder.name = "y"}) {
    %t = encoder.parameter "latents" init "normal" : tensor<4x8xf32>
    %l = encoder.latents %t : tensor<4x8xf32>
    %a = encoder.attention %l, %x, %x heads 2 scale 0.5 causal false : tensor<4x8xf32>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    return %a : tensor<?x8xf32, #encoder.per_sequence<4>>
  }
}

// -----

#time = #encoder.rows<"time", 16>

// A trained table ends, and so does the stream.
// CHECK-LABEL: func.func @step
// CHECK-SAME:  encoder.capacity = -1 : i64, encoder.position_end = 20 : i64
module @learned {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}, %t: tensor<?x1xi64, #time> {encoder.positions}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %P = encoder.parameter "P" init "positions" : tensor<20x8xf32>
    %p = encoder.learned_positions %t, %P : tensor<?x1xi64, #time>, tensor<20x8xf32>
    %y = encoder.add %x, %p : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    return %y : tensor<?x8xf32, #time>
  }
}
