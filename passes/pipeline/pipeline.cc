// Cuts the step of a job into stages and micro-batches. Behind reduce-gradients and assign-stages.
#include "passes/pipeline/loop.h"
#include "passes/pipeline/once.h"
#include "passes/pipeline/pass.h"
#include "passes/pipeline/startup.h"
#include "passes/pipeline/weights.h"
#include "passes/support/step.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_PIPELINE
#include "passes/pipeline/pass.h.inc"

namespace {

// Plans first, builds then: while a plan is made nothing changes (but that gradients are taken
// apart, where nothing is in the way), so that a step that cannot be cut leaves the job as it was,
// and messages are about ops of the program. The old ops are erased at the end, from the last to
// the first, when everything that reads them has been built anew.
class Pipeline : public impl::PipelineBase<Pipeline> {
 public:
  using PipelineBase::PipelineBase;

  // The order of the file's first lines: tasks of the loop, then (for schedules that have a task of
  // their own for gradients of weights) what moves there, what runs once, and only then the
  // rewrite. Start-up and locations of variables follow from where their readers are.
  void runOnOperation() override {
    pipeline::Target target;
    if (mlir::failed(readTarget(target))) return signalPassFailure();
    takeApartOnce(target.job.main);
    mlir::FailureOr<pipeline::Plan> plan = pipeline::makePlan(target);
    if (mlir::failed(plan)) return signalPassFailure();
    if (pipeline::hasWeights(target.schedule)) pipeline::moveWeights(*plan);
    mlir::FailureOr<pipeline::OncePlan> once = pipeline::planOnce(target, *plan);
    if (mlir::failed(once)) return signalPassFailure();
    build(target, *plan, *once);
    declareStates(target, plan->states);
    if (mlir::failed(pipeline::placeStartup(target, once->variables))) return signalPassFailure();
    makeTime(target);
    locate(target, once->variables);
  }

 private:
  // Stages are the coordinates of one axis; micro-batches are those of the axis `micro`, which
  // becomes time: it is the last one, so that each rank has all of them.
  mlir::LogicalResult readTarget(pipeline::Target& target) {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return mlir::failure();
    target.job = *job;
    if (job->axes.size() != 1)
      return getOperation().emitError("pipeline: give axes one axis, that of the stages");
    target.axis = llvm::cast<mlir::StringAttr>(job->axes[0]);
    target.micro = mlir::StringAttr::get(&getContext(), micro.getValue());
    if (!job->mesh.indexOf(micro.getValue()))
      return getOperation().emitError("pipeline: the mesh has no axis '")
             << micro.getValue() << "', that of the micro-batches";
    target.stages = job->ranks;
    target.chunks = virtual_stages;
    target.micros = job->mesh.sizeOf(micro.getValue()).value_or(1);
    target.schedule = schedule_mode;
    if (target.stages < 2)
      return getOperation().emitError("pipeline: axis '")
             << target.axis.getValue() << "' has one coordinate; a pipeline has two stages or more";
    if (target.chunks < 1)
      return getOperation().emitError("pipeline: virtual_stages is ")
             << target.chunks << "; a stage has at least one part";
    if (job->mesh.getAxes().size() &&
        job->mesh.getAxes()[job->mesh.getAxes().size() - 1] != mlir::Attribute(target.micro))
      return getOperation().emitError("pipeline: axis '")
             << micro.getValue() << "' is not the last one of the mesh";
    return mlir::success();
  }

  // What the update sums over layers may come from several stages (norms of gradients): each number
  // by itself, on its own stage.
  static void takeApartOnce(pd::ProgramOp main) {
    llvm::SmallVector<dist::AllReduceOp> sums;
    main.walk([&](dist::AllReduceOp sum) {
      if (sum.getInputs().size() > 1 && isBetweenLayers(sum) && runsOnce(sum)) sums.push_back(sum);
    });
    for (dist::AllReduceOp sum : sums) {
      mlir::OpBuilder builder(sum);
      for (auto [input, result] : llvm::zip(sum.getInputs(), sum.getResults())) {
        auto one = dist::AllReduceOp::create(builder, sum.getLoc(),
                                             mlir::TypeRange(input.getType()), sum.getReduceAttr(),
                                             mlir::ValueRange(input), sum.getCommAttr());
        result.replaceAllUsesWith(one->getResult(0));
      }
      sum.erase();
    }
  }

