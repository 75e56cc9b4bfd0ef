// A pipeline as it is planned: a chart with a row per stage, a box per task of a micro-batch, where
// it stands when every task takes one unit of time and starts as soon as its stage is free and its
// values are there.
#include <map>

#include "compiler/analysis/tasks.h"
#include "compiler/schedule/schedule.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"
#include "tools/dtranspile/page/stages.h"

namespace dtranspile::page {
namespace {

using schedule::Entry;

struct Box {
  Entry entry;
  int64_t at;
};

// What a stage does, and how many micro-batches it has begun and not finished at most.
struct StageRow {
  std::vector<Box> boxes;
  int64_t free = 0, underWay = 0;
  size_t next = 0;  // entry of the table
};

// Lets all stages work off their rows of the table, each as far as its values are there, until
// nothing moves any more. Rows are in order, so that the result does not depend on which stage is
// looked at first, and what does not end hangs in every run. O(entries · tasks of an entry ·
// stages) at the worst, which kMostEntries bounds.
class Play {
 public:
  Play(const TaskGraph& graph, const schedule::Table& table, int64_t micros)
      : graph_(graph), table_(table), micros_(micros), rows(table.size()) {
    for (size_t i = 0; i < graph.tasks.size(); ++i) {
      const PipelineTask& task = graph.tasks[i];
      for (int64_t stage = 0; stage < graph.stages; ++stage)
        if (task.stages.contains(stage))
          index_[{stage, static_cast<int>(*dist::OnOp(task.on).getTask()), task.chunk()}].push_back(
              i);
    }
    over_.assign(graph.tasks.size() * rows.size() * static_cast<size_t>(micros), -1);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t stage = 0; stage < rows.size(); ++stage)
        while (step(stage)) moved = true;
    }
    for (StageRow& row : rows) countUnderWay(row);
  }

  bool finished() const {
    for (size_t stage = 0; stage < rows.size(); ++stage)
      if (rows[stage].next < table_[stage].size()) return false;
    return true;
  }
  int64_t length() const {
    int64_t length = 0;
    for (const StageRow& row : rows) length = std::max(length, row.free);
    return length;
  }

 private:
  int64_t& over(size_t task, size_t stage, int64_t micro) {
    return over_[(task * rows.size() + stage) * static_cast<size_t>(micros_) +
                 static_cast<size_t>(micro)];
  }

  // When what a task takes is there; -1 where some of it is not yet.
  int64_t ready(size_t task, size_t stage, int64_t micro) {
    int64_t time = 0;
    for (int from : graph_.tasks[task].takes) {
      const PipelineTask& source = graph_.tasks[static_cast<size_t>(from)];
      const bool own = source.stages.contains(static_cast<int64_t>(stage));
      for (size_t other = 0; other < rows.size(); ++other) {
        if (own ? other != stage : !source.stages.contains(static_cast<int64_t>(other))) continue;
        const int64_t made = over(static_cast<size_t>(from), other, micro);
        if (made < 0) return -1;
        time = std::max(time, made);
      }
    }
    return time;
  }

  bool step(size_t stage) {
    StageRow& row = rows[stage];
    if (row.next == table_[stage].size()) return false;
    const Entry& entry = table_[stage][row.next];
    const std::vector<size_t>& tasks =
        index_[{static_cast<int64_t>(stage), static_cast<int>(entry.task), entry.chunk}];
    int64_t begin = row.free;
    for (size_t task : tasks) {
      const int64_t time = ready(task, stage, entry.micro);
      if (time < 0) return false;
      begin = std::max(begin, time);
    }
    ++row.next;
    if (tasks.empty()) return true;  // a letter that this stage has no task of
    row.free = begin + 1;
    for (size_t task : tasks) over(task, stage, entry.micro) = row.free;
    row.boxes.push_back({entry, begin});
    return true;
  }

  static void countUnderWay(StageRow& row) {
    int64_t now = 0;
    for (const Box& box : row.boxes) {
      if (box.entry.task == schedule::Task::F) row.underWay = std::max(row.underWay, ++now);
      if (box.entry.task == schedule::Task::B) --now;
    }
  }

  const TaskGraph& graph_;
  const schedule::Table& table_;
  int64_t micros_;
  std::map<std::tuple<int64_t, int, int64_t>, std::vector<size_t>> index_;
  std::vector<int64_t> over_;  // by task, stage and micro-batch: when it is over

 public:
  std::vector<StageRow> rows;
};

void draw(const Play& play, llvm::StringRef axis, Html& html) {
  const int64_t slots = std::min(play.length(), kMostSlots);
  const int cell =
      std::clamp(static_cast<int>((kWidth - kNames - kTail) / std::max<int64_t>(slots, 1)), 7, 40);
  const int stages =
      static_cast<int>(std::min<int64_t>(static_cast<int64_t>(play.rows.size()), kMostStages));
  Svg svg(html, stages * kRow + 12, "which task of which micro-batch every stage runs when");
  for (int stage = 0; stage < stages; ++stage) {
    const StageRow& row = play.rows[static_cast<size_t>(stage)];
    const int y = 6 + stage * kRow;
    svg.label(4, y + 18, kNames - 8, "strong", axis.str() + " = " + std::to_string(stage));
    svg.rect(kNames, y, static_cast<int>(slots) * cell, kRow - 6, "idle", 3);
    for (const Box& box : row.boxes) {
      if (box.at >= slots) break;
      const int x = kNames + static_cast<int>(box.at) * cell;
      svg.enter(schedule::textOf(box.entry) + " at " + std::to_string(box.at));
      svg.rect(x, y, cell - 1, kRow - 6, styleOf(box.entry.task), 3);
      labelBox(svg, x, y, cell, schedule::textOf(box.entry));
      svg.leave();
    }
    svg.label(kNames + static_cast<int>(slots) * cell + 8, y + 17, kTail - 8, "small",
              countText(row.underWay) + " under way");
  }
}

