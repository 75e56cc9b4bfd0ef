// What is computed again, given the segments of the forward part: of every segment what gradients
// read, from what is kept, each op right before the first gradient that needs it.
#pragma once

#include "passes/recompute/steps.h"

namespace dtranspile::passes {

// By forward step: its segment, counted from 0 in program order; -1: is never computed again.
using Segments = std::vector<int>;

class Plan {
 public:
  Plan(const Steps& steps, const Segments& segments);

  struct Insertion {
    int before;               // a gradient step
    std::vector<int> repeat;  // forward steps, in program order
  };
  const std::vector<Insertion>& insertions() const { return insertions_; }
  bool isRepeated(int value) const { return repeated_[value]; }
  double work() const;  // of what is computed again
  // The most bytes that are alive at once, persistables left out.
  int64_t peak() const;

 private:
  void repeatFor(int value, std::vector<bool>& done, std::vector<int>& order) const;

  const Steps& steps_;
  std::vector<bool> repeated_;  // by value: gradients read it as it is computed again
  std::vector<Insertion> insertions_;
};

}  // namespace dtranspile::passes
