// What libraries report, written to standard error as a compiler writes it. Inputs can give rise to
// a message per op: the first ones of each severity are written, the others counted.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "mlir/IR/Diagnostics.h"

namespace dtranspile::cli {

// `block 0, op 12` of an imported op, or file:line:column of our own text; the location's file
// first.
std::string describeLocation(mlir::Location location);

class Diagnostics {
 public:
  explicit Diagnostics(mlir::MLIRContext* context);
  ~Diagnostics();  // says how many were not written

 private:
  void report(mlir::Diagnostic& diagnostic);

  std::map<mlir::DiagnosticSeverity, int64_t> seen_;
  mlir::ScopedDiagnosticHandler handler_;
};

}  // namespace dtranspile::cli
