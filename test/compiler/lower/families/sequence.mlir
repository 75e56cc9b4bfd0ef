// Family sequence. Rows of a ragged batch are known only at run time (?).
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program ragged
// CHECK-NEXT: call dt_sequence_softmax(x float32[?x4] lod 1; 1) -> s float32[?x4] lod 1
// CHECK-NEXT: call dt_sequence_pool(x float32[?x4] lod 1; 0 'SUM') -> y float32[?x4], i int32[?x4]
pd.program @ragged attributes {version = 1008005 : i64} {
  %x = pd.input "x" : !pd.lod<tensor<?x4xf32>, 1>
  %s = pd.sequence_softmax X(%x) -> Out("s") : (!pd.lod<tensor<?x4xf32>, 1>) -> !pd.lod<tensor<?x4xf32>, 1>
  %y, %i = pd.sequence_pool X(%x) -> Out("y") MaxIndex("i") {pooltype = "SUM"} : (!pd.lod<tensor<?x4xf32>, 1>) -> (tensor<?x4xf32>, tensor<?x4xi32>)
}
