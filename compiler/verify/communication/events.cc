#include "compiler/verify/communication/events.h"

#include "compiler/analysis/position.h"
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

class Reader {
 public:
  Reader(const ClassText& text, Rung& report) : text_(text), report_(report) {
    for (dist::CommOp comm : text.comms)
      commIndex_.try_emplace(comm.getSymName(), static_cast<int>(commIndex_.size()));
  }

  void read(mlir::Block& block) {
    for (mlir::Operation& op : block) read(&op);
  }
  std::vector<Event> take() { return std::move(events_); }

 private:
  void unknown(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    Message message =
        messageAt(op, Message::Level::Unknown, rule, std::move(text), std::move(remedy));
    message.rankClass = text_.name;
    report_.add(std::move(message));
  }

  void read(mlir::Operation* op) {
    if (auto on = llvm::dyn_cast<dist::OnOp>(op)) return readGuard(on);
    if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op))
      return read(composite.getBody().front());
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) return readWait(wait);
    if (dist::commOf(op)) return readStart(op);
    if (llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect())) return readOther(op);
    if (pd::OpView::isFrameworkOp(op)) readFramework(op);
  }

  void readGuard(dist::OnOp on) {
    // The class is inside or outside as a whole: classes are cut at the guards.
    bool inside = on.getWhere().contains(text_.where);
    mlir::Region& region = inside ? on.getBody() : on.getOtherwise();
    if (!region.empty()) read(region.front());
  }

  void readStart(mlir::Operation* op) {
    auto found = commIndex_.find(dist::commOf(op).getValue());
    if (llvm::isa<dist::PushOp, dist::PullOp, dist::LookupOp, dist::PhaseOp, dist::TransferOp>(op))
      return unknown(op, "model", typeOf(op) + " is not covered by this check yet",
                     "verify it by running the job");
    if (found == commIndex_.end())
      return unknown(op, "model", typeOf(op) + " names a communicator that its class does not have",
                     "declare the dist.comm");
    int ticket = static_cast<int>(events_.size());
    events_.push_back({op, found->second, ticket});
    bool started =
        op->getNumResults() == 1 && llvm::isa<dist::PendingType>(op->getResult(0).getType());
    if (started) tickets_[op->getResult(0)] = ticket;
    else events_.push_back({op, -1, ticket});  // a blocking operation is a start and a wait
  }

  void readWait(dist::WaitOp wait) {
    auto found = tickets_.find(wait.getPending());
    if (found != tickets_.end()) events_.push_back({wait, -1, found->second});
  }

  void readOther(mlir::Operation* op) {
    bool communicates = op->walk([](mlir::Operation* inner) {
                            return dist::commOf(inner) ? mlir::WalkResult::interrupt()
                                                       : mlir::WalkResult::advance();
                          }).wasInterrupted();
    if (communicates && op->getNumRegions())
      unknown(op, "model", typeOf(op) + " communicates inside, which this check does not cover yet",
              "verify it by running the job");
  }

  // C2, C5: nothing outside dialect dist communicates, and control flow around communication is
  // uniform.
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
    bool inside = op->walk([](mlir::Operation* inner) {
                      return dist::commOf(inner) ? mlir::WalkResult::interrupt()
                                                 : mlir::WalkResult::advance();
                    }).wasInterrupted();
    if (inside)
      unknown(op, "C2",
              typeOf(op) +
                  " communicates inside, and its predicate is not shown to be equal on all ranks",
              "move the communication out of the block");
  }

  const ClassText& text_;
  Rung& report_;
  std::vector<Event> events_;
  llvm::StringMap<int> commIndex_;
  llvm::DenseMap<mlir::Value, int> tickets_;
};

}  // namespace

Signature signatureOf(mlir::Operation* op) {
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
      .Case([&](dist::AllToAllOp one) {
        signature.kind += " split " + std::to_string(one.getSplit()) + " concat " +
                          std::to_string(one.getConcat());
      });
  for (mlir::Value operand : op->getOperands()) {
    signature.types +=
        (signature.types.empty() ? "" : ", ") + textOf(dist::unlocated(operand.getType()));
    signature.values += (signature.values.empty() ? "" : ", ") + dist::nameOf(operand).str();
  }
  return signature;
}

std::vector<Event> eventsOf(const ClassText& text, pd::ProgramOp program, Rung& report) {
  if (!program) return {};
  Reader reader(text, report);
  reader.read(*program.getBodyBlock());
  return reader.take();
}

}  // namespace dtranspile::verify
