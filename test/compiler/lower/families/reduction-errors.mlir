// Family reduction: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: reduce_all: input AxisTensor is not supported natively
pd.program @axis attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xi1>
  %a = pd.input "a" : tensor<1xi32>
  %y = pd.reduce_all X(%x) AxisTensor(%a) -> Out("y") {dim = array<i32: 0>} : (tensor<4x6xi1>, tensor<1xi32>) -> tensor<6xi1>
}
