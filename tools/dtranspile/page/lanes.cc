#include "tools/dtranspile/page/lanes.h"

#include <map>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/dtranspile/page/html.h"
#include "tools/dtranspile/page/limits.h"

namespace dtranspile::page {
namespace {

bool isMain(const ProgramFacts& program) {
  return pd::ProgramOp(program.op).getSymName() == "main";
}

// Exchanges of one kind, counted together.
struct Sum {
  int64_t count = 0, tensors = 0;
  Bytes bytes;
  bool branch = false;
  void add(const Exchange& one) {
    ++count;
    tensors += static_cast<int64_t>(one.tensors);
    bytes += one.bytes;
    branch |= one.branch;
  }
  std::string text() const {
    std::string text = countOf(tensors, "tensor") + ", " + bytes.text();
    return branch ? text + ", where a branch is taken" : text;
  }
};
using Sums = llvm::MapVector<llvm::StringRef, Sum, std::map<llvm::StringRef, unsigned>>;

std::string timesText(llvm::StringRef what, int64_t count) {
  return count == 1 ? what.str() : what.str() + " ×" + countText(count);
}

std::string axesOf(dist::CommOp comm) {
  return "over [" + llvm::join(comm.getAxes().getAsValueRange<mlir::StringAttr>(), ", ") + "]";
}

// "1 group of 64 ranks", "2 groups of 4 ranks".
std::string groupsText(dist::CommOp comm, dist::MeshOp mesh) {
  int64_t along = 1;
  for (llvm::StringRef axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
    along = product(along, mesh.sizeOf(axis).value_or(1));
  return countOf(mesh.ranks() / std::max<int64_t>(along, 1), "group") + " of " +
         countOf(comm.groupSize(mesh), "rank");
}

// From the exchanges of a role's programs to what is drawn: a box for each class of ranks (the last
// one for all that have no room), and for each communicator a band, a lane of arrows or a strip of
// requests, in the order in which they are first used.
class LaneBuilder {
 public:
  explicit LaneBuilder(const RoleFacts& role) : role_(role) {}

  Lanes build() {
    lanes_.boxes = std::min(role_.classes.size(), kMostClasses);
    for (size_t i = 0; i < lanes_.boxes; ++i)
      lanes_.content.push_back(isRest(i) ? restBox() : classBox(role_.classes[i]));
    for (const ProgramFacts& program : role_.programs)
      for (const Exchange& one : program.exchanges)
        if (one.comm) byComm_[one.comm].push_back({&program, &one});
    for (auto& [comm, uses] : byComm_) {
      if (lanes_.transfers.size() + lanes_.groups.size() + lanes_.requests.size() == kMostLanes) {
        ++lanes_.cut;
        continue;
      }
      dist::CommOp one = comm;
      if (one.getKind() == dist::CommKind::Pairs) addTransfers(comm, uses);
      else if (one.getKind() == dist::CommKind::Group) addGroup(comm, uses);
      else addRequests(comm, uses);
    }
    return std::move(lanes_);
  }

 private:
  struct Use {
    const ProgramFacts* program;
    const Exchange* exchange;
  };
  using Uses = std::vector<Use>;

  bool isRest(size_t box) const {
    return role_.classes.size() > kMostClasses && box + 1 == kMostClasses;
  }
  size_t boxOf(size_t rankClass) const { return std::min(rankClass, kMostClasses - 1); }

  ClassBox restBox() const {
    ClassBox box;
    const size_t more = role_.classes.size() - kMostClasses + 1;
    for (size_t i = kMostClasses - 1; i < role_.classes.size(); ++i)
      box.ranks += role_.classes[i].ranks;
    box.title = countText(more) + " more classes";
    box.tip = box.title + " of @" + role_.name().str();
    box.lines = {countOf(box.ranks, "rank"), "not drawn one by one"};
    box.ranks = 65;  // no dots
    return box;
  }

  ClassBox classBox(const RankClass& rankClass) const {
    ClassBox box;
    box.ranks = rankClass.ranks;
    box.title = selectorText(rankClass.where);
    box.tip = "class " + rankClass.name;
    box.lines.push_back(countOf(rankClass.ranks, "rank") +
                        (rankClass.ranks > 1 ? " with equal text" : ""));
    describeMemory(rankClass, box);
    int64_t ops = 0;
    std::string tasks;
    for (const ProgramFacts& program : role_.programs) {
      if (!isMain(program)) continue;
      visitOps(program.op, rankClass.where, [&](mlir::Operation* op) {
        ops += pd::OpView::isFrameworkOp(op);
        auto on = llvm::dyn_cast<dist::OnOp>(op);
        if (!on || !on.getTask() || !meet(on.getWhere(), rankClass.where)) return;
        const std::string letter = dist::stringifyTask(*on.getTask()).str();
        if (tasks.find(letter) == std::string::npos) tasks += " " + letter;
      });
    }
    box.lines.push_back(countOf(ops, "op") + (role_.serve ? " a round" : " a step") +
                        (tasks.empty() ? "" : ", tasks" + tasks));
    return box;
  }

  // Of the variables that a rank of the class has. One with an owner inside of the class is on one
  // of its ranks only, and is counted apart.
  void describeMemory(const RankClass& rankClass, ClassBox& box) const {
    Bytes parameters, state, shared;
    for (auto var : dist::RoleOp(role_.op).getBody().front().getOps<pd::VarOp>()) {
      auto owner = var->getAttrOfType<dist::SelAttr>(dist::kAtAttr);
      if (owner && !meet(owner, rankClass.where)) continue;
      const Bytes bytes = bytesOf(var, role_.mesh);
      if (owner && !owner.contains(rankClass.where)) shared += bytes;
      else (var.getParameter() ? parameters : state) += bytes;
    }
    box.lines.push_back("parameters " + parameters.text());
    box.lines.push_back("state " + state.text());
    if (shared.atLeast() || shared.more)
      box.lines.push_back("shared out by owner: " + shared.text());
  }

  // Boxes of the classes that run an exchange.
  std::vector<size_t> boxesOf(const Uses& uses) const {
    std::vector<size_t> boxes;
    for (size_t i = 0; i < role_.classes.size(); ++i) {
      const bool uses_it = llvm::any_of(
          uses, [&](const Use& use) { return meet(use.exchange->where, role_.classes[i].where); });
      if (uses_it && (boxes.empty() || boxes.back() != boxOf(i))) boxes.push_back(boxOf(i));
    }
    return boxes;
  }

  // What goes over a group in a step, by kind, and apart from it what does at start-up.
  void addGroup(dist::CommOp comm, const Uses& uses) {
    Sums step, start;
    for (const Use& use : uses)
      (isMain(*use.program) ? step : start)[use.exchange->kind].add(*use.exchange);
    GroupBand band;
    band.step = !step.empty();
    std::string inStep = band.step ? listOf(step) : "nothing in a step";
    band.title = "@" + comm.getSymName().str() + "   " + inStep;
    band.text = "group " + axesOf(comm) + ": " + groupsText(comm, role_.mesh);
    if (comm.getSubset()) band.text += " where " + selectorText(*comm.getSubset());
    if (comm.getCarries()) band.text += " · carries " + comm.getCarries()->str();
    if (!start.empty()) band.text += " · at start-up " + listOf(start);
    band.tip = band.title + " · " + band.text;
    band.boxes = boxesOf(uses);
    lanes_.groups.push_back(std::move(band));
  }

  static std::string listOf(const Sums& sums) {
    std::string text;
    size_t number = 0;
    for (const auto& [what, sum] : sums) {
      if (++number > 3) continue;
      text += (text.empty() ? "" : " · ") + timesText(what, sum.count) + ": " + sum.text();
    }
    if (number > 3) text += " · and " + countOf(number - 3, "kind") + " more";
    return text;
  }

  std::vector<size_t> classesIn(dist::SelAttr where) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < role_.classes.size(); ++i)
      if (meet(where, role_.classes[i].where)) found.push_back(i);
    return found;
  }

