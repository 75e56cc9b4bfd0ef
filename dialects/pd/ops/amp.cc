// Rows of the op table: family `amp`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_optimizer.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"check_finite_and_unscale", "X+, Scale -> Out*, FoundInfinite", "", kPure, inferCheckFinite},
    {"update_loss_scaling",
     "X+, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, StopUpdate? -> Out*, "
     "LossScaling!, OutGoodSteps, OutBadSteps",
     "incr_every_n_steps:i, decr_every_n_nan_or_inf:i, incr_ratio:f, decr_ratio:f, "
     "stop_update:b=false",
     kPure, inferStateUpdate},
};

}  // namespace

Family ampFamily() { return {"amp", kRows}; }

}  // namespace dtranspile::pd
