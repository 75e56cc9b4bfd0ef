#include "tools/dtranspile/cli/initial_values.h"

#include <algorithm>
#include <set>
#include <vector>

#include "compiler/analysis/program_info.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_table.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/io/bytes.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/output.h"
#include "tools/dtranspile/cli/compiling.h"

namespace dtranspile::cli {
namespace {

bool isFile(const std::string& folder, llvm::StringRef name) {
  const auto path = io::PathInside(folder, name.str());
  return path.ok() && io::Look(*path).value_or(io::Entry::kNone) == io::Entry::kFile;
}

// The part of a start-up program that makes variables of others. `lacks` says which variables have
// no value.
class FromOthers {
 public:
  // Which variables start-up makes of others alone (`@SLOW` of a parameter, a master copy):
  // followed forward in the order of the program. `lacks` says which variables the given values do
  // not have.
  FromOthers(pd::ProgramOp startup, llvm::function_ref<bool(llvm::StringRef)> lacks) {
    for (mlir::Operation& op : *startup.getBodyBlock()) {
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        const bool made = made_.count(get.getVar().str()) > 0;
        if (made || !lacks(get.getVar())) values_[get.getValue()] = {true, made};
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        see(set, lacks(set.getVar()));
      } else if (pd::OpView::isFrameworkOp(&op)) {
        see(&op);
      }
    }
  }

  const std::set<std::string>& made() const { return made_; }  // of those that lack a value
  const std::set<mlir::Operation*>& sets() const { return sets_; }

 private:
  // Of a value that follows from variables and constants: whether any variable is among them, and
  // anything that is made here.
  struct Known {
    bool ofVariables = false, ofMade = false;
  };

  void see(pd::SetOp set, bool lacking) {
    const auto found = values_.find(set.getValue());
    if (found == values_.end() || !found->second.ofVariables) return;
    if (!lacking && !found->second.ofMade) return;  // it was given, and stays
    sets_.insert(set);
    if (lacking) made_.insert(set.getVar().str());
    found->second.ofMade = true;
  }

  void see(mlir::Operation* op) {
    const pd::OpSpec* spec = pd::OpView(op).spec();
    if (!spec || spec->effects != pd::kPure || op->getNumRegions() > 0) return;
    Known known;
    for (mlir::Value operand : op->getOperands()) {
      const auto found = values_.find(operand);
      if (found == values_.end()) return;
      known.ofVariables |= found->second.ofVariables;
      known.ofMade |= found->second.ofMade;
    }
    for (mlir::Value result : op->getResults()) values_[result] = known;
  }

  llvm::DenseMap<mlir::Value, Known> values_;
  std::set<std::string> made_;
  std::set<mlir::Operation*> sets_;
};

// Sets what lacks a value to zero: a run wants every variable to have one before its first step.
void fillWithZeros(pd::ProgramOp program, mlir::ModuleOp module,
                   const std::set<std::string>& names) {
  pd::Declarations declarations;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(program.getBodyBlock());
  for (const std::string& name : names) {
    auto type = pd::tensorOf(module.lookupSymbol<pd::VarOp>(name).getType());
    const auto code = static_cast<int32_t>(*pd::dtypeOf(type.getElementType()));
    pd::OpView zeros = declarations.create(
        builder, program.getLoc(), "fill_constant", {}, {{"Out", {{name, type}}}},
        {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(code)),
         builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())),
         builder.getNamedAttr("value", builder.getF32FloatAttr(0))},
        pd::kForward);
    pd::SetOp::create(builder, program.getLoc(),
                      mlir::FlatSymbolRefAttr::get(program.getContext(), name),
                      zeros.output("Out"));
  }
}

// `module`, whose start-up `part` is of, becomes a program whose step is that part.
void keepPart(mlir::ModuleOp module, pd::ProgramOp startup, const FromOthers& part) {
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(*startup.getBodyBlock()))) {
    const bool decl = llvm::isa<pd::DeclOp>(op);
    const bool set = llvm::isa<pd::SetOp>(op) && part.sets().count(&op);
    if (!decl && !set && op.use_empty() && !op.hasTrait<mlir::OpTrait::IsTerminator>()) op.erase();
  }
  for (auto program : llvm::make_early_inc_range(module.getOps<pd::ProgramOp>()))
    if (program != startup) program.erase();
  std::set<std::string> used;
  startup.walk([&](pd::GetOp get) { used.insert(get.getVar().str()); });
  startup.walk([&](pd::SetOp set) { used.insert(set.getVar().str()); });
  for (auto var : llvm::make_early_inc_range(module.getOps<pd::VarOp>())) {
    if (!used.count(var.getSymName().str())) var.erase();
    else if (part.made().count(var.getSymName().str())) var.setParameter(false);
  }
  mlir::OpBuilder builder(startup);
  auto first = llvm::cast<pd::ProgramOp>(builder.clone(*startup));
  startup.setSymName("main");
  for (mlir::Operation& op : llvm::make_early_inc_range(llvm::reverse(*first.getBodyBlock())))
    if (!llvm::isa<pd::DeclOp>(op) && !op.hasTrait<mlir::OpTrait::IsTerminator>()) op.erase();
  fillWithZeros(first, module, part.made());
}

