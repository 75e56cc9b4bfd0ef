// Family creation: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: fill_constant: str_value 'half' is not supported natively
pd.program @text attributes {version = 2006002 : i64} {
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2, 3>, str_value = "half"} : () -> tensor<2x3xf32>
}

// CHECK: error: fill_constant_batch_size_like: cannot copy extent 0 of Input [4, 3] to 2 of shape [?, 5]
pd.program @like attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %c = pd.fill_constant_batch_size_like Input(%x) -> Out("c") {dtype = 5 : i32, output_dim_idx = 2 : i32, shape = array<i32: -1, 5>} : (tensor<4x3xf32>) -> tensor<?x5xf32>
}

// CHECK: error: eye: cannot make a matrix of -2 rows and 3 columns
pd.program @rows attributes {version = 2006002 : i64} {
  %c = pd.eye -> Out("c") {dtype = 5 : i32, num_columns = 3 : i64, num_rows = -2 : i64} : () -> tensor<2x3xf32>
}
