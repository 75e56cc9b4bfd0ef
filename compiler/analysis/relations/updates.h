// What is known of single update ops beyond their relation rules (rules/optimizer.cc), for jobs
// where servers update. Read by the walk and the reference, and by the passes that make such jobs.
#pragma once

#include <vector>

#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

// A power of a decay rate, handed on whatever the parameter and its gradient are: out = in ·
// factor. Servers keep one for all blocks of a parameter.
struct Power {
  mlir::Value in, out;
  double factor = 0;
};
std::vector<Power> powersOf(pd::OpView op);

// What an op of the forward part hands on as it is: a parameter that it lists as an output too, so
// that servers could send rows of it. Null for all other results.
mlir::Value passedThrough(mlir::OpResult result);

// Whether the op gives the same where a gradient of SelectedRows is put together to a dense one:
// rows without a gradient get zeros, and these must do what leaving the row out does.
bool takesRowsAsDense(pd::OpView op);

// Whether the op updates rows by themselves by a gradient of SelectedRows: a block of the parameter
// by the rows of that block, whatever the others are.
bool updatesByRows(pd::OpView op);

}  // namespace dtranspile::verify
