// What servers do before they answer a pull or a lookup (rpc.h).
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/rpc.h"

namespace dtranspile::verify {
namespace {

int64_t trainersOf(const Axes& mesh) {
  int64_t count = 1;
  for (int64_t size : mesh.meshSizes) count *= size;
  return count;
}

}  // namespace

// A handler of pulls is walked twice: what the second trainer gets is what the first one has got.
// One of lookups may run for some trainers and not for others.
void Rpc::answer(const Scene& scene, Server& server, dist::Handler kind, llvm::StringRef table,
                 mlir::Operation* request) {
  dist::ServeOp serve = serveOf(findProgram(server.walk->question.role, "main"));
  dist::HandleOp handler;
  if (serve)
    for (auto one : serve.getBody().front().getOps<dist::HandleOp>())
      if (one.getKind() == kind && one.getVar() == table) handler = one;
  if (!handler) return;
  asked_.insert(handler);
  Store& store = *server.walk->store;
  const auto held = [&] {
    std::map<std::string, Relation> now;
    handler.walk([&](pd::SetOp set) {
      if (const Variable* variable = store.variable(set.getVar()))
        now[set.getVar().str()] = store.held(*variable).relation;
    });
    return now;
  };
  const auto run = [&](Rung& findings) {
    for (mlir::BlockArgument argument : handler.getBody().getArguments())
      store.lose(argument, {"is what one trainer asks with", -1, {}});
    walkBlock({server.walk->question, store, findings, this}, nullptr, handler.getBody().front());
  };
  const bool pull = kind == dist::Handler::Pull;
  std::map<std::string, Relation> before = held();
  run(scene.findings);
  if (pull && trainersOf(scene.store.meshAxes()) == 1) return;
  if (pull) {
    before = held();
    Rung again;
    run(again);
  }
  for (const auto& [name, relation] : held()) {
    const Relation& first = before[name];
    // What stands for nothing of the reference is nobody's answer: a count of requests.
    const Variable& variable = *store.variable(name);
    if (server.walk->question.reference.initialNumber(variable.reference) < 0 && relation.known() &&
        relation.reference < 0)
      continue;
    if (first.known() && first == relation) continue;
    const bool wrong = first.known() && relation.known();
    scene.findings.add(messageAt(
        handler, wrong ? Message::Level::Refuted : Message::Level::Unknown, "serve",
        "sets `" + name + "` to " +
            (wrong ? "another value" : "what is not known to be the same value") +
            (pull ? " for every trainer that asks: " + typeOf(request) +
                        " gives each of them something else"
                  : " where rows are asked for, and which server is asked depends on the ids"),
        "set it in the round, or in the handler of a push"));
  }
}

// What no trainer asks for is a mistake of the job, or of the one who reads it.
void Rpc::checkAsked(dist::ServeOp serve, Rung& findings) const {
  for (auto handler : serve.getBody().front().getOps<dist::HandleOp>()) {
    const bool pull = handler.getKind() == dist::Handler::Pull;
    if ((!pull && handler.getKind() != dist::Handler::Lookup) || asked_.contains(handler)) continue;
    findings.add(messageAt(handler, Message::Level::Refuted, "serve",
                           "is never run: no trainer " +
                               std::string(pull ? "pulls" : "looks rows of") + " `" +
                               handler.getVar()->str() + "`" + (pull ? "" : " up"),
                           "ask for it, or remove the handler"));
  }
}

}  // namespace dtranspile::verify
