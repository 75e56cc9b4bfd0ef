#include "compiler/analysis/relations/rpc.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

// Why not every trainer asks this once per step; empty where it does.
std::string partial(const Scene& scene, dist::CommOp comm) {
  const Scope& scope = scene.store.scope();
  const Axes& mesh = scene.store.meshAxes();
  for (unsigned a = 0; a < mesh.count(); ++a) {
    if (scene.axes().meshSizes[a] != mesh.meshSizes[a]) return "once per micro-batch";
    if (mesh.meshSizes[a] == 1) continue;
    if (!comm.overAxis(mesh.names[a])) return "on a communicator that does not join all trainers";
    if (scope.place.isVague(mesh.names[a]) ||
        scope.place.countAlong(mesh.names[a], mesh.meshSizes[a]) != mesh.meshSizes[a])
      return "on the ranks " + scope.place.text() + " only";
  }
  return "";
}

}  // namespace

// The loop of a server, of which a program has one at most.
dist::ServeOp serveOf(pd::ProgramOp program) {
  if (!program) return {};
  auto loops = program.getBodyBlock()->getOps<dist::ServeOp>();
  return loops.empty() ? dist::ServeOp() : *loops.begin();
}

// The server that an op asks. A server in mode sync counts requests: one that only some trainers
// make, or more than once per step, would leave it waiting.
Rpc::Server* Rpc::serverOf(const Scene& scene, mlir::Operation* op) {
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  if (!comm || !comm.getServer()) return nullptr;
  if (std::string why = partial(scene, comm); !why.empty()) {
    const bool wrong = !llvm::StringRef(why).starts_with("on a communicator");
    scene.report(op, wrong ? Message::Level::Refuted : Message::Level::Unknown, "push",
                 typeOf(op) + " asks the server " + why +
                     ": it waits for one request of every trainer and step",
                 "ask it on all ranks of the role, once per step");
  }
  return serverNamed(*comm.getServer());
}

// Null for a role that is not among those that are walked.
Rpc::Server* Rpc::serverNamed(llvm::StringRef name) {
  Server& server = servers_[name.str()];
  for (RoleWalk& walk : roles_)
    if (dist::RoleOp(walk.question.role).getSymName() == name) server.walk = &walk;
  return server.walk ? &server : nullptr;
}

// The sum over all trainers, or their mean, as the servers have it. Every trainer counts, also
// where they hold the same.
Rpc::Pushed Rpc::combined(const Scene& scene, dist::PushOp op) const {
  const Axes& axes = scene.store.meshAxes();
  Pushed pushed{op, scene.of(op.getInput()), {}, false};
  Relation& relation = pushed.relation;
  const Reason* lost = scene.store.reasonOf(op.getInput());
  if (!relation.known())
    pushed.reason = lost ? *lost : Reason{"takes a value of unknown relation", -1, {}};
  int64_t trainers = 1;
  for (unsigned a = 0; a < axes.count() && relation.whole.known; ++a) {
    trainers *= axes.meshSizes[a];
    if (axes.meshSizes[a] == 1) continue;
    const State state = relation.whole.states[a];
    std::optional<Rational> factor =
        reducedScale(state, dist::Reduce::Sum, axes.meshSizes[a], relation, true);
    if (!factor) {
      pushed.reason = {"is " + state.text() + " along axis " + axes.names[a] +
                           ": the servers would add values of different samples or ranks",
                       -1,
                       {},
                       "reduction"};
      relation.whole = {};
      break;
    }
    relation.whole.scale = relation.whole.scale * *factor;
  }
  if (relation.whole.known && op.getMerge() == dist::Merge::Mean)
    relation.whole.scale = relation.whole.scale * Rational(1, trainers);
  return pushed;
}

// Whether it applies every push by itself, in the order in which they come.
bool Rpc::Server::single() const {
  dist::ServeOp serve = serveOf(findProgram(walk->question.role, "main"));
  return serve && (serve.getMode() == dist::ServeMode::Async ||
                   serve.getMode() == dist::ServeMode::HalfAsync);
}

