// RUN: burin-opt %s --split-input-file --burin-verify-graph --verify-diagnostics

// expected-error @below {{the model is named '', expected a C identifier that is not reserved}}
module {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

// expected-error @below {{the model has no function @forward with one block}}
module @model {
}

// -----

// expected-error @below {{the model is named 'burin_rt', expected a C identifier that is not reserved}}
module @burin_rt {
  // expected-error @below {{input 0 is named 'float', expected a C identifier that is not reserved}}
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "float"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

// What folds away computes nothing.
module @model {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "a"}, tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "b"}, tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "c"}) {
    %0 = encoder.slice %x[0, 8] : tensor<?x8xf32, #encoder.rows<"time", 16>>
    %1 = encoder.dropout %0, 0.1 : tensor<?x8xf32, #encoder.rows<"time", 16>>
    %2 = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    %3 = encoder.dropout %2, 0.1 : tensor<?x8xf32, #encoder.rows<"time", 16>>
    // expected-error @below {{output 'a' is not computed: it is an input or a parameter}}
    // expected-error @below {{output 'c' is the same value as another output}}
    return %1, %2, %3 : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

// All mistakes of a graph are reported in one run.
module @model {
  // expected-error @below {{input 1 is named '2', expected a C identifier that is not reserved}}
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}, %1: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "2"},
                     // expected-error @below {{two inputs are named 'x'}}
                     %x2: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"},
                     // expected-error @below {{input 'z' has type 'tensor<4x8xf32>', expected f32 rows, i32 ids or a ui8 mask}}
                     %z: tensor<4x8xf32> {encoder.name = "z"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %a = encoder.parameter "a" init "normal" : tensor<8x8xf32>
    // expected-error @below {{parameter 'a' has shape [8] here and [8, 8] elsewhere}}
    %b = encoder.parameter "a" init "normal" : tensor<8xf32>
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

module @model {
  // expected-error @below {{time symbol 'time' has maximum 8 here and 16 elsewhere}}
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}, %y: tensor<?x8xf32, #encoder.rows<"time", 8>> {encoder.name = "y"},
                     // expected-error @below {{time symbol 'never' has maximum 0, expected at least 1}}
                     %z: tensor<?x8xf32, #encoder.rows<"never", 0>> {encoder.name = "z"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %0 = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %0 : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

module @model {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}, tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}, tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "z"}) {
    %0 = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    // expected-error @below {{output 'y' is not computed: it is an input or a parameter}}
    // expected-error @below {{two outputs are named 'y'}}
    // expected-error @below {{output 'z' is the same value as another output}}
    return %x, %0, %0 : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

// What only a derived step may hold.
module @model {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    // expected-error @below {{'encoder.state' is part of a step, which is derived; a graph cannot hold it}}
    %s = encoder.state "s" : tensor<16x8xf32, #encoder.cache<0, 16>>
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

// Inside of a gate, too.
module @model {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}, %s: tensor<?x1xf32, #encoder.rows<"time", 16>> {encoder.name = "s"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    %y = encoder.gate %x, %s above 0.5 {
      %a = encoder.parameter "a" init "normal" : tensor<8x8xf32>
      // expected-error @below {{parameter 'a' has shape [8] here and [8, 8] elsewhere}}
      %b = encoder.parameter "a" init "normal" : tensor<8xf32>
      %r = encoder.dense %x, %a : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<8x8xf32>
      encoder.yield %r : tensor<?x8xf32, #encoder.rows<"time", 16>>
    } : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<?x1xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

module @model {
  // expected-error @below {{a time symbol has no name}}
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"", 16>> {encoder.name = "y"}) {
    // expected-error @below {{a time symbol has no name}}
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"", 16>>
  }
}

// -----

module @model {
  func.func @forward(%a: tensor<?x8xf32, #encoder.rows<"a", 16>> {encoder.name = "a"}, %b: tensor<?x8xf32, #encoder.rows<"b", 16>> {encoder.name = "b"},
                     %c: tensor<?x8xf32, #encoder.rows<"c", 16>> {encoder.name = "c"}, %d: tensor<?x8xf32, #encoder.rows<"d", 16>> {encoder.name = "d"},
                     // expected-error @below {{the graph has more than 4 time symbols}}
                     %e: tensor<?x8xf32, #encoder.rows<"e", 16>> {encoder.name = "e"}) -> (tensor<?x8xf32, #encoder.rows<"a", 16>> {encoder.name = "y"}) {
    %y = encoder.relu %a : tensor<?x8xf32, #encoder.rows<"a", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"a", 16>>
  }
}

