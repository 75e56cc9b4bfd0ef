// What `convert`, `show` and `diff` ask of framework ops: that they are well formed, and not that
// they fit their rows. A program of a newer framework, with attributes that the table does not
// know, is kept as it is; who acts on a program judges it.
#pragma once

#include "dialects/pd/pd.h"
#include "mlir/IR/DialectInterface.h"

namespace dtranspile::pd {

// While dialect pd has this interface, its ops are verified by P1 to P3 and for attributes of
// framework types (P7); P4 to P10 and C1 ... are not asked.
class FormOnly : public mlir::DialectInterface::Base<FormOnly> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormOnly)
  explicit FormOnly(mlir::Dialect* dialect) : Base(dialect) {}
};

// For all programs of the context from now on.
inline void checkFormOnly(mlir::MLIRContext* context) {
  auto* dialect = context->getLoadedDialect<PdDialect>();
  if (!dialect->getRegisteredInterface<FormOnly>()) dialect->addInterface<FormOnly>();
}

}  // namespace dtranspile::pd
