// Precision: by name, shown, and belonging to what was made with it.

// RUN: burin inspect %s | FileCheck %s --check-prefix=FLOAT
// RUN: burin inspect %s --precision int8 --json | FileCheck %s --check-prefix=INT8
// FLOAT: float32
// INT8: "precision": "int8"
// RUN: not burin inspect %s --precision int9 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: --precision: 'int9' is not known, expected float32, bf16, bf16-dot or int8
// RUN: not burin compile %s -o %t.dir --precision int8 --target opencl 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: target opencl does not compute in int8, the model's precision, but in float32 alone
// RUN: not burin compile %s -o %t.dir --precision bf16-dot --target x86-64-avx2 2>&1 | FileCheck %s --check-prefix=DOT
// DOT: target x86-64-avx2 does not compute in bf16-dot, the model's precision{{$}}

// A packed file is for one precision, and smaller: 2 bytes for each of 256 x 96 weights, or 1 beside scales.
// RUN: burin init %s -o %t.safetensors --seed 7
// RUN: burin pack %s --weights %t.safetensors -o %t.float --target x86-64-avx2 | FileCheck %s --check-prefix=PACKED4
// RUN: burin pack %s --weights %t.safetensors -o %t.bf16 --target x86-64-avx2 --precision bf16 | FileCheck %s --check-prefix=PACKED2
// RUN: burin pack %s --weights %t.safetensors -o %t.int8 --target x86-64-avx2 --precision int8 | FileCheck %s --check-prefix=PACKED1
// PACKED4: float: 98688 bytes of weights
// PACKED2: bf16: 49536 bytes of weights
// PACKED1: int8: 26880 bytes of weights
// RUN: burin pack %s --weights %t.safetensors -o %t.again --target x86-64-avx2 --precision int8
// RUN: cmp %t.int8 %t.again
// RUN: burin pack --verify %t.int8 %s --precision int8 | FileCheck %s --check-prefix=TAKEN
// TAKEN: int8: whole, {{.*}} which the graph takes
// RUN: not burin pack --verify %t.int8 %s 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: int8: the packed file is for model 'wide' with weights of layout {{[0-9a-f]+}}, expected model 'wide' with layout

// A file opened and packed gives the bits that it gives packed before.
// RUN: python3 -c "import json,struct,sys; h=json.dumps({'x':{'dtype':'F32','shape':[3,256],'data_offsets':[0,3072]}}).encode(); open(sys.argv[1],'wb').write(struct.pack('<Q',len(h))+h+struct.pack('<768f',*[i%%7-2.5 for i in range(768)]))" %t.inputs
// RUN: burin run %s --weights %t.safetensors --inputs %t.inputs -o %t.expected --precision int8 --target x86-64-avx2
// RUN: burin run %s --weights %t.int8 --inputs %t.inputs -o %t.got --precision int8 --target x86-64-avx2
// RUN: cmp %t.expected %t.got

// A graph may say it of each contract.
// RUN: sed 's/%%b :/%%b {precision = "int8"} :/' %s > %t.mlir
// RUN: burin inspect %t.mlir --json | FileCheck %s --check-prefix=INT8
// RUN: burin run %t.mlir --weights %t.safetensors --inputs %t.inputs -o %t.held --target x86-64-avx2
// RUN: cmp %t.expected %t.held
// RUN: burin inspect %t.mlir --precision float32 | FileCheck %s --check-prefix=FLOAT

#time = #encoder.rows<"time", 8>
module @wide {
  func.func @forward(%x: tensor<?x256xf32, #time> {encoder.name = "x"}) -> (tensor<?x96xf32, #time> {encoder.name = "y"}) {
    %W = encoder.parameter "W" init "normal" : tensor<256x96xf32>
    %b = encoder.parameter "b" init "normal" : tensor<96xf32>
    %y = encoder.dense %x, %W, %b : tensor<?x256xf32, #time>, tensor<256x96xf32>, tensor<96xf32>
    return %y : tensor<?x96xf32, #time>
  }
}
