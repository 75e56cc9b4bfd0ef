// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --write-out-norms="servers=0"

// expected-error @below {{write-out-norms: servers or min_block_size is less than 1}}
module {
  pd.program @main {
  }
}

// -----

// expected-error @below {{there is no pd.program @main; this pass goes before form-job}}
module {
}
