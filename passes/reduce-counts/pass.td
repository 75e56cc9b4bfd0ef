#ifndef DTRANSPILE_PASSES_REDUCE_COUNTS
#define DTRANSPILE_PASSES_REDUCE_COUNTS
include "passes/field_options.td"

def ReduceCounts : Pass<"reduce-counts", "::mlir::ModuleOp"> {
  let summary = "sums over the batch that a loss is divided by are those of all ranks";
  let description = [{
    A sum over the samples (a count of labels that are not ignored, a sum of weights) of which each
    rank has the term of its share is added up over the axes where an op that is not linear takes
    it: a division, a comparison, the larger of it and 1. Every op takes the sum of the whole batch
    then, and none of them is a site. What a rank makes of it and of its own samples, s_c / C with
    C the sum of the C_c, is scaled by N, the number of ranks, so that the mean over the ranks is
    the loss of the whole batch, as it is of a loss that is a mean.

    The gradient part gets the adjoints, in the reverse order: N for N, and for the sum the sum of
    the ranks' gradients, which is N times that of one rank where they are equal.

    The relation analysis is asked before and after. Nothing is changed where it knows less of the
    job then, where as many sites are left, or where a gradient would be another multiple than the
    others: a loss that adds such a ratio and a sum over the samples. Sums of more than 1,024
    elements, of SelectedRows, and those that blocks of control flow take are left alone.

    Example, on four ranks:

        %l = pd.elementwise_div X(%sum) Y(%count) -> Out("loss")
        --->
        %all = dist.all_reduce sum(%count) on @counts
        %l = pd.elementwise_div X(%sum) Y(%all) -> Out("loss")
        %m = pd.scale X(%l) -> Out("loss") {scale = 4.0 : f32}
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
