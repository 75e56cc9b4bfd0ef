// The parts of the op model of framework operators (row_op.cc): text and verifier of an op that is
// a row of the operator table, or pd.opaque or pd.orphan_block, which have none.
#pragma once

#include "dialects/pd/op_table.h"
#include "mlir/IR/OpImplementation.h"

namespace dtranspile::pd {

// The form that row_op.cc shows. An op without its slot lists is printed generically, so that
// what is malformed can be looked at.
void printRowOp(mlir::Operation* op, mlir::OpAsmPrinter& printer);

// Reads that form. Slots and attributes are not compared with the row: that is the verifier's.
mlir::ParseResult parseRowOp(mlir::OpAsmParser& parser, mlir::OperationState& state);

// What holds of every framework op, whatever its row: slot lists that speak of the operands and
// results that are there (P1, P2), blocks as described (P3).
mlir::LogicalResult verifyStructure(mlir::Operation* op);

// Attributes of framework types (P7). Of an op with sound structure.
mlir::LogicalResult verifyAttributeTypes(mlir::Operation* op);

// Slots, attributes, constraints and declared types by the row (P4 to P10, and the labels of the
// constraints). Of an op with sound structure.
mlir::LogicalResult verifyRow(mlir::Operation* op, const OpSpec& spec);

}  // namespace dtranspile::pd
