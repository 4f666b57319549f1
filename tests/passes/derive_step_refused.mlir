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

// CHECK:     module @causal_across attributes {encoder.no_step = "{{.*}}attention: it is causal between two sequences, which ties their ends to one another, but streams go on apart; declare it without: a query then sees all of the context so far"}
module @causal_across {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %a = encoder.attention %q, %k, %k heads 2 scale 0.5 causal true : tensor<?x8xf32, #q>, tensor<?x8xf32, #k>, tensor<?x8xf32, #k>
    return %a : tensor<?x8xf32, #q>
  }
}

// -----

#q = #encoder.rows<"t_q", 16>
#k = #encoder.rows<"t_k", 16>

// An encoder on the context that looks ahead would change rows that were appended before.
// CHECK:     module @context_looks_ahead attributes {encoder.no_step = "{{.*}}attention: it is not causal, so a row would need rows that come later; declare it with .causal = true"}
module @context_looks_ahead {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %e = encoder.attention %k, %k, %k heads 2 scale 0.5 causal false : tensor<?x8xf32, #k>, tensor<?x8xf32, #k>, tensor<?x8xf32, #k>
    %a = encoder.attention %q, %e, %e heads 2 scale 0.5 causal false : tensor<?x8xf32, #q>, tensor<?x8xf32, #k>, tensor<?x8xf32, #k>
    return %a : tensor<?x8xf32, #q>
  }
}

// -----

#q = #encoder.rows<"t_q", 16>
#k = #encoder.rows<"t_k", 16>

// CHECK:     module @outputs_of_two attributes {encoder.no_step = "{{.*}}the graph: output 'b' goes on with 't_k', and another with 't_q'; give each of them a graph of its own"}
module @outputs_of_two {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #q> {encoder.name = "a"}, tensor<?x8xf32, #k> {encoder.name = "b"}) {
    %a = encoder.relu %q : tensor<?x8xf32, #q>
    %b = encoder.relu %k : tensor<?x8xf32, #k>
    return %a, %b : tensor<?x8xf32, #q>, tensor<?x8xf32, #k>
  }
}

// -----

#q = #encoder.rows<"t_q", 16>
#k = #encoder.rows<"t_k", 16>

// CHECK:     module @joined attributes {encoder.no_step = "{{.*}}add: it joins rows of 't_q' and of 't_k', which go on apart; let rows of one look at the other by attention"}
module @joined {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #encoder.per_sequence> {encoder.name = "y"}) {
    %a = encoder.mean_over_time %q : tensor<?x8xf32, #q>
    %b = encoder.mean_over_time %k : tensor<?x8xf32, #k>
    %y = encoder.add %a, %b : tensor<?x8xf32, #encoder.per_sequence>, tensor<?x8xf32, #encoder.per_sequence>
    return %y : tensor<?x8xf32, #encoder.per_sequence>
  }
}

// -----

#q = #encoder.rows<"t_q", 16>
#k = #encoder.rows<"t_k", 16>

// A row of the context would change with every query that comes after it, and with it what earlier queries saw.
// CHECK:     module @two_that_look_at_one_another attributes {encoder.no_step = "{{.*}}attention: the rows of 't_k' that it looks at depend on rows of 't_q', so a row would need rows that come later; let one of the two look at the other, and not both"}
module @two_that_look_at_one_another {
  func.func @forward(%q: tensor<?x8xf32, #q> {encoder.name = "q"}, %k: tensor<?x8xf32, #k> {encoder.name = "k"}) -> (tensor<?x8xf32, #q> {encoder.name = "y"}) {
    %e = encoder.attention %k, %q, %q heads 2 scale 0.5 causal false : tensor<?x8xf32, #k>, tensor<?x8xf32, #q>, tensor<?x8xf32, #q>
    %r = encoder.relu %e : tensor<?x8xf32, #k>
    %a = encoder.attention %q, %r, %r heads 2 scale 0.5 causal false : tensor<?x8xf32, #q>, tensor<?x8xf32, #k>, tensor<?x8xf32, #k>
    return %a : tensor<?x8xf32, #q>
  }
}

// -----

// CHECK:     module @output_of_no_input attributes {encoder.no_step = "{{.*}}the graph: output 'y' depends on no input along time; make it of an input, or give it a graph of its own"}
module @output_of_no_input {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<3x8xf32> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %y = encoder.latents %W : tensor<3x8xf32>
    return %y : tensor<3x8xf32>
  }
}

// -----

// CHECK:     module @without_rows attributes {encoder.no_step = "{{.*}}the graph: it has no input along time; give it one"}
module @without_rows {
  func.func @forward(%m: tensor<?x?xui8, #encoder.pairs<"time", 16, "time", 16>> {encoder.name = "m"}) -> (tensor<3x8xf32> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %y = encoder.latents %W : tensor<3x8xf32>
    return %y : tensor<3x8xf32>
  }
}
