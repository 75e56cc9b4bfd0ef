// The parts of a row op's model (row_op.cc).
#pragma once

#include "mlir/IR/OpImplementation.h"

namespace dtranspile::pd {

struct OpSpec;

// The text of an op, after its name (row_assembly.cc). An op without slot lists, which does not
// verify, prints in the generic form.
void printRowOp(mlir::Operation* op, mlir::OpAsmPrinter& printer);
mlir::ParseResult parseRowOp(mlir::OpAsmParser& parser, mlir::OperationState& state);

// What holds of it (row_verifier.cc). Of every op: slot lists and blocks fit its operands, results
// and regions, [P1] to [P3]. `verifyRow` takes an op for which that holds.
mlir::LogicalResult verifyStructure(mlir::Operation* op);
// Attributes are of types that a program file knows, [P1], [P7].
mlir::LogicalResult verifyAttributeTypes(mlir::Operation* op);
// What its row of the operator table says, [P4] to [P10] and the row's own constraints.
mlir::LogicalResult verifyRow(mlir::Operation* op, const OpSpec& spec);

}  // namespace dtranspile::pd
