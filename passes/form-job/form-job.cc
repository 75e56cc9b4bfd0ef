// Forms the job: source kept, mesh, communicators, one role of copies. First pass that rewrites;
// cut-batch follows.
#include "mlir/IR/BuiltinOps.h"
#include "passes/form-job/pass.h"
#include "passes/support/job.h"
#include "passes/support/step.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_FORMJOB
#include "passes/form-job/pass.h.inc"

namespace {

class FormJob : public impl::FormJobBase<FormJob> {
 public:
  using FormJobBase::FormJobBase;

  // The program moves into a module of its own, where it stays as the reference (or as the source,
  // where no semantic pass ran), and a role of the job gets a copy. From then on passes change the
  // copy, and verification compares the two.
  void runOnOperation() override {
    mlir::ModuleOp module = getOperation();
    if (mlir::failed(checkInput(module)) || mlir::failed(readAxes())) return signalPassFailure();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    // Where keep-source has kept the saved program, what is there beside it is the reference.
    const bool kept = module.lookupSymbol<mlir::ModuleOp>("source") != nullptr;
    if (kept) builder.setInsertionPointAfter(module.lookupSymbol<mlir::ModuleOp>("source"));
    auto source = mlir::ModuleOp::create(builder, module.getLoc(), kept ? "reference" : "source");
    llvm::SmallVector<mlir::Operation*> moved;
    for (mlir::Operation& op : *module.getBody())
      if (llvm::isa<pd::VarOp, pd::ProgramOp>(op)) moved.push_back(&op);
    for (mlir::Operation* op : moved) op->moveBefore(source.getBody(), source.getBody()->end());
    builder.setInsertionPointToStart(module.getBody());
    makeMeshAndComms(builder, module.getLoc());
    builder.setInsertionPointAfter(source);
    makeRole(builder, source);
  }

 private:
  // Refuses what is a job already, or holds ops of a distributed program.
  mlir::LogicalResult checkInput(mlir::ModuleOp module) {
    if (nccl_comm_num < 1 || nccl_comm_num > 64)
      return module.emitError("form-job: nccl_comm_num is ")
             << nccl_comm_num.getValue() << "; it lies between 1 and 64";
    if (use_hierarchical_allreduce && commAxes.size() != 2)
      return module.emitError(
          "form-job: use_hierarchical_allreduce takes two comm-axes, that between "
          "the groups and that within them");
    if (!mlir::SymbolTable::lookupSymbolIn(module, "main"))
      return module.emitError("there is no pd.program @main");
    for (mlir::Operation& op : *module.getBody())
      if (!llvm::isa<pd::VarOp, pd::ProgramOp>(op) && !isSource(op))
        return op.emitError(
            "the input of form-job holds pd.var and pd.program only; is it a job already?");
    return checkSingleDevice(module);
  }

  static bool isSource(mlir::Operation& op) {
    auto module = llvm::dyn_cast<mlir::ModuleOp>(op);
    return module && module.getSymName() == std::optional<llvm::StringRef>("source");
  }

