// Follows one program and says what it leaves: the term of every variable and of every name. The
// theory is in docs/verification.md, Rung 4.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/verify/refinement/describe.h"
#include "compiler/verify/refinement/terms.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::verify {

// Under which a program is read.
struct Assumptions {
  // Casts between floats keep a value, and float types are one type (amp).
  bool anyFloat = false;
  // Terms of variables before the step; others are atoms of their own.
  std::map<std::string, TermId> before;
  // Variables of one element, above zero, that multiply out of what is linear in them.
  std::vector<std::string> positive;
  // Truth of boolean atoms.
  std::map<AtomId, bool> assumed;
  // Draws that several ops share (recompute): random ops with an input Seed that an op `seed` gives
  // are one draw where it is one value. Not null: the names of the source, whose own ops `seed` are
  // ops like others.
  const std::set<std::string>* sharedDraws = nullptr;
  // Copies of parameters (amp): what start-up draws for one is what the source draws for the
  // parameter. Null: there are none.
  const std::map<std::string, std::string>* copies = nullptr;
  // Variables that weights are multiplied by (asp), where they are what they were before the step.
  std::set<std::string> masks;
  // What an op is read as (lamb for adam); null: as it stands.
  std::function<void(Description&)> readAs;
  // Called with every value that a framework op of the program's own block has given; what it
  // returns takes its place. Null: nothing does.
  std::function<TermId(mlir::OpResult, TermId)> replace;
};

struct Effects {
  std::map<std::string, TermId> variables;  // that the program has read or set
  std::map<std::string, TermId> names;      // last forward value of every name of the own block
  std::map<std::string, mlir::Operation*> makers;  // of these
  std::vector<TermId> conditions;                  // of branches, in order
  // What was asked of conditions on the way. Under assumptions that answer all of it alike the
  // program leaves the same.
  std::map<TermId, std::optional<bool>> answers;
};

// A weight that was multiplied by its mask, a variable.
TermId maskedTerm(Terms& terms, TermId weight, const std::string& mask);

// A variable before the step.
TermId variableTerm(Terms& terms, llvm::StringRef name);

Effects follow(Terms& terms, pd::ProgramOp program, const Assumptions& reading);

}  // namespace dtranspile::verify
