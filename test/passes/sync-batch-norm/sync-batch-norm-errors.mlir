// RUN: dtranspile-opt %s --verify-diagnostics --sync-batch-norm

// expected-error @+1 {{sync-batch-norm: no communicator carries statistics; give dp-form-job the option statistics}}
module {
  dist.mesh @world [dp = 4]
  dist.role @trainer on @world { pd.program @main {} }
}
