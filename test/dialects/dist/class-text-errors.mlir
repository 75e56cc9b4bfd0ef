// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

module attributes {dist.class = "trainer[pp=1]", dist.role = "trainer", dist.ranks = #dist.sel<pp = 1>} {
  dist.mesh @w [dp = 2, pp = 4]
  // expected-note @+1 {{the comm; its members must be the guarded ranks}}
  dist.comm @tie on @w over [pp] subset <pp in {0, 3}> group
  pd.program @main {
    // expected-error @+1 {{D8: not every member of a group of @tie comes here}}
    dist.barrier on @tie
  }
}

// -----

module attributes {dist.class = "trainer", dist.role = "trainer"} {
  dist.mesh @w [dp = 2]
  // expected-note @+1 {{the comm}}
  dist.comm @dp on @w over [dp] group
  pd.program @main {
    dist.on <dp = 0> {
      // expected-error @+1 {{D8: not every member of a group of @dp comes here}}
      dist.barrier on @dp
      dist.yield
    }
  }
}

// -----

dist.mesh @w [pp = 2]
dist.comm @next on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D27: stands in the text of a class only}}
    dist.send %x on @next to 1 : tensor<2xf32>
  }
}

// -----

module attributes {dist.class = "trainer", dist.role = "trainer"} {
  dist.mesh @w [pp = 2]
  dist.comm @next on @w over [pp] pairs
  pd.program @main {
    // expected-error @+1 {{D23: axis 'pp' has no coordinate 2}}
    %x = dist.recv on @next from 2 : tensor<2xf32>
  }
}

// -----

// expected-error @+1 {{attribute 'dist.ranks' expects a non-empty #dist.sel on a module}}
module attributes {dist.ranks = #dist.sel<>} {}

// -----

// expected-error @+1 {{attribute 'dist.role' expects the name of a role on a module}}
module attributes {dist.role = 3} {}
