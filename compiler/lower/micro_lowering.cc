// dist.micro of a stage: a node `micro` with a body per task and chunk, in the order of the stage's
// row of the schedule. The text of the class has one dist.on per task (docs/dialects/dist.md).
//
//   sums      one buffer each, set before the node; the task that makes the term adds it
//   values    what tasks hand on to each other: an instance for each micro-batch that is under way
//             at once. So has what is sent, since a send goes on after its task, and what is
//             received, since a receive may begin before it
//   feeds     read whole; a task takes its part with a `slice` over the time axis
#include <set>

#include "compiler/lower/arena.h"
#include "compiler/lower/dist_lowering.h"
#include "compiler/schedule/schedule.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::lower {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

// Above this a table is not expanded.
constexpr int64_t kMostEntries = int64_t{1} << 24;

// "F", or "F.1" for the second chunk of an interleaved stage.
std::string nameOf(dist::OnOp task) {
  std::string name = dist::stringifyTask(*task.getTask()).str();
  if (int64_t chunk = static_cast<int64_t>(task.getChunk().value_or(0)))
    name += "." + std::to_string(chunk);
  return name;
}

// The loop over micro-batches of one pipeline stage. The schedule is expanded at compile time: the
// runtime walks a list.
class MicroLowering {
 public:
  MicroLowering(Lowering& lowering, dist::MicroOp micro)
      : lowering_(lowering), micro_(micro), mesh_(dist::meshOf(micro)) {
    for (auto on : micro.getBody().front().getOps<dist::OnOp>())
      if (on.getTask()) tasks_.push_back(on);
  }

  // Tasks are lowered in the order of the text; the node's table says in which order a stage runs
  // them. Buffers that are made meanwhile belong to the loop (`firstOwn_`): those that live from
  // one task to another get an instance per micro-batch in flight (giveInstances).
  LogicalResult run() {
    if (failed(findOrder()) || failed(startSums())) return failure();
    firstOwn_ = lowering_.plan().buffers.size();
    for (dist::OnOp task : tasks_)
      if (failed(lower(task))) return failure();
    addSums();
    if (failed(giveInstances())) return failure();
    Node node;
    node.what = std::move(node_);
    lowering_.addControl(std::move(node));
    for (auto [result, sum] : llvm::zip(micro_.getResults(), sums_))
      lowering_.bind(result, sum,
                     lowering_.info(micro_.getBody().getArgument(result.getResultNumber())));
    return success();
  }

 private:
  LogicalResult refuse(mlir::Operation* at, const llvm::Twine& why) {
    return at->emitError() << "dist.micro: " << why;
  }

  // The coordinate of this class on the axis of the pipeline: that of its tasks.
  std::optional<int64_t> stageOf(llvm::StringRef axis) {
    dist::AxisSetAttr own = dist::ranksOf(micro_).lookup(axis);
    return own && own.isPoint() ? std::optional(own.getBounds()[0]) : std::nullopt;
  }

  // The row of the schedule that belongs to this class's coordinate on the axis of the pipeline.
  LogicalResult findOrder() {
    if (micro_.getAxes().size() != 1)
      return refuse(micro_,
                    "micro-batches over several time axes are not supported natively: cut the "
                    "batch over one axis of as many");
    if (tasks_.empty()) return refuse(micro_, "has no task here");
    node_.axis = llvm::cast<mlir::StringAttr>(micro_.getAxes()[0]).getValue().str();
    node_.micros = mesh_.sizeOf(node_.axis).value_or(1);
    llvm::StringRef pipeline = tasks_[0].getWhere().getSets()[0].getAxis().getValue();
    std::optional<int64_t> stage = stageOf(pipeline);
    if (!stage)
      return refuse(tasks_[0],
                    "a task of several stages is not supported natively: give each "
                    "coordinate of axis '" +
                        pipeline + "' a task of its own");
    const schedule::Shape shape{mesh_.sizeOf(pipeline).value_or(1),
                                static_cast<int64_t>(micro_.getChunks()), node_.micros};
    if (shape.entries() > kMostEntries)
      return refuse(micro_, "its table has more than " + llvm::Twine(kMostEntries) + " entries");
    std::string why;
    std::optional<schedule::Table> table = schedule::expand(micro_.getSchedule(), shape, why);
    if (!table) return refuse(micro_, why);
    return takeRow((*table)[static_cast<size_t>(*stage)]);
  }

