// RUN: dtranspile-opt %s --verify-diagnostics --dp-hierarchical

// expected-error @+1 {{dp-hierarchical: the job has no communicators per level; give dp-form-job the option intra}}
module {
  dist.mesh @world [dp = 4]
  dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
  dist.role @trainer on @world { pd.program @main {} }
}
