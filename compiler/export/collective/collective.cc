#include "compiler/export/collective/collective.h"

#include "compiler/export/collective/rings.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

using Attributes = std::vector<mlir::NamedAttribute>;

class Exporter {
 public:
  Exporter(mlir::ModuleOp module, dist::MeshOp mesh, int64_t rank,
           llvm::ArrayRef<std::string> endpoints)
      : builder_(module.getContext()),
        mesh_(mesh),
        rank_(rank),
        endpoints_(endpoints),
        rings_(ringsIn(module, mesh)) {}

  // Communication stands in block 0, and in the blocks of control flow whose predicate is equal on
  // all ranks.
  mlir::LogicalResult run(pd::ProgramOp program, bool setUp) {
    if (setUp) makeRings(*program.getBodyBlock());
    llvm::SmallVector<mlir::Block*> blocks;
    program.walk([&](mlir::Block* block) {
      if (!llvm::isa<dist::DistDialect>(block->getParentOp()->getDialect()))
        blocks.push_back(block);
    });
    for (mlir::Block* block : blocks)
      if (mlir::failed(translate(*block))) return mlir::failure();
    return mlir::success();
  }

 private:
  mlir::IntegerAttr number(int64_t value) {
    return builder_.getI32IntegerAttr(static_cast<int32_t>(value));
  }
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }

  //===--- communicators ---===//

  void makeRings(mlir::Block& block) {
    builder_.setInsertionPointToEnd(&block);
    for (mlir::Operation& op : block)
      if (dist::commOf(&op)) {
        builder_.setInsertionPoint(&op);
        // A broadcast reads its variables right before it.
        while (builder_.getInsertionPoint() != block.begin() &&
               llvm::isa<pd::GetOp>(*std::prev(builder_.getInsertionPoint())))
          builder_.setInsertionPoint(&*std::prev(builder_.getInsertionPoint()));
        break;
      }
    for (const Ring& ring : rings_) makeRing(block, ring);
  }

  void makeRing(mlir::Block& block, const Ring& ring) {
    std::vector<int64_t> members = groupOf(ring.comm, mesh_, rank_);
    llvm::SmallVector<llvm::StringRef> all, others;
    int64_t position = 0;
    for (size_t i = 0; i < members.size(); ++i) {
      all.push_back(endpoints_[members[i]]);
      if (members[i] == rank_) position = static_cast<int64_t>(i);
      else others.push_back(all.back());
    }
    std::string name = declarations_.freshName(&block, "comm_id");
    mlir::Location loc = dist::CommOp(ring.comm).getLoc();
    pd::OpView id =
        declarations_.create(builder_, loc, "c_gen_nccl_id", {},
                             {{"Out", {{name, pd::RawType::get(builder_.getContext(), "RAW")}}}},
                             {named("rank", number(position)),
                              named("endpoint", builder_.getStringAttr(endpoints_[rank_])),
                              named("other_endpoints", builder_.getStrArrayAttr(others)),
                              named("ring_id", number(ring.id))},
                             pd::kForward);
    declarations_.create(builder_, loc, "c_comm_init", {{"X", {id.output("Out")}}}, {},
                         {named("nranks", number(static_cast<int64_t>(members.size()))),
                          named("rank", number(position)), named("ring_id", number(ring.id)),
                          named("endpoints", builder_.getStringAttr(llvm::join(all, ",")))},
                         pd::kForward);
  }

  //===--- operations ---===//

  struct Started {
    llvm::SmallVector<mlir::Value> results;  // empty: nothing moves
    mlir::Value buffer;
    int ring = 0, role = 0;
  };

  mlir::LogicalResult translate(mlir::Block& block) {
    for (mlir::Operation& op : llvm::make_early_inc_range(block)) {
      if (!llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) continue;
      builder_.setInsertionPoint(&op);
      if (mlir::failed(translate(&op))) return mlir::failure();
    }
    return mlir::success();
  }

  mlir::LogicalResult translate(mlir::Operation* op) {
    if (folded_.erase(op)) return drop(op);
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) return finish(wait);
    if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op)) return frameworkOp(composite);
    if (dist::commOf(op)) {
      ring_ = ringId(op);
      if (ring_ < 0) return identity(op);  // a group of one
    }
    if (auto reduce = llvm::dyn_cast<dist::AllReduceOp>(op)) return allReduce(reduce);
    if (auto scatter = llvm::dyn_cast<dist::ReduceScatterOp>(op)) return foldLevels(scatter);
    if (auto broadcast = llvm::dyn_cast<dist::BroadcastOp>(op)) return exportBroadcast(broadcast);
    if (auto reduce = llvm::dyn_cast<dist::ReduceOp>(op)) return exportReduce(reduce);
    return op->emitError("export: ")
           << op->getName() << " has no translation into operators of the framework";
  }

  int ringId(mlir::Operation* op) {
    for (const Ring& ring : rings_)
      if (mlir::FlatSymbolRefAttr::get(dist::CommOp(ring.comm).getSymNameAttr()) ==
          dist::commOf(op))
        return ring.id;
    return -1;
  }

  mlir::LogicalResult identity(mlir::Operation* op) {
    if (op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType())) {
      mlir::Operation* wait = *op->getResult(0).user_begin();
      wait->replaceAllUsesWith(op->getOperands());
      started_.insert({wait, {}});
    } else {
      op->replaceAllUsesWith(op->getOperands());
    }
    return drop(op);
  }

  // Erased at the end of its turn; a start's wait comes later in the block and is erased then.
  mlir::LogicalResult drop(mlir::Operation* op) {
    op->dropAllUses();
    op->erase();
    return mlir::success();
  }

  // The role of an inserted op: that of the op that made the value, without the Loss bit.
  static int roleOf(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    return op && pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() & ~pd::kLoss : pd::kForward;
  }

  // One value in, the same name out; but a variable keeps what it holds: what is made of it and
  // does not go back to it gets a name of its own.
  mlir::Value inPlace(mlir::Location loc, llvm::StringRef type, mlir::Value value,
                      const Attributes& attributes, int role, bool keeps = false) {
    std::string name = dist::nameOf(value).str();
    if (keeps && value.getDefiningOp<pd::GetOp>())
      name = declarations_.freshName(builder_.getInsertionBlock(), name + ".reduced");
    return declarations_
        .create(builder_, loc, type, {{"X", {value}}}, {{"Out", {{name, value.getType()}}}},
                attributes, role)
        .output("Out");
  }

  // Rank of the root in the ring: its coordinates on the comm's axes, the last one fastest. Nothing
  // after a message.
  std::optional<int64_t> rootOf(mlir::Operation* op, dist::CommOp comm, dist::SelAttr root) {
    if (comm.getSubset()) {
      op->emitError("export: operations with a root in a part of an axis have no translation yet");
      return std::nullopt;
    }
    int64_t rank = 0;
    for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
      rank = rank * *mesh_.sizeOf(axis) + root.lookup(axis).getBounds()[0];
    return rank;
  }

  // What a rank that does not hold the value gives to a broadcast: memory of the right size.
  mlir::Value allocated(mlir::Value value) {
    auto nothing = value.getDefiningOp<pd::UndefOp>();
    mlir::RankedTensorType tensor =
        nothing ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
    if (!tensor || !tensor.hasStaticShape()) return value;
    const int64_t dtype = static_cast<int64_t>(*pd::dtypeOf(tensor.getElementType()));
    return declarations_
        .create(builder_, value.getLoc(), "fill_constant", {},
                {{"Out", {{dist::nameOf(value).str(), value.getType()}}}},
                {named("shape", builder_.getDenseI64ArrayAttr(tensor.getShape())),
                 named("dtype", number(dtype)), named("value", builder_.getF32FloatAttr(0))},
                pd::kForward)
        .output("Out");
  }

  // One operation per value; on ranks that are not the root nobody reads the result.
  mlir::LogicalResult exportReduce(dist::ReduceOp op) {
    if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
      return op.emitError("export: started reductions to a rank have no translation yet");
    if (op.getReduce() == dist::Reduce::Or)
      return op.emitError("export: the framework has no boolean reduction");
    std::optional<int64_t> root = rootOf(op, dist::lookupComm(op, op.getCommAttr()), op.getRoot());
    if (!root) return mlir::failure();
    for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults()))
      result.replaceAllUsesWith(
          inPlace(op.getLoc(), ("c_reduce_" + dist::stringifyReduce(op.getReduce())).str(), value,
                  {named("ring_id", number(ring_)), named("root_id", number(*root)),
                   named("use_calc_stream", builder_.getBoolAttr(true))},
                  roleOf(value), /*keeps=*/true));
    return drop(op);
  }

  mlir::LogicalResult allReduce(dist::AllReduceOp op) {
    if (op.getReduce() == dist::Reduce::Or)
      return op.emitError("export: the framework has no boolean all-reduce");
    auto isRows = [](mlir::Type type) { return llvm::isa<pd::RowsType>(type); };
    if (llvm::any_of(op.getInputs().getTypes(), isRows)) return sumOfRows(op);
    bool waits = llvm::isa<dist::PendingType>(op->getResult(0).getType());
    Started sum = startSum(op, op.getReduce(), waits);
    if (waits) started_[*op->getResult(0).user_begin()] = sum;
    else op->replaceAllUsesWith(sum.results);
    return drop(op);
  }

  // The framework's c_allreduce_sum takes dense tensors. A sum of SelectedRows is all rows with all
  // values, and those are the ids and the gradient that the embedding's gradient op reads: these
  // are gathered over the ring, and the op makes the sum of them.
  mlir::LogicalResult sumOfRows(dist::AllReduceOp op) {
    for (mlir::Value value : op.getInputs())
      if (mlir::failed(gatherBehind(op, value))) return mlir::failure();
    return identity(op);
  }

  mlir::LogicalResult gatherBehind(mlir::Operation* sum, mlir::Value value) {
    mlir::Operation* maker = value.getDefiningOp();
    llvm::StringRef type =
        maker && pd::OpView::isFrameworkOp(maker) ? pd::OpView(maker).type() : "";
    const bool embedding = type == "lookup_table_grad" || type == "lookup_table_v2_grad";
    if (!value.hasOneUse() || !llvm::isa<pd::RowsType>(value.getType()) ||
        !(embedding || type == "sum"))
      return sum->emitError("export: the SelectedRows gradient '")
             << dist::nameOf(value)
             << "' is no sum of gradients of lookup_table alone; train this program natively, or "
                "with is_sparse = false";
    pd::OpView view(maker);
    if (!embedding) {
      for (mlir::Value term : view.inputs("X"))
        if (mlir::failed(gatherBehind(sum, term))) return mlir::failure();
      return mlir::success();
    }
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(maker);
    for (llvm::StringRef slot : {"Ids", "Out@GRAD"})
      view.setInput(slot, 0, gathered(maker->getLoc(), view.input(slot)));
    return mlir::success();
  }

  // Along dim 0, in rank order.
  mlir::Value gathered(mlir::Location loc, mlir::Value value) {
    const Ring& ring = *llvm::find_if(rings_, [&](const Ring& one) { return one.id == ring_; });
    const auto ranks = static_cast<int64_t>(groupOf(ring.comm, mesh_, rank_).size());
    mlir::RankedTensorType tensor = pd::tensorOf(value.getType());
    llvm::SmallVector<int64_t> dims(tensor.getShape());
    if (!dims.empty() && dims[0] != mlir::ShapedType::kDynamic) dims[0] *= ranks;
    std::string name = declarations_.freshName(builder_.getInsertionBlock(),
                                               (pd::nameOf(value) + ".gathered").str());
    return declarations_
        .create(builder_, loc, "c_allgather", {{"X", {value}}},
                {{"Out", {{name, mlir::RankedTensorType::get(dims, tensor.getElementType())}}}},
                {named("nranks", number(ranks)), named("ring_id", number(ring_)),
                 named("use_calc_stream", builder_.getBoolAttr(true))},
                pd::kBackward)
        .output("Out");
  }

  // The reduction of an op's operands on the current ring, in one buffer when there are several.
  Started startSum(mlir::Operation* op, dist::Reduce reduce, bool waits) {
    Started sum{llvm::SmallVector<mlir::Value>(op->getOperands()), {}, ring_, 0};
    sum.role = roleOf(sum.results.front());
    sum.buffer = sum.results.front();
    if (sum.results.size() > 1) sum.buffer = coalesce(op, sum.results, sum.role);
    if (waits) sum.buffer = inPlace(op->getLoc(), "c_sync_calc_stream", sum.buffer, {}, sum.role);
    sum.buffer = inPlace(
        op->getLoc(), ("c_allreduce_" + dist::stringifyReduce(reduce)).str(), sum.buffer,
        {named("ring_id", number(ring_)), named("use_calc_stream", builder_.getBoolAttr(!waits))},
        sum.role, /*keeps=*/true);
    if (sum.results.size() == 1) sum.results.front() = sum.buffer;
    return sum;
  }

  // The one op that takes all results of `op`; null where there are several.
  static mlir::Operation* onlyUser(mlir::Operation* op) {
    mlir::Operation* user = nullptr;
    for (mlir::Operation* each : op->getUsers()) {
      if (user && user != each) return nullptr;
      user = each;
    }
    return user;
  }

  // A sum in levels (started reduce_scatter, all_reduce, all_gather, with their waits) is written
  // as one sum over the ring of all its ranks: the framework has its own hierarchy below the
  // operator. It starts where the first level does and is waited for where the last one is.
  mlir::LogicalResult foldLevels(dist::ReduceScatterOp scatter) {
    llvm::SmallVector<mlir::Operation*> chain = {scatter};
    while (chain.size() < 6 && chain.back()) chain.push_back(onlyUser(chain.back()));
    auto reduce = llvm::dyn_cast_or_null<dist::AllReduceOp>(chain.size() > 2 ? chain[2] : nullptr);
    auto gather = llvm::dyn_cast_or_null<dist::AllGatherOp>(chain.size() > 4 ? chain[4] : nullptr);
    auto isWait = [&](size_t at) {
      return at < chain.size() && llvm::isa_and_nonnull<dist::WaitOp>(chain[at]);
    };
    bool whole = reduce && gather && isWait(1) && isWait(3) && isWait(5) &&
                 reduce.getReduce() == scatter.getReduce() &&
                 gather.getCommAttr() == scatter.getCommAttr() &&
                 llvm::equal(chain[5]->getResultTypes(), scatter.getInputs().getTypes());
    int ring = whole ? ringOver(scatter.getCommAttr(), reduce.getCommAttr()) : -1;
    if (ring < 0)
      return scatter.emitError(
          "export: a reduce_scatter that is no level of a sum over a ring has no translation into "
          "operators of the framework");
    ring_ = ring;
    started_[chain[5]] = startSum(scatter, scatter.getReduce(), /*waits=*/true);
    folded_.insert(chain.begin() + 1, chain.begin() + 5);
    return drop(scatter);
  }

  // The ring over the axes of both comms; of several, the one that stands where `within` stands
  // among those of its own axes.
  int ringOver(mlir::FlatSymbolRefAttr within, mlir::FlatSymbolRefAttr between) {
    llvm::SmallVector<mlir::Attribute> axes;
    size_t at = 0, seen = 0;
    mlir::ArrayAttr own;
    for (const Ring& ring : rings_) {
      dist::CommOp comm = ring.comm;
      if (comm.getSymName() == within.getValue()) own = comm.getAxes();
      if (comm.getSymName() == within.getValue() || comm.getSymName() == between.getValue())
        llvm::append_range(axes, comm.getAxes());
    }
    for (const Ring& ring : rings_) {
      dist::CommOp comm = ring.comm;
      if (comm.getSymName() == within.getValue()) break;
      at += comm.getAxes() == own;
    }
    int found = -1;
    for (const Ring& ring : rings_) {
      dist::CommOp comm = ring.comm;
      bool covers =
          comm.getAxes().size() == axes.size() && llvm::all_of(axes, [&](mlir::Attribute axis) {
            return llvm::is_contained(comm.getAxes(), axis);
          });
      if (covers && (found < 0 || seen <= at)) found = ring.id;
      seen += covers;
    }
    return found;
  }

  // Copies the values into one buffer that they are parts of from then on.
  mlir::Value coalesce(mlir::Operation* op, llvm::SmallVectorImpl<mlir::Value>& values, int role) {
    std::vector<std::pair<std::string, mlir::Type>> parts;
    for (mlir::Value value : values) {
      std::string name = dist::nameOf(value).str();
      if (value.getDefiningOp<pd::GetOp>())
        name = declarations_.freshName(op->getBlock(), name + ".reduced");
      parts.push_back({name, value.getType()});
    }
    mlir::Type element = pd::tensorOf(values.front().getType()).getElementType();
    auto flat = mlir::RankedTensorType::get({mlir::ShapedType::kDynamic}, element);
    std::string name =
        declarations_.freshName(op->getBlock(), "FusedOutput_" + parts.front().first);
    pd::OpView fused =
        declarations_.create(builder_, op->getLoc(), "coalesce_tensor",
                             {{"Input", std::vector<mlir::Value>(values.begin(), values.end())}},
                             {{"Output", parts}, {"FusedOutput", {{name, flat}}}},
                             {named("copy_data", builder_.getBoolAttr(true)),
                              named("use_align", builder_.getBoolAttr(true)),
                              named("dtype", number(static_cast<int64_t>(*pd::dtypeOf(element))))},
                             role);
    for (size_t i = 0; i < values.size(); ++i) values[i] = fused.output("Output", i);
    return fused.output("FusedOutput");
  }

  mlir::LogicalResult finish(dist::WaitOp wait) {
    auto found = started_.find(wait);
    if (found == started_.end())
      return wait.emitError("export: waits for nothing that was started");
    if (!found->second.results.empty()) {
      Started& started = found->second;
      mlir::Value done =
          declarations_
              .create(builder_, wait.getLoc(), "c_sync_comm_stream", {{"X", {started.buffer}}},
                      {{"Out", {{dist::nameOf(started.buffer).str(), started.buffer.getType()}}}},
                      {named("ring_id", number(started.ring))}, started.role)
              .output("Out");
      if (started.results.size() == 1) started.results.front() = done;
      wait->replaceAllUsesWith(started.results);
    }
    started_.erase(found);
    return drop(wait);
  }

  mlir::LogicalResult exportBroadcast(dist::BroadcastOp op) {
    if (llvm::isa<dist::PendingType>(op->getResult(0).getType()))
      return op.emitError("export: started broadcasts have no translation yet");
    std::optional<int64_t> root = rootOf(op, dist::lookupComm(op, op.getCommAttr()), op.getRoot());
    if (!root) return mlir::failure();
    mlir::Value last;
    for (auto [value, result] : llvm::zip(op.getInputs(), op.getResults())) {
      last = inPlace(op.getLoc(), "c_broadcast", allocated(value),
                     {named("ring_id", number(ring_)), named("root", number(*root)),
                      named("use_calc_stream", builder_.getBoolAttr(false))},
                     pd::kForward);
      result.replaceAllUsesWith(last);
    }
    declarations_.create(builder_, op.getLoc(), "c_sync_comm_stream", {{"X", {last}}},
                         {{"Out", {{dist::nameOf(last).str(), last.getType()}}}},
                         {named("ring_id", number(ring_))}, pd::kForward);
    return drop(op);
  }

  mlir::LogicalResult frameworkOp(dist::CompositeOp op) {
    std::vector<std::string> inputNames, outputNames;
    std::vector<pd::InputSlot> inputs;
    std::vector<pd::OutputSlot> outputs;
    for (auto [slot, value] :
         llvm::zip(op.getInputSlots().getAsValueRange<mlir::StringAttr>(), op.getInputs())) {
      if (inputs.empty() || inputs.back().name != slot) inputs.push_back({slot, {}});
      inputs.back().values.push_back(value);
    }
    for (auto [slot, name, type] :
         llvm::zip(op.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                   op.getOutputNames().getAsValueRange<mlir::StringAttr>(), op.getResultTypes())) {
      if (outputs.empty() || outputs.back().name != slot) outputs.push_back({slot, {}});
      outputs.back().results.push_back({name.str(), type});
    }
    auto role = op.getAttrs().getAs<mlir::IntegerAttr>("op_role");
    pd::OpView made = declarations_.create(builder_, op.getLoc(), op.getOp(), inputs, outputs,
                                           op.getAttrs().getValue(),
                                           role ? static_cast<int>(role.getInt()) : pd::kForward);
    op->replaceAllUsesWith(made.operation()->getResults());
    return drop(op);
  }

  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  dist::MeshOp mesh_;
  int64_t rank_;
  llvm::ArrayRef<std::string> endpoints_;
  std::vector<Ring> rings_;
  llvm::DenseMap<mlir::Operation*, Started> started_;  // by the wait
  llvm::DenseSet<mlir::Operation*> folded_;  // levels of sums that have been written already
  int ring_ = 0;
};

}  // namespace

mlir::LogicalResult exportCollective(mlir::ModuleOp module, int64_t rank,
                                     llvm::ArrayRef<std::string> endpoints) {
  auto meshes = module.getOps<dist::MeshOp>();
  if (meshes.empty())
    return module.emitError("export: the module has no mesh; specialise a job first");
  dist::MeshOp mesh = *meshes.begin();
  if (rank < 0 || rank >= mesh.ranks())
    return module.emitError("export: there is no rank ") << rank << " of " << mesh.ranks();
  if (static_cast<int64_t>(endpoints.size()) != mesh.ranks())
    return module.emitError("export: ")
           << mesh.ranks() << " ranks need as many endpoints, not " << endpoints.size();
  for (auto program : module.getOps<pd::ProgramOp>())
    if (mlir::failed(Exporter(module, mesh, rank, endpoints)
                         .run(program, program.getSymName() == "startup")))
      return mlir::failure();
  return mlir::verify(module);
}

}  // namespace dtranspile
