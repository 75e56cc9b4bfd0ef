// What trainers ask of servers in one program of all roles (docs/dialects/dist.md, parameter
// server). A synchronous round is followed: what is pushed becomes what the server merges, the
// phase that all trainers end runs the round, and what they pull is what the server holds after
// it. Where servers apply every push by itself (modes async, half_async), the step of one trainer
// is followed as if no other one pushed meanwhile: what it pushes is what the reference gives on
// its own share of the batch, the handler runs at once, and all that follows carries the tag
// `staleness`, which a contract has to declare. A handler of pulls runs before every answer, once
// per trainer: after the first time it must not change what servers hold. One of lookups runs
// where rows are asked for, which depends on data: it must not change it at all. Used by the walk
// of a trainer (walk.cc) where it meets such a request.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/analysis/relations/transfer.h"
#include "llvm/ADT/DenseSet.h"

namespace dtranspile::verify {

// Tag of what depends on the order in which servers apply the pushes of several trainers.
inline constexpr llvm::StringLiteral kStalenessTag = "staleness";

class Rpc {
 public:
  // `roles`: the walks of the same program of all roles.
  explicit Rpc(llvm::MutableArrayRef<RoleWalk> roles) : roles_(roles) {}

  void push(const Scene& scene, dist::PushOp op);
  void pull(const Scene& scene, dist::PullOp op);
  // Of a variable that stays on the servers: what they hold now, looked at by its extents.
  void remote(const Scene& scene, dist::RemoteOp op);
  // Whether servers answer a lookup out of what the composite has in slot W.
  bool lookup(const Scene& scene, dist::CompositeOp composite, dist::LookupOp request);
  void phase(const Scene& scene, dist::PhaseOp op);
  // In the server's round.
  void merged(const Scene& scene, dist::MergedOp op);
  // What is left when all trainers have been walked.
  void finish(Rung& findings);

 private:
  struct Pushed {
    dist::PushOp op;
    Relation relation;  // of the whole that the servers have together
    Reason reason;
    bool used = false;
  };
  struct Server {
    RoleWalk* walk = nullptr;
    std::map<std::string, Pushed> pushed;  // by variable
    bool roundRun = false;
    bool single() const;  // applies every push by itself
  };
  Server* serverOf(const Scene& scene, mlir::Operation* op);
  Server* serverNamed(llvm::StringRef name);
  // What a variable of the servers is, put together of the parts of all; unknown, with the reason,
  // where that is not known.
  Awaited heldBy(const Scene& scene, Server* server, mlir::SymbolRefAttr name) const;
  // The server's program for such a request, before it is answered.
  void answer(const Scene& scene, Server& server, dist::Handler kind, llvm::StringRef table,
              mlir::Operation* request);
  void checkAsked(dist::ServeOp serve, Rung& findings) const;
  void runRound(Server& server, Rung& findings);
  Pushed combined(const Scene& scene, dist::PushOp op) const;
  Pushed own(const Scene& scene, dist::PushOp op) const;
  void apply(const Scene& scene, Server& server, Pushed& pushed);
  void finishSingle(dist::ServeOp serve, Server& server, Rung& findings);

  llvm::MutableArrayRef<RoleWalk> roles_;
  std::map<std::string, Server> servers_;   // by role
  llvm::DenseSet<mlir::Operation*> asked_;  // handlers that have run
};

// The server loop of a role's main; null for trainers.
dist::ServeOp serveOf(pd::ProgramOp program);

}  // namespace dtranspile::verify
