// Family embedding: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: cvm: needs shows and clicks in the first two columns of X [4, 1]
pd.program @narrow attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x1xf32>
  %c = pd.input "c" : tensor<4x2xf32>
  %y = pd.cvm X(%x) CVM(%c) -> Y("y") {use_cvm = true} : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x1xf32>
}

// CHECK: error: sample_logits: cannot draw -3 samples
pd.program @negative attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x10xf32>
  %l = pd.input "l" : tensor<2x1xi64>
  %o:6 = pd.sample_logits Logits(%x) Labels(%l) -> Samples("s") Probabilities("p") LogitsDim("ld") LabelsDim("kd") SampledLogits("sl") SampledLabels("sk") {num_samples = -3 : i32} : (tensor<2x10xf32>, tensor<2x1xi64>) -> (tensor<2x4xi64>, tensor<2x4xf32>, tensor<2x10xf32>, tensor<2x1xi64>, tensor<2x4xf32>, tensor<2x1xi64>)
}

// CHECK: error: one_hot_v2: attribute 'dtype' holds 99, which is no element type
pd.program @type attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3xi64>
  %y = pd.one_hot_v2 X(%x) -> Out("y") {depth = 4 : i32, dtype = 99 : i32} : (tensor<3xi64>) -> tensor<3x4xf32>
}
