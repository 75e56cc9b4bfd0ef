// Family loss: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: kldiv_loss: reduction 'median' is not supported natively
pd.program @reduction attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %t = pd.input "t" : tensor<4xf32>
  %y = pd.kldiv_loss X(%x) Target(%t) -> Loss("y") {reduction = "median"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}