// What one trainer has for its own share of the batch.
Rpc::Pushed Rpc::own(const Scene& scene, dist::PushOp op) const {
  const Axes& axes = scene.store.meshAxes();
  Pushed pushed{op, scene.of(op.getInput()), {}, false};
  Relation& relation = pushed.relation;
  Reading& parts = relation.parts;
  const Reason* lost = scene.store.reasonOf(op.getInput());
  if (!parts.known)
    pushed.reason =
        lost ? *lost : Reason{"is not what the reference gives on a trainer's share", -1, {}};
  for (unsigned a = 0; a < axes.count() && parts.known; ++a) {
    State& state = parts.states[a];
    if (axes.meshSizes[a] == 1 || state.isReplicated() || state.isParts()) {
      state = State::replicated();
      continue;
    }
    pushed.reason = {"is " + state.text() + " along axis " + axes.names[a] +
                         ": it is no gradient of a trainer's own share",
                     -1,
                     {},
                     "reduction"};
    parts = {};
  }
  relation.whole = parts;
  relation.addTags(mlir::StringAttr::get(op.getContext(), kStalenessTag));
  return pushed;
}

// A push of a constant is a signal: its handler counts steps, and does not look at what is sent.
void Rpc::apply(const Scene& scene, Server& server, Pushed& pushed) {
  const std::string name = pushed.op.getVar().getLeafReference().str();
  dist::ServeOp serve = serveOf(server.walk->question.program);
  for (auto handler : serve.getBody().front().getOps<dist::HandleOp>()) {
    if (handler.getKind() != dist::Handler::Push || handler.getVar() != name) continue;
    walkBlock({server.walk->question, *server.walk->store, scene.findings, this},
              server.walk->watch, handler.getBody().front());
    if (!pushed.used && pushed.relation.reference >= 0)
      scene.report(pushed.op, Message::Level::Refuted, "push",
                   "pushes to `" + name + "`, and the server's handler does not take it",
                   "take it with dist.merged in the handler, or do not push it");
    return;
  }
  scene.report(pushed.op, Message::Level::Refuted, "push",
               "pushes to `" + name + "`, and no handler of the server is for it",
               "add dist.handle push @" + name + ", or do not push it");
}

// A server of single requests when all trainers have been walked.
void Rpc::finishSingle(dist::ServeOp serve, Server& server, Rung& findings) {
  for (auto handler : serve.getBody().front().getOps<dist::HandleOp>()) {
    if (handler.getKind() == dist::Handler::Push && !server.pushed.count(handler.getVar()->str()))
      findings.add(messageAt(handler, Message::Level::Refuted, "push",
                             "is never run: no trainer pushes to `" + handler.getVar()->str() + "`",
                             "push its gradient once per step, or remove the handler"));
  }
}

// What is pushed is kept under the name of the variable until the round takes it; where pushes are
// applied by themselves, the handler is walked at once.
void Rpc::push(const Scene& scene, dist::PushOp op) {
  Server* server = serverOf(scene, op);
  if (!server) return;
  const std::string name = op.getVar().getLeafReference().str();
  const bool each = op.getMerge() == dist::Merge::Each;
  if (each != server->single())
    scene.report(
        op, Message::Level::Refuted, "push",
        each ? "is to be applied by itself, and a server of mode sync takes what all "
               "trainers push at once"
             : "is to be merged with those of the other trainers, and a server of mode " +
                   dist::stringifyServeMode(
                       serveOf(findProgram(server->walk->question.role, "main")).getMode())
                       .str() +
                   " applies every push by itself",
        each ? "push with merge mean or sum to a server of mode sync" : "push with merge each");
  if (auto [at, first] = server->pushed.try_emplace(name); !first) {
    scene.report(op, Message::Level::Refuted, "push",
                 "pushes to `" + name +
                     "` a second time in one step; the server keeps one value of "
                     "every trainer, and the first push is lost",
                 "push once per step and variable");
    return;
  }
  Pushed& pushed = server->pushed[name] = each ? own(scene, op) : combined(scene, op);
  if (pushed.relation.known()) {
    if (each && server->single() && !scene.question.startup) apply(scene, *server, pushed);
    return;
  }
  scene.report(op, pushed.reason.wrong ? Message::Level::Refuted : Message::Level::Unknown,
               pushed.reason.wrong ? pushed.reason.wrong : "unknown-relation",
               "pushes " + nameText(op.getInput()) + ", which " + pushed.reason.why,
               "push a gradient: the servers add what the trainers push");
}

