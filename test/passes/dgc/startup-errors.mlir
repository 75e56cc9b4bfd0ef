// RUN: dtranspile-opt %s --verify-diagnostics --dgc="axes=dp"

dist.mesh @world [dp = 4]
dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
// expected-error @+1 {{dgc keeps what is not sent, from zero on: the job needs a pd.program @startup}}
dist.role @trainer on @world { pd.program @main {} }
