// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --specialize="class=trainer"

// expected-error @+1 {{there is no dist.role @trainer}}
module {}

// -----

dist.mesh @w [pp = 2]
dist.comm @dp on @w over [pp] subset <pp = 0> group
// expected-remark @+3 {{class trainer[pp=0] has 1 ranks}}
// expected-remark @+2 {{class trainer[pp=1] has 1 ranks}}
// expected-error @+1 {{has no class of ranks 'trainer'}}
dist.role @trainer on @w {
  pd.program @main {
    dist.on <pp = 0> {
      dist.barrier on @dp
      dist.yield
    }
  }
}

// -----

// A class of its own for every rank, where each has communication of its own, up to a limit.
dist.mesh @w [a = 2, b = 3] time [micro = 2]
// expected-remark @+1 {{class trainer has 6 ranks}}
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{trainer has no task in this dist.micro; give every stage one, or leave its coordinate out of the mesh}}
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      %x = pd.input "x" : tensor<2xf32>
      dist.yield
    }
  }
}
