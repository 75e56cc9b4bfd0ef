// Extents of a kernel that are known only when it runs: read off its inputs, given to its outputs,
// multiplied out for the table that generated code reads (plan.h, UnknownExtents). Used by the
// executor.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

// An argument: null where its extents are fixed.
struct ValueArgument {
  Value* value = nullptr;
  const std::string* name = nullptr;
};

// Where a kernel's extents are put: no memory is taken after the first call.
struct BoundExtents {
  std::vector<int64_t> unknowns, table;
  int64_t rows = 0;
};

// Reads extents off the inputs, sizes the outputs, fills `bound`. Outputs without extents of their
// own get the LoD of the first input that has one for as many rows. kInvalidArgument names
// arguments whose extents do not agree.
absl::Status BindExtents(const UnknownExtents& unknown, const std::vector<ValueArgument>& arguments,
                         BoundExtents& bound);

}  // namespace dtranspile::exec
