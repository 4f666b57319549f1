// RUN: burin-opt %s --split-input-file --burin-derive-step | FileCheck %s

#time = #encoder.rows<"time", 16>

// CHECK:     module @looks_ahead attributes {encoder.no_step = "{{.*}}attention: it is not causal, so a row would need rows that come later; declare it with .causal = true"}
// CHECK-NOT: func.func @step
module @looks_ahead {
  func.func @forward(%x: tensor<?x8xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %a = encoder.attention %x, %x, %x heads 2 scale 0.5 causal false : tensor<?x8xf32, #time>, tensor<?x8xf32, #time>, tensor<?x8xf32, #time>
    return %a : tensor<?x8xf32, #time>
  }
}

// -----

#q = #encoder.rows<"t_q", 16>
#k = #encoder.rows<"t_k", 16>

// CHECK:     module @two_axes attributes {encoder.no_step = "{{.*}}the graph: it has two time axes, t_q and t_k; give its inputs the same time"}
module @two_axes {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %a = encoder.attention %q, %k, %k heads 2 scale 0.5 causal true : tensor<?x8xf32, #q>, tensor<?x8xf32, #k>, tensor<?x8xf32, #k>
    return %a : tensor<?x8xf32, #q>
  }
}
