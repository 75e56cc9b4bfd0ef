// Family host. Printing is kept although nobody reads its result.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program print
// CHECK-NEXT: call dt_print(x float32[4]; -1 -1 1 1 1 1 1 'here' 'FORWARD') -> y float32[4]
pd.program @print attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y = pd.print In(%x) -> Out("y") {message = "here", print_phase = "FORWARD"} : (tensor<4xf32>) -> tensor<4xf32>
}
