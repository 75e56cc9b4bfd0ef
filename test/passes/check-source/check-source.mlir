// RUN: dtranspile-opt %s --check-source | FileCheck %s

// CHECK: pd.relu
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %y = pd.relu X(%x) -> Out("y") : (tensor<?x3xf32>) -> tensor<?x3xf32>
}
