// Forms the job: source kept, mesh, communicators, one role of replicas. First pass of every
// data-parallel pipeline.
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/dp-form-job/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DPFORMJOB
#include "passes/dp-form-job/pass.h.inc"

namespace {

class DpFormJob : public impl::DpFormJobBase<DpFormJob> {
 public:
  using DpFormJobBase::DpFormJobBase;

  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (mlir::failed(checkInput(module)) || mlir::failed(readBatchDims()))
      return signalPassFailure();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    auto source = mlir::ModuleOp::create(builder, module.getLoc(), "source");
    llvm::SmallVector<mlir::Operation*> moved;
    for (mlir::Operation& op : *module.getBody())
      if (llvm::isa<pd::VarOp, pd::ProgramOp>(op)) moved.push_back(&op);
    for (mlir::Operation* op : moved) op->moveBefore(source.getBody(), source.getBody()->end());
    builder.setInsertionPoint(source);
    makeMeshAndComms(builder, module.getLoc());
    builder.setInsertionPointAfter(source);
    if (mlir::failed(makeRole(builder, source))) signalPassFailure();
  }

 private:
  mlir::LogicalResult checkInput(mlir::ModuleOp module) {
    if (ranks < 1)
      return module.emitError("dp-form-job: ranks is ") << ranks.getValue() << "; the least is 1";
    if (comms < 1 || comms > 64)
      return module.emitError("dp-form-job: comms is ")
             << comms.getValue() << "; it lies between 1 and 64";
    if (intra < 0 || (intra > 0 && (intra == 1 || ranks <= intra || ranks % intra != 0)))
      return module.emitError("dp-form-job: intra is ")
             << intra.getValue() << "; it is at least 2, smaller than ranks (" << ranks.getValue()
             << ") and divides it";
    if (!mlir::SymbolTable::lookupSymbolIn(module, "main"))
      return module.emitError("there is no pd.program @main");
    for (mlir::Operation& op : *module.getBody())
      if (!llvm::isa<pd::VarOp, pd::ProgramOp>(op))
        return op.emitError(
            "the input of dp-form-job holds pd.var and pd.program only; is it a job already?");
    return checkSingleDevice(module);
  }

