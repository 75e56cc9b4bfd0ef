// Declared extents of an op's operands, for constraints: what the verifier may rely on before anything is concrete.
#pragma once

#include <optional>

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Extents of a tensor operand (of SelectedRows: of the tensor it stands for; of an array: of its elements), -1 for unknown ones;
// nothing where the argument is absent or of another kind. A declared 0 is an extent that the framework did not infer: unknown.
std::optional<Dims> declaredDims(const OpView& op, llvm::StringRef slot, unsigned index = 0);

}  // namespace dtranspile::pd
