// Family host: what touches files is no part of a step, and is named with all else that has no lowering.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: cannot be run natively: no lowering for 2 op type(s): load, save
// CHECK: note: load
// CHECK: note: save
pd.program @files attributes {version = 2006002 : i64} {
  %x = pd.load -> Out("x") {file_path = "w"} : () -> tensor<4xf32>
  pd.save X(%x) {file_path = "v"} : (tensor<4xf32>) -> ()
}

// CHECK: error: print: needs an argument in input slot 'In'
pd.program @nothing attributes {version = 2006002 : i64} {
  %y = pd.print In(empty) -> Out("y") {message = "here"} : () -> tensor<4xf32>
}
