#include "compiler/verify/communication/events.h"

#include "compiler/analysis/position.h"
#include "compiler/verify/communication/pipeline.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"

namespace dtranspile::verify {
namespace {

std::string textOf(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string textOf(dist::SelAttr where) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  where.printInline(stream);
  return text;
}

// Above this the events of a thread are not written out.
constexpr size_t kMostEvents = size_t{1} << 22;

bool isRpc(mlir::Operation* op) {
  return llvm::isa<dist::PushOp, dist::PullOp, dist::LookupOp, dist::PhaseOp>(op);
}

// The text of one class as a list of starts and waits. A ticket is the number of its start, so that
// a wait names the operation by the place where it began. What cannot be put into such a list (a
// guard that holds on some ranks of the class, an unknown op) is Unknown and leaves a gap: the rung
// is not Holds then, whatever the run says.
class Reader {
 public:
  Reader(const ClassText& text, const Servers& servers, Rung& report)
      : text_(text), servers_(servers), report_(report) {
    for (dist::CommOp comm : text.comms)
      commIndex_.try_emplace(comm.getSymName(), static_cast<int>(commIndex_.size()));
  }

  void readProgram(mlir::Block& block) {
    read(block);
    waitForSends(0);
  }
  // Trainers begin with what the server has after its start-up.
  void endOfStartup(dist::ServeOp serve) { endPhase(serve, text_.name, "pull"); }
  std::vector<Event> take() { return std::move(events_); }

 private:
  void unknown(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    Message message =
        messageAt(op, Message::Level::Unknown, rule, std::move(text), std::move(remedy));
    message.rankClass = text_.name;
    report_.add(std::move(message));
  }

  void read(mlir::Block& block) {
    for (mlir::Operation& op : block)
      if (events_.size() < kMostEvents) read(&op);
  }

