// The bodies of a program that a pass over straight lines of nodes may rewrite (fuse.h,
// in_place.h): the program's own, and those of guards, tasks and blocks within it. Branches and
// loops keep their nodes as the lowering made them.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "compiler/lower/plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtranspile::lower {

// One of them, with what is looked at from outside of it.
class Body {
 public:
  // First and last body that uses a storage, by its number.
  using Touched = std::map<int, std::pair<int, int>>;

  // Bodies are numbered in the order in which they begin: [begin, end) are the one of these nodes
  // and those within it. All outlive it.
  Body(std::vector<Node>& nodes, int begin, int end, const Touched& touched)
      : nodes_(nodes), begin_(begin), end_(end), touched_(touched) {}

  std::vector<Node>& nodes() const { return nodes_; }
  // Whether something around the body, or another run of it, uses the memory of this buffer: a pass
  // leaves it as it is.
  bool isPinned(int storage) const;

 private:
  std::vector<Node>& nodes_;
  const int begin_, end_;
  const Touched& touched_;
};

// Calls `pass` for every body, inner ones first, and brings the arguments of nodes with bodies up
// to date.
void forEachBody(Plan& plan, PlanProgram& program, llvm::function_ref<void(const Body&)> pass);

}  // namespace dtranspile::lower
