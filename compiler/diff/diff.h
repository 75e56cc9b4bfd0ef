// What differs between two modules: by program, variable, op, slot and attribute, not by line of
// text. Values are compared by the names of their variables, so renumbering is no difference.
// Called by `dtranspile diff`.
#pragma once

#include <string>
#include <vector>

#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

struct Difference {
  enum Kind { Removed, Added, Moved, Changed };
  Kind kind = Changed;
  std::string where;  // "main, op 12 (mul; train.py:88)"
  std::string what;   // of a change: "attribute axis", "input X[0]", "type" ...; else empty
  std::string a, b;   // how it reads on each side; empty where it is absent
};

struct DiffReport {
  std::vector<Difference> differences;  // in the order of the first module

  bool equal() const { return differences.empty(); }

  // A line each: `- where: a`, `+ where: b`, `~ where` (moved), `! where: what: a -> b`; then how
  // many there are. "equal" if none.
  std::string text() const;

  // {"equal": false, "differences": [{"kind": "changed", "where": "...", "what": "...", "a": "...",
  // "b": "..."}]}
  std::string json() const;
};

// Ops are paired by their type and the names of their outputs, then, between two pairs, by their
// type. Source positions are not compared.
DiffReport diffModules(mlir::ModuleOp a, mlir::ModuleOp b);

}  // namespace dtranspile