  // By kind of op; what neither communicates nor has blocks that do leaves no event.
  void read(mlir::Operation* op) {
    if (auto on = llvm::dyn_cast<dist::OnOp>(op)) return readGuard(on);
    if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op))
      return read(composite.getBody().front());
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) return readWait(wait);
    if (auto micro = llvm::dyn_cast<dist::MicroOp>(op)) return readMicro(micro);
    if (auto serve = llvm::dyn_cast<dist::ServeOp>(op)) return readServe(serve);
    if (auto transfer = llvm::dyn_cast<dist::TransferOp>(op)) return readTransfer(transfer);
    if (llvm::isa<dist::SendOp, dist::RecvOp>(op)) return readEnd(op);
    if (auto phase = llvm::dyn_cast<dist::PhaseOp>(op)) return readPhase(phase);
    if (isRpc(op)) return;  // completes by the phases around it (rpc.cc)
    if (dist::commOf(op)) return readStart(op);
    if (llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect())) return readOther(op);
    if (pd::OpView::isFrameworkOp(op)) readFramework(op);
  }

  // The op itself or anything inside of it.
  static bool communicates(mlir::Operation* op) {
    return op
        ->walk([](mlir::Operation* inner) {
          return dist::commOf(inner) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
        })
        .wasInterrupted();
  }

  // A class has one text: a guard holds for all of its ranks or for none, else the text is not one
  // program and there is no one order to check.
  void readGuard(dist::OnOp on) {
    if (!communicates(on)) return;  // whose ranks it runs on is no matter of order
    const bool inside = on.getWhere().contains(text_.where);
    if (!inside && on.getWhere().intersect(text_.where))
      return unknown(on, "model",
                     "communicates on some of the ranks of " + text_.name + ", which have one text",
                     "guard communication by coordinates of which every class has all or none");
    mlir::Region& region = inside ? on.getBody() : on.getOtherwise();
    if (!region.empty()) read(region.front());
  }

  // Tasks in the order of the schedule. What a stage sends is waited for when its place is used
  // again, and at the end.
  void readMicro(dist::MicroOp micro) {
    if (!communicates(micro)) return;
    const int64_t count = microBatches(micro);
    StageOrder order = orderOf(micro, text_.where);
    for (mlir::Operation& op : micro.getBody().front()) {
      auto on = llvm::dyn_cast<dist::OnOp>(op);
      const bool placed = llvm::isa<dist::TransferOp>(op) || (on && on.getTask());
      if (!order.turns.empty() && !placed && communicates(&op))
        order.why = typeOf(&op) + " communicates beside the tasks";
    }
    if (order.why.empty() && order.turns.empty() && hasTasks(micro)) return;  // none of this class
    if (!order.why.empty() || count > static_cast<int64_t>(kMostEvents))
      return unknown(
          micro, "model",
          "its order is not known to this check" + (order.why.empty() ? "" : ": " + order.why),
          "let every value be made and taken by tasks of a named schedule");
    const int64_t before = micro_;
    const int since = static_cast<int>(events_.size());
    if (order.turns.empty()) {
      for (micro_ = 0; micro_ < count && events_.size() < kMostEvents; ++micro_)
        read(micro.getBody().front());
    } else {
      for (const Turn& turn : order.turns) readTurn(turn, order.instances);
    }
    micro_ = before;
    waitForSends(since);
  }

  static bool hasTasks(dist::MicroOp micro) {
    return llvm::any_of(micro.getBody().front().getOps<dist::OnOp>(),
                        [](dist::OnOp on) { return on.getTask().has_value(); });
  }

  // One entry of the schedule: receives of what the task takes, the task, sends of what it gives. A
  // stage keeps `instances` copies of a value; the send of the micro-batch that had the copy before
  // must be over before the copy is written again, which is the one wait that a schedule can
  // deadlock on.
  void readTurn(const Turn& turn, int64_t instances) {
    micro_ = turn.micro;
    for (dist::TransferOp transfer : turn.sends) {
      auto earlier = sends_.find({transfer, turn.micro - instances});
      if (earlier == sends_.end()) continue;
      events_.push_back(waitFor(transfer, earlier->second));
      sends_.erase(earlier);
    }
    for (dist::TransferOp transfer : turn.receives) receive(transfer, transfer);
    dist::OnOp task = turn.task;
    read(task.getBody().front());
    for (dist::TransferOp transfer : turn.sends) send(transfer, transfer);
  }

  // Elsewhere the text is the order: a send starts, a receive blocks.
  void readTransfer(dist::TransferOp transfer) {
    if (locationOf(transfer.getInput()).contains(text_.where)) return send(transfer, transfer);
    if (locationOf(transfer.getOutput()).contains(text_.where)) receive(transfer, transfer);
  }

  static dist::SelAttr locationOf(mlir::Value value) {
    return llvm::cast<dist::AtType>(value.getType()).getWhere();
  }

  // Each direction of a pair is a queue of its own, first in, first out.
  static std::string channelOf(dist::TransferOp transfer, mlir::Operation* from) {
    auto axis =
        llvm::cast<mlir::StringAttr>(dist::lookupComm(from, transfer.getCommAttr()).getAxes()[0]);
    auto at = [&](mlir::Value value) {
      return std::to_string(locationOf(value).lookup(axis).getBounds()[0]);
    };
    return at(transfer.getInput()) + ">" + at(transfer.getOutput());
  }

  // Keyed by transfer and micro-batch, so that the wait for it is found when the place is used
  // again.
  void send(dist::TransferOp transfer, mlir::Operation* op) {
    if (int ticket = start(op, channelOf(transfer, op)); ticket >= 0)
      sends_[{transfer, micro_}] = ticket;
  }
  void receive(dist::TransferOp transfer, mlir::Operation* op) {
    if (int ticket = start(op, channelOf(transfer, op)); ticket >= 0)
      events_.push_back(waitFor(op, ticket));
  }

  // The ends of a transfer in the text of a class, whose ranks have one coordinate.
  void readEnd(mlir::Operation* op) {
    dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
    dist::AxisSetAttr own =
        comm && text_.where ? text_.where.lookup(llvm::cast<mlir::StringAttr>(comm.getAxes()[0]))
                            : dist::AxisSetAttr();
    if (!own || !own.isPoint())
      return unknown(op, "model", typeOf(op) + " stands in a class of several coordinates",
                     "give every coordinate of a pairs communicator a class of its own");
    const std::string here = std::to_string(own.getBounds()[0]);
    auto sent = llvm::dyn_cast<dist::SendOp>(op);
    const std::string channel =
        sent ? here + ">" + std::to_string(sent.getTo())
             : std::to_string(llvm::cast<dist::RecvOp>(op).getFrom()) + ">" + here;
    const int ticket = start(op, channel);
    if (ticket < 0) return;
    if (sent) sends_[{op, micro_}] = ticket;
    else events_.push_back(waitFor(op, ticket));
  }

  // At the end of the region that starts at event `since`.
  void waitForSends(int since) {
    std::vector<std::pair<int, mlir::Operation*>> open;
    for (auto at = sends_.begin(); at != sends_.end();) {
      if (at->second < since) {
        ++at;
        continue;
      }
      open.push_back({at->second, at->first.first});
      at = sends_.erase(at);
    }
    llvm::sort(open);
    for (auto [ticket, op] : open) events_.push_back(waitFor(op, ticket));
  }

  // A server is one of the group that ends a phase: with every server in turn.
  void readPhase(dist::PhaseOp phase) {
    auto servers = servers_.find(phase.getComm().str());
    if (servers == servers_.end()) return;
    for (const std::string& server : servers->second)
      endPhase(phase, server, phase.getKind() == dist::PhaseKind::Push ? "push" : "pull");
  }

  void endPhase(mlir::Operation* op, const std::string& server, const char* phase) {
    const int ticket = start(op, server);
    if (ticket < 0) return;
    events_.back().phase = phase;
    events_.push_back(waitFor(op, ticket));
  }

  // A step as a server sees it: pushes come until all trainers have ended the phase, then the
  // round, then they pull.
  void readServe(dist::ServeOp serve) {
    if (serve.getMode() != dist::ServeMode::Sync) return;
    endPhase(serve, text_.name, "push");
    for (auto handler : serve.getBody().front().getOps<dist::HandleOp>())
      if (handler.getKind() == dist::Handler::Round) read(handler.getBody().front());
    endPhase(serve, text_.name, "pull");
  }

  // The ticket of the new event, -1 with a message where the communicator is none of the class.
  int start(mlir::Operation* op, std::string channel) {
    auto found = commIndex_.find(dist::commOf(op).getValue());
    if (found == commIndex_.end()) {
      unknown(op, "model", typeOf(op) + " names a communicator that its class does not have",
              "declare the dist.comm");
      return -1;
    }
    const int ticket = static_cast<int>(events_.size());
    events_.push_back({op, found->second, ticket, std::move(channel), path_, micro_});
    return ticket;
  }
  Event waitFor(mlir::Operation* op, int ticket) const {
    return {op, -1, ticket, "", path_, micro_};
  }

  void readStart(mlir::Operation* op) {
    const int ticket = start(op, "");
    if (ticket < 0) return;
    bool started =
        op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType());
    if (started) tickets_[op->getResult(0)] = ticket;
    else events_.push_back(waitFor(op, ticket));  // blocking: a start and a wait
  }

  void readWait(dist::WaitOp wait) {
    auto found = tickets_.find(wait.getPending());
    if (found != tickets_.end()) events_.push_back(waitFor(wait, found->second));
  }

  void readOther(mlir::Operation* op) {
    if (op->getNumRegions() && communicates(op))
      unknown(op, "model", typeOf(op) + " communicates inside, which this check does not cover yet",
              "verify it by running the job");
  }

  // C2, C5: nothing outside dialect dist communicates, and control flow around communication is
  // uniform: then its block is run by all members or by none, and is read as if it were run.
  void readFramework(mlir::Operation* op) {
    pd::OpView view(op);
    const pd::OpSpec* spec = view.spec();
    if (op->getName().stripDialect() == "orphan_block")
      return;  // no op refers to it: it is never run
    if (!spec)
      return unknown(op, "C5",
                     "op type '" + view.type().str() + "' is not known: it may communicate",
                     "make the job of a program without it");
    if (spec->effects & pd::kCommunicates)
      return unknown(
          op, "C5",
          typeOf(op) +
              " communicates outside of dialect dist: the imported program is already distributed",
          "start from the single-device program");
    if (!communicates(op)) return;
    // Members in other texts have the same op of the reference around theirs.
    auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    const std::string before = path_;
    path_ += (path_.empty() ? "" : " in ") + typeOf(op) +
             (number ? " #" + std::to_string(number.getInt()) : " " + positionOf(op));
    const int since = static_cast<int>(events_.size());
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) read(block);
    waitForSends(since);
    path_ = before;
  }

  const ClassText& text_;
  const Servers& servers_;
  Rung& report_;
  std::vector<Event> events_;
  llvm::StringMap<int> commIndex_;
  llvm::DenseMap<mlir::Value, int> tickets_;
  std::map<std::pair<mlir::Operation*, int64_t>, int> sends_;  // started, by micro-batch
  std::string path_;
  int64_t micro_ = -1;
};

}  // namespace

