// Roles of the ops of a PIR program, which its files do not carry: what is forward, backward,
// update, which op computes the loss, and which value is the gradient of which parameter. Found
// from structure: gradient ops, the seed that they start from, the values that updates take. Passes
// that distribute a job need them. Called by normalize.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/import/pir/program.h"

namespace dtranspile::pir {

struct Roles {
  std::vector<int>
      role;  // bits of op_role per op; constants that stand before their reader take its role
  int64_t loss = 0;  // value that training minimises; 0: none
  int64_t seed = 0;  // its gradient, which the backward part starts from
  // Parameter (the number of its value) and gradient, per op: of updates those that they take, of
  // backward ops those that they make.
  std::map<int, std::vector<std::pair<int64_t, int64_t>>> gradients;
};

Roles findRoles(const Program& program);

}  // namespace dtranspile::pir
