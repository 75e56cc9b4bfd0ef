#include "compiler/verify/relations/exchange.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/contract_texts.h"
#include "compiler/verify/relations/contracts.h"
#include "compiler/verify/relations/every.h"
#include "compiler/verify/relations/exchange_parts.h"
#include "compiler/verify/relations/polynomial.h"
#include "dialects/dist/changes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
namespace {

// One table: what trainers push to it and pull from it.
struct Traffic {
  dist::PushOp push;
  dist::PullOp pull;
  std::optional<Polynomial> pushed;
  std::optional<Polynomial> known;  // what rows that nobody else has changed are taken to be
};

// The exchange of geo-SGD (trainers train by themselves for k steps, then push what has changed and
// pull what others have changed), checked symbolically: values are polynomials over the parameter,
// its snapshot and what is pulled, and the three assignments that make an exchange are compared
// with the ones that the mode defines. Between exchanges the program is that of one trainer
// (withoutExchanges).
class Exchange {
 public:
  Exchange(const Parties& parties, const Reference& reference, const Contracts& contracts,
           Rung& findings)
      : parties_(parties),
        reference_(reference),
        contracts_(contracts),
        findings_(findings),
        values_([this](mlir::Value value) -> std::optional<Polynomial> {
          auto found = leaves_.find(value);
          if (found == leaves_.end()) return std::nullopt;
          return found->second;
        }) {}

  void check() {
    mlir::Operation* branch = findBranch();
    if (!branch) return;
    checkSchedule(branch);
    walk(branch);
    checkParameters(branch);
    std::map<std::string, mlir::Operation*> pushes;
    for (auto& [table, traffic] : traffic_)
      pushes[table] = traffic.push ? traffic.push.getOperation() : nullptr;
    checkServers(parties_, pushes, findings_);
  }

 private:
  void refute(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    findings_.add(messageAt(op, Message::Level::Refuted, rule, std::move(text), std::move(remedy)));
  }
  void open(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    findings_.add(messageAt(op, Message::Level::Unknown, rule, std::move(text), std::move(remedy)));
  }

  // The last op of the program, around all that asks servers.
  mlir::Operation* findBranch() {
    pd::ProgramOp main = parties_.main;
    mlir::Operation* branch = nullptr;
    bool good = true;
    main.walk([&](mlir::Operation* op) {
      if (!dist::commOf(op) || !good) return;
      mlir::Operation* top = op;
      while (top->getBlock() != main.getBodyBlock()) top = top->getParentOp();
      const bool branches = top != op && typeOf(top) == "conditional_block" &&
                            op->getBlock() == &top->getRegion(0).front();
      if (!branches || (branch && branch != top)) {
        good = false;
        return refute(op, "geo-schedule",
                      "asks the servers outside of the exchange: between two exchanges trainers go "
                      "on by themselves",
                      "put it into the conditional_block that every k-th step takes");
      }
      branch = top;
    });
    if (good && !branch)
      refute(main, "geo-schedule", "exchanges nothing with the servers",
             "push what has changed, and pull what the servers have, every k steps");
    if (good && branch && branch != &main.getBodyBlock()->back()) {
      refute(branch->getNextNode(), "geo-schedule",
             "stands behind the exchange, which ends a trainer's step",
             "put it in front of the exchange");
      return nullptr;
    }
    return good ? branch : nullptr;
  }

  // What an exchange computes is no value of the reference.
  void claims(mlir::Operation* op) {
    open(op, "claim", "claims a relation, and is part of an exchange: nobody looks at it",
         "remove its dist.rel");
  }