  // The class that agrees with `from` on every axis but that of the communicator.
  bool isPeer(const RankClass& from, const RankClass& to, llvm::StringRef axis) const {
    return llvm::all_of(from.where.getSets(), [&](dist::AxisSetAttr set) {
      if (set.getAxis().getValue() == axis) return true;
      dist::AxisSetAttr other = to.where.lookup(set.getAxis().getValue());
      return !other || other == set;
    });
  }

  // Transfers between the same two boxes are one arrow. Arrows are put into rows greedily, by their
  // left end, so that no two of a row overlap.
  void addTransfers(dist::CommOp comm, const Uses& uses) {
    std::map<std::pair<size_t, size_t>, Sum> sums;
    const llvm::StringRef axis = *comm.getAxes().getAsValueRange<mlir::StringAttr>().begin();
    Sum all;
    for (const Use& use : uses) {
      const Exchange& one = *use.exchange;
      if (!isMain(*use.program) || !one.from || !one.to) continue;
      all.add(one);
      const std::vector<size_t> targets = classesIn(one.to);
      for (size_t from : classesIn(one.from))
        for (size_t to : targets)
          if (isPeer(role_.classes[from], role_.classes[to], axis) && boxOf(from) != boxOf(to))
            sums[{boxOf(from), boxOf(to)}].add(one);
    }
    TransferLane lane;
    lane.title = "@" + comm.getSymName().str();
    lane.tip = lane.title + ", pairs " + axesOf(comm) + ", " + countOf(all.count, "transfer") +
               " in the text of a step";
    if (comm.getCarries()) lane.tip += ", carries " + comm.getCarries()->str();
    std::vector<size_t> ends;  // of each row: the last box that it covers
    for (const auto& [pair, sum] : sums) {
      TransferArrow arrow{pair.first, pair.second, 0, sum.bytes.text(), ""};
      arrow.tip = lane.tip + ": " + sum.text();
      const auto [low, high] = std::minmax(pair.first, pair.second);
      size_t row = 0;
      while (row < ends.size() && ends[row] > low) ++row;
      if (row == ends.size()) ends.push_back(0);
      ends[row] = high;
      arrow.row = static_cast<int>(row);
      lane.arrows.push_back(std::move(arrow));
    }
    lane.rows = static_cast<int>(ends.size());
    if (lane.rows) lanes_.transfers.push_back(std::move(lane));
  }

