// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --reduce-by-levels="axes=inter,intra"
// RUN: not dtranspile-opt %s --split-input-file --reduce-by-levels="axes=inter" 2>&1 | FileCheck %s --check-prefix=ONE

// ONE: error: reduce-by-levels: takes two axes, that between the groups and that within them
// expected-error @below {{no communicator over [intra] carries gradients within; form-job makes them}}
// expected-error @below {{no communicator over [inter] carries gradients between; form-job makes them}}
module {
  dist.mesh @world [inter = 2, intra = 2]
  dist.comm @grad0 on @world over [inter, intra] group {carries = "gradients"}
  dist.role @trainer on @world { pd.program @main {} }
}
