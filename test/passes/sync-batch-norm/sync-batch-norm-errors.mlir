// RUN: dtranspile-opt %s --verify-diagnostics --sync-batch-norm="axes=dp"

// expected-error @+1 {{no communicator over [dp] carries statistics; form-job makes them}}
module {
  dist.mesh @world [dp = 4]
  dist.role @trainer on @world { pd.program @main {} }
}
