// The parts of plan_check.cc: what it checks in files of their own, and what they share.
#pragma once

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// A plan and where to complain of it. The reader has seen to the range of every buffer id.
struct PlanCheck {
  Plan& plan;
  JsonErrors& errors;

  template <typename... Parts>
  void Add(const std::string& where, const Parts&... parts) {
    errors.Add(where, absl::StrCat(parts...));
  }
  const Buffer& At(int id) const { return plan.buffers[static_cast<size_t>(id)]; }
};

void CheckSelector(PlanCheck& check, const Selector& selector, const std::string& where);
void CheckLayout(PlanCheck& check, const Layout& layout, const std::string& where);

// The body of a program and all bodies in it. Tickets are those of one program: no two nodes of it
// start the same one.
void CheckProgramBody(PlanCheck& check, std::vector<Node>& body, const std::string& where);

}  // namespace dtranspile::exec
