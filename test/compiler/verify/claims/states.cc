#include "test/compiler/verify/claims/states.h"

#include <set>

#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

using dist::Reduce;
using verify::Rational;
using verify::State;

constexpr size_t kMostExhaustive = 1000;
constexpr size_t kSampled = 200;

// The first is the whole value of scale 1. Not all of them can be made: extents may also be cut as
// the rows of a ragged operand are.
std::vector<Held> statesOf(mlir::MLIRContext* context, const Tensor& tensor, int64_t n) {
  std::vector<Held> states = {{State::replicated(), Rational()}};
  const auto rank = static_cast<int64_t>(tensor.dims.size());
  for (int64_t dim = 0; dim < rank; ++dim)
    if (tensor.dims[static_cast<size_t>(dim)] > 1)
      states.push_back({State::split(dim), Rational()});
  if (!hasNumbers(tensor.dtype)) return states;
  if (tensor.lod.empty())
    for (int64_t dim = 0; dim < rank; ++dim)
      if (auto layout = unevenLayout(context, tensor.dims[static_cast<size_t>(dim)], n)) {
        states.push_back({State::split(dim, layout), Rational()});
        break;
      }
  if (rank > 1 && isFloating(tensor.dtype))
    states.push_back({State::split(dist::kFlat), Rational()});
  if (tensor.dtype != DType::kBool) {
    states.push_back({State::partial(Reduce::Sum), Rational()});
    states.push_back({State::partial(Reduce::Sum), Rational(n)});
    states.push_back({State::replicated(), Rational(3)});
    if (isFloating(tensor.dtype)) states.push_back({State::replicated(), Rational(-1, 2)});
    for (int64_t dim = 0; dim < rank; ++dim)
      if (boundsOf(tensor, State::split(dim), n, {})) {
        states.push_back({State::split(dim), Rational(3)});
        break;
      }
  } else {
    states.push_back({State::partial(Reduce::Or), Rational()});
  }
  states.push_back({State::partial(Reduce::Max), Rational()});
  states.push_back({State::partial(Reduce::Min), Rational()});
  if (isFloating(tensor.dtype)) states.push_back({State::partial(Reduce::Prod), Rational()});
  states.push_back({State::replicated(), Rational(), true});
  return states;
}

bool isFlat(const State& state) { return state.isSplit() && state.dim == dist::kFlat; }
bool isUneven(const State& state) { return state.isSplit() && state.layoutAttr(); }

class Enumeration {
 public:
  Enumeration(mlir::MLIRContext* context, const Tensors& operands, int64_t n, Random& random,
              bool withPlain)
      : operands_(operands), random_(random), withPlain_(withPlain) {
    for (const TensorPtr& tensor : operands) choices_.push_back(statesOf(context, *tensor, n));
    plain_.assign(operands.size(), {State::replicated(), Rational()});
  }

  std::vector<Assignment> run() {
    size_t all = 1;
    for (const auto& states : choices_)
      if ((all *= states.size()) > kMostExhaustive) break;
    if (all <= kMostExhaustive) everything(plain_, 0);
    else some();
    return std::move(found_);
  }

