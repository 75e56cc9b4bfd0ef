#include "compiler/lower/in_place.h"

#include <algorithm>

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::lower {
namespace {

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

// Operand `from` becomes operand `into`; the operands behind it move up.
void mergeOperands(Node& node, int into, int from) {
  Kernel& kernel = *node.kernel;
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

class InPlace {
 public:
  InPlace(Plan& plan, PlanProgram& program) : plan_(plan), body_(program.body) {
    for (const Feed& feed : program.feeds) pinned_.push_back(plan.storageOf(feed.buffer));
    for (const Fetch& fetch : program.fetches) pinned_.push_back(plan.storageOf(fetch.buffer));
  }

  void run() {
    for (size_t i = 0; i < body_.size(); ++i) {
      if (body_[i].kind == Node::Kind::Copy && tryReplace(i))
        body_.erase(body_.begin() + static_cast<long>(i--));
    }
  }

 private:
  bool touches(const Node& node, int storage, bool writesOnly) const {
    for (size_t a = 0; a < node.args.size(); ++a) {
      if (plan_.storageOf(node.args[a]) == storage && (!writesOnly || node.writes[a])) return true;
    }
    return false;
  }

  // The one node that writes `storage`; -1 if there are others.
  int writerOf(int storage) const {
    int writer = -1;
    for (size_t i = 0; i < body_.size(); ++i) {
      if (!touches(body_[i], storage, true)) continue;
      if (writer >= 0) return -1;
      writer = static_cast<int>(i);
    }
    return writer;
  }

  // The node that waits for the collective started by node `start`.
  size_t waitOf(size_t start) const {
    for (size_t i = start + 1; i < body_.size(); ++i) {
      if (body_[i].kind == Node::Kind::Wait && body_[i].ticket == body_[start].ticket) return i;
    }
    return body_.size();
  }

  // True if a collective that uses `storage` was started before node `at` and is waited for after
  // it.
  bool underWay(int storage, size_t at) const {
    for (size_t i = 0; i < at; ++i) {
      if (body_[i].kind == Node::Kind::Start && touches(body_[i], storage, false) && waitOf(i) > at)
        return true;
    }
    return false;
  }

  bool tryReplace(size_t copy) {
    const int temporary = plan_.storageOf(body_[copy].args[0]),
              variable = plan_.storageOf(body_[copy].args[1]);
    const Buffer &from = plan_.buffers[temporary], &to = plan_.buffers[variable];
    if (from.space != Space::Arena || to.space != Space::Persistent || from.bytes() != to.bytes() ||
        from.dtype != to.dtype)
      return false;
    if (std::find(pinned_.begin(), pinned_.end(), temporary) != pinned_.end()) return false;
    const int writer = writerOf(temporary);
    if (writer < 0 || static_cast<size_t>(writer) >= copy ||
        !writerMayShare(body_[writer], temporary, variable))
      return false;
    if (underWay(variable, static_cast<size_t>(writer))) return false;
    for (size_t i = writer + 1; i < copy; ++i) {
      if (touches(body_[i], variable, false)) return false;
    }
    size_t lastReader = copy;
    for (size_t i = writer + 1; i < body_.size(); ++i) {
      if (!touches(body_[i], temporary, false)) continue;
      lastReader = std::max(lastReader, body_[i].kind == Node::Kind::Start ? waitOf(i) : i);
    }
    for (size_t i = copy + 1; i <= lastReader && i < body_.size(); ++i) {
      if (touches(body_[i], variable, true)) return false;
    }
    for (Buffer& buffer : plan_.buffers) {
      if (buffer.storage != temporary) continue;
      buffer.storage = variable;
      buffer.space = Space::Persistent;
    }
    join(body_[writer], variable);
    return true;
  }

  bool writerMayShare(const Node& node, int temporary, int variable) const {
    if (!node.shapes.empty()) return false;
    if (node.kind == Node::Kind::Call) return callMayShare(node, temporary, variable);
    if (node.kind != Node::Kind::Kernel) return false;
    for (size_t w = 0; w < node.args.size(); ++w) {
      if (plan_.storageOf(node.args[w]) != temporary) continue;
      if (node.reads[w]) return false;
      for (size_t r = 0; r < node.args.size(); ++r) {
        if (plan_.storageOf(node.args[r]) == variable &&
            !mayShare(*node.kernel, static_cast<int>(r), static_cast<int>(w)))
          return false;
      }
    }
    return true;
  }

  // A call may have the variable as an argument only where its signature pairs that with the
  // output.
  bool callMayShare(const Node& node, int temporary, int variable) const {
    for (size_t r = 0; r < node.args.size(); ++r) {
      if (plan_.storageOf(node.args[r]) != variable) continue;
      const bool paired = llvm::any_of(node.sharing, [&](const auto& pair) {
        return pair.second == static_cast<int>(r) &&
               plan_.storageOf(node.args[pair.first]) == temporary;
      });
      if (!paired) return false;
    }
    return true;
  }

  // After the renaming two operands of the writer may be the same memory.
  void join(Node& node, int storage) {
    if (node.kind != Node::Kind::Kernel) return;
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
  std::vector<Node>& body_;
  std::vector<int> pinned_;
};

}  // namespace

void updateInPlace(Plan& plan, PlanProgram& program) { InPlace(plan, program).run(); }

}  // namespace dtranspile::lower
