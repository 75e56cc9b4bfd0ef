#include "compiler/import/usable.h"

#include "dialects/pd/op_table.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/Support/JSON.h"

namespace dtranspile {
namespace {

using mlir::Operation;

bool namesAreText(Operation* op) {
  for (mlir::NamedAttribute attribute : op->getAttrs()) {
    const mlir::WalkResult strings = attribute.getValue().walk([&](mlir::StringAttr text) {
      if (llvm::json::isUTF8(text.getValue())) return mlir::WalkResult::advance();
      op->emitError() << "'" << llvm::json::fixUTF8(text.getValue()) << "' in "
                      << attribute.getName()
                      << " is not UTF-8: such a program can be converted only";
      return mlir::WalkResult::interrupt();
    });
    if (strings.wasInterrupted()) return false;
  }
  return true;
}

bool isUndeclared(mlir::Type type) {
  auto raw = llvm::dyn_cast<pd::RawType>(type);
  return raw && raw.getKind() == kUndeclared;
}

// Slots that may be empty may also name what is not there: the framework hands its kernels a null
// pointer.
bool readsDeclared(const pd::OpView& op) {
  for (const std::string& slot : op.inputSlots()) {
    const pd::Slot* row = op.spec() ? op.spec()->input(slot) : nullptr;
    if (llvm::StringRef(slot).starts_with("$") || (row && row->dispensable)) continue;
    for (mlir::Value value : op.inputs(slot)) {
      auto undefined = value ? value.getDefiningOp<pd::UndefOp>() : pd::UndefOp();
      if (!undefined || !isUndeclared(value.getType())) continue;
      op.operation()->emitError() << op.type() << ": reads '" << pd::nameOf(value) << "' as "
                                  << slot << ", which no block declares and no op before it writes";
      return false;
    }
  }
  return true;
}

void warnOfUndeclared(const pd::OpView& op) {
  for (mlir::Value result : op.operation()->getResults())
    if (isUndeclared(result.getType()))
      op.operation()->emitWarning()
          << op.type() << ": writes '" << pd::nameOf(result) << "', which no block declares";
}

// What a program of a later release means by an op nobody knows yet. Releases count as 2006002
// (2.6.2); an op's version is the number of its changes, of which the most that any has is 5.
constexpr int64_t kMostVersion = 3'999'999, kMostOpVersion = 15;

bool versionsAreKnown(pd::ProgramOp program) {
  if (auto version = program->getAttrOfType<mlir::IntegerAttr>("version");
      version && (version.getInt() < 0 || version.getInt() > kMostVersion)) {
    program.emitError() << "the program is of version " << version.getInt() << "; known are 0 to "
                        << kMostVersion
                        << " (release 3.999.999): such a program can be converted only";
    return false;
  }
  auto pairs = program->getAttrOfType<mlir::ArrayAttr>("op_versions");
  for (size_t i = 0; pairs && i + 1 < pairs.size(); i += 2) {
    auto name = llvm::dyn_cast<mlir::StringAttr>(pairs[i]);
    auto version = llvm::dyn_cast<mlir::IntegerAttr>(pairs[i + 1]);
    if (!name || !version || (version.getInt() >= 0 && version.getInt() <= kMostOpVersion))
      continue;
    program.emitError() << "the program has op '" << name.getValue() << "' of version "
                        << version.getInt() << "; known are 0 to " << kMostOpVersion
                        << ": such a program can be converted only";
    return false;
  }
  return true;
}

// The framework takes the last declaration, we the first one: only where they agree it is known
// what is meant.
bool declarationsAgree(mlir::Block& block) {
  llvm::DenseMap<mlir::StringAttr, pd::DeclOp> first;
  for (auto decl : block.getOps<pd::DeclOp>()) {
    auto [known, fresh] = first.try_emplace(decl.getNameAttr(), decl);
    if (fresh || known->second->getAttrDictionary() == decl->getAttrDictionary()) continue;
    decl.emitError() << "variable '" << decl.getName()
                     << "' is declared twice in one block, with different fields";
    return false;
  }
  return true;
}

}  // namespace

// What may be converted and shown, but not made into a job: names that are no text, unknown
// versions, contradicting declarations. All of it is reported.
mlir::LogicalResult checkUsable(mlir::ModuleOp module) {
  bool good = true;
  module.walk([&](Operation* op) {
    if (!namesAreText(op)) {
      good = false;
      return;
    }
    if (auto program = llvm::dyn_cast<pd::ProgramOp>(op)) good &= versionsAreKnown(program);
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) good &= declarationsAgree(block);
    if (!pd::OpView::isFrameworkOp(op)) return;
    const pd::OpView view(op);
    good &= readsDeclared(view);
    warnOfUndeclared(view);
  });
  return mlir::success(good);
}

}  // namespace dtranspile