// -----

module @model {
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    // expected-error @below {{a parameter has no name}}
    %W = encoder.parameter "" init "normal" : tensor<8x8xf32>
    %y = encoder.dense %x, %W : tensor<?x8xf32, #encoder.rows<"time", 16>>, tensor<8x8xf32>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

module @model {
  func.func private @other(tensor<?x8xf32, #encoder.rows<"time", 16>>)
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) -> (tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "y"}) {
    // expected-error @below {{'func.call' is not an encoder op}}
    func.call @other(%x) : (tensor<?x8xf32, #encoder.rows<"time", 16>>) -> ()
    %y = encoder.relu %x : tensor<?x8xf32, #encoder.rows<"time", 16>>
    return %y : tensor<?x8xf32, #encoder.rows<"time", 16>>
  }
}

// -----

module @model {
  // expected-error @below {{the graph has no output}}
  func.func @forward(%x: tensor<?x8xf32, #encoder.rows<"time", 16>> {encoder.name = "x"}) {
    return
  }
}

// -----

!x = tensor<?x8xf32, #encoder.rows<"time", 16>>
module @model {
  // expected-error @below {{the graph has 17 inputs, expected at most 16}}
  func.func @forward(%x0: !x {encoder.name = "x0"}, %x1: !x {encoder.name = "x1"}, %x2: !x {encoder.name = "x2"}, %x3: !x {encoder.name = "x3"}, %x4: !x {encoder.name = "x4"}, %x5: !x {encoder.name = "x5"}, %x6: !x {encoder.name = "x6"}, %x7: !x {encoder.name = "x7"}, %x8: !x {encoder.name = "x8"}, %x9: !x {encoder.name = "x9"}, %x10: !x {encoder.name = "x10"}, %x11: !x {encoder.name = "x11"}, %x12: !x {encoder.name = "x12"}, %x13: !x {encoder.name = "x13"}, %x14: !x {encoder.name = "x14"}, %x15: !x {encoder.name = "x15"}, %x16: !x {encoder.name = "x16"}) -> (!x {encoder.name = "y"}) {
    %y = encoder.relu %x0 : !x
    return %y : !x
  }
}

// -----

!x = tensor<?x8xf32, #encoder.rows<"time", 16>>
module @model {
  // expected-error @below {{the graph has 17 outputs, expected at most 16}}
  func.func @forward(%x: !x {encoder.name = "x"}) -> (!x {encoder.name = "y0"}, !x {encoder.name = "y1"}, !x {encoder.name = "y2"}, !x {encoder.name = "y3"}, !x {encoder.name = "y4"}, !x {encoder.name = "y5"}, !x {encoder.name = "y6"}, !x {encoder.name = "y7"}, !x {encoder.name = "y8"}, !x {encoder.name = "y9"}, !x {encoder.name = "y10"}, !x {encoder.name = "y11"}, !x {encoder.name = "y12"}, !x {encoder.name = "y13"}, !x {encoder.name = "y14"}, !x {encoder.name = "y15"}, !x {encoder.name = "y16"}) {
    %r0 = encoder.relu %x : !x
    %r1 = encoder.relu %r0 : !x
    %r2 = encoder.relu %r1 : !x
    %r3 = encoder.relu %r2 : !x
    %r4 = encoder.relu %r3 : !x
    %r5 = encoder.relu %r4 : !x
    %r6 = encoder.relu %r5 : !x
    %r7 = encoder.relu %r6 : !x
    %r8 = encoder.relu %r7 : !x
    %r9 = encoder.relu %r8 : !x
    %r10 = encoder.relu %r9 : !x
    %r11 = encoder.relu %r10 : !x
    %r12 = encoder.relu %r11 : !x
    %r13 = encoder.relu %r12 : !x
    %r14 = encoder.relu %r13 : !x
    %r15 = encoder.relu %r14 : !x
    %r16 = encoder.relu %r15 : !x
    return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15, %r16 : !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x, !x
  }
}