  // The branch is taken every k-th step, by its counter, and k is what servers are told.
  void checkSchedule(mlir::Operation* branch) {
    for (mlir::Operation& op : *branch->getBlock())
      if (op.hasAttr(dist::kRelAttr) && !op.hasAttr(dist::kSrcAttr) && op.getNumResults() > 0)
        claims(&op);
    const EverySteps every = everySteps(branch, parties_.main, parties_.startup);
    if (every.wrong) return refute(every.wrong, "geo-schedule", every.why, every.remedy);
    if (!every.open.empty()) return open(branch, "geo-schedule", every.open, every.remedy);
    const std::string wanted = geoText(every.steps);
    if (auto said = contracts_.statements.find(kGeoTag.str());
        contracts_.declares(kGeoTag) &&
        (said == contracts_.statements.end() || said->second != wanted))
      refuteStatement(branch, kGeoTag, contracts_, wanted, findings_);
    dist::CommOp comm = dist::lookupComm(parties_.serve, dist::commOf(parties_.serve));
    auto steps =
        comm ? comm->getAttrOfType<mlir::IntegerAttr>(dist::kExchangeSteps) : mlir::IntegerAttr();
    if (steps && steps.getInt() != every.steps)
      refute(branch, "geo-schedule",
             "is taken every " + std::to_string(every.steps) +
                 " steps, and the communicator says " + "every " + std::to_string(steps.getInt()),
             "say the same number in both places");
    auto counter =
        comm ? comm->getAttrOfType<mlir::StringAttr>(dist::kExchangeCounter) : mlir::StringAttr();
    if (static_cast<bool>(steps) != static_cast<bool>(counter))
      refute(branch, "geo-schedule",
             "is taken by a count, and the communicator names the number of steps or the variable, "
             "not both: the run-time system would leave the last exchange out",
             "name both, or neither");
    if (counter && counter.getValue() != every.counter)
      refute(branch, "geo-schedule",
             "is taken by the count of `" + every.counter + "`, and the communicator says that `" +
                 counter.getValue().str() + "` counts",
             "name the same variable in both places: the run-time system sets it before the last "
             "step");
  }

