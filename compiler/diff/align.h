// Aligns two sequences of things with keys. Called by diff.cc for the ops of a block.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace dtranspile {

struct Alignment {
  std::vector<std::pair<int, int>> pairs;  // (position in a, position in b), ascending in a
  std::vector<bool> moved;                 // per pair: is it out of order?
  std::vector<int> onlyA, onlyB;           // ascending
};

// The k-th element of a key in `a` belongs to the k-th of that key in `b`; the fewest pairs that
// make the rest ascending in both are moved. O(n log n).
Alignment align(const std::vector<std::string>& a, const std::vector<std::string>& b);

}  // namespace dtranspile