  // What trainers ask of servers, as arrows down (push) and up (pull, lookup).
  void addRequests(dist::CommOp comm, const Uses& uses) {
    struct Row {
      llvm::StringRef op;
      const char* what;
      bool up;
    };
    constexpr Row kRows[] = {
        {"push", "push", false}, {"lookup", "lookup", true}, {"pull", "pull", true}};
    RequestStrip strip;
    strip.server = comm.getServer()->str();
    strip.title = "@" + comm.getSymName().str() + "   requests " + axesOf(comm);
    std::map<llvm::StringRef, Sum> sums;
    int64_t phases = 0, start = 0;
    for (const Use& use : uses) {
      const bool phase = llvm::isa<dist::PhaseOp>(use.exchange->op);
      if (!isMain(*use.program)) start += !phase;
      else if (phase) ++phases;
      else sums[use.exchange->op->getName().stripDialect()].add(*use.exchange);
    }
    strip.phases = phases ? "rounds of " + countOf(phases, "phase") : "no rounds";
    if (start) strip.phases += ", " + countText(start) + " requests at start-up";
    strip.tip = strip.title + " to @" + strip.server;
    for (const Row& row : kRows)
      if (auto found = sums.find(row.op); found != sums.end())
        strip.arrows.push_back(
            {timesText(row.what, found->second.count), found->second.text(), row.up});
    lanes_.requests.push_back(std::move(strip));
  }

  const RoleFacts& role_;
  Lanes lanes_;
  llvm::MapVector<dist::CommOp, Uses> byComm_;
};

}  // namespace

Lanes lanesOf(const RoleFacts& role) { return LaneBuilder(role).build(); }

}  // namespace dtranspile::page
