// Family creation: refusals name what is not supported.
// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: error: fill_constant: str_value 'half' is not supported natively
pd.program @text attributes {version = 2006002 : i64} {
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2, 3>, str_value = "half"} : () -> tensor<2x3xf32>
}
