// Family recurrent: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: rnn: needs [steps, batch, size] in Input and [layers, batch, size] in PreState
pd.program @flat attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5xf32>
  %h = pd.input "h" : tensor<1x2x4xf32>
  %w = pd.input "w" : tensor<4x5xf32>
  %u = pd.input "u" : tensor<4x4xf32>
  %b = pd.input "b" : tensor<4xf32>
  %c = pd.input "c" : tensor<4xf32>
  %y, %s, %r = pd.rnn Input(%x) PreState(%h) WeightList(%w, %u, %b, %c) -> Out("y") State("s") Reserve("r") {hidden_size = 4 : i32, input_size = 5 : i32, mode = "RNN_TANH", num_layers = 1 : i32} : (tensor<2x5xf32>, tensor<1x2x4xf32>, tensor<4x5xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<1x2x4xf32>, tensor<?xf32>)
}

// CHECK: error: lstm_grad: an argument that is SelectedRows or a list is not supported natively
pd.program @list attributes {version = 1008005 : i64} {
  %x = pd.input "x" : !pd.lod<tensor<?x12xf32>, 1>
  %w = pd.input "w" : tensor<3x12xf32>
  %b = pd.input "b" : tensor<1x12xf32>
  %g = pd.input "g" : !pd.lod<tensor<?x3xf32>, 1>
  %h = pd.undef "h" : !pd.array<tensor<?x3xf32>, 1>
  %dx = pd.lstm_grad Bias(%b) Hidden(%h) "Hidden@GRAD"(%g) Input(%x) Weight(%w) -> "Input@GRAD"("dx") {use_peepholes = false} : (tensor<1x12xf32>, !pd.array<tensor<?x3xf32>, 1>, !pd.lod<tensor<?x3xf32>, 1>, !pd.lod<tensor<?x12xf32>, 1>, tensor<3x12xf32>) -> !pd.lod<tensor<?x12xf32>, 1>
}

// CHECK: error: cannot be run natively: no lowering for 1 op type(s): cudnn_lstm
pd.program @device attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<2x3x5xf32>
  %h = pd.input "h" : tensor<1x3x4xf32>
  %w = pd.input "w" : tensor<160xf32>
  %y, %h1, %c1 = pd.cudnn_lstm Input(%x) InitH(%h) InitC(%h) W(%w) -> Out("y") last_h("h1") last_c("c1") {hidden_size = 4 : i32, input_size = 5 : i32} : (tensor<2x3x5xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>, tensor<160xf32>) -> (tensor<2x3x4xf32>, tensor<1x3x4xf32>, tensor<1x3x4xf32>)
}
