// RUN: dtranspile-opt %s --verify-diagnostics --lookahead="lookahead_k=0 lookahead_alpha=2"

// expected-error @below {{lookahead: k is 0 and alpha 2.000000e+00; k is at least 1, alpha between 0 and 1}}
pd.program @main {
}
