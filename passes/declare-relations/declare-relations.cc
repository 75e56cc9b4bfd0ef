// What differs between replicas, said on variables and random ops. After every pass that reduces,
// before reduce-by-levels.
#include <map>

#include "compiler/analysis/relations/contract_texts.h"
#include "passes/declare-relations/pass.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DECLARERELATIONS
#include "passes/declare-relations/pass.h.inc"

namespace {

struct Tag {
  llvm::StringRef name, statement;
};
constexpr llvm::StringLiteral kLocalSgd = "local_sgd", kGeo = "geo";
const Tag kBatchStatistics = {"batch_statistics", verify::contractText("batch_statistics")};
const Tag kLocalState = {"local_state", verify::contractText("local_state")};
const Tag kLocalSgdState = {kLocalSgd, ""};  // the statement stays that of local-sgd
const Tag kGeoUpdate = {kGeo, ""};           // that of ps-exchange

class DeclareRelations : public impl::DeclareRelationsBase<DeclareRelations> {
 public:
  using DeclareRelationsBase::DeclareRelationsBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    // Not in start-up: what it draws without a seed differs between ranks, and is broadcast.
    const std::vector<mlir::Operation*> draws = randomOps(job->main);
    for (mlir::Operation* op : draws)
      if (!op->hasAttr(dist::kStreamsAttr))
        op->setAttr(dist::kStreamsAttr, mlir::ArrayAttr::get(&getContext(), {}));
    const verify::Differences differences(*MainQuestion(*job));
    if (mlir::failed(declareVariables(*job, differences))) return signalPassFailure();
    for (mlir::Operation* op : draws) declareStreams(op, *job, differences);
  }

 private:
  // Each variable that ends a step with different values on different ranks gets a declaration of
  // that (X with a tag) and the job the contract of this name, with the variables as its sites. A
  // difference that no contract covers is an error here, and not a declaration: it is a gradient or
  // a parameter that a pass has overlooked.
  mlir::LogicalResult declareVariables(JobOnAxes& job, const verify::Differences& differences) {
    const Tag* update = hasContract(getOperation(), kLocalSgd) ? &kLocalSgdState
                        : hasContract(getOperation(), kGeo)    ? &kGeoUpdate
                                                               : nullptr;
    const mlir::SymbolTable symbols(job.role);
    // Variables by contract; a contract stands where its last one was found.
    std::map<llvm::StringRef, std::vector<std::string>> sites;
    std::vector<Tag> order;
    for (const verify::Differences::Ending& ending : differences.endings()) {
      verify::AxisSet along = axesOf(job, differences.axes()) &= ending.along;
      pd::SetOp set = ending.set;
      const mlir::StringAttr name = set.getVarAttr().getAttr();
      if (mlir::Operation* var = symbols.lookup(name)) leaveOutDeclared(along, var, differences);
      if (along.none()) continue;
      mlir::Operation* definition = writerOf(job.main, set);
      mlir::Operation* writer = definition ? definition : set.getOperation();
      const mlir::ArrayAttr names = namesOf(along, differences.axes(), &getContext());
      mlir::FailureOr<Tag> tag = tagOf(name, writer, update, names);
      if (mlir::failed(tag)) return mlir::failure();
      // The other passes average parameters; one that they overlooked must not become a declared
      // difference.
      const bool averaged = !llvm::isa<pd::ProgramOp>(set->getParentOp());
      if (tag->name == kLocalSgd && isParameter(symbols, name) && !averaged)
        return writer->emitError("local_sgd: sets parameter '")
               << name.getValue()
               << "', and nothing averages it after this op: the replicas would drift apart";
      // Between exchanges trainers of geo-SGD go their own ways, parameters included: the contract
      // lists them, and says of all that they stand for the reference's.
      mlir::Operation* var = symbols.lookup(name);
      if (var && tag->name != kGeo) declare(var, name, *tag, names);
      llvm::erase_if(order, [&](const Tag& known) { return known.name == tag->name; });
      order.push_back(*tag);
      sites[tag->name].push_back(name.str());
    }
    for (const Tag& tag : order)
      addContract(getOperation(), tag.name, tag.statement, sites[tag.name]);
    return mlir::success();
  }

