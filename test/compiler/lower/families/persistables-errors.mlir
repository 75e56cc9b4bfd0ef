// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: :4:1: error: persistable w has extents that are not known: 'tensor<?x2xf32>'
pd.var @w : tensor<?x2xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %w = pd.get @w : tensor<?x2xf32>
  %y = pd.relu X(%w) -> Out("y") : (tensor<?x2xf32>) -> tensor<?x2xf32>
}
