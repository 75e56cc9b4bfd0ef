// Selectors, layouts and communicators of dialect dist in the words of plans.
#include <map>

#include "compiler/lower/dist_lowering.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/types.h"

namespace dtranspile::lower {

exec::Selector selectorOf(dist::SelAttr where) {
  exec::Selector selector;
  if (!where) return selector;
  for (dist::AxisSetAttr set : where.getSets())
    selector.sets[set.getAxis().getValue().str()] = set.getBounds().vec();
  return selector;
}

int64_t coordinatesOf(dist::MeshOp mesh, llvm::ArrayRef<std::string> axes) {
  int64_t count = 1;
  for (const std::string& axis : axes) count *= mesh.sizeOf(axis).value_or(1);
  return count;
}

exec::Layout layoutOf(dist::LayoutAttr layout, int64_t dim, llvm::ArrayRef<std::string> axes,
                      llvm::ArrayRef<int64_t> whole) {
  static constexpr exec::LayoutKind kKinds[] = {exec::LayoutKind::kEven, exec::LayoutKind::kBlocks,
                                                exec::LayoutKind::kHashed,
                                                exec::LayoutKind::kCyclic};
  return {kKinds[static_cast<int>(layout.getKind())],
          {axes.begin(), axes.end()},
          static_cast<int>(dim),
          layout.getExtent(),
          layout.getPer(),
          layout.getFirst(),
          "",
          {whole.begin(), whole.end()},
          {},
          {},
          1};
}

namespace {

// How one dim of a variable is cut.
struct AxesOfDim {
  std::vector<std::string> axes;
  dist::LayoutAttr layout;
};
using Cuts = std::map<int64_t, AxesOfDim>;  // by dim, the flattened tensor first

// The extents of a variable that is cut flat: a program declares them, since the part does not say.
// Of what the cuts of dims leave, `extent` elements are cut flat. Its number of elements where none
// does.
std::vector<int64_t> declaredExtents(pd::VarOp variable, int64_t extent, const Cuts& cuts,
                                     dist::MeshOp mesh) {
  for (auto program : variable->getParentRegion()->getOps<pd::ProgramOp>()) {
    pd::DeclOp declared = program.lookupDecl(variable.getSymName());
    if (!declared || !declared.getDims()) continue;
    const llvm::ArrayRef<int64_t> dims = *declared.getDims();
    int64_t elements = 1;
    llvm::SmallVector<int64_t> left(dims);
    for (const auto& [dim, cut] : cuts)
      if (dim >= 0 && dim < static_cast<int64_t>(left.size()))
        left[dim] = llvm::divideCeil(left[dim], coordinatesOf(mesh, cut.axes));
    const bool fits = llvm::all_of(left, [&](int64_t each) {
      return each > 0 && !llvm::MulOverflow(elements, each, elements);
    });
    if (fits && elements == extent) return dims.vec();
  }
  return {extent};
}

// The extents of a variable of which `local` is the type of a part.
std::vector<int64_t> wholeOf(mlir::RankedTensorType local, int64_t dim, int64_t extent) {
  std::vector<int64_t> whole(local.getShape().begin(), local.getShape().end());
  whole[static_cast<size_t>(dim)] = extent;
  return whole;
}

// Extent of dim `dim` before it was cut evenly into `of` parts, where no layout says it.
std::optional<int64_t> extentOf(mlir::RankedTensorType local, int64_t dim, int64_t of) {
  const int64_t part = dim == dist::kFlat ? local.getNumElements() : local.getDimSize(dim);
  int64_t whole = 0;
  if (part < 0 || llvm::MulOverflow(part, of, whole)) return std::nullopt;
  return whole;
}

// What cuts of dims leave is cut flat as well: the last axes, which are the fastest.
llvm::FailureOr<exec::Layout> layoutOfParts(pd::VarOp variable, dist::MeshOp mesh, Cuts& cuts) {
  const AxesOfDim flat = cuts.at(dist::kFlat);
  const std::vector<int64_t> whole = declaredExtents(variable, flat.layout.getExtent(), cuts, mesh);
  cuts.erase(dist::kFlat);
  if (cuts.rbegin()->first >= static_cast<int64_t>(whole.size())) return llvm::failure();
  const auto& [dim, first] = *cuts.begin();
  exec::Layout layout =
      layoutOf(dist::LayoutAttr::even(variable.getContext(), whole[static_cast<size_t>(dim)]), dim,
               first.axes, whole);
  for (const auto& [other, cut] : llvm::drop_begin(cuts)) {
    layout.axes.insert(layout.axes.end(), cut.axes.begin(), cut.axes.end());
    layout.also.push_back(static_cast<int>(other));
    layout.also_parts.push_back(coordinatesOf(mesh, cut.axes));
  }
  layout.axes.insert(layout.axes.end(), flat.axes.begin(), flat.axes.end());
  layout.flat_parts = coordinatesOf(mesh, flat.axes);
  return layout;
}

}  // namespace

// Axes that cut one dim evenly compose, in the order of the mesh, and so do dims that are cut
// evenly, each by axes of its own, and flat cuts of what these leave. Other layouts beside a second
// axis have no place in plans.
llvm::FailureOr<std::optional<exec::Layout>> layoutOf(mlir::Operation* op, pd::VarOp variable,
                                                      dist::MeshOp mesh) {
  auto relation = variable->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  mlir::RankedTensorType local = pd::tensorOf(variable.getType());
  std::optional<exec::Layout> layout;
  if (!relation || !local || !mesh) return layout;
  auto refuse = [&](const llvm::Twine& why) {
    return op->emitError()
           << "variable @" << variable.getSymName() << " is cut " << why
           << ": not supported natively; cut it along dim 0 only, or evenly along each dim "
              "by axes of its own";
  };
  Cuts cuts;
  for (mlir::StringAttr axis : mesh.getAxes().getAsRange<mlir::StringAttr>()) {
    dist::AxisRelAttr state = relation.lookup(axis);
    if (!state || state.getState() != dist::StateKind::Split) continue;
    auto [cut, fresh] = cuts.try_emplace(state.getDim());
    if (!fresh && state.getLayout() != cut->second.layout)
      return refuse("by several layouts"), llvm::failure();
    cut->second.axes.push_back(axis.getValue().str());
    cut->second.layout = state.getLayout();
  }
  if (cuts.empty()) return layout;
  for (auto& [dim, cut] : cuts) {
    const bool even = !cut.layout || cut.layout.getKind() == dist::LayoutKind::Even;
    if (cuts.size() > 1 && !even)
      return refuse("along several dims, and not evenly along each of them"), llvm::failure();
    if (cut.layout || cuts.begin()->first == dist::kFlat) continue;
    std::optional<int64_t> extent = extentOf(local, dim, coordinatesOf(mesh, cut.axes));
    if (!extent) return refuse("evenly, and has no extent in " + llvm::Twine(dim)), llvm::failure();
    cut.layout = dist::LayoutAttr::even(op->getContext(), *extent);
  }
  if (cuts.size() > 1 && cuts.begin()->first == dist::kFlat) {
    llvm::FailureOr<exec::Layout> parts = layoutOfParts(variable, mesh, cuts);
    if (llvm::failed(parts))
      return refuse("flat beside a dim, and no program declares its extents"), llvm::failure();
    return std::optional(std::move(*parts));
  }
  const auto& [dim, first] = *cuts.begin();
  const int64_t extent = first.layout.getExtent();
  layout = layoutOf(first.layout, dim, first.axes,
                    dim == dist::kFlat ? declaredExtents(variable, extent, cuts, mesh)
                                       : wholeOf(local, dim, extent));
  for (const auto& [other, cut] : llvm::drop_begin(cuts)) {
    layout->axes.insert(layout->axes.end(), cut.axes.begin(), cut.axes.end());
    layout->whole[static_cast<size_t>(other)] = cut.layout.getExtent();
    layout->also.push_back(static_cast<int>(other));
    layout->also_parts.push_back(coordinatesOf(mesh, cut.axes));
  }
  if (layout->kind == exec::LayoutKind::kHashed) layout->name = variable.getSymName().str();
  if (layout->kind != exec::LayoutKind::kEven && dim > 0)
    return refuse("into unequal parts of dim " + llvm::Twine(dim) +
                  "; only those of dim 0 lie in one piece"),
           llvm::failure();
  return layout;
}

llvm::FailureOr<CommOfPlan> commOfPlan(Lowering& lowering, mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  dist::MeshOp mesh = comm ? dist::meshOfComm(comm) : dist::MeshOp();
  const std::vector<Comm>& comms = lowering.plan().comms;
  for (size_t i = 0; mesh && i < comms.size(); ++i)
    if (comms[i].name == comm.getSymName()) return CommOfPlan{comm, mesh, static_cast<int>(i)};
  op->emitError() << lowering.position() << ": its communicator is not in this program";
  return llvm::failure();
}

// The attribute that says how gradients wait on an rpc communicator (D38); none: as they do anyway.
static std::optional<exec::Sending> sendingOf(dist::CommOp comm) {
  auto entries = comm->getAttrOfType<mlir::DictionaryAttr>(dist::kSendingAttr);
  if (!entries) return std::nullopt;
  exec::Sending sending;
  const auto number = [&](llvm::StringRef name, auto& field) {
    if (auto entry = entries.getAs<mlir::IntegerAttr>(name))
      field = static_cast<std::remove_reference_t<decltype(field)>>(entry.getInt());
  };
  number("max_merge_var_num", sending.max_merge_var_num);
  number("send_queue_size", sending.send_queue_size);
  number("send_wait_times", sending.send_wait_times);
  number("thread_pool_size", sending.thread_pool_size);
  number("min_send_grad_num_before_recv", sending.min_send_grad_num_before_recv);
  sending.independent_recv_thread = entries.contains("independent_recv_thread") ? 1 : 0;
  sending.average = entries.contains("average") ? 1 : 0;
  return sending;
}

// The plan's communicators in the order of their declarations; ops refer to them by number. With
// servers they also say how gradients wait before they are sent, and in geo mode which variable
// counts steps between exchanges.
void addCommunicators(mlir::Operation* table, Plan& plan) {
  static constexpr exec::CommKind kKinds[] = {exec::CommKind::kGroup, exec::CommKind::kPairs,
                                              exec::CommKind::kRpc};
  for (auto comm : table->getRegion(0).getOps<dist::CommOp>()) {
    Comm entry{comm.getSymName().str(), {}, kKinds[static_cast<int>(comm.getKind())]};
    for (auto axis : comm.getAxes().getAsRange<mlir::StringAttr>())
      entry.axes.push_back(axis.getValue().str());
    entry.subset = selectorOf(comm.getSubset().value_or(dist::SelAttr()));
    entry.server = comm.getServer().value_or("").str();
    entry.sending = sendingOf(comm);
    auto counter = comm->getAttrOfType<mlir::StringAttr>(dist::kExchangeCounter);
    auto every = comm->getAttrOfType<mlir::IntegerAttr>(dist::kExchangeSteps);
    if (counter && every) entry.exchange = exec::Exchange{counter.getValue().str(), every.getInt()};
    plan.comms.push_back(std::move(entry));
  }
}

}  // namespace dtranspile::lower