  // Entries of tasks that this stage does not have are not run.
  LogicalResult takeRow(const std::vector<schedule::Entry>& row) {
    std::vector<bool> run(tasks_.size());
    for (const schedule::Entry& entry : row)
      for (size_t i = 0; i < tasks_.size(); ++i) {
        const auto chunk = static_cast<int64_t>(tasks_[i].getChunk().value_or(0));
        if (static_cast<int>(*tasks_[i].getTask()) != static_cast<int>(entry.task) ||
            chunk != entry.chunk)
          continue;
        node_.order.push_back({static_cast<int64_t>(i), entry.micro});
        run[i] = true;
      }
    for (size_t i = 0; i < tasks_.size(); ++i)
      if (!run[i])
        return refuse(tasks_[i], "the schedule \"" + micro_.getSchedule() + "\" never runs task " +
                                     nameOf(tasks_[i]));
    node_.instances = schedule::instancesOf(row, node_.micros);
    return success();
  }

  // Sums begin as the values that the loop takes in.
  LogicalResult startSums() {
    for (auto [argument, init] : llvm::zip(micro_.getBody().getArguments(), micro_.getInits())) {
      const pd::TensorInfo info = lowering_.info(init);
      if (isRunTimeValue(info))
        return refuse(micro_, "sum '" + dist::nameOf(init) +
                                  "' is SelectedRows, a list, or has extents that depend on data: "
                                  "not supported natively; sum dense values of known extents");
      sums_.push_back(lowering_.newBuffer(dist::nameOf(init), info));
      lowering_.copy(lowering_.bufferOf(init), sums_.back());
      lowering_.bind(argument, sums_.back(), info);
    }
    return success();
  }

  LogicalResult lower(dist::OnOp task) {
    MicroNode::Task& of = node_.tasks.emplace_back(MicroNode::Task{nameOf(task), {}});
    const Lowering::Into into(lowering_, of.body);
    mlir::Block& block = task.getBody().front();
    if (failed(lowering_.lowerTask(block))) return failure();
    for (auto [result, value] : llvm::zip(task.getResults(), block.getTerminator()->getOperands()))
      if (lowering_.needed(result)) lowering_.bind(result, value);
    return success();
  }

  // The task that makes the new value of a sum puts it into the place of the old one.
  void addSums() {
    std::map<mlir::Operation*, std::vector<std::pair<int, int>>> moves;
    for (auto [value, sum] :
         llvm::zip(micro_.getBody().front().getTerminator()->getOperands(), sums_))
      if (mlir::Operation* task = value.getDefiningOp())
        moves[task].emplace_back(lowering_.bufferOf(value), sum);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const Lowering::Into into(lowering_, node_.tasks[i].body);
      lowering_.copyAll(moves[tasks_[i]]);
    }
  }

  // Whether each micro-batch has memory of its own for what a task has made.
  bool isOwn(int storage) {
    const Buffer& buffer = lowering_.buffer(storage);
    const bool feed = llvm::any_of(lowering_.result().feeds,
                                   [&](const Feed& one) { return one.buffer == storage; });
    return static_cast<size_t>(storage) >= firstOwn_ && !feed &&
           (buffer.space == Space::Arena || buffer.space == Space::Value);
  }

  // Memory that more than one task of a micro-batch uses, that a send reads after its task, or that
  // a receive may write before it, exists once per micro-batch under way; everything else once.
  LogicalResult giveInstances() {
    std::map<int, std::set<size_t>> users;  // storage -> tasks
    std::set<int> moved;
    for (size_t i = 0; i < node_.tasks.size(); ++i)
      for (const Node& node : node_.tasks[i].body) {
        const auto* start = node.as<StartNode>();
        const bool travels = start && (start->collective == comm::Kind::kSend ||
                                       start->collective == comm::Kind::kRecv);
        for (int buffer : node.args) {
          const int storage = lowering_.plan().storageOf(buffer);
          users[storage].insert(i);
          if (travels) moved.insert(storage);
        }
      }
    for (int sum : sums_)
      if (moved.count(lowering_.plan().storageOf(sum)))
        return refuse(micro_, "sum '" + llvm::Twine(lowering_.buffer(sum).name) +
                                  "' is sent while it goes on: send the term");
    for (const auto& [storage, tasks] : users) {
      if (!isOwn(storage) || (tasks.size() < 2 && !moved.count(storage))) continue;
      Buffer& buffer = lowering_.buffer(storage);
      if (buffer.space != Space::Value) {
        buffer.stride = (std::max<int64_t>(buffer.bytes(), 1) + kBufferAlignment - 1) /
                        kBufferAlignment * kBufferAlignment;
        buffer.instances = node_.instances;
      } else if (node_.instances > 1) {
        return refuse(tasks_[*tasks.rbegin()],
                      "'" + llvm::Twine(buffer.name) +
                          "' is SelectedRows, a list, or has extents that depend on data, and goes "
                          "from one task to another while several micro-batches are under way: not "
                          "supported natively; keep it in one task, or give it extents that are "
                          "known (a pad)");
      }
    }
    return success();
  }

  Lowering& lowering_;
  dist::MicroOp micro_;
  dist::MeshOp mesh_;
  std::vector<dist::OnOp> tasks_;  // in the order of node_.tasks
  MicroNode node_;
  std::vector<int> sums_;  // buffers, by iteration value
  size_t firstOwn_ = 0;    // buffers from this one on were made by the tasks
};

}  // namespace

