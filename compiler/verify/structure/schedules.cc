#include "compiler/verify/structure/schedules.h"

#include <map>

#include "compiler/analysis/position.h"
#include "compiler/analysis/tasks.h"
#include "compiler/schedule/schedule.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

using schedule::Entry;
using schedule::Task;

// Above this a table is not expanded.
constexpr size_t kMostEntries = 1 << 24;

struct Node : PipelineTask {
  bool scheduled = false;
  size_t first = 0;  // of its entries in `done_`: per coordinate, per micro-batch
};

// How many coordinates of a set lie below one.
int64_t rankIn(dist::AxisSetAttr set, int64_t coordinate) {
  int64_t below = 0;
  for (size_t i = 0; i < set.getBounds().size(); i += 2)
    below += std::clamp<int64_t>(coordinate - set.getBounds()[i], 0,
                                 set.getBounds()[i + 1] - set.getBounds()[i]);
  return below;
}

// D15 by running the table without computing. Tasks of the body are nodes, with an edge from each
// task to those whose values it takes; an entry of a stage's row runs the nodes of its task and
// chunk for one micro-batch. All stages advance as far as what their next entry takes is there.
// Nothing is ever taken back and entries only wait for others, so that one such run decides: rows
// that are left over wait for ever in every order of execution, and the first entry of each is what
// the report names.
class MicroCheck {
 public:
  MicroCheck(dist::MicroOp micro, Rung& rung) : micro_(micro), rung_(rung) {}

  // Executes the pipeline's schedule over one step, stage by stage and micro-batch by micro-batch,
  // without running anything: a task may run as soon as what it takes has been made. That finds
  // both schedules that cannot be carried out and regions whose task or chunk is wrong. The size of
  // the expanded table is bounded first.
  void run() {
    if (!collect() || nodes_.empty() || !everyStageWorks()) return;
    schedule::Shape shape{stages_, static_cast<int64_t>(micro_.getChunks()), micros_};
    if (shape.entries() > static_cast<int64_t>(kMostEntries))
      return open("its table is too large to be expanded", "check a job of fewer micro-batches");
    std::string why;
    std::optional<schedule::Table> table = schedule::expand(micro_.getSchedule(), shape, why);
    if (!table)
      return refute(micro_, why,
                    "name a schedule that can be expanded, with a fitting number of chunks and "
                    "micro-batches");
    table_ = std::move(*table);
    if (!everythingScheduled() || !statesInOrder()) return;
    size_t runs = 0;
    for (Node& node : nodes_) {
      node.first = runs;
      runs += node.stages.count() * micros_;
      if (runs > kMostEntries)
        return open("its table is too large to be expanded", "check a job of fewer micro-batches");
    }
    done_.assign(runs, false);
    simulate();
  }

 private:
  void open(std::string text, std::string remedy) {
    rung_.add(
        messageAt(micro_, Message::Level::Unknown, "D15", std::move(text), std::move(remedy)));
  }
  void refute(mlir::Operation* at, std::string text, std::string remedy,
              std::vector<std::string> notes = {}) {
    Message message =
        messageAt(at, Message::Level::Refuted, "D15", std::move(text), std::move(remedy));
    message.notes = std::move(notes);
    rung_.add(std::move(message));
  }

  // False where tasks do not lie on one axis.
  bool collect() {
    dist::MeshOp mesh = dist::meshOf(micro_);
    if (!mesh) return false;
    TaskGraph graph = dtranspile::tasksOf(micro_, mesh);
    axis_ = graph.axis;
    stages_ = graph.stages;
    micros_ = std::min<int64_t>(microBatchesOf(micro_, mesh), kMostEntries);
    for (PipelineTask& task : graph.tasks) nodes_.push_back({std::move(task)});
    if (graph.astray)
      refute(graph.astray,
             "is a task that does not name the axis " + axis_.str() + " of the other tasks",
             "guard every task by its stage");
    return !graph.astray;
  }

  // A stage that does nothing for a micro-batch has no text (compiler/specialize/tasks.cc). Those
  // that a guard around the loop leaves out never come here.
  bool everyStageWorks() {
    const dist::Guard guard = dist::guardOf(micro_);
    const dist::AxisSetAttr coming = guard.where ? guard.where.lookup(axis_) : dist::AxisSetAttr();
    const bool partly =
        llvm::any_of(guard.partly, [&](mlir::StringAttr axis) { return axis.getValue() == axis_; });
    for (int64_t stage = 0; !partly && stage < stages_; ++stage) {
      const auto runsOn = [&](const Node& node) { return node.stages.contains(stage); };
      if ((coming && !coming.contains(stage)) || llvm::any_of(nodes_, runsOn)) continue;
      refute(micro_, axis_.str() + " = " + std::to_string(stage) + " has no task in it",
             "give every stage a task, or leave its coordinate out of the mesh");
      return false;
    }
    return true;
  }

  // The tasks that an entry of a stage runs.
  std::vector<int>& tasksOf(int64_t stage, const Entry& entry) {
    return index_[{stage, static_cast<int>(entry.task), entry.chunk}];
  }

  // Every region of the loop must be run by some entry of the table; one that never runs would
  // silently compute nothing.
  bool everythingScheduled() {
    for (auto [i, node] : llvm::enumerate(nodes_))
      for (int64_t stage = 0; stage < stages_; ++stage)
        if (node.stages.contains(stage))
          index_[{stage, static_cast<int>(*node.on.getTask()), node.chunk()}].push_back(
              static_cast<int>(i));
    for (auto [stage, row] : llvm::enumerate(table_))
      for (const Entry& entry : row)
        for (int node : tasksOf(static_cast<int64_t>(stage), entry)) nodes_[node].scheduled = true;
    for (Node& node : nodes_) {
      if (node.scheduled) continue;
      refute(node.on,
             "is a task that the schedule \"" + micro_.getSchedule().str() +
                 "\" never runs (chunk " + std::to_string(node.chunk()) + ")",
             "give it a task and a chunk that the schedule has, or name another schedule");
      return false;
    }
    return true;
  }

