// What the ops of a program demand of its feeds: ids below the rows of a table, labels below the
// number of classes, lengths, shares of one. Derived from the program, so that generated feeds
// (feeds.h) are ones that it can be run on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialects/pd/pd.h"
#include "runtime/base/dtype.h"

namespace dtranspile::verify {

// The values that a feed may have. The narrowest of what its uses demand.
enum class Domain {
  Real,      // any number
  Positive,  // above zero, and not near it: divisors, arguments of logarithms
  Unit,      // a share of one
  Binary,    // 0 or 1
  Index,     // 0 … bound - 1
  Count,     // 1 … bound
};

struct FeedDemand {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;  // -1: not declared
  int lodLevel = 0;
  Domain domain = Domain::Real;
  int64_t bound = 2;  // of Index and Count
};

// For every feed of the program, in order of first use.
std::vector<FeedDemand> demandsOn(pd::ProgramOp program);

}  // namespace dtranspile::verify
