// Text of attributes and types of dist that means nothing.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{coordinate is too large}}
#sel = #dist.sel<pp in {0 to 9223372036854775807}>
// -----
// expected-error @+1 {{a coordinate is at least 0}}
#sel = #dist.sel<pp = -1>
// -----
// expected-error @+1 {{a coordinate is at least 0}}
#sel = #dist.sel<pp in {-2 to 1}>
// -----
// expected-error @+1 {{no coordinate of axis 'pp' is selected}}
#sel = #dist.sel<pp in {3 to 1}>
// -----
// expected-error @+1 {{a selector has one set per axis, sorted by axis; 'pp' is out of place}}
#sel = #dist.sel<pp = 0 and pp = 1>
// -----
// expected-error @+1 {{no layout is called 'odd'; known are even, blocks, hashed, cyclic}}
#layout = #dist.layout<odd(4)>
// -----
// expected-error @+1 {{a layout needs an extent and a start of at least 0 and blocks of at least 1}}
#layout = #dist.layout<even(-1)>
// -----
// expected-error @+1 {{a layout needs an extent and a start of at least 0 and blocks of at least 1}}
#layout = #dist.layout<hashed(4, per 0)>
// -----
// expected-error @+1 {{no state is called 'T'; known are R, S, P, Q, X, ?}}
#rel = #dist.rel<"a", dp: T>
// -----
// expected-error @+1 {{a dim is `flat` or at least 0}}
#rel = #dist.rel<"a", dp: S(-2)>
// -----
// expected-error @+1 {{no reduction is called 'average'; known are sum, max, min, prod, or}}
#rel = #dist.rel<"a", dp: P(average)>
// -----
// expected-error @+1 {{the holders are coordinates of another axis}}
#rel = #dist.rel<"a", pp: R at dp = 0>
// -----
// expected-error @+1 {{a relation names a variable and a definition of at least 0}}
#rel = #dist.rel<"a" number -1>
// -----
// expected-error @+1 {{scale 2/4 is not a reduced fraction with a positive denominator}}
#rel = #dist.rel<"a", dp: R, scale 2/4>
// -----
// expected-error @+1 {{scale 1/0 is not a reduced fraction with a positive denominator}}
#rel = #dist.rel<"a", dp: R, scale 1/0>
// -----
// expected-error @+1 {{axis 'dp' is listed twice}}
#rel = #dist.rel<"a", dp: R, dp: S(0)>
// -----
// expected-error @+1 {{a batch names a dim of at least 0 and at least one axis}}
#batch = #dist.batch<-1: dp>
// -----
// expected-error @+1 {{axis 'dp' is listed twice}}
#batch = #dist.batch<0: dp, dp>
// -----
// expected-error @+1 {{a located type holds a plain type, not '!dist.at<tensor<2xf32>, pp = 0>'}}
!at = !dist.at<!dist.at<tensor<2xf32>, pp = 0>, dp = 0>
// -----
// expected-error @+1 {{D21: the result of a started operation is itself pending}}
!p = !dist.pending<!dist.pending<tensor<2xf32>>>