  bool runsInOrder(dist::OnOp task) {
    for (auto [stage, row] : llvm::enumerate(table_)) {
      int64_t next = 0;
      for (const Entry& entry : row)
        for (int node : tasksOf(static_cast<int64_t>(stage), entry))
          if (nodes_[node].on == task && entry.micro != next++) return false;
    }
    return true;
  }

  // Made by an op of the reference, and so no sum, which passes put in (D13: it is state).
  static bool isOfProgram(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    while (auto on = llvm::dyn_cast_or_null<dist::OnOp>(op)) {
      value = on.getBody().front().getTerminator()->getOperand(
          llvm::cast<mlir::OpResult>(value).getResultNumber());
      op = value.getDefiningOp();
    }
    return op && op->hasAttr(dist::kSrcAttr);
  }

  // State that goes from micro-batch to micro-batch takes them in their order.
  bool statesInOrder() {
    mlir::Operation* yield = micro_.getBody().front().getTerminator();
    for (mlir::BlockArgument argument : micro_.getBody().getArguments()) {
      mlir::Value value = yield->getOperand(argument.getArgNumber());
      auto on = value.getDefiningOp<dist::OnOp>();
      if (!on || !isOfProgram(value) || runsInOrder(on)) continue;
      refute(on,
             "moves state once per micro-batch, and the schedule \"" + micro_.getSchedule().str() +
                 "\" runs these in another order than theirs",
             "name a schedule that runs micro-batches in order");
      return false;
    }
    return true;
  }

  size_t slot(int node, int64_t stage, int64_t micro) const {
    return nodes_[node].first + rankIn(nodes_[node].stages, stage) * micros_ + micro;
  }

  // What a task of a stage still waits for; -1 for nothing. A value of other stages comes from all
  // that make it.
  int missing(int node, int64_t stage, int64_t micro) const {
    for (int from : nodes_[node].takes) {
      llvm::ArrayRef<int64_t> bounds = nodes_[from].stages.getBounds();
      if (nodes_[from].stages.contains(stage)) {
        if (!done_[slot(from, stage, micro)]) return from;
        continue;
      }
      for (size_t i = 0; i < bounds.size(); i += 2)
        for (int64_t other = bounds[i]; other < bounds[i + 1]; ++other)
          if (!done_[slot(from, other, micro)]) return from;
    }
    return -1;
  }

  // Every stage runs its row as far as what the entries take is there. Entries only ever wait for
  // others, so that one run decides.
  void simulate() {
    std::vector<size_t> at(stages_, 0);
    for (bool moved = true; moved;) {
      moved = false;
      for (int64_t stage = 0; stage < stages_; ++stage)
        while (at[stage] < table_[stage].size() && runs(stage, table_[stage][at[stage]])) {
          ++at[stage];
          moved = true;
        }
    }
    for (int64_t stage = 0; stage < stages_; ++stage)
      if (at[stage] < table_[stage].size()) return reportStuck(at);
  }

  bool runs(int64_t stage, const Entry& entry) {
    for (int node : tasksOf(stage, entry)) {
      if (missing(node, stage, entry.micro) >= 0) return false;
      done_[slot(node, stage, entry.micro)] = true;
    }
    return true;
  }

  // No stage can go on. Each stage that is not at its end waits for a value; the first of them is
  // the message and the others are notes, which together show the circle or the missing task.
  void reportStuck(const std::vector<size_t>& at) {
    std::vector<std::string> notes;
    mlir::Operation* first = nullptr;
    std::string text;
    for (int64_t stage = 0; stage < stages_; ++stage) {
      if (at[stage] == table_[stage].size()) continue;
      const Entry& entry = table_[stage][at[stage]];
      for (int node : tasksOf(stage, entry)) {
        int from = missing(node, stage, entry.micro);
        if (from < 0) continue;
        std::string one =
            axis_.str() + " = " + std::to_string(stage) + " is to run " + schedule::textOf(entry) +
            " at place " + std::to_string(at[stage]) + ", which takes a value of " +
            schedule::textOf({static_cast<Task>(*nodes_[from].on.getTask()), nodes_[from].chunk(),
                              entry.micro}) +
            " on " + axis_.str() + " = " + std::to_string(nodes_[from].stages.getBounds().front()) +
            " that has not run";
        if (!first) text = one;
        else notes.push_back(one);
        first = first ? first : nodes_[node].on.getOperation();
        break;
      }
    }
    refute(first ? first : micro_.getOperation(),
           "the schedule \"" + micro_.getSchedule().str() +
               "\" runs a task before what it takes: " + text,
           "name a schedule in whose order every value is made before it is taken, or correct the "
           "task and chunk of the regions",
           notes);
  }

  dist::MicroOp micro_;
  Rung& rung_;
  llvm::StringRef axis_;
  int64_t stages_ = 1, micros_ = 1;
  std::vector<Node> nodes_;
  schedule::Table table_;
  std::map<std::tuple<int64_t, int, int64_t>, std::vector<int>> index_;
  std::vector<bool> done_;
};

}  // namespace

void checkSchedules(mlir::ModuleOp job, Rung& rung) {
  job->walk([&](dist::MicroOp micro) { MicroCheck(micro, rung).run(); });
}

}  // namespace dtranspile::verify
