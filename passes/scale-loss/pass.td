#ifndef DTRANSPILE_PASSES_SCALE_LOSS
#define DTRANSPILE_PASSES_SCALE_LOSS
include "passes/field_options.td"

def ScaleLoss : Pass<"scale-loss", "::mlir::ModuleOp"> {
  let summary = "scales the seed of the backward part so that summed gradients are those of the "
                "whole batch";
  let description = [{
    After every op with the roles Backward and Loss a `scale` by 1/N, N the number of ranks along
    the axes. This is the only place of the
    job where N enters the arithmetic. Gradients summed over N ranks are then those of one device if
    the loss is a mean over the batch, or is computed per part (batch norm, weighted means). Ranks
    along an axis count in N unless the loss is a *sum* over the batch that is cut along it: the
    relation of the loss says so, axis by axis. Where N is 1 no op is inserted; the framework
    divides there too, and `scale_strategy=reference` does as it does. With `scale_strategy=sum` no op
    is inserted, and the contract `gradient_sum` says how many times the reference's gradients are. A loss that adds a sum and
    something else has no right factor and is an error; of one with an unknown relation N is that of
    the framework.

    Example:

        %g = pd.fill_constant … {op_role = 257}
        --->
        %g = pd.fill_constant … {op_role = 257}
        %s = pd.scale X(%g) -> Out("loss@GRAD") {scale = 0.25 : f32, op_role = 1}
  }];
  let options = [axesOption] # FieldOptions<"scale-loss">.options;
}
#endif