// The end of the push phase is when the server's round runs: it is walked there, between what
// trainers do before and after it.
void Rpc::phase(const Scene& scene, dist::PhaseOp op) {
  Server* server = serverOf(scene, op);
  if (server && op.getKind() == dist::PhaseKind::Push && !server->roundRun)
    runRound(*server, scene.findings);
}

// Once per step, with what all trainers have pushed. What no op of the round takes is lost.
void Rpc::runRound(Server& server, Rung& findings) {
  server.roundRun = true;
  dist::ServeOp serve = serveOf(server.walk->question.program);
  if (!serve || serve.getMode() != dist::ServeMode::Sync) return;
  for (auto handler : serve.getBody().front().getOps<dist::HandleOp>())
    if (handler.getKind() == dist::Handler::Round)
      walkBlock({server.walk->question, *server.walk->store, findings, this}, server.walk->watch,
                handler.getBody().front());
  for (auto& [name, pushed] : server.pushed)
    if (!pushed.used)
      findings.add(messageAt(pushed.op, Message::Level::Refuted, "push",
                             "pushes to `" + name + "`, and the server's round does not take it",
                             "take it with dist.merged in the round, or do not push it"));
}

// The value that the round reads: equal on all servers as a whole, of which each has the part that
// its variable is cut to.
void Rpc::merged(const Scene& scene, dist::MergedOp op) {
  Server& server = servers_[dist::RoleOp(scene.question.role).getSymName().str()];
  const std::string name = op.getVar().str();
  auto found = server.pushed.find(name);
  const Variable* variable = scene.store.variable(name);
  if (found == server.pushed.end() || !variable) {
    scene.report(op, Message::Level::Refuted, "push",
                 "takes what the trainers have pushed to `" + name +
                     "`, and none of them pushes to "
                     "it before the end of the push phase",
                 "push its gradient before dist.phase push");
    return scene.giveUnknown(op, "takes what nobody has pushed");
  }
  found->second.used = true;
  Relation whole = found->second.relation;
  if (!whole.known()) {
    scene.giveUnknown(op, "takes pushed values of which nothing is known");
    Relation nothing;
    nothing.follow(whole);
    return scene.store.correct(op.getOutput(), std::move(nothing));
  }
  // Every server has its part of the sum, as it has its part of the variable.
  Relation own;
  own.follow(whole);
  own.addTags(whole.tags);
  own.whole = Reading::replicated(scene.axes());
  own.whole.scale = whole.whole.scale;
  own.isZero = whole.isZero;
  cutLikeVariable(scene, *variable, own.whole);
  own.parts = own.whole;
  scene.store.set(op.getOutput(), std::move(own));
}

// All parts, put together by the layout that the variable is declared with.
Awaited Rpc::heldBy(const Scene& scene, Server* server, mlir::SymbolRefAttr name) const {
  Awaited none;
  none.reason = {"takes from no server", -1, {}};
  if (!server) return none;
  Store& store = *server->walk->store;
  const Variable* variable = store.variable(name.getLeafReference().getValue());
  none.reason = {"takes a variable that the server does not have", -1, {}};
  if (!variable) return none;
  Relation held = store.held(*variable).relation;
  Relation whole;
  whole.follow(held);
  whole.addTags(held.tags);
  bool complete = held.known() && variable->declared.known;
  for (unsigned a = 0; complete && a < store.meshAxes().count(); ++a) {
    const State& state = held.whole.states[a];
    complete = state.isReplicated() || (state.isSplit() && state == variable->declared.states[a]);
  }
  if (!complete) {
    const std::string what = "`" + name.getLeafReference().str() + "`";
    none.reason = {held.known() ? "takes " + what + ", which the servers hold as " +
                                      textOf(held.whole, store.meshAxes())
                                : "takes " + what + ", which the server is not known to hold",
                   -1,
                   {}};
    return none;
  }
  whole.whole = Reading::replicated(scene.axes());
  whole.whole.scale = held.whole.scale;
  whole.parts = whole.whole;
  whole.isZero = held.isZero;
  return {std::move(whole), {}};
}

