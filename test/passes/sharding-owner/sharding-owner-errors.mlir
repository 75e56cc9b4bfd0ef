// RUN: dtranspile-opt %s --sharding-owner="axes=dp over=dp" --split-input-file --verify-diagnostics
// RUN: not dtranspile-opt %s --sharding-owner="axes=dp" --split-input-file 2>&1 | FileCheck %s --check-prefix=AXIS
// RUN: not dtranspile-opt %s --sharding-owner="axes=dp over=dp sharding_stage=4" --split-input-file 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not dtranspile-opt %s --sharding-owner="axes=dp over=dp min_shard=-1" --split-input-file 2>&1 | FileCheck %s --check-prefix=LEAST

// AXIS: error: sharding-owner: over is 'sharding', which is none of the axes [dp]
// STAGE: error: sharding-owner: sharding_stage is 4; 1, 2 and 3 are known
// LEAST: error: sharding-owner: min_shard and segment_broadcast_MB are at least 0

// expected-error @below {{is no job: it has no dist.role; run form-job first}}
module {
}

// -----

// expected-error @below {{no communicator over [dp] carries gradients; form-job makes them}}
module {
  dist.mesh @world [dp = 4]
  dist.comm @other on @world over [dp] group {carries = "gradients within"}
  dist.role @trainer on @world {
    pd.program @main {}
  }
}

// -----

module {
  dist.mesh @world [dp = 4]
  dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
  dist.role @trainer on @world {
    // expected-warning @below {{sharding-owner: there is nothing to share out: every rank keeps and updates all parameters}}
    pd.program @main {}
  }
}
