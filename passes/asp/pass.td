#ifndef DTRANSPILE_PASSES_ASP
#define DTRANSPILE_PASSES_ASP
include "passes/field_options.td"

def Asp : Pass<"asp", "::mlir::ModuleOp"> {
  let summary = "half of the weights of a layer are zero, and stay so";
  let description = [{
    Structured sparsity (Mishra et al., arXiv:2104.08378), as the framework's strategy `asp` and its
    `prune_model` with the defaults n = 2, m = 4 make it. A weight is pruned where its name says
    that it belongs to a layer `fc`, `linear` or `conv2d` (`linear_3.w_0`), and is not named by
    `asp_excluded_layers`. At the end of start-up,

        w.asp_mask = 1 where an element of w is kept, else 0
        w          = w * w.asp_mask

    and after each update w = w * w.asp_mask again. Kept are, with `asp_mask_algo`

        mask_1d         in groups of four along the extent that a product contracts (the first of
                        a matrix, the second of a convolution's filter) the two of largest |w|, of
                        equal ones the last
        mask_2d_greedy  in blocks of four by four of w as a matrix (the transposed one; of a filter
                        [o, i, h, w] the one of w * h * o rows and i columns) elements by |w|, the
                        largest first, of equal ones the last, where row and column keep fewer
                        than two
        mask_2d_best    in the same blocks the pattern of two elements in each row and column whose
                        sum of w is largest, of equal ones the first as a binary number

    Groups and blocks at the end are filled up with zeros. A weight whose extent is below four is
    left alone, with a warning, as in the framework. The mask is a parameter that nothing trains: a
    run that is given initial values wants it among them (the framework saves it under the same
    name).

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
