// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --reduce-counts="axes=dp"

dist.mesh @world [dp = 2]
// expected-error @+1 {{has no pd.program @main}}
dist.role @trainer on @world {
  pd.program @startup {}
}

// -----

dist.mesh @world [replicas = 2]
// expected-error @+1 {{axes: the mesh has no axis 'dp'; it has [replicas]}}
dist.role @trainer on @world {
  pd.program @main {}
}
