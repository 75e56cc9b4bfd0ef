// RUN: not dtranspile-opt %s --fp16-all-reduce="axes=dp" 2>&1 | FileCheck %s

// CHECK: error:
pd.program @main {
}
