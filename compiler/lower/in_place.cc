#include "compiler/lower/in_place.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "compiler/lower/bodies.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::lower {
namespace {

// -1 where no stage loads the operand.
int stageOfLastLoad(const Kernel& kernel, int operand) {
  int last = -1;
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    auto look = [&](ExprId id) {
      kernel.exprs.walk(id, [&](const Expr& e) {
        if (e.op == Op::Load && e.index == operand) last = static_cast<int>(s);
      });
    };
    for (int r : kernel.stages[s].reductions) look(kernel.reductions[r].value);
    for (const Store& store : kernel.stages[s].stores) look(store.value);
  }
  return last;
}

// One after the last stage where none stores to it.
int stageOfFirstStore(const Kernel& kernel, int operand) {
  for (size_t s = 0; s < kernel.stages.size(); ++s) {
    for (const Store& store : kernel.stages[s].stores) {
      if (store.operand == operand) return static_cast<int>(s);
    }
  }
  return static_cast<int>(kernel.stages.size());
}

// Within a stage loads come before stores of the same element; so one buffer may be both if every
// load stands in the stage of the first store or before, and both walk it alike.
bool mayShare(const Kernel& kernel, int read, int write) {
  const Operand &r = kernel.operands[read], &w = kernel.operands[write];
  return r.strides == w.strides && r.offset == w.offset && r.dtype == w.dtype && !r.writes &&
         stageOfLastLoad(kernel, read) <= stageOfFirstStore(kernel, write);
}

// Operand `from` becomes operand `into`; the operands after it move up.
void mergeOperands(Node& node, int into, int from) {
  Kernel& kernel = *node.as<KernelNode>()->kernel;
  auto renumber = [&](int operand) {
    return operand == from ? into - (into > from) : operand - (operand > from);
  };
  ExprPool pool;
  std::map<ExprId, ExprId> done;
  auto leaf = [&](const Expr& e) {
    if (e.op == Op::Load) return pool.load(renumber(e.index), e.type);
    if (e.op == Op::Result) return pool.result(e.index, e.type);
    return pool.position(e.index);
  };
  for (Stage& stage : kernel.stages) {
    for (int r : stage.reductions)
      kernel.reductions[r].value =
          kernel.exprs.copyTo(pool, kernel.reductions[r].value, done, leaf);
    for (Store& store : stage.stores)
      store = {renumber(store.operand), kernel.exprs.copyTo(pool, store.value, done, leaf)};
  }
  kernel.exprs = std::move(pool);
  kernel.operands[into].reads |= kernel.operands[from].reads;
  kernel.operands[into].writes |= kernel.operands[from].writes;
  node.reads[into] = node.reads[into] || node.reads[from];
  node.writes[into] = node.writes[into] || node.writes[from];
  kernel.operands.erase(kernel.operands.begin() + from);
  node.args.erase(node.args.begin() + from);
  node.reads.erase(node.reads.begin() + from);
  node.writes.erase(node.writes.begin() + from);
}

// Copies of a temporary to a variable at the end of an update (`p = p - rate * g` computes a new
// value, then stores it) become stores to the variable. For a copy c of temporary t, written by
// node w alone, to variable v this is safe where: nobody else reads or writes v from w to c; nobody
// writes v from c to the last reader of t; no collective that uses v is under way at w; and w
// itself, if it reads v, reads each element before it writes it. All questions are answered from
// the sorted lists of users of a storage.
class InPlace {
 public:
  InPlace(Plan& plan, const Body& body) : plan_(plan), whole_(body), body_(body.nodes()) {
    for (size_t i = 0; i < plan.buffers.size(); ++i)
      views_[plan.buffers[i].storage].push_back(static_cast<int>(i));
    for (size_t i = 0; i < body_.size(); ++i) {
      for (int buffer : body_[i].args) users_[plan_.storageOf(buffer)].insert(i);
      if (const auto* wait = body_[i].as<WaitNode>()) waits_[wait->ticket] = i;
    }
  }

  void run() {
    std::vector<Node> kept;
    std::vector<bool> gone(body_.size());
    for (size_t i = 0; i < body_.size(); ++i) gone[i] = body_[i].as<CopyNode>() && tryReplace(i);
    for (size_t i = 0; i < body_.size(); ++i)
      if (!gone[i]) kept.push_back(std::move(body_[i]));
    body_ = std::move(kept);
  }

 private:
  using Users = std::set<size_t>;  // numbers of nodes

  // By storage, not by buffer: views of one tensor have one.
  bool touches(const Node& node, int storage, bool writesOnly) const {
    for (size_t a = 0; a < node.args.size(); ++a) {
      if (plan_.storageOf(node.args[a]) == storage && (!writesOnly || node.writes[a])) return true;
    }
    return false;
  }

  // The one node that writes `storage`; -1 if there are others.
  int writerOf(int storage) {
    int writer = -1;
    for (size_t i : users_[storage]) {
      if (!touches(body_[i], storage, true)) continue;
      if (writer >= 0) return -1;
      writer = static_cast<int>(i);
    }
    return writer;
  }

  // The node that waits for the collective started by node `start`.
  size_t waitOf(size_t start) const {
    auto found = waits_.find(body_[start].as<StartNode>()->ticket);
    return found == waits_.end() ? body_.size() : found->second;
  }