  // What the branch reads, asks for, and leaves in variables.
  void walk(mlir::Operation* branch) {
    for (mlir::Operation& op : branch->getRegion(0).front()) {
      if (op.hasAttr(dist::kRelAttr)) claims(&op);
      if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
        auto now = now_.find(get.getVar().str());
        leaves_[get.getValue()] =
            now == now_.end() ? Polynomial::of(quoted(get.getVar())) : now->second;
      } else if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        visitSet(set);
      } else if (auto push = llvm::dyn_cast<dist::PushOp>(op)) {
        visitPush(push);
      } else if (auto pull = llvm::dyn_cast<dist::PullOp>(op)) {
        visitPull(pull);
      } else if (!llvm::isa<pd::DeclOp, pd::YieldOp>(op) && !isPlain(&op)) {
        open(&op, "geo-exchange", "is no part of an exchange that is understood",
             "compute what is pushed by sums, differences and scales");
      }
    }
  }

  // Evaluated where its result is needed.
  static bool isPlain(mlir::Operation* op) {
    const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
    return spec && spec->effects == pd::kPure && op->getNumRegions() == 0;
  }

  // What the program sets a variable to, as a polynomial of parameters, snapshots and what was
  // pulled. A value that is no such polynomial is an unknown symbol from there on.
  void visitSet(pd::SetOp set) {
    std::optional<Polynomial> value = values_.of(set.getValue());
    setters_[set.getVar().str()] = set;
    if (value) {
      now_.insert_or_assign(set.getVar().str(), std::move(*value));
      return;
    }
    now_.insert_or_assign(set.getVar().str(), Polynomial::of("?"));
    open(set, "geo-exchange",
         "sets " + quoted(set.getVar()) + " to " + nameText(set.getValue()) +
             ", of which it is not known how it is made",
         "make it by sums, differences and scales of the parameter, its snapshot and what is "
         "pulled");
  }

  // What a push sends is the polynomial that it is worth at that moment; a pull after it is an
  // unknown of its own, which stands for the servers' value with that push in it.
  void visitPush(dist::PushOp push) {
    const std::string table = push.getVar().getLeafReference().str();
    Traffic& traffic = traffic_[table];
    if (push.getMerge() != dist::Merge::Each)
      refute(push, "geo-exchange",
             "is to be merged with those of the other trainers, which a server of mode geo does "
             "not wait for",
             "push with merge each");
    if (traffic.push)
      return refute(push, "geo-exchange",
                    "pushes to " + quoted(table) +
                        " a second time in one exchange: the change "
                        "counts twice",
                    "push once per exchange and parameter");
    if (traffic.pull)
      refute(push, "geo-exchange",
             "stands behind the pull of " + quoted(table) +
                 ", which does not see it: the trainer "
                 "would go on without its own share",
             "push in front of the pull");
    traffic.push = push;
    traffic.pushed = values_.of(push.getInput());
    if (!traffic.pushed)
      open(push, "geo-exchange",
           "pushes " + nameText(push.getInput()) + ", of which it is not known how it is made",
           "push the scaled difference of the parameter and its snapshot");
  }

  // `known`: of rows that nobody else has changed the trainer knows what the servers have, and gets
  // the others only. That is right where the variable holds the snapshot and the trainer's own
  // push.
  void visitPull(dist::PullOp pull) {
    const std::string table = pull.getVar().getLeafReference().str();
    Traffic& traffic = traffic_[table];
    if (traffic.pull)
      refute(pull, "geo-exchange", "pulls " + quoted(table) + " a second time in one exchange",
             "pull once per exchange and parameter");
    traffic.pull = pull;
    if (auto known = pull->getAttrOfType<mlir::FlatSymbolRefAttr>(dist::kKnownAttr)) {
      auto now = now_.find(known.getValue().str());
      traffic.known = now == now_.end() ? Polynomial::of(quoted(known.getValue())) : now->second;
      if (!traffic.push || !traffic.push->hasAttr(dist::kChangedRowsAttr))
        refute(pull, "geo-exchange",
               "asks for the rows of " + quoted(table) +
                   " that have changed, and trainers' pushes "
                   "do not say which they change",
               "push changed rows, or pull the whole");
    }
    leaves_[pull.getOutput()] = Polynomial::of(pulledName(table));
  }

  static std::string pulledName(llvm::StringRef table) { return "pulled " + quoted(table); }

  // The exchanged table of the servers that stands for that variable of the reference.
  pd::VarOp tableFor(llvm::StringRef reference) {
    for (auto var : parties_.servers.getBody().front().getOps<pd::VarOp>())
      if (standsFor(var) == reference && traffic_.count(var.getSymName().str())) return var;
    return {};
  }

  // Every trained parameter is exchanged, and nothing else is.
  void checkParameters(mlir::Operation* branch) {
    dist::MeshOp mesh = dist::meshOf(parties_.trainers);
    const double share = 1.0 / static_cast<double>(mesh.ranks());
    for (auto var : parties_.trainers.getBody().front().getOps<pd::VarOp>()) {
      const llvm::StringRef reference = standsFor(var);
      if (!var.getParameter() || !reference_.trains(reference)) continue;
      checkParameter(branch, var, reference, share);
    }
    for (auto& [table, traffic] : traffic_)
      if (!checked_.contains(table))
        refute(traffic.push ? traffic.push.getOperation() : traffic.pull.getOperation(),
               "geo-exchange",
               quoted(table) + " is exchanged, and is no parameter that trainers train",
               "exchange the parameters that the program trains, and nothing else");
    for (auto& [name, set] : setters_)
      if (!excused_.contains(name))
        refute(
            set, "geo-exchange",
            "sets " + quoted(name) + ", which is neither an exchanged parameter nor its snapshot",
            "set it in front of the exchange");
  }

  // m = (x - y)/N is pushed, x ends as x + z - (y + m), and y as z.
  void checkParameter(mlir::Operation* branch, pd::VarOp var, llvm::StringRef reference,
                      double share) {
    const std::string own = var.getSymName().str();
    excused_.insert(own);
    pd::VarOp server = tableFor(reference);
    if (!server)
      return refute(branch, "geo-exchange",
                    "leaves out " + quoted(own) +
                        ", which is trained: trainers' values of it would "
                        "drift apart",
                    "push its change, and pull it");
    const std::string table = server.getSymName().str();
    checked_.insert(table);
    checkIsReferences(var, parties_.trainers, /*cut=*/false, findings_);
    checkIsReferences(server, parties_.servers, /*cut=*/true, findings_);
    Traffic& traffic = traffic_.find(table)->second;
    if (!traffic.push || !traffic.pull)
      return refute(
          traffic.push ? traffic.push.getOperation() : traffic.pull.getOperation(), "geo-exchange",
          (traffic.push ? "pushes to " : "pulls ") + quoted(table) + ", and the exchange " +
              (traffic.push ? "pulls it not" : "pushes nothing to it"),
          "push the change, then pull what the servers have");
    const Polynomial x = Polynomial::of(quoted(own)), z = Polynomial::of(pulledName(table));
    pd::VarOp snapshot = snapshotOf(own, reference, z);
    if (!snapshot)
      return refute(traffic.pull, "geo-exchange",
                    "what is pulled of " + quoted(table) +
                        " is kept in no snapshot: the next "
                        "exchange would push a change from something else",
                    "set a variable that stands for " + quoted(reference) + " to it");
    const std::string last = snapshot.getSymName().str();
    excused_.insert(last);
    checkIsReferences(snapshot, parties_.trainers, /*cut=*/false, findings_);
    const Polynomial y = Polynomial::of(quoted(last));
    const Polynomial delta = Polynomial().plus(x, share).plus(y, -share);
    if (traffic.pushed && !(*traffic.pushed == delta))
      refute(traffic.push, "geo-exchange",
             "pushes " + traffic.pushed->text() + "; a trainer's share of its change is " +
                 delta.text(),
             "push the difference to the snapshot, divided by the number of trainers");
    const Polynomial next = x.plus(z).plus(y, -1).plus(delta, -1);
    auto now = now_.find(own);
    if (now == now_.end() || !(now->second == next))
      refute(now == now_.end() ? traffic.pull.getOperation() : setters_[own].getOperation(),
             "geo-exchange",
             quoted(own) + " goes on as " + (now == now_.end() ? x : now->second).text() +
                 "; with what others have added it is " + next.text(),
             "add what is pulled, less what the server had and what was pushed");
    if (traffic.known && !(*traffic.known == y.plus(delta)))
      refute(traffic.pull, "geo-exchange",
             "takes rows that nobody else has changed to be " + traffic.known->text() +
                 "; the servers have " + y.plus(delta).text() + " there",
             "set the snapshot to what the servers had and what was pushed, in front of the pull");
    checkSnapshotIsKept(snapshot);
  }

  // Of several variables that end as what was pulled, any but the parameter.
  pd::VarOp snapshotOf(llvm::StringRef own, llvm::StringRef reference, const Polynomial& pulled) {
    for (auto var : parties_.trainers.getBody().front().getOps<pd::VarOp>()) {
      auto now = now_.find(var.getSymName().str());
      if (var.getSymName() != own && standsFor(var) == reference && now != now_.end() &&
          now->second == pulled)
        return var;
    }
    return {};
  }

  // The snapshot is what the servers had at the last exchange, or the next difference would be to
  // something else.
  void checkSnapshotIsKept(pd::VarOp snapshot) {
    pd::ProgramOp main = parties_.main;
    for (mlir::Operation& op : *main.getBodyBlock()) {
      if (&op == &main.getBodyBlock()->back()) break;
      op.walk([&](pd::SetOp set) {
        if (set.getVar() == snapshot.getSymName())
          refute(set, "geo-exchange",
                 "sets " + quoted(set.getVar()) +
                     ", which is what the servers had at the last "
                     "exchange",
                 "leave it alone between exchanges");
      });
    }
  }

  Parties parties_;
  const Reference& reference_;
  const Contracts& contracts_;
  Rung& findings_;
  Evaluator values_;
  llvm::DenseMap<mlir::Value, Polynomial> leaves_;
  std::map<std::string, Polynomial> now_;  // of variables, in the branch
  std::map<std::string, pd::SetOp> setters_;
  std::map<std::string, Traffic> traffic_;  // by table
  llvm::StringSet<> checked_, excused_;     // tables; variables that the branch may set
};

}  // namespace

