// A stream without end: a window of three rows, and latent queries that read what there was.

// RUN: burin inspect %s --target generic-x86-64 | FileCheck %s
// CHECK: output z: f32[sequence*2,4]
// CHECK: time, which step takes: at most 8 rows after a reset
// CHECK: k_cache {{ *}}f32[{{[0-9]+}},4] of time, {{.*}}, a ring of which the last 3 count

// RUN: burin compile %s -o %t
// RUN: FileCheck %s --check-prefix=HEADER < %t/windowed.h
// HEADER: Z_FEATURES 4
// HEADER: z: [2, 4] float, written
// HEADER: z: [sequences * 2, 4] float, written
// HEADER: k_cache [the last 3 samples of time, 4]
// HEADER: z: [count * 2, 4] float, written
// HEADER-NEXT: */
// HEADER-NEXT: burin_status windowed_advance(

// RUN: burin init %s -o %t.weights
// RUN: python3 %S/tensors.py inputs %t.inputs x=7x4
// RUN: burin run %s --weights %t.weights --inputs %t.inputs -o %t.forward
// RUN: python3 %S/tensors.py case %t.safetensors %s %t.weights %t.inputs %t.forward
// RUN: burin check %t.safetensors | FileCheck %s --check-prefix=CASE
// CASE: forward 'y' against the reference, f32[7,4]
// CASE: forward 'z' against the reference, f32[2,4]
// CASE: step against forward 'y', f32[7,4]
// CASE: step against forward 'z', f32[14,4]
// CASE: 0 failed

#time = #encoder.rows<"time", 8>
module @windowed {
  func.func @forward(%x: tensor<?x4xf32, #time> {encoder.name = "x"})
      -> (tensor<?x4xf32, #time> {encoder.name = "y"},
          tensor<?x4xf32, #encoder.per_sequence<2>> {encoder.name = "z"}) {
    %y = encoder.attention %x, %x, %x heads 2 scale 0.5 causal true window 3
        : tensor<?x4xf32, #time>, tensor<?x4xf32, #time>, tensor<?x4xf32, #time>
    %table = encoder.parameter "latents" init "normal" : tensor<2x4xf32>
    %q = encoder.latents %table : tensor<2x4xf32>
    %z = encoder.attention %q, %y, %y heads 1 scale 0.5 causal false
        : tensor<2x4xf32>, tensor<?x4xf32, #time>, tensor<?x4xf32, #time>
    return %y, %z : tensor<?x4xf32, #time>, tensor<?x4xf32, #encoder.per_sequence<2>>
  }
}
