#include "compiler/pipelines/phases.h"

#include "compiler/export/collective/collective.h"
#include "compiler/export/servers/servers.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"

namespace dtranspile {
namespace {

// The phases of compilation as passes, so that tests and people can run each by itself on text. The
// module becomes the text of one class of ranks.
class Specialize : public mlir::PassWrapper<Specialize, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(Specialize)
  Specialize() = default;
  Specialize(const Specialize& other) : PassWrapper(other) {}
  llvm::StringRef getArgument() const override { return "specialize"; }
  llvm::StringRef getDescription() const override { return "the text of one class of ranks"; }

  void runOnOperation() override {
    mlir::ModuleOp job = getOperation();
    auto found = mlir::SymbolTable::lookupSymbolIn(job, role.getValue());
    auto named = llvm::dyn_cast_or_null<dist::RoleOp>(found);
    if (!named) {
      job.emitError("there is no dist.role @") << role.getValue();
      return signalPassFailure();
    }
    std::optional<RankClass> chosen = rank >= 0 ? classOf(named) : choose(named);
    if (!chosen) return signalPassFailure();
    auto text = specialize(named, *chosen, {.inlineComposites = composites.getValue() != "keep"});
    if (mlir::failed(text)) return signalPassFailure();
    job.getBodyRegion().takeBody((*text)->getBodyRegion());
    job->setAttrs((**text)->getAttrDictionary());
  }

 private:
  // All classes are reported as remarks: a test sees how the ranks were divided.
  std::optional<RankClass> choose(dist::RoleOp named) {
    mlir::FailureOr<std::vector<RankClass>> classes = classesOf(named);
    if (mlir::failed(classes)) return std::nullopt;
    std::optional<RankClass> chosen;
    for (const RankClass& each : *classes) {
      named.emitRemark("class ") << each.name << " has " << each.ranks << " ranks";
      if (!chosen && (className.empty() || each.name == className.getValue())) chosen = each;
    }
    if (!chosen) named.emitError("has no class of ranks '") << className.getValue() << "'";
    return chosen;
  }

  std::optional<RankClass> classOf(dist::RoleOp named) {
    dist::MeshOp mesh = dist::meshOf(named);
    if (rank < mesh.ranks()) return classOfRank(named, mesh, rank);
    named.emitError("has no rank ") << rank.getValue() << "; the last one is " << mesh.ranks() - 1;
    return std::nullopt;
  }

  Option<std::string> role{*this, "role", llvm::cl::desc("role"), llvm::cl::init("trainer")};
  Option<std::string> className{
      *this, "class", llvm::cl::desc("name of the class; the first one where none is given"),
      llvm::cl::init("")};
  Option<int64_t> rank{*this, "rank", llvm::cl::desc("a single rank, in place of a class"),
                       llvm::cl::init(-1)};
  Option<std::string> composites{*this, "composites", llvm::cl::desc("inline or keep"),
                                 llvm::cl::init("inline")};
};

// The module, which has to be the text of one rank, is changed in place.
class ExportCollective
    : public mlir::PassWrapper<ExportCollective, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExportCollective)
  ExportCollective() = default;
  ExportCollective(const ExportCollective& other) : PassWrapper(other) {}
  llvm::StringRef getArgument() const override { return "export-collective"; }
  llvm::StringRef getDescription() const override {
    return "communication of one rank in the framework's own operators";
  }

  void runOnOperation() override {
    std::vector<std::string> list(endpoints.begin(), endpoints.end());
    if (mlir::failed(exportCollective(getOperation(), rank, list))) signalPassFailure();
  }

 private:
  Option<int64_t> rank{*this, "rank", llvm::cl::desc("rank of the mesh"), llvm::cl::init(0)};
  ListOption<std::string> endpoints{*this, "endpoints", llvm::cl::desc("HOST:PORT of every rank")};
};

// The job becomes the programs of one of its ranks.
class ExportServers : public mlir::PassWrapper<ExportServers, mlir::OperationPass<mlir::ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExportServers)
  ExportServers() = default;
  ExportServers(const ExportServers& other) : PassWrapper(other) {}
  llvm::StringRef getArgument() const override { return "export-servers"; }
  llvm::StringRef getDescription() const override {
    return "one rank of a parameter-server job in the framework's own operators";
  }

  void runOnOperation() override {
    mlir::ModuleOp job = getOperation();
    mlir::FailureOr<Tables> tables = Tables::of(job, {endpoints.begin(), endpoints.end()});
    if (mlir::failed(tables)) return signalPassFailure();
    const bool serves = tables->serverRole().getSymName() == role.getValue();
    auto text = serves ? exportServer(*tables, rank) : exportTrainer(*tables, rank);
    if (mlir::failed(text)) return signalPassFailure();
    job.getBodyRegion().takeBody((*text)->getBodyRegion());
    job->setAttrs((**text)->getAttrDictionary());
  }

 private:
  Option<std::string> role{*this, "role", llvm::cl::desc("the role that serves, or the other one"),
                           llvm::cl::init("trainer")};
  Option<int64_t> rank{*this, "rank", llvm::cl::desc("rank of the role"), llvm::cl::init(0)};
  ListOption<std::string> endpoints{*this, "endpoints",
                                    llvm::cl::desc("HOST:PORT of every server")};
};

}  // namespace

void registerPhases() {
  mlir::PassRegistration<Specialize>();
  mlir::PassRegistration<ExportCollective>();
  mlir::PassRegistration<ExportServers>();
}

}  // namespace dtranspile
