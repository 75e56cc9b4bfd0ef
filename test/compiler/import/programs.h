// Small programs for tests of import and export, and what the importer says of them.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/import.h"
#include "compiler/program_desc/framework.pb.h"

namespace dtranspile::test {

using framework::BlockDesc;
using framework::OpDesc;
using framework::ProgramDesc;

// A ProgramDesc made piece by piece. Blocks are numbered as they are added; block 0 is there.
class ProgramBuilder {
 public:
  ProgramBuilder();
  ProgramDesc& desc() { return desc_; }
  BlockDesc& block(int index) { return *desc_.mutable_blocks(index); }

  int addBlock(int parent, int forward = -1);
  // A float tensor (or of another element type and kind, by their codes).
  framework::VarDesc& var(int block, const std::string& name, std::vector<int64_t> dims,
                          bool persistable = false, int dtype = 5, int kind = 7);

  using Slots = std::vector<std::pair<std::string, std::vector<std::string>>>;
  OpDesc& op(int block, const std::string& type, const Slots& inputs, const Slots& outputs);

  std::string bytes() const { return desc_.SerializePartialAsString(); }

 private:
  ProgramDesc desc_;
};

OpDesc::Attr& attr(OpDesc& op, const std::string& name, int type);
void blockAttr(OpDesc& op, const std::string& name, int block);
void callstack(OpDesc& op, const std::string& line);

// A module with one program, and all diagnostics on the way: "location: message", notes as "note:
// message", a line each.
struct Result {
  explicit Result(mlir::MLIRContext& context, const std::string& bytes,
                  const ImportOptions& options = {});
  mlir::OwningOpRef<mlir::ModuleOp> module;  // null when the import failed
  std::string diagnostics;
  std::string text() const;
  pd::ProgramOp program() const;
};

// Collects diagnostics of a scope in the form above.
class Diagnostics {
 public:
  explicit Diagnostics(mlir::MLIRContext& context);
  std::string text;

 private:
  mlir::ScopedDiagnosticHandler handler_;
};

// A context without threads and with dialect pd.
struct Context : mlir::MLIRContext {
  Context();
};

}  // namespace dtranspile::test
