// Family metric: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: auc: input InsTagWeight is not supported natively
pd.program @weighted attributes {version = 2006002 : i64} {
  %p = pd.input "p" : tensor<4x2xf32>
  %l = pd.input "l" : tensor<4x1xi64>
  %pos = pd.input "pos" : tensor<1x11xi64>
  %neg = pd.input "neg" : tensor<1x11xi64>
  %w = pd.input "w" : tensor<1xf32>
  %a, %p1, %n1 = pd.auc Predict(%p) Label(%l) StatPos(%pos) StatNeg(%neg) InsTagWeight(%w) -> AUC("a") StatPosOut("p1") StatNegOut("n1") {num_thresholds = 10 : i32, slide_steps = 0 : i32} : (tensor<4x2xf32>, tensor<4x1xi64>, tensor<1x11xi64>, tensor<1x11xi64>, tensor<1xf32>) -> (tensor<1xf64>, tensor<1x11xi64>, tensor<1x11xi64>)
}
