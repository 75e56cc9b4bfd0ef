#ifndef DTRANSPILE_PASSES_ASP
#define DTRANSPILE_PASSES_ASP
include "passes/field_options.td"

def Asp : Pass<"asp", "::mlir::ModuleOp"> {
  let summary = "two of every four weights of a layer are zero, and stay so";
  let description = [{
    Structured sparsity (Mishra et al., arXiv:2104.08378), as the framework's strategy `asp` and its
    `prune_model` with the defaults n = 2, m = 4, `mask_1d` make it. A weight is pruned where its
    name says that it belongs to a layer `fc`, `linear` or `conv2d` (`linear_3.w_0`), and is not
    named by `asp_excluded_layers`. It is taken in groups of four along the extent that a product
    contracts: the first of a matrix, the second of a convolution's filter; a group at the end is
    filled up with zeros. At the end of start-up,

        w.asp_mask = 1 where |w| is among the two largest of its group (of equal ones the last), else 0
        w          = w * w.asp_mask

    and after each update w = w * w.asp_mask again. A weight whose extent is below four is left
    alone, with a warning, as in the framework. The mask is a parameter that nothing trains: a run
    that is given initial values wants it among them (the framework saves it under the same name).

    Refused by name: programs without start-up, weights of unknown extents, of more than four dims
    or of another type than float32 and float64, updates with a master copy, and programs that have
    a variable of the mask's name already.

    Example: `asp{asp_excluded_layers=linear_7}`

        %p = pd.sgd Grad(%g) LearningRate(%r) Param(%w) ; pd.set @linear_0.w_0, %p
        --->
        %p = pd.sgd … ; %m = pd.get @linear_0.w_0.asp_mask
        %n = pd.elementwise_mul X(%p) Y(%m) ; pd.set @linear_0.w_0, %n
  }];
  let options = FieldOptions<"asp">.options;
}
#endif