bool exchangesChanges(mlir::ModuleOp job) {
  bool found = false;
  job.walk([&](dist::ServeOp serve) { found |= serve.getMode() == dist::ServeMode::Geo; });
  return found;
}

// Jobs in mode geo: the contract first, without which nothing excuses what trainers hold between
// two exchanges; then the exchange; then what trainers and servers have besides.
void checkExchanges(mlir::ModuleOp job, const Contracts& contracts, Rung& findings,
                    Deviations& deviations) {
  const Parties parties = partiesOf(job);
  if (std::distance(job.getOps<dist::RoleOp>().begin(), job.getOps<dist::RoleOp>().end()) != 2 ||
      !parties.main || !parties.startup || !parties.serve) {
    findings.add(messageAt(job, Message::Level::Unknown, "geo-exchange",
                           "serves in mode geo, and has not one role of trainers, with @main and "
                           "@startup, and one of servers",
                           "use two roles"));
    return;
  }
  if (!contracts.declares(kGeoTag))
    findings.add(
        messageAt(parties.serve, Message::Level::Refuted, "contract",
                  "serves in mode geo: between two exchanges trainers hold other values than "
                  "the reference, and the job does not declare it",
                  "declare the contract \"geo\""));
  if (contracts.declares(kLocalSgdTag))
    findings.add(messageAt(parties.serve, Message::Level::Unknown, "geo-exchange",
                           "serves in mode geo, and trainers average parameters among themselves "
                           "too, by the contract \"local_sgd\"",
                           "use the one or the other"));
  const Reference reference(findProgram(referenceModule(job), "main"));
  Exchange(parties, reference, contracts, findings).check();
  collectOwn(parties, reference, contracts, findings, deviations);
}

}  // namespace dtranspile::verify
