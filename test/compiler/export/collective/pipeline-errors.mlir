// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-collective="rank=0 endpoints=h0:1,h1:2"

dist.mesh @w [pp = 2] time [micro = 4]
pd.program @main {
  // expected-error @+1 {{export: the framework's section worker runs the schedules 'F-then-B' and '1F1B' with one chunk per stage, not 'ZB-H1' with 1}}
  dist.micro over [micro] schedule("ZB-H1", chunks 1) {
    dist.on <pp = 0> task F {
      dist.yield
    }
    dist.yield
  }
}

// -----

dist.mesh @w [pp = 2] time [micro = 4]
pd.program @main {
  // expected-error @+1 {{export: the framework's section worker runs the schedules 'F-then-B' and '1F1B' with one chunk per stage, not '1F1B' with 2}}
  dist.micro over [micro] schedule("1F1B", chunks 2) {
    dist.on <pp = 0> task F {
      dist.yield
    }
    dist.yield
  }
}

// -----

dist.mesh @w [pp = 2] time [micro = 4]
pd.program @main {
  dist.micro over [micro] schedule("1F1B", chunks 1) {
    // expected-error @+1 {{export: the framework's section worker has no task W}}
    dist.on <pp = 0> task W {
      dist.yield
    }
    dist.yield
  }
}

// -----

dist.mesh @w [dp = 2] time [micro = 4]
pd.program @main {
  dist.micro over [micro] schedule("1F1B", chunks 1) {
    // expected-error @+1 {{export: stands in dist.micro outside of a task; the framework's section worker runs forward and backward tasks}}
    %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<?x2xf32>
    dist.yield
  }
}

// -----

dist.mesh @w [pp = 2] time [micro = 4]
pd.program @main {
  dist.micro over [micro] schedule("F-then-B", chunks 1) {
    dist.on <pp = 0> task F {
      dist.yield
    }
    dist.yield
  }
  // expected-error @+1 {{export: the framework runs one loop over micro-batches in a program}}
  dist.micro over [micro] schedule("F-then-B", chunks 1) {
    dist.on <pp = 0> task F {
      dist.yield
    }
    dist.yield
  }
}

// -----

module attributes {dist.class = "trainer[pp=0]", dist.ranks = #dist.sel<pp = 0>, dist.role = "trainer"} {
  dist.mesh @w [pp = 2]
  dist.comm @fwd on @w over [pp] pairs
  pd.program @main {
    %x = pd.input "x" : !pd.rows<tensor<2x1xf32>>
    // expected-error @+1 {{export: the framework's send_v2 and recv_v2 take dense tensors, not}}
    dist.send %x on @fwd to 1 : !pd.rows<tensor<2x1xf32>>
  }
}
