// The job is taken apart in two: what each composite does by itself, which is a formula over the
// rank's own gradient (compressed_update.h), and the job in which a dense sum stands in its place,
// which has to be the reference with plain data parallelism. So the first says what is dropped and
// kept, and the second that what goes in is the gradient of the rank's share, once and with the
// right scale, and that replicas agree.
#include "compiler/verify/relations/compression.h"

#include <cmath>
#include <set>

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/verify/relations/compressed_update.h"
#include "compiler/verify/relations/trace.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringLiteral kRule = "compression";

// Puts the dense op in the place of each composite of deep gradient compression, whose body has
// been compared with its formula, and notes the parameter in the list of the contract's sites. What
// is left is an ordinary data-parallel job for the walk.
class Remover {
 public:
  Remover(mlir::ModuleOp job, Rung& findings, Deviations& deviations)
      : job_(job), findings_(findings), deviations_(deviations) {}

  void run() {
    std::vector<dist::CompositeOp> clips, updates;
    job_->walk([&](dist::CompositeOp composite) {
      if (composite.getOp() == kLocalClip) clips.push_back(composite);
      if (composite.getOp() == kCompressedUpdate) updates.push_back(composite);
    });
    for (dist::CompositeOp update : updates) replaceUpdate(update);
    for (dist::CompositeOp clip : clips) replaceClip(clip);
  }

 private:
  void refute(mlir::Operation* at, std::string text, std::string remedy) {
    report(findings_, at, Message::Level::Refuted, kRule.str(), std::move(text), std::move(remedy));
  }

  // A body that is wrong, or that exchanges nothing, leaves its composite where it is; the walk
  // then calls its results unknown.
  void replaceUpdate(dist::CompositeOp composite) {
    const CompressedUpdate update = readCompressedUpdate(composite);
    if (update.wrong)
      refute(update.wrong, update.why,
             "let the body be what docs/passes/dgc.md says, as pass dgc writes it");
    else if (!update.comm)
      refute(composite, "exchanges nothing: each rank would apply its own gradient",
             "let the body gather what all ranks send");
    if (update.wrong || !update.comm) return;
    if (!update.residual.empty()) checkState(composite, update);
    mlir::RankedTensorType type = pd::tensorOf(operandIn(composite, "Param").getType());
    deviations_[kCompressionTag.str()].insert(
        siteOf(update.parameter, type.getNumElements(), update.stages));
    mlir::OpBuilder builder(composite);
    replaceBy(builder, composite, "momentum", "Grad",
              summedBehind(builder, composite, operandIn(composite, "Grad"), update.comm));
  }

  // The sum over all ranks. Where each adds its part, 1/N, of what is the same on all of them (a
  // decay), it is the sum of the gradients, and that added once.
  mlir::Value summedBehind(mlir::OpBuilder& builder, dist::CompositeOp composite, mlir::Value value,
                           mlir::FlatSymbolRefAttr comm) {
    mlir::Operation* fanIn = value.getDefiningOp();
    const bool own = llvm::all_of(value.getUsers(), [&](mlir::Operation* user) {
      return user == composite || composite->isProperAncestor(user);
    });
    if (!fanIn || !pd::OpView::isFrameworkOp(fanIn) || !own || pd::OpView(fanIn).type() != "sum")
      return summed(builder, value, comm);
    const auto share = static_cast<float>(1.0 / static_cast<double>(dist::meshOf(fanIn).ranks()));
    std::vector<mlir::OpOperand*> terms, parts;
    for (mlir::OpOperand& operand : fanIn->getOpOperands()) {
      mlir::Operation* maker = operand.get().getDefiningOp();
      const bool part =
          maker && pd::OpView::isFrameworkOp(maker) && !maker->hasAttr(dist::kSrcAttr) &&
          pd::OpView(maker).type() == "scale" && pd::OpView(maker).getFloat("scale") == share &&
          pd::OpView(maker).getFloat("bias") == 0 && !pd::OpView(maker).hasInput("ScaleTensor");
      (part ? parts : terms).push_back(&operand);
    }
    if (terms.size() != 1 || parts.empty()) return summed(builder, value, comm);
    mlir::OpBuilder before(fanIn);
    terms[0]->set(summed(before, terms[0]->get(), comm));
    for (mlir::OpOperand* part : parts)
      part->set(pd::OpView(part->get().getDefiningOp()).input("X"));
    return value;
  }