  // Programs that some other tool has distributed already are not distributed again.
  static mlir::LogicalResult checkSingleDevice(mlir::ModuleOp module) {
    mlir::WalkResult result = module.walk([](mlir::Operation* op) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
      if (!spec || !(spec->effects & pd::kCommunicates)) return mlir::WalkResult::advance();
      op->emitError("communicates already; form-job takes the program of a single device");
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  // A number, `stages` (how many devices op_device names), `stages/V` with V of them on a stage, or
  // NUMBER/ in front of these: how many pipelines there are among so many ranks. 0: the text is
  // none of these; failure: it is reported.
  mlir::FailureOr<int64_t> sizeOf(llvm::StringRef text) {
    int64_t size = 0, parts = 1;
    if (!text.getAsInteger(10, size)) return std::max<int64_t>(size, 0);
    const bool several = !text.starts_with("stages");
    if (several && (text.consumeInteger(10, size) || size < 1 || !text.consume_front("/")))
      return 0;
    if (!text.consume_front("stages") ||
        (!text.empty() && (!text.consume_front("/") || text.getAsInteger(10, parts) || parts < 1)))
      return 0;
    auto main = llvm::dyn_cast_or_null<pd::ProgramOp>(
        mlir::SymbolTable::lookupSymbolIn(getOperation(), "main"));
    const int64_t devices = devicesOf(main), stages = devices / parts;
    if (stages < 2 || devices % parts)
      return main.emitError("op_device names ")
             << devices << " devices gpu:0, gpu:1 and so on, which make no stages of " << parts
             << ": annotate the program, or have stages chosen by cost (--stages N)";
    if (!several) return stages;
    if (size % stages)
      return main.emitError() << size << " trainers are no multiple of the " << stages
                              << " stages that op_device names: every pipeline has all stages";
    return size / stages;
  }

  // NAME:SIZE; what is wrong with a mesh of them the verifier of dist.mesh says.
  mlir::LogicalResult readAxes() {
    for (const std::string& entry : axes) {
      auto [name, text] = llvm::StringRef(entry).split(':');
      const mlir::FailureOr<int64_t> found = sizeOf(text);
      if (mlir::failed(found)) return mlir::failure();
      const int64_t size = *found;
      if (name.empty() || size < 1)
        return getOperation().emitError("form-job: axes: '") << entry << "' is no NAME:SIZE";
      names_.push_back(name.str());
      sizes_.push_back(size);
    }
    if (names_.empty()) return getOperation().emitError("form-job: give axes=NAME:SIZE,…");
    if (commAxes.empty())
      return getOperation().emitError("form-job: give comm-axes=NAME,…, some of the axes");
    return mlir::success();
  }

  // One communicator per purpose (attribute `carries`), and nccl_comm_num of those for gradients,
  // so that several buckets are under way at once. With hierarchical sums each of them has one for
  // the level within a group and one for that between groups.
  void makeMeshAndComms(mlir::OpBuilder& builder, mlir::Location loc) {
    std::vector<llvm::StringRef> all(names_.begin(), names_.end()),
        over(commAxes.begin(), commAxes.end());
    dist::MeshOp::create(builder, loc, builder.getStringAttr("world"), builder.getStrArrayAttr(all),
                         builder.getDenseI64ArrayAttr(sizes_), builder.getArrayAttr({}),
                         builder.getDenseI64ArrayAttr({}));
    if (over == std::vector<llvm::StringRef>{"none"}) return;
    auto comm = [&](const llvm::Twine& name, llvm::ArrayRef<llvm::StringRef> among,
                    llvm::StringRef carries) {
      dist::CommOp::create(builder, loc, builder.getStringAttr(name),
                           mlir::FlatSymbolRefAttr::get(builder.getContext(), "world"),
                           builder.getStrArrayAttr(among), dist::SelAttr(),
                           dist::CommKindAttr::get(builder.getContext(), dist::CommKind::Group),
                           mlir::FlatSymbolRefAttr(), builder.getStringAttr(carries));
    };
    if (!layerAxis.empty()) comm(layerAxis.getValue(), {layerAxis.getValue()}, kLayers);
    if (sync_batch_norm) comm("statistics", over, kStatistics);
    for (int64_t i = 0; i < nccl_comm_num; ++i) comm("grad" + llvm::Twine(i), over, kGradients);
    for (int64_t i = 0; use_hierarchical_allreduce && i < nccl_comm_num; ++i) {
      comm(over[1] + llvm::Twine(i), over[1], kWithin);
      comm(over[0] + llvm::Twine(i), over[0], kBetween);
    }
  }

  // Every copied op gets its number in the reference (`dist.src`), counted in pre-order as the
  // verifier counts it, and every variable the relation to itself.
  static void makeRole(mlir::OpBuilder& builder, mlir::ModuleOp source) {
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
  }

  std::vector<std::string> names_;  // of the axes
  llvm::SmallVector<int64_t> sizes_;
};

}  // namespace
}  // namespace dtranspile::passes