// Of all time that stages have, in percent.
int64_t idleOf(const Play& play) {
  int64_t busy = 0;
  for (const StageRow& row : play.rows) busy += static_cast<int64_t>(row.boxes.size());
  const int64_t slots = play.length() * static_cast<int64_t>(play.rows.size());
  return slots ? (100 * (slots - busy) + slots / 2) / slots : 0;
}

std::string figures(const Play& play, const schedule::Shape& shape, llvm::StringRef name) {
  std::string text = "Schedule " + shortened(name, 40) + ": " + countOf(shape.stages, "stage") +
                     ", " + countOf(shape.micros, "micro-batch", "es");
  if (shape.chunks > 1) text += ", " + countOf(shape.chunks, "chunk") + " a stage";
  text += "; " + countOf(play.length(), "unit") + " of time, of which " +
          std::to_string(idleOf(play)) + " % idle";
  return text + ".";
}

PlannedRows plannedRows(const Play& play) {
  PlannedRows rows;
  for (const StageRow& row : play.rows) {
    rows.emplace_back();
    for (const Box& box : row.boxes) rows.back().push_back(box.entry);
  }
  return rows;
}

void writeMicro(const RoleFacts& role, dist::MicroOp micro, const Traces& traces, Html& html) {
  const TaskGraph graph = tasksOf(micro, role.mesh);
  if (graph.tasks.empty() || graph.astray) return;
  const schedule::Shape shape{graph.stages, static_cast<int64_t>(micro.getChunks()),
                              microBatchesOf(micro, role.mesh)};
  const std::string name = shortened(micro.getSchedule(), 40);
  auto refuse = [&](const std::string& why) {
    html.element("p", {{"class", "cut"}}, "Schedule " + name + " is not drawn: " + why + ".");
  };
  const int64_t tasks = static_cast<int64_t>(graph.tasks.size());
  if (shape.entries() > kMostEntries ||
      product(product(tasks, graph.stages), shape.micros) > 4 * kMostEntries)
    return refuse("it has " + countText(shape.stages) + " stages and " + countText(shape.micros) +
                  " micro-batches");
  std::string why;
  std::optional<schedule::Table> table = schedule::expand(micro.getSchedule(), shape, why);
  if (!table) return refuse(shortened(why, 200));
  const Play play(graph, *table, shape.micros);
  html.element("p", figures(play, shape, name));
  if (!play.finished())
    html.element("p", {{"class", "cut"}},
                 "The schedule stops: a task would run before what it takes. `dtranspile verify` "
                 "says which.");
  html.open("figure");
  draw(play, graph.axis, html);
  html.open("figcaption").open("ul", {{"class", "legend"}});
  constexpr const char* kKeys[][2] = {{"p-forward", "F, forward"},
                                      {"p-backward", "B, backward"},
                                      {"p-update", "W, gradients of weights"},
                                      {"idle", "idle"}};
  for (const auto& key : kKeys) {
    html.open("li").element("span", {{"class", std::string("key ") + key[0]}}, "");
    html.text(key[1]).close();
  }
  html.close();
  html.text(
      "F2 is the forward task of micro-batch 2. Every task counts as one unit of time: what "
      "tasks take is not known here. Under way are micro-batches that a stage has begun and "
      "not finished: as many of their values it keeps.");
  html.close().close();
  if (shape.stages > kMostStages || play.length() > kMostSlots)
    html.element("p", {{"class", "cut"}},
                 "Drawn are the first " + countText(std::min(shape.stages, kMostStages)) + " of " +
                     countOf(shape.stages, "stage") + " and the first " +
                     countText(std::min(play.length(), kMostSlots)) + " of " +
                     countOf(play.length(), "unit") + ".");
  if (!traces.empty())
    writeRan({plannedRows(play), idleOf(play), role.name(), graph.axis, role.mesh}, traces, html);
}

}  // namespace

const char* styleOf(schedule::Task task) {
  static constexpr const char* kStyles[] = {"p-forward", "p-backward", "p-update"};
  return kStyles[static_cast<int>(task)];
}

void labelBox(Svg& svg, int x, int y, int width, const std::string& text) {
  const int length = 7 * static_cast<int>(text.size());
  if (length <= width) svg.label(x + (width - length) / 2, y + 17, width, "on-colour", text);
}

int64_t firstRankOf(dist::MeshOp mesh, llvm::StringRef axis, int64_t stage) {
  // The last axis has stride 1.
  int64_t rank = 0;
  for (auto [name, size] :
       llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
    rank = rank * size + (name == axis ? stage : 0);
  return rank;
}

void writeSchedules(const JobFacts& job, Html& html) {
  for (const RoleFacts& role : job.roles)
    for (const ProgramFacts& program : role.programs)
      pd::ProgramOp(program.op)->walk([&](dist::MicroOp micro) {
        writeMicro(role, micro, job.traces, html);
      });
}

}  // namespace dtranspile::page
