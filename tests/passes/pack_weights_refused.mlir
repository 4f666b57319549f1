// What the option `panels` may be: sizes of weights, each with the width of its panels in vectors.
// RUN: not burin-opt %s --burin-pack-weights="target=x86-64-avx2 panels=384x1536=wide" 2>&1 | FileCheck %s
// CHECK: error: panels '384x1536=wide', expected a list such as 384x1536=2,64x64=1
// RUN: not burin-opt %s --burin-pack-weights="target=x86-64-avx2 panels=384x1536=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: panels '384x1536=0', expected

module @empty {}
