#ifndef DTRANSPILE_PASSES_REDUCE_GRADIENTS
#define DTRANSPILE_PASSES_REDUCE_GRADIENTS
include "passes/field_options.td"

def ReduceGradients : Pass<"reduce-gradients", "::mlir::ModuleOp"> {
  let summary = "sums every parameter's gradient over the axes, once, where it is complete";
  let description = [{
    A gradient is complete after the last op with role Backward that lists it in `op_role_var`.
    Everything after reads the sum: clip, regularisation, gradient merge, the update; but an op with
    role Backward that makes another parameter's gradient of it reads the rank's term, since that
    one is summed in turn. SelectedRows
    gradients are summed as such (lowering gathers rows and values). Communicators that carry
    gradients take turns. Which of the axes a gradient is summed over the relation analysis says: those
    along which every rank has a term of it, and those along which it is equal and has a part of the
    scale; one that an earlier pass has summed over an axis is not summed over it again, and one of
    unknown relation is summed over all. A parameter that is updated without a gradient in any such list is an
    error: it would drift apart.

    Example:

        %g = pd.mul_grad … -> Y@GRAD("w@GRAD") {op_role = 1, op_role_var = ["w", "w@GRAD"]}
        %w1 = pd.sgd Grad(%g) …
        --->
        %r = dist.all_reduce sum(%g) on @grad0
        %w1 = pd.sgd Grad(%r) …
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
