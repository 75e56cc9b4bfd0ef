// A plugin that cannot be loaded ends the run; without it a pipeline would silently lack a pass.
// RUN: not dtranspile-opt %s --load-pass-plugin=%t.nothing.so 2>&1 | FileCheck %s
// RUN: not dtranspile-opt %s --load-pass-plugin %t.nothing.so 2>&1 | FileCheck %s
// RUN: not dtranspile-opt %s --load-pass-plugin=%s 2>&1 | FileCheck %s
// CHECK: error: pass plugin '{{.*}}' cannot be loaded
module {}