// Trainers get the variable whole and all the same, or nothing is known of it.
void Rpc::pull(const Scene& scene, dist::PullOp op) {
  Server* server = serverOf(scene, op);
  if (server)
    answer(scene, *server, dist::Handler::Pull, op.getVar().getLeafReference().getValue(), op);
  Awaited whole = heldBy(scene, server, op.getVar());
  if (!whole.relation.known()) return scene.giveUnknown(op, whole.reason.why);
  scene.store.set(op.getOutput(), std::move(whole.relation));
}

void Rpc::remote(const Scene& scene, dist::RemoteOp op) {
  Awaited whole =
      heldBy(scene, serverNamed(op.getVar().getRootReference().getValue()), op.getVar());
  if (!whole.relation.known()) return scene.giveUnknown(op, whole.reason.why);
  scene.store.set(op.getOutput(), std::move(whole.relation));
}

// Servers answer a lookup out of what they hold then: a round between the two changes it, or a push
// of this trainer. That others push meanwhile is what the contract `staleness` says of the table,
// as of a parameter that was pulled in the step before.
bool Rpc::lookup(const Scene& scene, dist::CompositeOp composite, dist::LookupOp request) {
  Server* server = serverNamed(request.getVar().getRootReference().getValue());
  if (server)
    answer(scene, *server, dist::Handler::Lookup, request.getVar().getLeafReference().getValue(),
           request);
  const Awaited now = heldBy(scene, server, request.getVar());
  if (!now.relation.known()) return false;
  for (mlir::Value input : composite.getInputs()) {
    auto remote = input.getDefiningOp<dist::RemoteOp>();
    if (!remote || remote.getVar() != request.getVar()) continue;
    const Relation& taken = scene.of(input);
    if (taken.reference != now.relation.reference)
      scene.report(request, Message::Level::Refuted, "lineage",
                   "looks rows up in " + scene.describe(now.relation) +
                       " where the reference looks them up in " + scene.describe(taken),
                   server->single() ? "look up before the table's gradient is pushed"
                                    : "look up before dist.phase push");
  }
  return true;
}

// What can be said only when all roles have been walked: rounds that never run, and ops that stand
// beside the loop of the server.
void Rpc::finish(Rung& findings) {
  for (RoleWalk& walk : roles_) {
    dist::ServeOp serve = serveOf(walk.question.program);
    if (!serve) continue;
    for (mlir::Operation& op : *serve->getBlock())
      if (&op != serve && !llvm::isa<pd::DeclOp>(op))
        findings.add(messageAt(&op, Message::Level::Unknown, "serve",
                               "stands beside dist.serve: it is run once, and not in every round",
                               "put it into the round, or into the start-up program"));
    Server& server = servers_[dist::RoleOp(walk.question.role).getSymName().str()];
    server.walk = &walk;
    if (!walk.question.startup) checkAsked(serve, findings);
    if (server.single()) {
      if (!walk.question.startup) finishSingle(serve, server, findings);
      continue;
    }
    if (serve.getMode() != dist::ServeMode::Sync) continue;
    if (server.roundRun) continue;
    findings.add(messageAt(serve, Message::Level::Refuted, "phase",
                           "its round is never run: no trainer ends the push phase",
                           "end every step's pushes with dist.phase push"));
  }
}

}  // namespace dtranspile::verify
