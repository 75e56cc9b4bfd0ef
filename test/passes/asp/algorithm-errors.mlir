// RUN: dtranspile-opt %s --verify-diagnostics --asp="asp_mask_algo=mask_3d"

pd.program @startup {
}
// expected-error @below {{asp: asp_mask_algo is 'mask_3d'; mask_1d, mask_2d_greedy and mask_2d_best are known}}
pd.program @main {
}
