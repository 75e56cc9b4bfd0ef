// RUN: not dtranspile-opt %s --dp-form-job="ranks=0" 2>&1 | FileCheck %s --check-prefix=RANKS
// RUN: not dtranspile-opt %s --dp-form-job="ranks=6 intra=4" 2>&1 | FileCheck %s --check-prefix=INTRA
// RUN: not dtranspile-opt %s --dp-form-job="ranks=2 comms=0" 2>&1 | FileCheck %s --check-prefix=COMMS
// RUN: not dtranspile-opt %s --dp-form-job="ranks=2 batch-dims=x=9" 2>&1 | FileCheck %s --check-prefix=DIM
// RUN: not dtranspile-opt %s --dp-form-job="ranks=2 batch-dims=x=a" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not dtranspile-opt %s --dp-form-job="ranks=2 batch-dims=q=0" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not dtranspile-opt %s --dp-form-job="ranks=2" --dp-form-job="ranks=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: dtranspile-opt %s --dp-form-job="ranks=2 batch-dims=x=none" 2>&1 | FileCheck %s --check-prefix=NOBATCH

// RANKS: error: dp-form-job: ranks is 0; the least is 1
// INTRA: error: dp-form-job: intra is 4; it is at least 2, smaller than ranks (6) and divides it
// COMMS: error: dp-form-job: comms is 0; it lies between 1 and 64
// DIM: error: dp-form-job: batch-dims: 'x' has 2 dims, no dim 9
// FORM: error: dp-form-job: batch-dims: 'x=a' is neither NAME=dim nor NAME=none
// NAME: error: dp-form-job: batch-dims names 'q', which is no feed of the program
// TWICE: error: there is no pd.program @main
// NOBATCH: warning: no feed has a batch dim

pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
}
