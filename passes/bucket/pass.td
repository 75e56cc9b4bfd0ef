#ifndef DTRANSPILE_PASSES_BUCKET
#define DTRANSPILE_PASSES_BUCKET
include "passes/field_options.td"

def Bucket : Pass<"bucket", "::mlir::ModuleOp"> {
  let summary = "joins reductions into buckets that start when complete and are waited for at their "
                "first use";
  let description = [{
    Blocking sums on communicators over the axes that carry gradients, in program order, of one
    element type, up to `fuse_grad_size_in_MB` together (0: no buckets), become one variadic all_reduce at the place of its last member. It is
    waited for right before the first use of any of its results. A use between two members closes
    the bucket. Values whose size is not known, and SelectedRows, stay alone. Buckets take turns
    over the communicators.

    Example:

        %a1 = dist.all_reduce sum(%a) on @grad0 … %b1 = dist.all_reduce sum(%b) on @grad0 … use(%a1)
        --->
        … %p = dist.all_reduce sum(%a, %b) on @grad0 : … -> !dist.pending<…> … %r:2 = dist.wait %p
        use(%r#0)
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption] # FieldOptions<"bucket">.options;
}
#endif
