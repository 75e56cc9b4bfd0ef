#include "compiler/verify/relations/queues.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/contract_texts.h"
#include "compiler/analysis/relations/rpc.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The loop that answers what is asked on a communicator; null where none does.
dist::ServeOp serverOf(mlir::ModuleOp job, dist::CommOp comm) {
  for (auto role : job.getOps<dist::RoleOp>())
    if (comm.getServer() && role.getSymName() == *comm.getServer())
      return serveOf(findProgram(role, "main"));
  return {};
}

int64_t numberOf(dist::CommOp comm, llvm::StringRef name) {
  auto entries = comm->getAttrOfType<mlir::DictionaryAttr>(dist::kSendingAttr);
  auto number = entries ? entries.getAs<mlir::IntegerAttr>(name) : mlir::IntegerAttr();
  return number ? number.getInt() : 1;
}

bool says(dist::CommOp comm, llvm::StringRef name) {
  auto entries = comm->getAttrOfType<mlir::DictionaryAttr>(dist::kSendingAttr);
  return entries && entries.contains(name);
}

// Gradients that become one push are another update than one after the other, and a pull that does
// not wait is another staleness: the contract has to say so.
void checkSending(dist::CommOp comm, const Contracts& contracts, Rung& findings) {
  const std::string wanted = stalenessText(
      numberOf(comm, "max_merge_var_num"), says(comm, "average"),
      says(comm, "independent_recv_thread") || numberOf(comm, "min_send_grad_num_before_recv") > 1);
  const auto said = contracts.statements.find(kStalenessTag.str());
  if (said == contracts.statements.end() || said->second != wanted)
    refuteStatement(comm, kStalenessTag, contracts, wanted, findings);
}

// A signal counts steps: of several that are merged the server sees one. Nothing else passes what
// waits: of gradients the contract says how many become one push.
void checkSignal(dist::PushOp push, dist::CommOp comm, Rung& findings) {
  mlir::Operation* maker = push.getInput().getDefiningOp();
  const bool signal = maker && pd::OpView::isFrameworkOp(maker) &&
                      !maker->hasAttr(dist::kSrcAttr) &&
                      pd::OpView(maker).type() == "fill_constant";
  if (!signal && push->hasAttr(dist::kAtOnceAttr))
    findings.add(messageAt(push, Message::Level::Refuted, "push",
                           "pushes " + nameText(push.getInput()) +
                               " past those that wait, and is no signal that counts steps: the "
                               "gradients of a variable are sent, and merged, in their order",
                           "let it wait like the others, without dist.at_once"));
  if (signal && !push->hasAttr(dist::kAtOnceAttr) && numberOf(comm, "max_merge_var_num") > 1)
    findings.add(messageAt(push, Message::Level::Refuted, "push",
                           "pushes a constant, of which several are merged on their way: what the "
                           "server counts is not steps",
                           "let it wait in no queue (dist.at_once)"));
}

// Rows that do not travel are those of an exchange of geo-SGD: everywhere else what is pushed is
// looked at whole, zeros included, and what is pulled is what the server has.
void checkRows(mlir::Operation* op, bool exchange, Rung& findings) {
  if (op->hasAttr(dist::kChangedRowsAttr) && !exchange)
    findings.add(
        messageAt(op, Message::Level::Refuted, "push",
                  "sends the rows that are not zero, and the server's update is one of all "
                  "rows",
                  "send all of it, or SelectedRows"));
  if (op->hasAttr(dist::kKnownAttr) && !exchange)
    findings.add(messageAt(op, Message::Level::Refuted, "pull",
                           "takes rows to be those of a variable of the trainer, which need not be "
                           "what the server has",
                           "pull the whole"));
}

// The run-time system sets the counter of exchanges before the last step: where there are none it
// would set a variable of something else.
void checkCounter(dist::CommOp comm, dist::ServeOp serve, Rung& findings) {
  if (serve && serve.getMode() == dist::ServeMode::Geo) return;
  const llvm::StringRef words[] = {dist::kExchangeCounter, dist::kExchangeSteps};
  for (llvm::StringRef name : words)
    if (comm->hasAttr(name))
      findings.add(messageAt(comm, Message::Level::Refuted, "geo-schedule",
                             "says " + name.str() +
                                 ", and joins no trainers with servers of mode geo: nothing is "
                                 "exchanged by a count",
                             "leave it out"));
}

}  // namespace

// What a communicator with a server says of its traffic, against what the server and the contract
// say: exchanges are counted with servers of mode geo only; how many gradients become one push, and
// whether pulls wait, is what the contract on staleness states; signals that count steps wait in no
// queue; and rows that do not travel are those of an exchange.
void checkQueues(mlir::ModuleOp job, const Contracts& contracts, Rung& findings) {
  for (auto comm : job.getOps<dist::CommOp>()) checkCounter(comm, serverOf(job, comm), findings);
  for (auto comm : job.getOps<dist::CommOp>())
    if (dist::ServeOp serve = serverOf(job, comm);
        serve && serve.getMode() != dist::ServeMode::Geo &&
        (comm->hasAttr(dist::kSendingAttr) || contracts.declares(kStalenessTag)))
      checkSending(comm, contracts, findings);
  for (auto role : job.getOps<dist::RoleOp>())
    for (auto program : role.getBody().front().getOps<pd::ProgramOp>())
      program.walk([&](mlir::Operation* op) {
        if (!llvm::isa<dist::PushOp, dist::PullOp>(op)) return;
        dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
        dist::ServeOp serve = comm ? serverOf(job, comm) : dist::ServeOp();
        if (!serve) return;
        if (auto push = llvm::dyn_cast<dist::PushOp>(op)) checkSignal(push, comm, findings);
        checkRows(op, serve.getMode() == dist::ServeMode::Geo && program.getSymName() == "main",
                  findings);
      });
}

}  // namespace dtranspile::verify
