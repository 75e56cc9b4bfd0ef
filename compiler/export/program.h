// Dialect pd back to a ProgramDesc. Inverse of compiler/import: exporting an imported program gives
// its bytes.
#pragma once

#include <string>

#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/pd.h"

namespace dtranspile {

// The program as a message. Names are those of definitions; where the live ranges of one name
// overlap (a pass moved a use after a later write), `resolveNames` has to run first. Ops of other
// dialects are errors: communication is translated by compiler/export/collective.
mlir::LogicalResult exportProgram(pd::ProgramOp program, framework::ProgramDesc& out);

// Gives every value that is read after its cell was overwritten a cell of its own, `<name>@v<k>`;
// turns a pd.set of a value of another name into an `assign`. Deterministic. No change for imported
// programs.
mlir::LogicalResult resolveNames(pd::ProgramOp program);

// Both, then wire bytes.
mlir::FailureOr<std::string> exportProgramBytes(pd::ProgramOp program);

// Protobuf text form.
mlir::FailureOr<std::string> exportProgramText(pd::ProgramOp program);

}  // namespace dtranspile
