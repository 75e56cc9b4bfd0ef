// The bodies of a program that a pass over straight lines of nodes may rewrite (fuse.h,
// in_place.h): the program's own, and those of guards, tasks and blocks within it. Branches and
// loops keep their nodes as the lowering made them.
#pragma once

#include <map>

#include "compiler/lower/plan.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtranspile::lower {

// One of them, with what is looked at from outside of it.
class Body {
 public:
  std::vector<Node>& nodes() const { return *nodes_; }
  // Whether something around the body, or another run of it, uses the memory of this buffer: a pass
  // leaves it as it is.
  bool isPinned(int storage) const;

 private:
  friend class Bodies;
  std::vector<Node>* nodes_ = nullptr;
  int begin_ = 0, end_ = 0;  // of the numbers of the bodies within this one, itself included
  const std::map<int, std::pair<int, int>>* touched_ = nullptr;
};

// Calls `pass` for every body, inner ones first, and brings the arguments of nodes with bodies up
// to date.
void forEachBody(Plan& plan, PlanProgram& program, llvm::function_ref<void(const Body&)> pass);

}  // namespace dtranspile::lower
