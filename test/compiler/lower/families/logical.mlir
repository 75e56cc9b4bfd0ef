// Family logical. Comparisons are formulas and melt into one kernel.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program tests
// CHECK-NEXT: kernel logical_not(x float32[4], y float32[4]) -> n bool[4]
// CHECK-NEXT: call dt_equal_all(x float32[4], y float32[4]; 2006002) -> a bool[]
pd.program @tests attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y = pd.input "y" : tensor<4xf32>
  %l = pd.less_than X(%x) Y(%y) -> Out("l") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %n = pd.logical_not X(%l) -> Out("n") : (tensor<4xi1>) -> tensor<4xi1>
  %a = pd.equal_all X(%x) Y(%y) -> Out("a") : (tensor<4xf32>, tensor<4xf32>) -> tensor<i1>
}
