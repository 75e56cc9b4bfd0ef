#ifndef DTRANSPILE_PASSES_LAMB
#define DTRANSPILE_PASSES_LAMB
include "passes/field_options.td"

def Lamb : Pass<"lamb", "::mlir::ModuleOp"> {
  let summary = "every adam update becomes lamb";
  let description = [{
    Layer-wise adaptive moments (You et al., arXiv:1904.00962), as the framework's strategy `lamb`
    makes them. With p the parameter, g its gradient, wd the decay, t the number of the step:

        m = beta1 * m + (1 - beta1) * g
        u = beta2 * u + (1 - beta2) * g^2
        r = (m / (1 - beta1^t)) / (sqrt(u / (1 - beta2^t)) + epsilon) + wd * p
        p = p - LearningRate * (||p|| / ||r||, or 1 where a norm is 0) * r

    A parameter whose name ends with an entry of `lamb_exclude_from_weight_decay` has wd 0. What an
    op computes is said by the framework's version that the program is of: that of 1.x divides by no
    powers of the betas and does not hand them on, that of 2.x leaves the ratio out where wd is 0.
    `beta1`, `beta2` and `epsilon` are those of adam.

    Refused by name: updates by anything but adam, betas and epsilon that are tensors,
    `use_global_beta_pow`, and gradients that are SelectedRows.

    Example: `lamb{lamb_weight_decay=0.01}`

        %p, … = pd.adam Grad(%g) Param(%w) Moment1(%m) … {beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8}
        --->
        %p, … = pd.lamb Grad(%g) Param(%w) Moment1(%m) … {beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0.01}
  }];
  let options = FieldOptions<"lamb">.options;
}
#endif
