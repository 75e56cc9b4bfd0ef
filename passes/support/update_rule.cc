#include "passes/support/update_rule.h"

#include "passes/support/job.h"

namespace dtranspile::passes {
namespace {

// What the saved program says of every op, beside what the op computes.
constexpr llvm::StringLiteral kCommon[] = {"op_role_var", "op_device", "op_namescope",
                                           "op_callstack"};
constexpr int64_t kVersion2 = 2000000;

}  // namespace

mlir::FailureOr<pd::ProgramOp> mainOfProgram(mlir::ModuleOp module) {
  auto main =
      llvm::dyn_cast_or_null<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(module, "main"));
  if (!main)
    return module.emitError("there is no pd.program @main; this pass goes before form-job");
  return main;
}

// All updates of the program, which must be of the one type that the pass replaces; each that is
// not is reported.
mlir::FailureOr<std::vector<pd::OpView>> updatesOfType(pd::ProgramOp main, llvm::StringRef type,
                                                       llvm::StringRef pass) {
  std::vector<pd::OpView> updates;
  bool good = true;
  forEachUpdate(main, [&](pd::OpView update, llvm::StringRef parameter) {
    if (update.type() != type) {
      update.operation()->emitError()
          << pass << ": parameter '" << parameter << "' is updated by " << update.type() << "; "
          << pass << " takes the place of " << type;
      good = false;
    } else if (!llvm::isa<mlir::RankedTensorType>(update.input("Grad").getType())) {
      update.operation()->emitError()
          << pass << ": the gradient of parameter '" << parameter
          << "' is no dense tensor; its norm is that of all rows (is_sparse=False makes it dense)";
      good = false;
    }
    updates.push_back(update);
  });
  if (updates.empty())
    return main.emitError() << pass << ": no parameter is updated; is this a training program?";
  if (!good) return mlir::failure();
  return updates;
}

bool isOfVersion2(pd::ProgramOp main) {
  auto version = main->getAttrOfType<mlir::IntegerAttr>("version");
  return version && version.getInt() >= kVersion2;
}

Exclusions::Exclusions(llvm::ArrayRef<std::string> entries, Match match) : match_(match) {
  for (const std::string& entry : entries) entries_.emplace_back(entry, false);
}

bool Exclusions::has(llvm::StringRef parameter) {
  bool found = false;
  for (auto& [entry, used] : entries_)
    if (match_ == Match::AtEnd ? parameter.ends_with(entry) : parameter.contains(entry))
      found = used = true;
  return found;
}

void Exclusions::reportUnused(mlir::Operation* at, llvm::StringRef field) const {
  for (const auto& [entry, used] : entries_)
    if (!used)
      at->emitWarning() << field << ": no parameter's name "
                        << (match_ == Match::AtEnd ? "ends with '" : "contains '") << entry << "'";
}

// Results keep their names and their readers; slots that the new op has not are dropped.
pd::OpView replaceUpdate(pd::OpView old, llvm::StringRef type,
                         llvm::ArrayRef<llvm::StringRef> inputs,
                         llvm::ArrayRef<llvm::StringRef> outputs, mlir::NamedAttrList attributes,
                         pd::Declarations& declarations) {
  std::vector<pd::InputSlot> ins;
  for (llvm::StringRef slot : inputs)
    if (old.inputCount(slot) > 0) ins.push_back({slot, old.inputs(slot)});
  std::vector<pd::OutputSlot> outs;
  std::vector<mlir::Value> results;  // of the old op, in the order of the new one
  for (llvm::StringRef slot : outputs) {
    if (old.outputCount(slot) == 0) continue;
    pd::OutputSlot& out = outs.emplace_back(pd::OutputSlot{slot, {}});
    for (unsigned i = 0; i < old.outputCount(slot); ++i) {
      mlir::Value result = old.output(slot, i);
      out.results.push_back(
          {old.outputName(slot, i).str(), result ? result.getType() : mlir::Type()});
      if (result) results.push_back(result);
    }
  }
  for (llvm::StringRef name : kCommon)
    if (mlir::Attribute value = old.attr(name)) attributes.set(name, value);
  mlir::OpBuilder builder(old.operation());
  pd::OpView created = declarations.create(builder, old.operation()->getLoc(), type, ins, outs,
                                           attributes.getAttrs(), old.role());
  for (auto [before, after] : llvm::zip_equal(results, created.operation()->getResults()))
    before.replaceAllUsesWith(after);
  old.operation()->erase();
  return created;
}

}  // namespace dtranspile::passes
