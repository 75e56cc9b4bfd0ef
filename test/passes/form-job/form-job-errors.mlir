// RUN: not dtranspile-opt %s --form-job="axes=dp:0 comm-axes=dp" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not dtranspile-opt %s --form-job="axes=dp comm-axes=dp" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dtranspile-opt %s --form-job 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dtranspile-opt %s --form-job="axes=dp:2" 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=mp" 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp use_hierarchical_allreduce=true" 2>&1 | FileCheck %s --check-prefix=LEVELS
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp nccl_comm_num=0" 2>&1 | FileCheck %s --check-prefix=COMMS
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --form-job="axes=dp:2 comm-axes=dp" 2>&1 | FileCheck %s --check-prefix=TWICE

// SIZE: error: form-job: axes: 'dp:0' is no NAME:SIZE
// FORM: error: form-job: axes: 'dp' is no NAME:SIZE
// NONE: error: form-job: give axes=NAME:SIZE,…
// OVER: error: form-job: give comm-axes=NAME,…, some of the axes
// OTHER: error: {{.*}}D4
// LEVELS: error: form-job: use_hierarchical_allreduce takes two comm-axes, that between the groups and that within them
// COMMS: error: form-job: nccl_comm_num is 0; it lies between 1 and 64
// TWICE: error: there is no pd.program @main

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
}
