// RUN: dtranspile-opt %s --verify-diagnostics --dp-broadcast-startup

// expected-error @+1 {{no communicator carries gradients; dp-form-job makes them}}
module {
  dist.mesh @world [dp = 2]
  dist.role @trainer on @world {
    pd.program @main {}
    pd.program @startup {}
  }
}
