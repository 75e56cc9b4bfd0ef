// Operands and results that are no tensors, as tensors. SelectedRows stand for the tensor that
// their rows add up to. A list stands for its first item: the others are multiples of it when it is
// fed, and a list that an op gives is the sum of its items, each times its place, so that one that
// is left out, or is at another place, shows.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dialects/pd/infer.h"
#include "test/compiler/verify/claims/one_op.h"

namespace dtranspile::claims {

// Tensor, SelectedRows or TensorArray where it can be made and looked at; others are not.
pd::Kind kindOf(mlir::Value value);
bool isMade(pd::Kind kind);

// Replaces inputs that are no tensors by ops that make them of ones: rows by the gradient of a
// lookup, lists by writes.
void makeFeedable(Alone& alone);
// What is fed for the input of that name, in the place of `tensor`.
using Feeds = std::vector<std::pair<std::string, TensorPtr>>;
Feeds feedsOf(const std::string& name, pd::Kind kind, const TensorPtr& tensor);

// SelectedRows of `height` rows, whose values are `values`.
TensorPtr sumOfRows(const Tensor& values, const std::vector<int64_t>& rows, int64_t height);
// Of the items of a list one after the other; null where their extents differ.
TensorPtr sumOfItems(const Tensor& items);

}  // namespace dtranspile::claims
