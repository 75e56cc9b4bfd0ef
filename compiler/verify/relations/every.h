// Recognises a branch that every k-th step of a program takes, as passes make it: a counter that
// start-up sets to zero, that each step increments by one, and of which the remainder by k is zero.
#pragma once

#include <string>

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"

namespace dtranspile::verify {

struct EverySteps {
  int64_t steps = 0;
  std::string counter;               // the variable that counts
  mlir::Operation* wrong = nullptr;  // what is wrong, and why
  std::string why;
  std::string open;  // why it is no such branch as far as is known; else empty
  std::string remedy;
};

EverySteps everySteps(mlir::Operation* branch, pd::ProgramOp main, pd::ProgramOp startup);

// Takes the branch out of its program, with the counter and what is computed of it alone.
void eraseEvery(mlir::Operation* branch, dist::RoleOp role);

}  // namespace dtranspile::verify