  // The op that gives a value, in guards and loops over micro-batches that hand it on; null where
  // it comes from elsewhere.
  static mlir::Operation* makerOf(mlir::Value value) {
    while (true) {
      if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
        auto on = llvm::dyn_cast<dist::OnOp>(argument.getOwner()->getParentOp());
        if (!on) return nullptr;
        value = on.getInputs()[argument.getArgNumber()];
        continue;
      }
      auto result = llvm::cast<mlir::OpResult>(value);
      auto on = llvm::dyn_cast<dist::OnOp>(result.getOwner());
      auto micro = llvm::dyn_cast<dist::MicroOp>(result.getOwner());
      if (!micro && (!on || !on.getOtherwise().empty())) return result.getOwner();
      mlir::Block& body = micro ? micro.getBody().front() : on.getBody().front();
      value = body.getTerminator()->getOperand(result.getResultNumber());
    }
  }

  // The op that gives what is set; where a branch sets a variable back, that of the set before it.
  static mlir::Operation* writerOf(pd::ProgramOp main, pd::SetOp set) {
    mlir::Operation* definition = makerOf(set.getValue());
    const bool assigns = definition && pd::OpView::isFrameworkOp(definition) &&
                         pd::OpView(definition).type() == "assign";
    if (definition &&
        !(assigns && llvm::isa_and_present<mlir::BlockArgument>(pd::OpView(definition).input("X"))))
      return definition;
    for (auto other : main.getBodyBlock()->getOps<pd::SetOp>())
      if (other.getVarAttr() == set.getVarAttr()) return other.getValue().getDefiningOp();
    return definition;
  }

  // A variable of which every rank has a term, or a part, is declared so by the pass that made it.
  // Along an axis of which one coordinate has it there is nothing to differ from.
  static void leaveOutDeclared(verify::AxisSet& along, mlir::Operation* var,
                               const verify::Differences& differences) {
    auto now = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    for (dist::AxisRelAttr one : now ? now.getAxes() : llvm::ArrayRef<dist::AxisRelAttr>())
      if (one.getState() == dist::StateKind::Partial || one.getState() == dist::StateKind::Split ||
          (one.getHolders() && one.getHolders().isPoint()))
        if (int axis = differences.axes().indexOf(one.getAxis().getValue()); axis >= 0)
          along.reset(axis);
  }

  // The contract is told by the op that writes the variable: statistics of batch norm are of each
  // rank's share, state outside of the update is each rank's own, and what an update writes differs
  // only under local SGD or geo-SGD.
  static mlir::FailureOr<Tag> tagOf(mlir::StringAttr variable, mlir::Operation* writer,
                                    const Tag* update, mlir::ArrayAttr along) {
    // A snapshot of what servers had.
    if (update && update->name == kGeo && llvm::isa<dist::PullOp>(writer)) return *update;
    bool framework = pd::OpView::isFrameworkOp(writer);
    if (framework && pd::OpView(writer).type() == "batch_norm") return kBatchStatistics;
    if (!framework || !(pd::OpView(writer).role() & pd::kOptimize)) return kLocalState;
    if (update) return *update;
    return writer->emitError("updates '")
           << variable.getValue() << "' with a value that differs between the ranks of "
           << listOf(along)
           << ": a gradient reaches the optimizer without being reduced over these axes";
  }

  static bool isParameter(const mlir::SymbolTable& symbols, mlir::StringAttr variable) {
    auto var = llvm::dyn_cast_or_null<pd::VarOp>(symbols.lookup(variable));
    return var && var.getParameter();
  }

  // What is declared of other axes stays.
  static void declare(mlir::Operation* var, mlir::StringAttr variable, const Tag& tag,
                      mlir::ArrayAttr along) {
    auto now = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
    llvm::SmallVector<dist::AxisRelAttr> axes;
    for (dist::AxisRelAttr one : now ? now.getAxes() : llvm::ArrayRef<dist::AxisRelAttr>())
      if (!llvm::is_contained(along, one.getAxis())) axes.push_back(one);
    for (auto axis : along.getAsRange<mlir::StringAttr>())
      axes.push_back(dist::AxisRelAttr::different(axis, tag.name));
    var->setAttr(dist::kRelAttr, dist::RelAttr::of(variable, axes));
  }

  static std::vector<mlir::Operation*> randomOps(pd::ProgramOp program) {
    std::vector<mlir::Operation*> ops;
    program.walk([&](mlir::Operation* op) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
      if (spec && (spec->effects & pd::kRandom)) ops.push_back(op);
    });
    return ops;
  }

  // Draws for what differs along an axis differ along it.
  static void declareStreams(mlir::Operation* op, const JobOnAxes& job,
                             const verify::Differences& differences) {
    verify::AxisSet along(differences.axes().count());
    for (mlir::Value operand : op->getOperands()) along |= differences.of(operand);
    along &= axesOf(job, differences.axes());
    for (auto name :
         op->getAttrOfType<mlir::ArrayAttr>(dist::kStreamsAttr).getAsValueRange<mlir::StringAttr>())
      if (int axis = differences.axes().indexOf(name); axis >= 0) along.set(axis);
    op->setAttr(dist::kStreamsAttr, namesOf(along, differences.axes(), op->getContext()));
  }
};

}  // namespace
}  // namespace dtranspile::passes
