// Formulas as loop nests: one loop over the elements, or a reduction within a loop over the rows.
// RUN: dtranspile-lower %s --kernels | FileCheck %s

// CHECK: program pointwise
// CHECK: scf.for %[[I:.*]] = %lo to %n
// CHECK-NEXT: %[[X:.*]] = memref.load %m0[%[[I]]] : memref<?xf32
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0x00000000 : f32
// CHECK-NEXT: %[[POSITIVE:.*]] = arith.cmpf ogt, %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: %[[Y:.*]] = arith.select %[[POSITIVE]], %[[X]], %[[ZERO]] : f32
// CHECK-NEXT: memref.store %[[Y]], %m1[%[[I]]] : memref<?xf32
pd.program @pointwise attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.relu X(%x) -> Out("y") : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: program rows
// CHECK: scf.for %[[ROW:.*]] = %lo to %n
// CHECK: %[[SUM:.*]] = scf.for %[[J:.*]] = %zero to %{{.*}} iter_args(%[[SOFAR:.*]] = %{{.*}}) -> (f64)
// CHECK-NEXT: %[[X:.*]] = memref.load %m0[%[[ROW]], %[[J]]] : memref<?x6xf64
// CHECK-NEXT: arith.addf %[[SOFAR]], %[[X]] fastmath<reassoc
// CHECK: memref.store %[[SUM]], %m1[%[[ROW]]] : memref<?xf64
pd.program @rows attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf64>
  %s = pd.reduce_sum X(%x) -> Out("s") {dim = array<i32: 1>, keep_dim = false, reduce_all = false} : (tensor<4x6xf64>) -> tensor<4xf64>
}
