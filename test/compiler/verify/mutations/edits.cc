#include "test/compiler/verify/mutations/edits.h"

#include "dialects/pd/declarations.h"

namespace dtranspile::verify::test {

VerifyReport verifyEdited(const Edit& edit, const std::string& program, const Strategy& strategy,
                          const VerifyOptions& options) {
  Jobs jobs;
  auto job = jobs.make(program, strategy);
  VerifyReport before = verifyJob(*job, nullptr);
  INFO(messagesOf(before));
  REQUIRE(before.overall() == Verdict::Holds);
  edit(*job, programOf(*job));
  return verifyJob(*job, nullptr, options);
}

VerifyReport verifyEdited(const Edit& edit, const std::string& program) {
  return verifyEdited(edit, program, unfused(4));
}

VerifyReport verifyAveraged(const Edit& edit, const std::string& program) {
  Strategy strategy = unfused(4);
  strategy.collective_mode = "local_sgd";
  return verifyEdited(edit, program, strategy);
}

void bypass(mlir::Operation* op) {
  for (auto [result, operand] : llvm::zip(op->getResults(), op->getOperands()))
    result.replaceAllUsesWith(operand);
  op->erase();
}

void repeat(mlir::Operation* op) {
  mlir::OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  mlir::Operation* again = builder.clone(*op);
  op->getResult(0).replaceAllUsesExcept(again->getResult(0), again);
  again->setOperand(0, op->getResult(0));
}

pd::SetOp lastSet(pd::ProgramOp program, llvm::StringRef variable) {
  pd::SetOp last;
  for (pd::SetOp set : opsOf<pd::SetOp>(program))
    if (set.getVar() == variable) last = set;
  REQUIRE(last);
  return last;
}

dist::RoleOp roleOf(mlir::ModuleOp job) { return *job.getOps<dist::RoleOp>().begin(); }

void declareDifferent(mlir::ModuleOp job, llvm::StringRef variable, llvm::StringRef tag) {
  mlir::Builder builder(job.getContext());
  for (pd::VarOp var : opsOf<pd::VarOp>(roleOf(job)))
    if (var.getSymName() == variable)
      var->setAttr(dist::kRelAttr,
                   dist::RelAttr::of(var.getSymNameAttr(), {dist::AxisRelAttr::different(
                                                               builder.getStringAttr("dp"), tag)}));
}

mlir::Value scaled(mlir::Value value, float factor) {
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  return pd::Declarations()
      .create(builder, value.getLoc(), "scale", {{"X", {value}}},
              {{"Out", {{"scaled", value.getType()}}}},
              {builder.getNamedAttr("scale", builder.getF32FloatAttr(factor)),
               builder.getNamedAttr("bias", builder.getF32FloatAttr(0))},
              pd::kForward)
      .output("Out");
}

mlir::Value summed(mlir::Value value) {
  auto job = value.getDefiningOp()->getParentOfType<mlir::ModuleOp>();
  mlir::OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  for (dist::CommOp comm : job.getOps<dist::CommOp>())
    if (comm.getSymName().starts_with("grad"))
      return dist::AllReduceOp::create(builder, value.getLoc(), mlir::TypeRange(value.getType()),
                                       dist::ReduceAttr::get(value.getContext(), dist::Reduce::Sum),
                                       mlir::ValueRange(value),
                                       mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()))
          .getResult(0);
  throw std::runtime_error("no communicator of gradients");
}

void replaceUses(mlir::Value value, mlir::Value replacement) {
  llvm::SmallPtrSet<mlir::Operation*, 4> makers;
  for (mlir::Value at = replacement; at && at != value;) {
    mlir::Operation* op = at.getDefiningOp();
    makers.insert(op);
    at = op->getNumOperands() ? op->getOperand(0) : mlir::Value();
  }
  value.replaceUsesWithIf(replacement,
                          [&](mlir::OpOperand& use) { return !makers.contains(use.getOwner()); });
}

mlir::ModuleOp addReference(mlir::ModuleOp job) {
  for (auto module : job.getOps<mlir::ModuleOp>()) {
    mlir::OpBuilder builder(module);
    auto reference = llvm::cast<mlir::ModuleOp>(builder.clone(*module));
    reference.setSymName("reference");
    return reference;
  }
  throw std::runtime_error("the job has no source");
}

const Message& refuted(const VerifyReport& report, const std::string& rule) {
  INFO(messagesOf(report));
  CHECK(exitCode(report.overall()) == 1);
  const Message& message = messageWith(report, Message::Level::Refuted, rule);
  CHECK_FALSE(message.remedy.empty());
  return message;
}

void notVerified(const VerifyReport& report) {
  INFO(messagesOf(report));
  CHECK(report.overall() != Verdict::Holds);
  CHECK(llvm::any_of(report.rungs, [](const Rung& rung) {
    return llvm::any_of(rung.messages, [](const Message& message) {
      return message.level != Message::Level::Note && !message.text.empty();
    });
  }));
}

}  // namespace dtranspile::verify::test