  // The new step is appended to the block of the old one, so that both are there while values are
  // mapped from the one to the other.
  void build(pipeline::Target& target, pipeline::Plan& plan, const pipeline::OncePlan& once) {
    mlir::Block& body = *target.job.main.getBodyBlock();
    std::vector<mlir::Operation*> old;
    for (mlir::Operation& op : body)
      if (!llvm::isa<pd::DeclOp>(op)) old.push_back(&op);
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&body);
    mlir::IRMapping plain;
    pipeline::buildLoop(target, plan, builder, plain);
    pipeline::buildOnce(target, plan, once, builder, plain);
    for (mlir::Operation* op : llvm::reverse(old)) {
      op->dropAllUses();
      op->erase();
    }
  }

  void declareStates(const pipeline::Target& target, const std::vector<std::string>& states) {
    if (target.micros > 1 && !states.empty())
      addContract(
          getOperation(), "micro_statistics",
          "running statistics move once per micro-batch, in the order of the micro-batches, "
          "each time by those of its part of the batch",
          states);
  }

  // The axis of micro-batches has no ranks from here on: what a variable had of each of them (added
  // up over steps) it has of them all.
  void makeTime(pipeline::Target& target) {
    mlir::Builder builder(&getContext());
    for (auto var : dist::RoleOp(target.job.role).getBody().front().getOps<pd::VarOp>()) {
      auto held = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
      if (!held || !held.lookup(target.micro.getValue())) continue;
      llvm::SmallVector<dist::AxisRelAttr> states;
      for (dist::AxisRelAttr state : held.getAxes())
        if (state.getAxis() != target.micro) states.push_back(state);
      var->setAttr(dist::kRelAttr, dist::RelAttr::of(held.getVariable(), states));
    }
    for (auto comm : llvm::make_early_inc_range(getOperation().getOps<dist::CommOp>())) {
      if (!comm.overAxis(target.micro.getValue())) continue;
      llvm::SmallVector<mlir::Attribute> left;
      for (mlir::Attribute axis : comm.getAxes())
        if (axis != target.micro) left.push_back(axis);
      if (left.empty()) comm.erase();
      else comm.setAxesAttr(builder.getArrayAttr(left));
    }
    dist::MeshOp mesh = target.job.mesh;
    llvm::SmallVector<mlir::Attribute> names(mesh.getAxes().begin(), mesh.getAxes().end());
    llvm::SmallVector<int64_t> sizes(mesh.getSizes());
    names.pop_back();
    sizes.pop_back();
    mesh.setAxesAttr(builder.getArrayAttr(names));
    mesh.setSizesAttr(builder.getDenseI64ArrayAttr(sizes));
    llvm::SmallVector<mlir::Attribute> time(mesh.getTimeAxes().begin(), mesh.getTimeAxes().end());
    llvm::SmallVector<int64_t> times(mesh.getTimeSizes());
    time.push_back(target.micro);
    times.push_back(target.micros);
    mesh.setTimeAxesAttr(builder.getArrayAttr(time));
    mesh.setTimeSizesAttr(builder.getDenseI64ArrayAttr(times));
  }

  // Says of every variable which stages have it.
  static void locate(const pipeline::Target& target,
                     const llvm::MapVector<mlir::StringAttr, pipeline::Stages>& variables) {
    for (auto var : dist::RoleOp(target.job.role).getBody().front().getOps<pd::VarOp>()) {
      auto at = variables.find(var.getSymNameAttr());
      dist::SelAttr where = at == variables.end() ? dist::SelAttr() : target.selector(at->second);
      if (!where) continue;
      var->setAttr(dist::kAtAttr, where);
      llvm::SmallVector<dist::AxisRelAttr> axes;
      if (auto known = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr))
        axes.append(known.getAxes().begin(), known.getAxes().end());
      axes.push_back(
          dist::AxisRelAttr::replicated(target.axis).heldBy(where.lookup(target.axis.getValue())));
      dist::MeshOp mesh = target.job.mesh;
      llvm::sort(axes, [&](dist::AxisRelAttr a, dist::AxisRelAttr b) {
        return mesh.indexOf(a.getAxis().getValue()) < mesh.indexOf(b.getAxis().getValue());
      });
      var->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr(), axes));
    }
  }
};

}  // namespace
}  // namespace dtranspile::passes