  // The norm of a rank's own gradient stands for that of the sum: bound over the square root of the
  // number of ranks.
  void replaceClip(dist::CompositeOp composite) {
    mlir::Block& body = composite.getBody().front();
    auto role = composite->getParentOfType<dist::RoleOp>();
    const int64_t ranks = dist::meshOf(composite).ranks();
    mlir::Operation* yield = body.getTerminator();
    mlir::Operation* made =
        yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
    auto bound = composite.getAttrs().getAs<mlir::FloatAttr>("max_norm");
    const bool right =
        made && bound && pd::OpView::isFrameworkOp(made) && body.getNumArguments() == 1 &&
        pd::OpView(made).type() == "clip_by_norm" &&
        pd::OpView(made).input("X") == body.getArgument(0) &&
        static_cast<float>(pd::OpView(made).getFloat("max_norm")) ==
            static_cast<float>(bound.getValueAsDouble() / std::sqrt(static_cast<double>(ranks)));
    if (!right)
      refute(composite,
             "does not clip the rank's own gradient to the bound over the square root of the "
             "number of ranks",
             "let the body be that clip_by_norm alone");
    mlir::FlatSymbolRefAttr comm;
    for (auto one : job_.getOps<dist::CommOp>())
      if (!comm && one.getMesh() == role.getMesh() &&
          joinsAllRanks(composite, mlir::FlatSymbolRefAttr::get(one.getSymNameAttr())))
        comm = mlir::FlatSymbolRefAttr::get(one.getSymNameAttr());
    if (!comm) return;
    mlir::OpBuilder builder(composite);
    mlir::Value result = replaceBy(builder, composite, "clip_by_norm", "X",
                                   summed(builder, operandIn(composite, "X"), comm));
    // It is summed once more where it is sent.
    builder.setInsertionPointAfterValue(result);
    const std::string name =
        declarations_.freshName(builder.getInsertionBlock(), pd::nameOf(result).str());
    pd::OpView part = declarations_.create(
        builder, result.getLoc(), "scale", {{"X", {result}}}, {{"Out", {{name, result.getType()}}}},
        {builder.getNamedAttr("scale", builder.getF32FloatAttr(static_cast<float>(1.0 / ranks)))},
        pd::kOptimize);
    result.replaceAllUsesExcept(part.output("Out"), part.operation());
  }

  static mlir::Value summed(mlir::OpBuilder& builder, mlir::Value value,
                            mlir::FlatSymbolRefAttr comm) {
    auto sum = dist::ReduceAttr::get(builder.getContext(), dist::Reduce::Sum);
    return dist::AllReduceOp::create(builder, value.getLoc(), mlir::TypeRange{value.getType()}, sum,
                                     mlir::ValueRange{value}, comm)
        .getResult(0);
  }

  // The op that the composite stands for, with another value in one slot. Its first result.
  mlir::Value replaceBy(mlir::OpBuilder& builder, dist::CompositeOp op, llvm::StringRef type,
                        llvm::StringRef slot, mlir::Value value) {
    std::vector<pd::InputSlot> inputs;
    std::vector<pd::OutputSlot> outputs;
    for (auto [name, operand] :
         llvm::zip(op.getInputSlots().getAsValueRange<mlir::StringAttr>(), op.getInputs()))
      inputs.push_back({name, {name == slot ? value : operand}});
    for (auto [output, name, result] :
         llvm::zip(op.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                   op.getOutputNames().getAsValueRange<mlir::StringAttr>(), op.getResultTypes()))
      outputs.push_back({output, {{name.str(), result}}});
    auto role = op.getAttrs().getAs<mlir::IntegerAttr>("op_role");
    pd::OpView made = declarations_.create(
        builder, op.getLoc(), type, inputs, outputs, op.getAttrs().getValue(),
        role ? static_cast<int>(role.getInt()) : static_cast<int>(pd::kOptimize));
    if (mlir::Attribute number = op->getAttr(dist::kSrcAttr))
      made.operation()->setAttr(dist::kSrcAttr, number);
    op->replaceAllUsesWith(made.operation()->getResults());
    op.erase();
    return made.operation()->getResult(0);
  }

