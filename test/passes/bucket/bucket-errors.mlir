// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --bucket="axes=dp fuse_grad_size_in_MB=-1"

// expected-error @+1 {{bucket: fuse_grad_size_in_MB is -1; it lies between 0 and 1048576}}
module {
  dist.mesh @world [dp = 4]
  dist.role @trainer on @world { pd.program @main {} }
}

// -----

// expected-error @+1 {{is no job: it has no dist.role; run form-job first}}
module {
  pd.program @main {}
}

// -----

dist.mesh @world [dp = 4]
dist.role @trainer on @world { pd.program @main {} }
// expected-error @+1 {{the job has a second role}}
dist.role @server on @world { pd.program @main {} }
