// D29 as an automaton. A server with rounds is in one of three stages: it takes pushes (and answers
// lookups) until every trainer has ended them, runs the round, then answers pulls until every
// trainer has ended these. The requests of a trainer's text are run through it in order; the first
// one that the stage does not admit is what would wait for ever, or be counted to another step. The
// order of requests must be known for that: they stand in one block, so that a step makes all of
// them or none. Servers without rounds take requests in any order, and only ends of phases are out
// of place.
#include "compiler/verify/communication/protocol.h"

#include "compiler/analysis/position.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

// What a server waits for next.
enum class Stage { Pushes, Pulls, NextStep };

struct Asked {
  mlir::Operation* op;
  mlir::Operation* control;  // the innermost control flow around it; null: none
};

// Of one trainer's text and one communicator with servers that keep rounds.
class Protocol {
 public:
  Protocol(const ClassText& text, dist::CommOp comm, llvm::StringRef program, Rung& report)
      : text_(text), comm_(comm), program_(program), report_(report) {}

  void check() {
    pd::ProgramOp program = program_ == "startup" ? text_.startup : text_.main;
    std::vector<Asked> asked;
    if (program) collect(*program.getBodyBlock(), nullptr, asked);
    // A start-up that asks nothing leaves the server waiting: the run says so.
    if (asked.empty() && program_ == "startup") return;
    if (!oneBlock(asked)) return;
    Stage stage = program_ == "startup" ? Stage::Pulls : Stage::Pushes;
    mlir::Operation* last = nullptr;
    for (const Asked& one : asked) {
      if (!fits(one.op, stage)) return;
      last = one.op;
    }
    if (stage == Stage::NextStep || !program) return;
    mlir::Operation* at = last ? last : program.getOperation();
    refute(at,
           stage == Stage::Pushes
               ? "never ends the push phase: the servers wait for it, and no round is run"
               : "never ends the pull phase: the servers wait for it before the next round",
           stage == Stage::Pushes ? "dist.phase push after the last push"
                                  : "dist.phase pull after the last pull");
  }

 private:
  void refute(mlir::Operation* op, std::string text, std::string remedy) {
    Message message =
        messageAt(op, Message::Level::Refuted, "D29", std::move(text), std::move(remedy));
    message.rankClass = text_.name;
    report_.add(std::move(message));
  }

  // The requests of the class in the order of its text; guards that leave the class out are
  // skipped.
  void collect(mlir::Block& block, mlir::Operation* control, std::vector<Asked>& asked) {
    for (mlir::Operation& op : block) {
      if (dist::commOf(&op) && dist::commOf(&op).getValue() == comm_.getSymName() &&
          !llvm::isa<dist::ServeOp>(op))
        asked.push_back({&op, control});
      auto on = llvm::dyn_cast<dist::OnOp>(op);
      mlir::Operation* inside =
          pd::OpView::isFrameworkOp(&op) || llvm::isa<dist::MicroOp>(op) ? &op : control;
      for (mlir::Region& region : op.getRegions()) {
        if (region.empty()) continue;
        const bool mine = !on || (&region == &on.getBody() ? on.getWhere().contains(text_.where)
                                                           : !on.getWhere().intersect(text_.where));
        if (mine) collect(region.front(), inside, asked);
      }
    }
  }

  // All requests of a step are made, or none.
  bool oneBlock(llvm::ArrayRef<Asked> asked) {
    for (const Asked& one : asked) {
      if (llvm::isa_and_nonnull<dist::MicroOp>(one.control)) {
        refute(one.op, typeOf(one.op) + " asks the servers once per micro-batch",
               "ask them after the loop over micro-batches");
        return false;
      }
      if (one.control == asked.front().control) continue;
      Message message =
          messageAt(one.op, Message::Level::Unknown, "D29",
                    typeOf(one.op) + " stands in another branch than " +
                        positionOf(asked.front().op) + ": which requests a step makes is not known",
                    "make all requests of a step in one block");
      message.rankClass = text_.name;
      report_.add(std::move(message));
      return false;
    }
    return true;
  }

