#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/rpc.h"
#include "compiler/verify/relations/exchange_parts.h"
#include "compiler/verify/relations/polynomial.h"
#include "dialects/dist/changes.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {

// The role whose program serves, and the other one.
Parties partiesOf(mlir::ModuleOp job) {
  Parties parties;
  for (auto role : job.getOps<dist::RoleOp>()) {
    pd::ProgramOp main = findProgram(role, "main");
    if (dist::ServeOp serve = serveOf(main)) {
      parties.servers = role;
      parties.serve = serve;
    } else {
      parties.trainers = role;
      parties.main = main;
      parties.startup = findProgram(role, "startup");
    }
  }
  return parties;
}

llvm::StringRef standsFor(mlir::Operation* var) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  return relation ? relation.getVariable().getValue() : llvm::StringRef();
}

namespace {

// Servers of geo-SGD add every push to the table as it comes, block by block, and answer with what
// they hold, whatever runs before an answer.
class Servers {
 public:
  Servers(const Parties& parties, const std::map<std::string, mlir::Operation*>& pushes,
          Rung& findings)
      : parties_(parties), pushes_(pushes), findings_(findings) {}

  // A handler per table, which adds what comes.
  // Each table that trainers push to has exactly one handler of pushes, and the other way round.
  // Tables are read as they are, not as a trainer pulled them last, since all trainers add to them.
  void check() {
    llvm::StringSet<> served;
    parties_.serve->walk([&](pd::GetOp get) {
      if (get->hasAttr(dist::kAsPulledAttr))
        refute(get, "geo-server",
               "reads " + quoted(get.getVar()) +
                   " as the trainer has pulled it last: what others have added since would be lost",
               "read it as it is");
    });
    for (mlir::Operation& op : *parties_.serve->getBlock())
      if (&op != parties_.serve && !llvm::isa<pd::DeclOp>(op))
        open(&op, "geo-server", "stands beside dist.serve", "put it into the start-up program");
    for (auto handler : parties_.serve.getBody().front().getOps<dist::HandleOp>()) {
      if (handler.getKind() != dist::Handler::Push) {
        checkRequest(handler, *handler.getVar());
        continue;
      }
      const std::string table = handler.getVar()->str();
      served.insert(table);
      if (!pushes_.count(table))
        refute(handler, "geo-server", "is never run: no trainer pushes to " + quoted(table),
               "push to it, or remove the handler");
      else checkHandler(handler, table);
    }
    for (const auto& [table, push] : pushes_)
      if (push && !served.contains(table))
        refute(push, "geo-server",
               "pushes to " + quoted(table) + ", and no handler of the server is for it",
               "add dist.handle push @" + table);
  }

  // What runs before a request is answered may keep books in variables of the server's own, and
  // leaves the table as it is: trainers reckon with what the pushes have made of it.
  void checkRequest(dist::HandleOp handler, llvm::StringRef table) {
    const std::string kind = dist::stringifyHandler(handler.getKind()).str();
    if (!pushes_.count(table.str()))
      return refute(handler, "geo-server", "is never run: no trainer asks for " + quoted(table),
                    "ask for it in the exchange, or remove the handler");
    Evaluator values([](mlir::Value value) -> std::optional<Polynomial> {
      auto get = value.getDefiningOp<pd::GetOp>();
      return get ? std::optional(Polynomial::of(quoted(get.getVar()))) : std::nullopt;
    });
    pd::SetOp own;
    handler.getBody().walk([&](mlir::Operation* op) {
      if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
        if (set.getVar() == table && own)
          open(set, "geo-server", "sets " + quoted(table) + " again in the handler of its " + kind,
               "leave the table as it is");
        else if (set.getVar() == table) checkUnchanged(own = set, table, values);
        else if (stands(set.getVar()))
          open(set, "geo-server",
               "sets " + quoted(set.getVar()) + ", a variable of the reference, when " +
                   quoted(table) + " is asked for",
               "keep it on the trainers");
      } else if (!isSimple(op)) {
        open(op, "geo-server",
             "stands in the handler of a " + kind + " of " + quoted(table) +
                 ", where its effects are not followed",
             "leave it out: servers answer with what they have");
      }
    });
  }

  // A handler of pulls or lookups may set the table to what it is already, and to nothing else.
  void checkUnchanged(pd::SetOp set, llvm::StringRef table, Evaluator& values) {
    const std::optional<Polynomial> value = values.of(set.getValue());
    const Polynomial old = Polynomial::of(quoted(table));
    if (!value || !llvm::isa<dist::HandleOp, dist::ForeachBlockOp>(set->getParentOp()))
      return open(set, "geo-server",
                  "sets " + quoted(table) + " to " + nameText(set.getValue()) +
                      ", of which it is not known that it is what it was",
                  "leave the table as it is");
    if (!(*value == old))
      refute(set, "geo-server",
             "sets " + quoted(table) + " to " + value->text() +
                 " before it is answered with; trainers reckon with " + old.text(),
             "leave the table as it is: servers answer with what they have");
  }

