// Programs, op by op: runs of one phase are folded, communication stands between them and is seen
// at once.
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"

namespace dtranspile::page {
namespace {

// `lines` is what the page still has room for, over all programs; what finds none is counted, and
// the reader is told how much is not shown. Numbers of ops count on regardless, so that they are
// those of messages.
class ProgramText {
 public:
  ProgramText(Html& html, size_t& lines) : html_(html), lines_(lines) {}

  void write(pd::ProgramOp program) { writeBlock(program.getBody().front()); }

  size_t left() const { return left_; }

 private:
  // Reads and writes of variables, constants of structure: the ops say what they take.
  static bool isListed(mlir::Operation& op) {
    return pd::OpView::isFrameworkOp(&op) ||
           (llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect()) &&
            !llvm::isa<dist::YieldOp>(op));
  }

  static bool isPlain(mlir::Operation& op) {
    return pd::OpView::isFrameworkOp(&op) && op.getNumRegions() == 0;
  }

  void writeBlock(mlir::Block& block) {
    std::vector<mlir::Operation*> run;
    for (mlir::Operation& op : block) {
      if (!isListed(op)) continue;
      if (!isPlain(op) || (!run.empty() && &phaseOf(run.back()) != &phaseOf(&op))) writeRun(run);
      if (isPlain(op)) run.push_back(&op);
      else writeSpecial(op);
    }
    writeRun(run);
  }

  // Whether one more line fits; counts those that do not.
  bool takeLine() {
    if (lines_ == 0) {
      ++left_;
      return false;
    }
    --lines_;
    return true;
  }

  // Ops of one phase in a row, folded.
  void writeRun(std::vector<mlir::Operation*>& run) {
    if (run.empty()) return;
    const int first = number_;
    number_ += static_cast<int>(run.size());
    if (lines_ == 0) {
      left_ += run.size();
      run.clear();
      return;
    }
    const Phase& phase = phaseOf(run.front());
    html_.open("details").open("summary");
    html_.element("span", {{"class", std::string("key ") + phase.style}}, "");
    html_.text(std::string(phase.name) + " ");
    html_.element("small", (run.size() == 1 ? "op " : "ops ") + countText(first) +
                               (run.size() == 1 ? "" : " to " + countText(number_ - 1)));
    html_.text(" " + typesOf(run)).close();
    html_.open("ol", {{"start", std::to_string(first)}});
    size_t listed = 0;
    for (mlir::Operation* op : run) {
      if (listed == kMostLinesOfRun || !takeLine()) break;
      ++listed;
      html_.open("li");
      writeOp(op);
      html_.close();
    }
    html_.close();
    if (listed < run.size())
      html_.element("p", {{"class", "cut"}}, countText(run.size() - listed) + " more ops");
    html_.close();
    run.clear();
  }

  // "mul, elementwise_add, relu and 4 more": what a folded run has in it.
  static std::string typesOf(const std::vector<mlir::Operation*>& run) {
    std::vector<llvm::StringRef> types;
    for (mlir::Operation* op : run) {
      llvm::StringRef type = pd::OpView(op).type();
      if (!llvm::is_contained(types, type)) types.push_back(type);
    }
    constexpr size_t kTypes = 5;
    std::string text;
    for (size_t i = 0; i < std::min(types.size(), kTypes); ++i)
      text += (i ? ", " : "") + shortened(types[i], 30);
    if (types.size() > kTypes) text += " and " + countText(types.size() - kTypes) + " more";
    return text;
  }

  void writeOp(mlir::Operation* op) {
    html_.element("b", shortened(pd::OpView(op).type(), kLongestName));
    writeNames(" ", op->getOperands());
    writeNames(" → ", op->getResults());
  }

  template <typename Values>
  void writeNames(const char* before, Values values) {
    size_t listed = 0;
    std::vector<llvm::StringRef> names;
    for (mlir::Value value : values)
      if (llvm::StringRef name = dist::nameOf(value); !name.empty()) names.push_back(name);
    if (names.empty()) return;
    html_.text(before);
    for (llvm::StringRef name : llvm::ArrayRef(names).take_front(kMostListed)) {
      if (listed++) html_.text(", ");
      html_.name(name);
    }
    if (names.size() > listed) html_.text(" and " + countText(names.size() - listed) + " more");
  }

