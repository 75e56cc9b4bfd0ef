#include "compiler/diff/align.h"

#include <algorithm>

#include "llvm/ADT/StringMap.h"

namespace dtranspile {
namespace {

// Members of a longest strictly ascending subsequence (patience sorting: the top of pile k is the
// smallest end of one of length k + 1).
std::vector<bool> longestAscending(const std::vector<int>& values) {
  std::vector<int> tops, before(values.size(), -1);
  for (int i = 0; i < static_cast<int>(values.size()); ++i) {
    auto pile = std::lower_bound(tops.begin(), tops.end(), values[i],
                                 [&](int top, int value) { return values[top] < value; });
    if (pile != tops.begin()) before[i] = *std::prev(pile);
    if (pile == tops.end()) tops.push_back(i);
    else *pile = i;
  }
  std::vector<bool> member(values.size(), false);
  for (int i = tops.empty() ? -1 : tops.back(); i >= 0; i = before[i]) member[i] = true;
  return member;
}

}  // namespace

// Equal keys are paired first with first; pairs outside of a longest ascending subsequence have
// moved. O(n log n), where a longest common subsequence would take n².
Alignment align(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  llvm::StringMap<std::vector<int>> positions;
  for (int i = static_cast<int>(b.size()) - 1; i >= 0; --i)
    positions[b[i]].push_back(i);  // the first is at the back
  Alignment result;
  std::vector<bool> taken(b.size(), false);
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(a.size()); ++i) {
    auto found = positions.find(a[i]);
    if (found == positions.end() || found->second.empty()) {
      result.onlyA.push_back(i);
      continue;
    }
    int partner = found->second.back();
    found->second.pop_back();
    taken[partner] = true;
    result.pairs.emplace_back(i, partner);
    order.push_back(partner);
  }
  for (int i = 0; i < static_cast<int>(b.size()); ++i)
    if (!taken[i]) result.onlyB.push_back(i);
  for (bool inOrder : longestAscending(order)) result.moved.push_back(!inOrder);
  return result;
}

}  // namespace dtranspile