LogicalResult lowerMicro(Lowering& lowering, mlir::Operation* op) {
  return MicroLowering(lowering, llvm::cast<dist::MicroOp>(op)).run();
}

namespace {

// The time axes over which a feed is cut.
std::vector<std::string> timeAxesOf(pd::InputOp input, dist::MeshOp mesh) {
  auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  std::vector<std::string> axes;
  for (mlir::StringAttr axis : batch ? batch.getAxes() : llvm::ArrayRef<mlir::StringAttr>())
    if (mesh && !mesh.indexOf(axis.getValue())) axes.push_back(axis.getValue().str());
  return axes;
}

size_t batchDimOf(pd::InputOp input) {
  return static_cast<size_t>(input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr).getDim());
}

}  // namespace

// Inside of the loop a feed's type is that of a micro-batch; what the step reads is all of them.
void joinMicroBatches(pd::InputOp input, pd::TensorInfo& info) {
  dist::MeshOp mesh = dist::meshOf(input);
  const std::vector<std::string> axes = timeAxesOf(input, mesh);
  if (axes.empty() || batchDimOf(input) >= info.dims.size()) return;
  int64_t& extent = info.dims[batchDimOf(input)];
  if (extent > 0) extent *= coordinatesOf(mesh, axes);
}

// Each micro-batch slices its part out of the feed of the step.
LogicalResult cutFeed(Lowering& lowering, pd::InputOp input, int feed, pd::TensorInfo info) {
  dist::MeshOp mesh = dist::meshOf(input);
  std::vector<std::string> axes = timeAxesOf(input, mesh);
  if (axes.empty()) return lowering.bind(input.getValue(), feed, std::move(info)), success();
  const std::string name = input.getName().str();
  if (!input->getParentOfType<dist::MicroOp>())
    return input.emitError() << "feed " << name << " is cut over time axis '" << axes[0]
                             << "' outside of dist.micro";
  if (isRunTimeValue(info))
    return input.emitError()
           << "feed " << name
           << " is ragged: cutting it into micro-batches is not supported natively; pad it into a "
              "dense feed";
  const size_t dim = batchDimOf(input);
  const int64_t extent = info.dims[dim], micros = coordinatesOf(mesh, axes);
  if (extent % micros != 0)
    return input.emitError() << "feed " << name << " has a local batch of " << extent << ", which "
                             << micros << " micro-batches do not divide; use a multiple of "
                             << micros;
  exec::Layout layout{.axes = std::move(axes),
                      .dim = static_cast<int>(dim),
                      .extent = extent,
                      .whole = {info.dims.begin(), info.dims.end()}};
  info.dims[dim] = extent / micros;
  const int part = lowering.newBuffer(name, info);
  lowering.add({.op = lowering.position(),
                .args = {feed, part},
                .writes = {false, true},
                .reads = {true, false},
                .what = SliceNode{std::move(layout)}});
  return lowering.bind(input.getValue(), part, std::move(info)), success();
}

}  // namespace dtranspile::lower