bool good(Tool& tool, const absl::Status& status) {
  if (!status.ok()) tool.error(std::string(status.message()));
  return status.ok();
}

// Runs a start-up program on one process and saves what it makes to `to`.
bool runOnce(Tool& tool, mlir::OwningOpRef<mlir::ModuleOp> module, const RunFlags& flags,
             const std::string& folder, const exec::InitConfig& init, const std::string& to) {
  Runnable runnable;
  RunnableRole role;
  role.classes.push_back({{role.name, {}, 1}, std::move(module)});
  runnable.roles.push_back(std::move(role));
  RunnableRole& only = runnable.roles.front();
  if (mlir::failed(compileClass(tool, runnable, only, only.classes.front(), {}, {},
                                {.cache = flags.cache}, folder)))
    return false;
  launch::JobSpec spec;
  spec.roles.push_back({.name = only.name, .mesh = {}, .plans = {folder}});
  spec.init = init;
  spec.save = to;
  spec.records = false;
  const absl::StatusOr<launch::Report> report = launch::RunJob(spec);
  if (!good(tool, report.status())) return false;
  if (report->ok) return true;
  tool.error("initial values: " + (report->error.is_object()
                                       ? report->error.value("message", "the run failed")
                                       : std::string("the run failed")));
  return false;
}

// Piece by piece: values may be larger than what is wanted in memory beside them.
absl::Status copyFile(const std::string& from, const std::string& to) {
  constexpr int64_t kPiece = 1 << 20;
  auto source = io::OpenFile(from);
  if (!source.ok()) return source.status();
  auto target = io::OutputFile::Create(to);
  if (!target.ok()) return target.status();
  std::vector<char> piece(std::min(kPiece, (*source)->size()));
  for (int64_t at = 0; at < (*source)->size(); at += kPiece) {
    const int64_t size = std::min(kPiece, (*source)->size() - at);
    if (absl::Status read = (*source)->ReadAt(at, size, piece.data()); !read.ok()) return read;
    if (absl::Status wrote = target->Write(piece.data(), size); !wrote.ok()) return wrote;
  }
  return target->Close();
}

// The variables of all classes, and of the program.
std::set<std::string> variablesOf(Runnable& runnable) {
  std::set<std::string> names;
  const auto add = [&](mlir::ModuleOp module) {
    for (auto var : module.getOps<pd::VarOp>()) names.insert(var.getSymName().str());
  };
  add(runnable.saved());
  for (RunnableRole& role : runnable.roles)
    for (RunnableClass& one : role.classes) add(*one.module);
  return names;
}

}  // namespace

// Values that were saved by another program lack the variables that passes add. Those that start-up
// computes of values that are given are made of these, as if training had begun with them.
mlir::LogicalResult completeInit(Tool& tool, Runnable& runnable, const RunFlags& flags,
                                 const std::string& scratch, exec::InitConfig& init) {
  if (init.folder.empty() || !findProgram(runnable.saved(), "startup")) return mlir::success();
  mlir::OwningOpRef<mlir::ModuleOp> module(runnable.saved().clone());
  pd::ProgramOp startup = findProgram(*module, "startup");
  const FromOthers part(startup, [&](llvm::StringRef name) { return !isFile(init.folder, name); });
  if (part.made().empty()) return mlir::success();
  keepPart(*module, startup, part);
  module->setSymName("initial");
  const std::string to = scratch + "/initial_values";
  if (!runOnce(tool, std::move(module), flags, scratch + "/initial_plan", init, to))
    return mlir::failure();
  for (const std::string& name : variablesOf(runnable)) {
    if (isFile(to, name) || !isFile(init.folder, name)) continue;
    const auto from = io::PathInside(init.folder, name), target = io::PrepareInside(to, name);
    const absl::Status copied = !from.ok()     ? from.status()
                                : !target.ok() ? target.status()
                                               : copyFile(*from, *target);
    if (!copied.ok()) return tool.error(std::string(copied.message())), mlir::failure();
  }
  tool.note("made of the initial values that were given, as start-up does: " +
            llvm::join(part.made(), ", "));
  init.folder = to;
  return mlir::success();
}

}  // namespace dtranspile::cli
