// From values of the reference to what coordinates of an axis hold, and back.
#pragma once

#include <map>
#include <optional>
#include <random>
#include <string>

#include "compiler/analysis/relations/relation.h"
#include "test/compiler/verify/claims/one_op.h"

namespace dtranspile::claims {

// What an operand is on the axis.
struct Held {
  verify::State state;
  verify::Rational scale;
  bool zero = false;  // the constant 0, on both sides

  bool plain() const { return state.isReplicated() && scale.isOne() && !zero; }
  std::string text() const;  // "S(0) x2"
};

// Offsets of the parts of an extent.
using Bounds = std::vector<int64_t>;
// Extents that are not cut evenly: those of ragged rows, cut at whole sequences.
using Cuts = std::map<int64_t, Bounds>;

// Adds how the levels and rows of a ragged tensor are cut; false where its sequences do not divide.
bool addCuts(const Tensor& ragged, int64_t n, Cuts& cuts);
// Where a tensor is cut (its sequences, if it is ragged and cut along dim 0; its elements, if it is
// cut flat); nothing where there are no such parts.
std::optional<Bounds> boundsOf(const Tensor& tensor, const verify::State& split, int64_t n,
                               const Cuts& cuts);
// A layout with unequal parts, of one piece each; null where there is none.
dist::LayoutAttr unevenLayout(mlir::MLIRContext* context, int64_t extent, int64_t n);

using Random = std::mt19937_64;

// What each of n coordinates holds of `whole`; nothing where such parts cannot be made.
std::optional<Tensors> partsOf(const Tensor& whole, const Held& held, int64_t n, const Cuts& cuts,
                               Random& random);

// `scale` times a tensor.
TensorPtr timesScale(const TensorPtr& tensor, const verify::Rational& scale);
TensorPtr zerosLike(const Tensor& tensor);

// Puts what the coordinates hold together as the reading says and compares it with its scale times
// `whole`. Empty, or the first difference.
std::string compare(const Tensors& parts, const verify::Reading& claimed, const Tensor& whole);
// The same for a value that is claimed to be zero.
std::string compareZero(const Tensors& parts);
// For one that is claimed to be cut evenly along a dim.
std::string compareExtents(const Tensors& parts, int64_t dim);

}  // namespace dtranspile::claims