// What members of one operation must agree on: kind with its
// parameters, types, and the names of the values. Of a transfer the op itself is what both ends
// have in common; its ends in the text of one class (send, recv) know the type only.
Signature signatureOf(const Event& event) {
  mlir::Operation* op = event.op;
  Signature signature;
  signature.kind = op->getName().stripDialect().str();
  auto dim = [](int64_t value) {
    return value == dist::kFlat ? std::string(" dim flat") : " dim " + std::to_string(value);
  };
  llvm::TypeSwitch<mlir::Operation*>(op)
      .Case([&](dist::AllReduceOp one) {
        signature.kind += " " + dist::stringifyReduce(one.getReduce()).str();
      })
      .Case([&](dist::ReduceOp one) {
        signature.kind += " " + dist::stringifyReduce(one.getReduce()).str() + " to <" +
                          textOf(one.getRoot()) + ">";
      })
      .Case(
          [&](dist::BroadcastOp one) { signature.kind += " from <" + textOf(one.getRoot()) + ">"; })
      .Case([&](dist::ReduceScatterOp one) {
        signature.kind += " " + dist::stringifyReduce(one.getReduce()).str() + dim(one.getDim());
      })
      .Case([&](dist::AllGatherOp one) {
        signature.kind += dim(one.getDim()) + (one.getRagged() ? " ragged" : "");
      })
      .Case([&](dist::TransferOp transfer) {
        signature.values =
            positionOf(transfer) +
            (event.micro < 0 ? "" : " of micro-batch " + std::to_string(event.micro));
      })
      .Case<dist::SendOp, dist::RecvOp>([&](mlir::Operation* end) {
        signature.kind = "transfer";
        signature.types = textOf(end->getNumOperands() ? end->getOperand(0).getType()
                                                       : end->getResult(0).getType());
      })
      .Case<dist::PhaseOp, dist::ServeOp>(
          [&](mlir::Operation*) { signature.kind = std::string("phase ") + event.phase; })
      .Case([&](dist::AllToAllOp one) {
        signature.kind += " split " + std::to_string(one.getSplit()) + " concat " +
                          std::to_string(one.getConcat());
      });
  if (llvm::isa<dist::TransferOp, dist::SendOp, dist::RecvOp>(op)) return signature;
  for (mlir::Value operand : op->getOperands()) {
    signature.types +=
        (signature.types.empty() ? "" : ", ") + textOf(dist::unlocated(operand.getType()));
    signature.values += (signature.values.empty() ? "" : ", ") + dist::nameOf(operand).str();
  }
  return signature;
}

// What the class serves; null of trainers.
dist::ServeOp serveOf(const ClassText& text) {
  if (!text.main) return {};
  auto loops = pd::ProgramOp(text.main).getBodyBlock()->getOps<dist::ServeOp>();
  return loops.empty() ? dist::ServeOp() : *loops.begin();
}

// The operations of one program of a class, in the order in which it starts them and waits for
// them.
std::vector<Event> eventsOf(const ClassText& text, llvm::StringRef name, const Servers& servers,
                            Rung& report) {
  const bool startup = name == "startup";
  pd::ProgramOp program = startup ? text.startup : text.main;
  Reader reader(text, servers, report);
  if (program) reader.readProgram(*program.getBodyBlock());
  // Trainers that ask nothing in start-up pass its phase with their first push.
  if (dist::ServeOp serve = serveOf(text); startup && serve &&
                                           serve.getMode() == dist::ServeMode::Sync &&
                                           servers.count(serve.getComm().str()))
    reader.endOfStartup(serve);
  return reader.take();
}

}  // namespace dtranspile::verify