  // Velocity and residual are each rank's own, and nobody else's business.
  void checkState(dist::CompositeOp composite, const CompressedUpdate& update) {
    auto role = composite->getParentOfType<dist::RoleOp>();
    for (const std::string& name : {update.velocity, update.residual}) {
      const bool own = name == update.residual;
      if (!taken_.insert(name).second)
        refute(composite, "uses `" + name + "`, which another update uses too",
               "give every update state of its own");
      auto var = llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(role, name));
      if (!var || !isDeclared(var)) {
        refute(composite,
               "leaves in `" + name + "` what each rank has by itself, and it is not declared so",
               "declare it X(dgc) in its dist.rel");
      } else {
        var->removeAttr(dist::kRelAttr);
        findings_.conditions.push_back({"variable", name, kCompressionTag.str()});
      }
      role.walk([&](mlir::Operation* op) {
        auto get = llvm::dyn_cast<pd::GetOp>(op);
        auto set = llvm::dyn_cast<pd::SetOp>(op);
        if (!(get && get.getVar() == name) && !(set && set.getVar() == name)) return;
        const bool startup = op->getParentOfType<pd::ProgramOp>().getSymName() == "startup";
        if (composite->isAncestor(op) || (startup && set)) return;
        const bool given = set && set.getValue().getDefiningOp() == composite;
        const bool read = get && llvm::all_of(get->getUsers(), [&](mlir::Operation* user) {
                            return user == composite || composite->isAncestor(user);
                          });
        if (own || !(given || read))
          refute(op,
                 "touches `" + name +
                     "`, of which each rank has its own since it sends the "
                     "largest elements only",
                 "leave it to the update");
      });
    }
    checkBegin(composite, update.residual, role);
  }

  // Each rank's own on all ranks, and of no other variable, scale or contract: what is declared is
  // taken away with the composite, and nobody else looks at it.
  static bool isDeclared(pd::VarOp var) {
    auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    dist::MeshOp mesh = dist::meshOf(var);
    if (!relation || !mesh || var->hasAttr(dist::kAtAttr) ||
        relation.getVariable() != var.getSymName() ||
        relation.getNumerator() != relation.getDenominator() || !relation.getTags().empty())
      return false;
    int64_t ranks = 1;
    for (dist::AxisRelAttr one : relation.getAxes())
      if (one.getState() == dist::StateKind::Different && one.getTag() &&
          one.getTag().getValue() == kCompressionTag)
        ranks *= mesh.sizeOf(one.getAxis().getValue()).value_or(1);
    return ranks == mesh.ranks();
  }

  // Before the first step nothing has been held back: start-up sets the residual once, to zero.
  void checkBegin(dist::CompositeOp composite, const std::string& residual, dist::RoleOp role) {
    int zeros = 0, sets = 0;
    if (pd::ProgramOp startup = findProgram(role, "startup"))
      startup.walk([&](pd::SetOp set) {
        if (set.getVar() != residual) return;
        ++sets;
        mlir::Operation* maker = set.getValue().getDefiningOp();
        const bool zero = maker && pd::OpView::isFrameworkOp(maker) &&
                          pd::OpView(maker).type() == "fill_constant" &&
                          maker->getNumOperands() == 0 &&
                          pd::OpView(maker).getString("str_value").empty() &&
                          pd::OpView(maker).getFloat("value") == 0;
        zeros += zero ? 1 : 0;
      });
    if (sets != 1 || zeros != 1)
      refute(composite, "finds in `" + residual + "` what start-up does not set to zero, once",
             "let start-up set it to zero: nothing has been kept yet");
  }

  mlir::ModuleOp job_;
  Rung& findings_;
  Deviations& deviations_;
  pd::Declarations declarations_;
  std::set<std::string> taken_;
};

}  // namespace

bool compressesGradients(mlir::ModuleOp job) {
  bool found = Contracts::of(job).declares(kCompressionTag);
  job.walk([&](dist::CompositeOp composite) { found |= isCompression(composite); });
  return found;
}

mlir::OwningOpRef<mlir::ModuleOp> withoutCompression(mlir::ModuleOp job, const Contracts& contracts,
                                                     Rung& findings, Deviations& deviations) {
  mlir::OwningOpRef<mlir::ModuleOp> plain(llvm::cast<mlir::ModuleOp>(job->clone()));
  Remover(*plain, findings, deviations).run();
  if (!contracts.declares(kCompressionTag))
    findings.add(messageAt(job, Message::Level::Refuted, "contract",
                           "ranks send the largest elements of their gradients only, and the job "
                           "does not declare it",
                           "declare the contract \"dgc\""));
  return plain;
}

}  // namespace dtranspile::verify