 private:
  void add(const Assignment& assignment) {
    if (!withPlain_ && llvm::all_of(assignment, [](const Held& held) { return held.plain(); }))
      return;
    std::string text;
    for (const Held& held : assignment) text += held.text() + ";";
    if (seen_.insert(std::move(text)).second) found_.push_back(assignment);
  }
  void everything(Assignment& assignment, size_t at) {
    if (at == choices_.size()) return add(assignment);
    for (const Held& held : choices_[at]) {
      assignment[at] = held;
      everything(assignment, at + 1);
    }
    assignment[at] = plain_[at];
  }
  // Each operand in turn has each of its states, the others are as in `base`.
  void deviations(const Assignment& base) {
    add(base);
    for (size_t i = 0; i < choices_.size(); ++i)
      for (const Held& held : choices_[i]) {
        Assignment one = base;
        one[i] = held;
        add(one);
      }
  }
  // All operands that have this extent, at this dim or at their first such one, are split there.
  void aligned(int64_t extent, std::optional<size_t> at) {
    Assignment assignment = plain_;
    for (size_t i = 0; i < operands_.size(); ++i) {
      const std::vector<int64_t>& dims = operands_[i]->dims;
      for (size_t dim = 0; dim < dims.size(); ++dim)
        if (dims[dim] == extent && (!at || *at == dim)) {
          assignment[i].state = State::split(static_cast<int64_t>(dim));
          break;
        }
    }
    deviations(assignment);
  }
  // All operands of this shape are cut flat, or by a layout.
  void alike(const std::vector<int64_t>& dims) {
    for (auto wanted : {&isFlat, &isUneven}) {
      Assignment assignment = plain_;
      for (size_t i = 0; i < operands_.size(); ++i)
        for (const Held& held : choices_[i])
          if (operands_[i]->dims == dims && wanted(held.state)) assignment[i] = held;
      deviations(assignment);
    }
  }
  void some() {
    deviations(plain_);
    std::set<int64_t> extents;
    for (const TensorPtr& tensor : operands_)
      for (int64_t extent : tensor->dims)
        if (extent > 1) extents.insert(extent);
    for (int64_t extent : extents) {
      aligned(extent, std::nullopt);
      for (size_t dim = 0; dim < 4; ++dim) aligned(extent, dim);
    }
    // Ragged operands: whatever has rows or sequences.
    Assignment rows = plain_;
    for (size_t i = 0; i < operands_.size(); ++i)
      if (!operands_[i]->dims.empty() && operands_[i]->dims[0] > 1) rows[i].state = State::split(0);
    deviations(rows);
    // Updates of flattened parameters, and of parameters that are cut unevenly.
    for (const TensorPtr& like : operands_) alike(like->dims);
    for (size_t i = 0; i < choices_.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        for (const Held& one : choices_[i])
          for (const Held& other : choices_[j]) {
            Assignment both = plain_;
            both[i] = one;
            both[j] = other;
            add(both);
          }
    for (size_t k = 0; k < kSampled; ++k) {
      Assignment any = plain_;
      for (size_t i = 0; i < choices_.size(); ++i)
        any[i] = choices_[i][random_() % choices_[i].size()];
      add(any);
    }
  }

  const Tensors& operands_;
  Random& random_;
  const bool withPlain_;
  std::vector<std::vector<Held>> choices_;
  Assignment plain_;
  std::set<std::string> seen_;
  std::vector<Assignment> found_;
};

}  // namespace

std::vector<Assignment> assignmentsOf(mlir::MLIRContext* context, const Tensors& operands,
                                      int64_t n, Random& random, bool plain) {
  return Enumeration(context, operands, n, random, plain).run();
}

std::vector<Assignment> shareAssignmentsOf(const Tensors& operands) {
  const Assignment plain(operands.size(), {State::replicated(), Rational()});
  std::vector<Assignment> bases = {plain}, found;
  std::set<int64_t> extents;
  for (const TensorPtr& tensor : operands)
    for (int64_t extent : tensor->dims)
      if (extent > 1) extents.insert(extent);
  for (int64_t extent : extents) {
    bases.push_back(plain);
    for (size_t i = 0; i < operands.size(); ++i)
      if (auto at = llvm::find(operands[i]->dims, extent); at != operands[i]->dims.end())
        bases.back()[i].state = State::split(at - operands[i]->dims.begin());
  }
  for (const Assignment& base : bases)
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]->lod.empty() || !isFloating(operands[i]->dtype) ||
          !hasNumbers(operands[i]->dtype))
        continue;
      for (int64_t scale : {1, 3}) {
        found.push_back(base);
        found.back()[i] = {State::parts(), Rational(scale)};
      }
    }
  return found;
}

std::optional<Cuts> cutsOf(const Tensors& operands, const Assignment& assignment, int64_t n) {
  Cuts cuts;
  for (size_t i = 0; i < operands.size(); ++i) {
    const State& state = assignment[i].state;
    if (!state.isSplit() || state.dim != 0 || operands[i]->lod.empty()) continue;
    Cuts own;
    if (!addCuts(*operands[i], n, own)) return std::nullopt;
    for (const auto& [extent, bounds] : own)
      if (auto [found, fresh] = cuts.try_emplace(extent, bounds); !fresh && found->second != bounds)
        return std::nullopt;
  }
  return cuts;
}

std::string patternOf(const Assignment& assignment) {
  std::string text;
  for (const Held& held : assignment)
    text += (held.zero ? "0" : "") + held.state.text() + (held.scale.isOne() ? ";" : "x;");
  return text;
}

}  // namespace dtranspile::claims
