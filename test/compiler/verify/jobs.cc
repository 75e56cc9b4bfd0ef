#include "test/compiler/verify/jobs.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "compiler/import/import.h"
#include "compiler/pipelines/collective.h"
#include "compiler/verify/report/render.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "passes/declare-sites/pass.h"
#include "test/corpus_path.h"

namespace dtranspile::verify::test {

Jobs::Jobs() {
  context_.disableMultithreading();
  context_.loadDialect<pd::PdDialect, dist::DistDialect>();
}

mlir::OwningOpRef<mlir::ModuleOp> Jobs::make(const std::string& name, const Strategy& strategy,
                                             const std::function<void(mlir::ModuleOp)>& edit) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(&context_));
  for (const char* program : {"main", "startup"}) {
    ImportOptions options;
    options.file = std::string(program) + (name.starts_with("pir33/") ? ".json" : ".pdmodel");
    options.symbol = program;
    mlir::FailureOr<std::string> bytes =
        readFile(&context_, dtranspile::test::CorpusPath(name + "/" + options.file));
    if (mlir::failed(bytes) || mlir::failed(importAny(*module, *bytes, options)))
      throw std::runtime_error("cannot import " + name);
  }
  if (edit) edit(*module);
  if (mlir::failed(transpileCollective(*module, strategy)))
    throw std::runtime_error("cannot transpile " + name);
  return module;
}

mlir::OwningOpRef<mlir::ModuleOp> Jobs::make(const std::string& name, int64_t trainers) {
  Strategy strategy;
  strategy.trainers = trainers;
  return make(name, strategy);
}

mlir::OwningOpRef<mlir::ModuleOp> Jobs::parse(const std::string& text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      text, mlir::ParserConfig(&context_, /*verifyAfterParse=*/false));
  if (!module) throw std::runtime_error("the test's module does not parse");
  return module;
}

Strategy unfused(int64_t trainers) {
  Strategy strategy;
  strategy.trainers = trainers;
  strategy.fuse_all_reduce_ops = false;
  return strategy;
}

void dropContract(mlir::ModuleOp job, llvm::StringRef tag) {
  llvm::SmallVector<mlir::Attribute> kept;
  auto contracts = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  if (!contracts) return;
  for (mlir::Attribute entry : contracts)
    if (llvm::cast<mlir::DictionaryAttr>(entry).getAs<mlir::StringAttr>("tag").getValue() != tag)
      kept.push_back(entry);
  job->setAttr(dist::kContractsAttr, mlir::ArrayAttr::get(job.getContext(), kept));
}

void declareSites(mlir::ModuleOp job) {
  dropContract(job, "parts");
  mlir::PassManager manager(job.getContext());
  manager.enableVerifier(false);
  manager.addPass(passes::createDeclareSites());
  if (mlir::failed(manager.run(job))) throw std::runtime_error("declare-sites fails");
}

pd::ProgramOp programOf(mlir::ModuleOp job, llvm::StringRef name) {
  for (auto role : job.getOps<dist::RoleOp>())
    for (auto program : role.getBody().getOps<pd::ProgramOp>())
      if (program.getSymName() == name) return program;
  throw std::runtime_error("the job has no such program");
}

std::vector<pd::OpView> opsOfType(mlir::Operation* root, llvm::StringRef type, bool inserted) {
  std::vector<pd::OpView> ops;
  root->walk([&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == type &&
        !(inserted && op->hasAttr(dist::kSrcAttr)))
      ops.emplace_back(op);
  });
  return ops;
}

const Message& messageWith(const VerifyReport& report, Message::Level level,
                           const std::string& rule) {
  for (const Rung& rung : report.rungs)
    for (const Message& message : rung.messages)
      if (message.level == level && message.rule == rule) return message;
  FAIL("no message with rule " + rule + " in\n" + messagesOf(report));
  throw std::logic_error("not reached");
}

std::string messagesOf(const VerifyReport& report) { return render(report, Format::Text, "job"); }

}  // namespace dtranspile::verify::test
