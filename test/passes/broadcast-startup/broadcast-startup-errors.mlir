// RUN: dtranspile-opt %s --verify-diagnostics --broadcast-startup="axes=dp"

// expected-error @+1 {{no communicator over [dp] carries gradients; form-job makes them}}
module {
  dist.mesh @world [dp = 2]
  dist.role @trainer on @world {
    pd.program @main {}
    pd.program @startup {}
  }
}
