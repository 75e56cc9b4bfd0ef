// Powers of decay rates: state that an update op hands on times a rate, whatever the parameter and
// its gradient are. Read by the reference (what a scale of such a power stands for) and by passes
// that let servers keep one power for all blocks of a parameter.
#pragma once

#include <vector>

#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

// out = in · factor
struct Power {
  mlir::Value in, out;
  double factor = 0;
};
std::vector<Power> powersOf(pd::OpView op);

}  // namespace dtranspile::verify