  // Communication, guards, loops: never folded into a run.
  void writeSpecial(mlir::Operation& op) {
    if (!takeLine()) return countAll(op);
    const bool comm = static_cast<bool>(dist::commOf(&op)) && op.getNumRegions() == 0;
    if (op.getNumRegions() == 0) {
      html_.open("div", {{"class", comm ? "line comm" : "line"}});
      writeHead(op);
      html_.close();
      return;
    }
    html_.open("details", {{"class", "block"}, {"open", "open"}}).open("summary");
    writeHead(op);
    html_.close();
    for (mlir::Region& region : op.getRegions()) {
      if (region.empty()) continue;
      if (region.getRegionNumber() > 0) html_.element("div", {{"class", "line"}}, "else");
      writeBlock(region.front());
    }
    html_.close();
  }

  // What an op that found no room holds.
  void countAll(mlir::Operation& op) {
    op.walk([&](mlir::Operation* inner) {
      if (inner == &op) return;
      left_ += isListed(*inner);
      number_ += isPlain(*inner);
    });
    if (pd::OpView::isFrameworkOp(&op)) ++number_;
  }

  void writeHead(mlir::Operation& op) {
    if (pd::OpView::isFrameworkOp(&op)) {
      html_.element("small", countText(number_++) + " ");
      return writeOp(&op);
    }
    html_.element("b", op.getName().stripDialect().str());
    html_.text(" " + shortened(detail(op), 160));
    if (auto comm = dist::commOf(&op)) html_.text(" on ").name("@" + comm.getValue().str());
    if (op.getNumRegions()) return;
    writeNames(" of ", op.getOperands());
    if (!op.getNumOperands()) writeNames(" → ", op.getResults());
  }

  // What an op of the job is about, besides its operands.
  static std::string detail(mlir::Operation& op) {
    std::string text;
    llvm::raw_string_ostream out(text);
    auto types = [&](mlir::TypeRange list) {
      if (list.size() == 1) out << dist::unlocated(list.front());
      else out << list.size() << " tensors";
    };
    llvm::TypeSwitch<mlir::Operation*>(&op)
        .Case<dist::OnOp>([&](auto on) {
          out << selectorText(on.getWhere());
          if (on.getTask()) out << ", task " << dist::stringifyTask(*on.getTask());
          if (on.getChunk()) out << ", chunk " << *on.getChunk();
        })
        .Case<dist::MicroOp>([&](auto micro) {
          out << "over ["
              << llvm::join(micro.getAxes().template getAsValueRange<mlir::StringAttr>(), ", ")
              << "], schedule " << micro.getSchedule();
        })
        .Case<dist::ForeachBlockOp>([&](auto each) { out << "of @" << each.getVar(); })
        .Case<dist::CompositeOp>([&](auto composite) { out << composite.getOp(); })
        .Case<dist::ServeOp>([&](auto serve) { out << dist::stringifyServeMode(serve.getMode()); })
        .Case<dist::HandleOp>([&](auto handle) {
          out << dist::stringifyHandler(handle.getKind());
          if (handle.getVar()) out << " @" << *handle.getVar();
        })
        .Case<dist::PushOp, dist::PullOp, dist::LookupOp>(
            [&](auto request) { out << "@" << request.getVar().getLeafReference().getValue(); })
        .Case<dist::MergedOp>([&](auto merged) { out << "@" << merged.getVar(); })
        .Case<dist::PhaseOp>([&](auto phase) { out << dist::stringifyPhaseKind(phase.getKind()); })
        .Case<dist::AllReduceOp, dist::ReduceScatterOp, dist::ReduceOp>([&](auto reduce) {
          out << dist::stringifyReduce(reduce.getReduce()) << " ";
          types(reduce->getOperandTypes());
        })
        .Case<dist::WaitOp>([&](auto wait) { types(wait->getResultTypes()); })
        .Default([&](mlir::Operation* other) { types(other->getOperandTypes()); });
    return text;
  }

  Html& html_;
  size_t& lines_;
  size_t left_ = 0;
  int number_ = 0;
};

}  // namespace

void writePrograms(const JobFacts& job, Html& html) {
  size_t lines = kMostLines;
  bool first = true;
  for (const RoleFacts& role : job.roles)
    for (const ProgramFacts& program : role.programs) {
      pd::ProgramOp op = program.op;
      if (first) html.open("details", {{"class", "program"}, {"open", "open"}});
      else html.open("details", {{"class", "program"}});
      first = false;
      html.open("summary");
      html.name("@" + role.name().str()).text(" ").name(op.getSymName());
      html.element("small", " " + countOf(program.ops, "op") + ", " +
                                countOf(program.exchanges.size(), "communication operation"));
      html.close();
      ProgramText text(html, lines);
      text.write(op);
      if (text.left())
        html.element("p", {{"class", "cut"}},
                     countText(text.left()) +
                         " more ops are not listed; `dtranspile show JOB --format text` has all.");
      html.close();
    }
}

}  // namespace dtranspile::page