  // True if a collective that uses `storage` was started before node `at` and is waited for after
  // it. Looks back from there: the last start is the first to be met.
  bool underWay(const Users& users, size_t at) const {
    for (auto i = std::make_reverse_iterator(users.lower_bound(at)); i != users.rend(); ++i) {
      if (body_[*i].as<StartNode>() && waitOf(*i) > at) return true;
    }
    return false;
  }

  // Renames the temporary's storage, with all its views, to the variable's, and says whether the
  // copy is now superfluous.
  bool tryReplace(size_t copy) {
    const int temporary = plan_.storageOf(body_[copy].args[0]),
              variable = plan_.storageOf(body_[copy].args[1]);
    // What is copied to may be the block of a variable that a loop over blocks has come to, or what
    // a guard or a task hands on: a buffer that lives around the body.
    const Buffer &from = plan_.buffers[temporary], &to = plan_.buffers[body_[copy].args[1]];
    const bool around = to.space == Space::Arena && whole_.isPinned(variable);
    if (from.memory != to.memory || from.space != Space::Arena ||
        (to.space != Space::Persistent && !around) || from.bytes() != to.bytes() ||
        from.dtype != to.dtype || whole_.isPinned(temporary))
      return false;
    const int writer = writerOf(temporary);
    if (writer < 0 || static_cast<size_t>(writer) >= copy ||
        !writerMayShare(body_[writer], temporary, variable))
      return false;
    Users &ofTemporary = users_[temporary], &ofVariable = users_[variable];
    if (underWay(ofVariable, static_cast<size_t>(writer))) return false;
    auto next = ofVariable.upper_bound(static_cast<size_t>(writer));
    if (next != ofVariable.end() && *next < copy) return false;
    size_t lastReader = copy;
    for (size_t i : ofTemporary) {
      if (i <= static_cast<size_t>(writer)) continue;
      lastReader = std::max(lastReader, body_[i].as<StartNode>() ? waitOf(i) : i);
    }
    for (auto i = ofVariable.upper_bound(copy); i != ofVariable.end() && *i <= lastReader; ++i) {
      if (touches(body_[*i], variable, true)) return false;
    }
    for (int buffer : views_[temporary]) {
      plan_.buffers[buffer].storage = variable;
      plan_.buffers[buffer].space = to.space;
      plan_.buffers[buffer].stride = to.stride;
      plan_.buffers[buffer].instances = to.instances;
      views_[variable].push_back(buffer);
    }
    ofTemporary.erase(copy);
    ofVariable.erase(copy);
    ofVariable.insert(ofTemporary.begin(), ofTemporary.end());
    join(body_[writer], variable);
    return true;
  }

  // Kernels with extents that only the run knows are left alone: whether they walk two operands
  // alike cannot be seen here.
  bool writerMayShare(const Node& node, int temporary, int variable) const {
    const auto* kernel = node.as<KernelNode>();
    if (const auto* call = node.as<CallNode>())
      return callMayShare(node, *call, temporary, variable);
    if (!kernel || !kernel->shapes.empty()) return false;
    for (size_t w = 0; w < node.args.size(); ++w) {
      if (plan_.storageOf(node.args[w]) != temporary) continue;
      if (node.reads[w]) return false;
      for (size_t r = 0; r < node.args.size(); ++r) {
        if (plan_.storageOf(node.args[r]) == variable &&
            !mayShare(*kernel->kernel, static_cast<int>(r), static_cast<int>(w)))
          return false;
      }
    }
    return true;
  }

  // A call may have the variable as an argument only where its signature pairs that with the
  // output.
  bool callMayShare(const Node& node, const CallNode& call, int temporary, int variable) const {
    for (size_t r = 0; r < node.args.size(); ++r) {
      if (plan_.storageOf(node.args[r]) != variable) continue;
      const bool paired = llvm::any_of(call.sharing, [&](const auto& pair) {
        return pair.second == static_cast<int>(r) &&
               plan_.storageOf(node.args[pair.first]) == temporary;
      });
      if (!paired) return false;
    }
    return true;
  }

  // After the renaming two operands of the writer may be the same memory.
  void join(Node& node, int storage) {
    if (!node.as<KernelNode>()) return;
    for (int w = 0; w < static_cast<int>(node.args.size()); ++w) {
      if (plan_.storageOf(node.args[w]) != storage || !node.writes[w]) continue;
      for (int r = static_cast<int>(node.args.size()) - 1; r >= 0; --r) {
        if (r == w || plan_.storageOf(node.args[r]) != storage) continue;
        mergeOperands(node, r, w);
        return;
      }
    }
  }

  Plan& plan_;
  const Body& whole_;
  std::vector<Node>& body_;
  // By storage, but for the waits: by ticket.
  std::map<int, Users> users_;
  std::map<int, std::vector<int>> views_;
  std::map<int, size_t> waits_;
};

}  // namespace

void updateInPlace(Plan& plan, PlanProgram& program) {
  forEachBody(plan, program, [&](const Body& body) { InPlace(plan, body).run(); });
}

}  // namespace dtranspile::lower
