#ifndef DTRANSPILE_PASSES_LARS
#define DTRANSPILE_PASSES_LARS
include "passes/field_options.td"

def Lars : Pass<"lars", "::mlir::ModuleOp"> {
  let summary = "every momentum update becomes lars_momentum";
  let description = [{
    Layer-wise adaptive rates (You et al., arXiv:1708.03888), as the framework's strategy `lars`
    makes them. With p the parameter, g its gradient, wd the decay:

        rate = LearningRate * lars_coeff * ||p|| / (||g|| + wd * ||p|| + epsilon)
               where wd, ||p|| and ||g|| are above 0, else LearningRate
        v    = mu * v + rate * (g + wd * p)
        p    = p - v

    A parameter whose name contains an entry of `lars_exclude_from_weight_decay` keeps its momentum
    update. Velocity, learning rate, `mu`, `rescale_grad`, master parameters, clips and decay that
    the program applies to gradients stay as they are.

    Refused by name: updates by anything but momentum, `use_nesterov` (lars_momentum has no such
    step), decay inside the momentum op (`regularization_method`), and gradients that are SelectedRows.

    Example: `lars{lars_coeff=0.01}`

        %p, %v = pd.momentum Grad(%g) Param(%w) Velocity(%u) … {mu = 0.9}
        --->
        %p, %v = pd.lars_momentum Grad(%g) Param(%w) Velocity(%u) … {lars_coeff = 0.01, lars_weight_decay = 0.0005, mu = 0.9}
  }];
  let options = FieldOptions<"lars">.options;
}
#endif
