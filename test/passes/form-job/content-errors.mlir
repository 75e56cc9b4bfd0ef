// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp"

pd.program @main {
}
// expected-error @+1 {{the input of form-job holds pd.var and pd.program only; is it a job already?}}
pd.decl "x" tensor of float32 [1]
