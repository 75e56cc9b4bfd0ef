// Family linear_algebra: refusals name what is not supported.
// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: error: addmm: extents that depend on data is not supported natively
pd.program @open attributes {version = 2006002 : i64} {
  %i = pd.input "i" : tensor<3xf32>
  %m = pd.input "m" : tensor<5x3xi1>
  %x = pd.input "x" : tensor<5x3xf32>
  %s = pd.masked_select X(%x) Mask(%m) -> Y("s") : (tensor<5x3xf32>, tensor<5x3xi1>) -> tensor<?xf32>
  %a, %as = pd.unsqueeze2 X(%s) -> Out("a") XShape("as") {axes = array<i32: 1>} : (tensor<?xf32>) -> (tensor<?x1xf32>, tensor<0x?xf32>)
  %b = pd.input "b" : tensor<1x3xf32>
  %y = pd.addmm Input(%i) X(%a) Y(%b) -> Out("y") : (tensor<3xf32>, tensor<?x1xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
}
