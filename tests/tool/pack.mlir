// burin pack: a packed file gives the bits that its safetensors file gives, and is refused for anything else.

// RUN: burin init %s -o %t.safetensors --seed 7
// RUN: burin pack %s --weights %t.safetensors -o %t.packed --target x86-64-avx2 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: packed: 192 bytes of weights of 'small' for x86-64-avx2

// What packs need not be the processor that the file is for.
// RUN: burin pack %s --weights %t.safetensors -o %t.riscv --target riscv-64 | FileCheck %s --check-prefix=RISCV
// RISCV: riscv: {{[0-9]+}} bytes of weights of 'small' for riscv-64
// RUN: burin pack %s --weights %t.safetensors -o %t.feature --target arm-64-dot_prod | FileCheck %s --check-prefix=FEATURE
// FEATURE: feature: {{[0-9]+}} bytes of weights of 'small' for arm-64-dot_prod
// RUN: burin pack --verify %t.feature %s | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: feature: whole, {{[0-9]+}} bytes of weights of 'small' for arm-64-dot_prod, which the graph takes

// The same weights give the same file.
// RUN: burin pack %s --weights %t.safetensors -o %t.again --target x86-64-avx2
// RUN: cmp %t.packed %t.again

// RUN: burin pack %s --weights %t.safetensors -o %t.host
// RUN: python3 -c "import json,struct,sys; h=json.dumps({'x':{'dtype':'F32','shape':[5,3],'data_offsets':[0,60]}}).encode(); open(sys.argv[1],'wb').write(struct.pack('<Q',len(h))+h+struct.pack('<15f',*range(15)))" %t.inputs
// RUN: burin run %s --weights %t.safetensors --inputs %t.inputs -o %t.expected
// RUN: burin run %s --weights %t.host --inputs %t.inputs -o %t.got
// RUN: cmp %t.expected %t.got

// RUN: burin pack --verify %t.packed | FileCheck %s --check-prefix=WHOLE
// RUN: burin pack --verify %t.packed %s | FileCheck %s --check-prefix=TAKEN
// WHOLE: packed: whole, 192 bytes of weights of 'small' for x86-64-avx2{{$}}
// TAKEN: packed: whole, 192 bytes of weights of 'small' for x86-64-avx2, which the graph takes

// RUN: not burin pack --verify %t.packed %s --target generic-x86-64 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: packed: the packed file is for target 'x86-64-avx2', expected 'generic-x86-64'
// RUN: sed 's/tensor<8xf32>/tensor<7xf32>/g; s/3x8/3x7/g; s/?x8/?x7/g; s/@small/@other/' %s > %t.mlir
// RUN: not burin pack --verify %t.packed %t.mlir 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: packed: the packed file is for model 'small' with weights of layout {{[0-9a-f]+}}, expected model 'other' with layout {{[0-9a-f]+$}}

// One byte of the weights: opening does not read them, --verify does.
// RUN: python3 -c "import sys; b=bytearray(open(sys.argv[1],'rb').read()); b[4100]^=1; open(sys.argv[2],'wb').write(b)" %t.host %t.flipped
// RUN: burin run %s --weights %t.flipped --inputs %t.inputs -o %t.got
// RUN: not burin pack --verify %t.flipped 2>&1 | FileCheck %s --check-prefix=FLIPPED
// FLIPPED: error: {{.*}}flipped: the weights in the packed file are damaged: their content hash is {{[0-9a-f]+}}, expected {{[0-9a-f]+$}}
// RUN: not burin pack %s --weights %t.flipped -o %t.hidden 2>&1 | FileCheck %s --check-prefix=FLIPPED

// RUN: not burin pack --verify %t.safetensors 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: safetensors: the file is not a packed one: it does not begin with BURINPK1
// RUN: not burin pack --verify %t.absent 2>&1 | FileCheck %s --check-prefix=ABSENT
// ABSENT: error: cannot open '{{.*}}absent': No such file or directory
// RUN: not burin pack %s -o %t.nothing 2>&1 | FileCheck %s --check-prefix=USAGE
// USAGE: --weights is required

#time = #encoder.rows<"time", 8>
module @small {
  func.func @forward(%x: tensor<?x3xf32, #time> {encoder.name = "x"}) -> (tensor<?x8xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<3x8xf32>
    %b = encoder.parameter "b" init "normal" : tensor<8xf32>
    %y = encoder.dense %x, %W, %b : tensor<?x3xf32, #time>, tensor<3x8xf32>, tensor<8xf32>
    return %y : tensor<?x8xf32, #time>
  }
}
