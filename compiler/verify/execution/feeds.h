// Generated feeds: values that a program can be run on (demands.h), a function of seed, feed and
// step.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/verify/execution/demands.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::verify {

struct FeedPlan {
  int64_t parts = 1;    // into which the batch is cut, over all ranks and micro-batches
  int64_t perPart = 2;  // samples, or sequences, of a part
  bool equal = false;   // whether all parts have the same samples
  int64_t others = 4;   // extents that are not declared, but for the batch
  uint64_t seed = 1;
  double magnitude = 1;  // of real numbers
};

// The value of a step. `batch`: the dim that is cut; -1: this feed is whole on every rank. Declared
// extents stay; kInvalidArgument where the declared batch does not divide.
absl::StatusOr<Tensor> makeFeed(const FeedDemand& demand, int batch, const FeedPlan& plan,
                                int64_t step);

// The first part of a batch of equal ones.
absl::StatusOr<Tensor> firstPart(const Tensor& whole, int batch, int64_t parts);

}  // namespace dtranspile::verify
