#ifndef DTRANSPILE_PASSES_WRITE_OUT_NORMS
#define DTRANSPILE_PASSES_WRITE_OUT_NORMS
include "passes/field_options.td"

def WriteOutNorms : Pass<"write-out-norms", "::mlir::ModuleOp"> {
  let summary = "norms that updates take of parameters which servers cut become values of their own";
  let description = [{
    `lamb`, `lars_momentum` and `clip_by_norm` take the norm of a whole tensor inside of themselves,
    so that a parameter that they touch would have to stay on one server. Where ps-place would cut
    it into several blocks, the op is written out: the norm is `sqrt` of a `squared_l2_norm`, which
    servers sum over blocks, the rest works element by element. With p the parameter, g its gradient:

    | op | becomes |
    | --- | --- |
    | `lamb` | m, u as in pass lamb, set first; r = m̂ / (sqrt(û) + epsilon) + weight_decay p, once for its norm and once more, of the moments as they are then, for `sgd` of r · (‖p‖ / ‖r‖, or 1 where a norm is 0) |
    | `lars_momentum` | `momentum` at rate 1 of (rescale_grad g + decay p) · LearningRate · (lars_coeff ‖p‖ / (‖rescale_grad g‖ + decay ‖p‖ + epsilon), or 1 where a norm is 0) |
    | `clip_by_norm` | X · max_norm / max(‖X‖, max_norm) |

    What the gradient is made of in front of the update (a clip, a decay) is computed once more
    behind the norm, since a block of it is not kept from one loop of a round to the next.

    A semantic pass: what it makes is the job's reference, and the saved program is kept beside it
    where no pass before it has done so. Left as they are, and so in one piece: updates with
    `MasterParam` or `SkipUpdate`, of several parameters, of other than float32, with SelectedRows,
    and those that passes lamb and lars have made. A gradient of zeros, of which `clip_by_norm` of
    1.x makes NaN, stays zeros.

    Example: `write-out-norms{servers=2 min_block_size=8}`

        %c = pd.clip_by_norm X(%g) -> Out("c") {max_norm = 1.0 : f32, op_role = 2 : i32} : (tensor<10x4xf32>) -> tensor<10x4xf32>
        --->
        %most = pd.fill_constant … {value = 1.0 : f32}
        %s = pd.squared_l2_norm X(%g)
        %n = pd.sqrt X(%s)
        %m = pd.elementwise_max X(%n) Y(%most)
        %f = pd.elementwise_div X(%most) Y(%m)
        %c = pd.elementwise_mul X(%g) Y(%f) -> Out("c")
  }];
  let options = [serversOption] # FieldOptions<"write-out-norms">.options;
}
#endif
