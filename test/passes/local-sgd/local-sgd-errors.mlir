// RUN: dtranspile-opt %s --verify-diagnostics --local-sgd="axes=dp"

dist.mesh @world [dp = 4]
dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
// expected-error @+1 {{local_sgd keeps a copy of every parameter from start-up on: the job needs a pd.program @startup}}
dist.role @trainer on @world { pd.program @main {} }
