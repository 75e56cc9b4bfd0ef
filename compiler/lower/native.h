// How an op runs natively, as the tables of rules say it: for `dtranspile ops`, the page made of
// it, and the tests that hold the rows against plans.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace dtranspile::lower {

struct NativeForm {
  std::string main;      // what computes the result: "formula", "view", "blocks" or a library call
  bool formula = false;  // compiled from a formula
  bool view = false;     // of its input's memory
  bool blocks = false;   // loops and branches of the plan
  bool byVersion = false;          // programs of 1.x and 2.x differ
  std::vector<std::string> calls;  // library calls, those for run-time extents after the others
  std::string complex;             // the one of them that takes complex numbers; empty if none
};

// Element types that formulas compute with, the narrow ones in a wider one (kernel/expr.h): bit 1
// << code of runtime/base/dtype.h.
uint64_t formulaTypes();

// Nothing for types that cannot be run.
std::optional<NativeForm> nativeForm(llvm::StringRef type);

}  // namespace dtranspile::lower
