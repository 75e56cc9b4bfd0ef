// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --specialize="class=trainer"

// expected-error @+1 {{there is no dist.role @trainer}}
module {}

// -----

dist.mesh @w [dp = 2]
// expected-remark @+1 {{class trainer has 2 ranks}}
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{has no specialisation yet: this job cannot be compiled, run or exported}}
    %c = dist.coord "dp" : tensor<1xi64>
  }
}

// -----

dist.mesh @w [pp = 2]
// expected-remark @+3 {{class trainer[pp=0] has 1 ranks}}
// expected-remark @+2 {{class trainer[pp=1] has 1 ranks}}
// expected-error @+1 {{has no class of ranks 'trainer'}}
dist.role @trainer on @w {
  pd.program @main {
    dist.on <pp = 0> { dist.yield }
  }
}