  // One transition of the automaton; false with a message where the stage does not admit the
  // request.
  bool fits(mlir::Operation* op, Stage& stage) {
    auto phase = llvm::dyn_cast<dist::PhaseOp>(op);
    const bool pushes = phase ? phase.getKind() == dist::PhaseKind::Push
                              : llvm::isa<dist::PushOp, dist::LookupOp>(op);
    const Stage wanted = pushes ? Stage::Pushes : Stage::Pulls;
    if (stage == wanted) {
      if (phase) stage = pushes ? Stage::Pulls : Stage::NextStep;
      return true;
    }
    const std::string what =
        typeOf(op) + (phase ? std::string(pushes ? " push" : " pull") : std::string());
    if (stage == Stage::NextStep)
      refute(op,
             what +
                 " stands after the end of the pull phase: the server counts it to the next "
                 "step, or waits for the other trainers",
             "one push phase and one pull phase per step");
    else if (pushes)
      refute(op,
             program_ == "startup"
                 ? what + " stands in the start-up program, where the servers only answer pulls"
                 : what +
                       " stands after the end of the push phase: the round has been run "
                       "without it",
             "push before dist.phase push");
    else
      refute(op,
             what +
                 " stands before the end of the push phase: it waits for a server that waits "
                 "for this trainer to end its pushes",
             "pull after dist.phase push");
    return false;
  }

  const ClassText& text_;
  dist::CommOp comm_;
  llvm::StringRef program_;
  Rung& report_;
};

// D29 without rounds.
// Nothing waits for a round here. What remains is that pushes stand in @main, and that a
// half-asynchronous trainer, whose pulls wait for its own pushes, says once where these end.
class SingleProtocol {
 public:
  SingleProtocol(const ClassText& text, dist::CommOp comm, dist::ServeMode mode,
                 llvm::StringRef program, Rung& report)
      : text_(text), comm_(comm), mode_(mode), program_(program), report_(report) {}

  void check() {
    pd::ProgramOp program = program_ == "startup" ? text_.startup : text_.main;
    if (!program) return;
    program.walk([&](mlir::Operation* op) {
      if (dist::commOf(op) && dist::commOf(op).getValue() == comm_.getSymName()) visit(op);
    });
    if (mode_ == dist::ServeMode::HalfAsync && program_ != "startup" && pushed_ && !ended_)
      refute(pushed_,
             "is never followed by the end of the pushes, for which a half-asynchronous "
             "trainer waits before it pulls",
             "dist.phase push after the last push");
  }

 private:
  void visit(mlir::Operation* op) {
    if (auto phase = llvm::dyn_cast<dist::PhaseOp>(op)) return visitPhase(phase);
    if (llvm::isa<dist::PullOp>(op) && mode_ == dist::ServeMode::HalfAsync && pushed_ && !ended_)
      refute(op,
             typeOf(op) +
                 " stands before the end of the pushes, for which a half-asynchronous trainer "
                 "waits before it pulls: it may get what is without its own",
             "pull after dist.phase push");
    if (!llvm::isa<dist::PushOp>(op)) return;
    if (program_ == "startup")
      return refute(op,
                    typeOf(op) +
                        " stands in the start-up program, where the servers only "
                        "answer pulls",
                    "push in @main");
    if (ended_)
      refute(op,
             typeOf(op) +
                 " stands after the end of the pushes: the pulls after that do not "
                 "wait for it",
             "push before dist.phase push");
    pushed_ = op;
  }

  void visitPhase(dist::PhaseOp phase) {
    const bool pushes = phase.getKind() == dist::PhaseKind::Push;
    if (mode_ != dist::ServeMode::HalfAsync || !pushes || program_ == "startup")
      return refute(phase,
                    "ends a phase, and the servers, of mode " +
                        dist::stringifyServeMode(mode_).str() + ", have no rounds",
                    "remove the phase");
    if (ended_) refute(phase, "ends the pushes a second time in one step", "end them once");
    ended_ = true;
  }

  void refute(mlir::Operation* op, std::string text, std::string remedy) {
    Message message =
        messageAt(op, Message::Level::Refuted, "D29", std::move(text), std::move(remedy));
    message.rankClass = text_.name;
    report_.add(std::move(message));
  }

  const ClassText& text_;
  dist::CommOp comm_;
  const dist::ServeMode mode_;
  llvm::StringRef program_;
  Rung& report_;
  mlir::Operation* pushed_ = nullptr;
  bool ended_ = false;
};

}  // namespace

// By the mode of the servers: rounds have phases, single updates have none (but half-asynchronous
// trainers end their pushes).
void checkProtocol(const ClassText& text, llvm::StringRef program, Rung& report) {
  for (dist::CommOp comm : text.comms) {
    if (comm.getKind() != dist::CommKind::Rpc || text.role == comm.getServer()) continue;
    auto server = llvm::dyn_cast_or_null<dist::RoleOp>(
        mlir::SymbolTable::lookupSymbolIn(comm->getParentOp(), comm.getServerAttr().getAttr()));
    std::optional<dist::ServeMode> mode;
    if (server) server.walk([&](dist::ServeOp loop) { mode = loop.getMode(); });
    if (mode == dist::ServeMode::Sync) Protocol(text, comm, program, report).check();
    else if (mode) SingleProtocol(text, comm, *mode, program, report).check();
  }
}

}  // namespace dtranspile::verify
