// Family detection. Calls slot by slot.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program overlap
// CHECK-NEXT: call dt_iou_similarity(x float32[5x4], y float32[3x4]; 1) -> o float32[5x3]
pd.program @overlap attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<5x4xf32>
  %y = pd.input "y" : tensor<3x4xf32>
  %o = pd.iou_similarity X(%x) Y(%y) -> Out("o") {box_normalized = true} : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
}