  // For a variable of the reference.
  bool stands(llvm::StringRef name) {
    mlir::Operation* var = mlir::SymbolTable::lookupSymbolIn(parties_.servers, name);
    return var && !standsFor(var).empty();
  }

  // Nothing happens but that values are made.
  static bool isSimple(mlir::Operation* op) {
    if (llvm::isa<pd::GetOp, pd::DeclOp, dist::ForeachBlockOp, dist::YieldOp>(op)) return true;
    const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
    return spec && spec->effects == pd::kPure && op->getNumRegions() == 0;
  }

  // The body is one loop over the blocks of the table that sets each block once to old + pushed, as
  // polynomials; every op in it is pure, so that nothing else can happen.
  void checkHandler(dist::HandleOp handler, llvm::StringRef table) {
    dist::ForeachBlockOp loop;
    for (mlir::Operation& op : handler.getBody().front()) {
      auto each = llvm::dyn_cast<dist::ForeachBlockOp>(op);
      if (each && each.getVar() == table && !loop && each.getInits().empty()) {
        loop = each;
      } else if (!llvm::isa<dist::YieldOp>(op)) {
        return refute(&op, "geo-server",
                      "stands in the handler of " + quoted(table) + ", which adds what comes to " +
                          "each of its blocks, once, and does nothing else",
                      "remove it");
      }
    }
    if (!loop)
      return refute(handler, "geo-server", "does not go over the blocks of " + quoted(table),
                    "add what comes to each of its blocks");
    const Polynomial old = Polynomial::of(quoted(table)), come = Polynomial::of("pushed");
    Evaluator values([&](mlir::Value value) -> std::optional<Polynomial> {
      auto get = value.getDefiningOp<pd::GetOp>();
      if (get) return Polynomial::of(quoted(get.getVar()));
      auto merged = value.getDefiningOp<dist::MergedOp>();
      if (merged && merged.getVar() == table) return come;
      return std::nullopt;
    });
    pd::SetOp last;
    for (mlir::Operation& op : loop.getBody().front()) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(&op) ? pd::OpView(&op).spec() : nullptr;
      if (!llvm::isa<dist::MergedOp, dist::YieldOp, pd::GetOp, pd::SetOp, pd::DeclOp>(op) &&
          !(spec && spec->effects == pd::kPure && op.getNumRegions() == 0))
        open(
            &op, "geo-server",
            "stands in the handler of " + quoted(table) + ", and does more than to compute a value",
            "remove it");
      if (op.hasAttr(dist::kRelAttr))
        open(&op, "claim", "claims a relation, and is part of an exchange: nobody looks at it",
             "remove its dist.rel");
    }
    for (auto set : loop.getBody().front().getOps<pd::SetOp>()) {
      if (set.getVar() != table || last)
        return refute(set, "geo-server",
                      "sets " + quoted(set.getVar()) + (last ? " again" : "") +
                          " in the handler of " + quoted(table),
                      "set the table once");
      last = set;
      const std::optional<Polynomial> sum = values.of(set.getValue());
      if (!sum)
        open(set, "geo-server",
             "sets " + quoted(table) + " to " + nameText(set.getValue()) +
                 ", of which it is not known how it is made",
             "set it to the sum of what it is and what is pushed");
      else if (!(*sum == old.plus(come)))
        refute(set, "geo-server",
               "sets " + quoted(table) + " to " + sum->text() +
                   "; a push is added: " + old.plus(come).text(),
               "set it to the sum of what it is and what is pushed");
    }
    if (!last)
      refute(handler, "geo-server", "leaves " + quoted(table) + " as it is: what comes is lost",
             "set it to the sum of what it is and what is pushed");
  }

 private:
  void refute(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    findings_.add(messageAt(op, Message::Level::Refuted, rule, std::move(text), std::move(remedy)));
  }
  void open(mlir::Operation* op, const char* rule, std::string text, std::string remedy) {
    findings_.add(messageAt(op, Message::Level::Unknown, rule, std::move(text), std::move(remedy)));
  }

  Parties parties_;
  const std::map<std::string, mlir::Operation*>& pushes_;
  Rung& findings_;
};

}  // namespace

void checkServers(const Parties& parties, const std::map<std::string, mlir::Operation*>& pushes,
                  Rung& findings) {
  Servers(parties, pushes, findings).check();
}

}  // namespace dtranspile::verify
