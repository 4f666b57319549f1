// What does not fit the graph is named, with what was found and what was expected; nothing is padded, cut or converted.

// RUN: burin init %s -o %t.weights

// A mask of the wrong type would be added to the scores by others (pytorch#137887), of a wrong shape ignored (pytorch#131254).
// RUN: python3 %S/tensors.py inputs %t.inputs x=3x4 mask=3x3
// RUN: not burin run %s --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: input 'mask' is f32[3,3], expected u8[3,3]

// RUN: python3 %S/tensors.py inputs %t.inputs x=3x4 mask=u8:3x2
// RUN: not burin run %s --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: input 'mask' is u8[3,2], expected u8[3,3]

// RUN: python3 %S/tensors.py inputs %t.inputs x=3x5 mask=u8:3x3
// RUN: not burin run %s --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: input 'x' is f32[3,5], expected f32[3,4]

// RUN: python3 %S/tensors.py inputs %t.inputs x=9x4 mask=u8:9x9
// RUN: not burin run %s --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: sequence 0 has 9 rows of 'time', the graph takes at most 8

// RUN: python3 %S/tensors.py inputs %t.inputs x=3x4
// RUN: not burin run %s --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: input 'mask' is missing

// RUN: python3 %S/tensors.py inputs %t.inputs x=3x4 mask=u8:3x3
// RUN: burin run %s --weights %t.weights --inputs %t.inputs -o %t.out

// The longest sequence is none too many (llama.cpp#12836).
// RUN: python3 %S/tensors.py inputs %t.inputs x=8x4 mask=u8:8x8
// RUN: burin run %s --weights %t.weights --inputs %t.inputs -o %t.out

// RUN: not burin run %s --step --weights %t.weights --inputs %t.inputs -o %t.out 2>&1 | FileCheck %s --check-prefix=STEP
// STEP: the graph has no step: {{.*}}attention

#time = #encoder.rows<"time", 8>
module @masked {
  func.func @forward(%x: tensor<?x4xf32, #time> {encoder.name = "x"}, %m: tensor<?x?xui8, #encoder.pairs<"time", 8, "time", 8>> {encoder.name = "mask"}) -> (tensor<?x4xf32, #time> {encoder.name = "y"}) {
    %y = encoder.attention %x, %x, %x, mask %m heads 1 scale 0.5 causal false : tensor<?x4xf32, #time>, tensor<?x4xf32, #time>, tensor<?x4xf32, #time>, tensor<?x?xui8, #encoder.pairs<"time", 8, "time", 8>>
    return %y : tensor<?x4xf32, #time>
  }
}
