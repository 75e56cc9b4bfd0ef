// Concrete operands of every op of a case of the corpus: its program is run op by op, in float64,
// from its feeds and the values that its persistables begin with.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "test/compiler/lower/program_case.h"
#include "test/compiler/verify/claims/native.h"

namespace dtranspile::claims {

struct Instance {
  const OneOp& op;
  Tensors operands;   // as OneOp::values
  Tensors results;    // what the op gives, run by itself
  std::string where;  // the case
};

// What is not visited is named: (op type, why).
struct Visitor {
  std::function<bool(llvm::StringRef)> wanted;  // a case without such op types is passed over
  std::function<void(const Instance&)> visit;
  std::function<void(llvm::StringRef, const std::string&)> leave;
};

// Throws where the case cannot be read.
void visitCase(const std::string& name, Native& native, const Visitor& visitor);

}  // namespace dtranspile::claims