  // Programs that some other tool has distributed already are not distributed again.
  static mlir::LogicalResult checkSingleDevice(mlir::ModuleOp module) {
    mlir::WalkResult result = module.walk([](mlir::Operation* op) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
      if (!spec || !(spec->effects & pd::kCommunicates)) return mlir::WalkResult::advance();
      op->emitError(
          "communicates already; data-parallel passes take the program of a single device");
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  // NAME=d, NAME=none
  mlir::LogicalResult readBatchDims() {
    for (const std::string& entry : batchDims) {
      auto [name, text] = llvm::StringRef(entry).rsplit('=');
      int64_t dim = -1;
      if (name.empty() || (text != "none" && (text.getAsInteger(10, dim) || dim < 0)))
        return getOperation().emitError("dp-form-job: batch-dims: '")
               << entry << "' is neither NAME=dim nor NAME=none";
      overrides_[name] = dim;
    }
    return mlir::success();
  }

  void makeMeshAndComms(mlir::OpBuilder& builder, mlir::Location loc) {
    bool levels = intra > 0;
    axes_ = levels ? builder.getStrArrayAttr({"inter", "intra"}) : builder.getStrArrayAttr({"dp"});
    llvm::SmallVector<int64_t> sizes = levels ? llvm::SmallVector<int64_t>{ranks / intra, intra}
                                              : llvm::SmallVector<int64_t>{ranks};
    dist::MeshOp::create(builder, loc, builder.getStringAttr("world"), axes_,
                         builder.getDenseI64ArrayAttr(sizes), builder.getArrayAttr({}),
                         builder.getDenseI64ArrayAttr({}));
    auto comm = [&](const llvm::Twine& name, mlir::ArrayAttr over, llvm::StringRef carries) {
      dist::CommOp::create(builder, loc, builder.getStringAttr(name),
                           mlir::FlatSymbolRefAttr::get(builder.getContext(), "world"), over,
                           dist::SelAttr(),
                           dist::CommKindAttr::get(builder.getContext(), dist::CommKind::Group),
                           mlir::FlatSymbolRefAttr(), builder.getStringAttr(carries));
    };
    if (statistics) comm("statistics", axes_, kStatistics);
    for (int64_t i = 0; i < comms; ++i) comm("grad" + llvm::Twine(i), axes_, kGradients);
    for (int64_t i = 0; levels && i < comms; ++i) {
      comm("intra" + llvm::Twine(i), builder.getStrArrayAttr({"intra"}), kWithin);
      comm("inter" + llvm::Twine(i), builder.getStrArrayAttr({"inter"}), kBetween);
    }
  }

  mlir::LogicalResult makeRole(mlir::OpBuilder& builder, mlir::ModuleOp source) {
    auto role = dist::RoleOp::create(builder, source.getLoc(), builder.getStringAttr("trainer"),
                                     mlir::FlatSymbolRefAttr::get(builder.getContext(), "world"));
    builder.createBlock(&role.getBody());
    for (mlir::Operation& op : *source.getBody()) {
      mlir::Operation* copy = builder.clone(op);
      if (auto var = llvm::dyn_cast<pd::VarOp>(copy)) {
        copy->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr()));
        continue;
      }
      int64_t number = 0;
      copy->walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* inner) {
        if (pd::OpView::isFrameworkOp(inner))
          inner->setAttr(dist::kSrcAttr, builder.getI64IntegerAttr(number++));
      });
    }
    auto main = llvm::cast<pd::ProgramOp>(mlir::SymbolTable::lookupSymbolIn(role, "main"));
    if (mlir::failed(markFeeds(builder, main))) return mlir::failure();
    for (auto& entry : overrides_)
      if (!used_.contains(entry.getKey()))
        return main.emitError("dp-form-job: batch-dims names '")
               << entry.getKey() << "', which is no feed of the program";
    return ranks > 1 ? checkLiterals(main) : mlir::success();
  }

  // A reshape of a value of unknown extent to known ones has the size of the batch written into it,
  // and a rank holds a part of the batch.
  static mlir::LogicalResult checkLiterals(pd::ProgramOp main) {
    mlir::WalkResult result = main.walk([](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return mlir::WalkResult::advance();
      pd::OpView view(op);
      mlir::Value x = view.input("X"), out = view.output("Out");
      if ((view.type() != "reshape" && view.type() != "reshape2") || !x || !out)
        return mlir::WalkResult::advance();
      mlir::RankedTensorType from = pd::tensorOf(x.getType()), to = pd::tensorOf(out.getType());
      if (!from || !to || from.hasStaticShape() || !to.hasStaticShape())
        return mlir::WalkResult::advance();
      op->emitError("its shape fixes the extent of the batch: ")
          << from << " becomes " << to
          << "; a rank holds a part of the batch, so save the program with -1 in "
          << "this shape";
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  mlir::LogicalResult markFeeds(mlir::OpBuilder& builder, pd::ProgramOp main) {
    bool any = false;
    for (mlir::Operation& op : *main.getBodyBlock()) {
      bool isFeed = llvm::isa<pd::InputOp>(op) ||
                    (pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() == "feed");
      if (!isFeed || op.getNumResults() != 1) continue;
      mlir::RankedTensorType type = pd::tensorOf(op.getResult(0).getType());
      if (!type) continue;
      llvm::StringRef name = pd::nameOf(op.getResult(0));
      int64_t dim = type.getRank() > 0 && type.isDynamicDim(0) ? 0 : -1;
      if (auto given = overrides_.find(name); given != overrides_.end()) {
        dim = given->second;
        used_.insert(name);
        if (dim >= type.getRank())
          return op.emitError("dp-form-job: batch-dims: '")
                 << name << "' has " << type.getRank() << " dims, no dim " << dim;
      }
      if (dim < 0) continue;
      any = true;
      op.setAttr(dist::kBatchAttr,
                 dist::BatchAttr::get(builder.getContext(), dim,
                                      llvm::to_vector(axes_.getAsRange<mlir::StringAttr>())));
    }
    if (!any && ranks > 1)
      main.emitWarning(
          "no feed has a batch dim: every rank computes the same; name one with batch-dims "
          "(--batch-dim NAME=dim) if a dim of fixed extent is the batch");
    return mlir::success();
  }

  mlir::ArrayAttr axes_;
  llvm::StringMap<int64_t> overrides_;  // -1: none
  llvm::StringSet<> used_;
};

}  // namespace
}  // namespace dtranspile::passes
