#include "compiler/analysis/program_info.h"

#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile {
namespace {

// The ops of block 0, those in guards, micro-batches and handlers of a job included: the blocks of
// control flow are not block 0.
template <typename Callback>
void forEachOp(mlir::Block& block, Callback callback) {
  for (mlir::Operation& op : block) {
    callback(&op);
    if (!llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect()) ||
        llvm::isa<dist::CompositeOp>(op))
      continue;
    for (mlir::Region& region : op.getRegions())
      for (mlir::Block& inner : region) forEachOp(inner, callback);
  }
}

template <typename Callback>
void forEachFrameworkOp(pd::ProgramOp program, Callback callback) {
  forEachOp(*program.getBodyBlock(), [&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op)) callback(pd::OpView(op));
  });
}

}  // namespace

// By roles: the seed of the backward part is called <loss>@GRAD, which says it with certainty; else
// the forward op with role Loss gives it.
std::string findLoss(pd::ProgramOp program) {
  std::string fromForward, fromGradient;
  forEachFrameworkOp(program, [&](pd::OpView op) {
    int role = op.role();
    if (!(role & pd::kLoss) || op.operation()->getNumResults() == 0) return;
    llvm::StringRef name = pd::nameOf(op.operation()->getResult(0));
    if (role & pd::kBackward) {
      // The seed of the backward part is called after the loss by the framework itself:
      // <loss>@GRAD.
      if (fromGradient.empty()) fromGradient = name.take_front(name.find("@GRAD")).str();
    } else if (fromForward.empty()) {
      fromForward = op.hasOutput("Out") ? op.outputName("Out").str() : name.str();
    }
  });
  return fromGradient.empty() ? fromForward : fromGradient;
}

std::vector<pd::InputOp> inputsOf(pd::ProgramOp program) {
  std::vector<pd::InputOp> inputs;
  forEachOp(*program.getBodyBlock(), [&](mlir::Operation* op) {
    if (auto input = llvm::dyn_cast<pd::InputOp>(op)) inputs.push_back(input);
  });
  return inputs;
}

pd::ProgramOp findProgram(mlir::Operation* symbolTable, llvm::StringRef symbol) {
  // A job may lack the module that was asked for its programs.
  return symbolTable ? llvm::dyn_cast_or_null<pd::ProgramOp>(
                           mlir::SymbolTable::lookupSymbolIn(symbolTable, symbol))
                     : pd::ProgramOp();
}

mlir::ModuleOp findModule(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto module : job.getOps<mlir::ModuleOp>())
    if (module.getSymName() == std::optional<llvm::StringRef>(name)) return module;
  return {};
}

mlir::ModuleOp referenceModule(mlir::ModuleOp job) {
  mlir::ModuleOp reference = findModule(job, "reference");
  return reference ? reference : findModule(job, "source");
}

mlir::Value lastNamed(pd::ProgramOp program, llvm::StringRef name) {
  mlir::Value last;
  for (mlir::Operation& op : *program.getBodyBlock())
    for (mlir::Value result : op.getResults())
      if (dist::nameOf(result) == name) last = result;
  return last;
}

bool definesName(pd::ProgramOp program, llvm::StringRef name) {
  return static_cast<bool>(lastNamed(program, name));
}

// At most three names within an edit distance of a third of the name, the nearest first.
std::vector<std::string> similarNames(pd::ProgramOp program, llvm::StringRef name) {
  std::vector<std::pair<unsigned, std::string>> near;
  unsigned limit = std::max<size_t>(2, name.size() / 3);
  // Of what definesName() finds: a declaration alone is no value.
  for (mlir::Operation& op : *program.getBodyBlock())
    for (mlir::Value result : op.getResults()) {
      llvm::StringRef own = dist::nameOf(result);
      unsigned distance = own.empty() ? limit + 1 : name.edit_distance(own, true, limit + 1);
      if (distance <= limit) near.emplace_back(distance, own.str());
    }
  llvm::sort(near);
  near.erase(llvm::unique(near), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

}  // namespace dtranspile
