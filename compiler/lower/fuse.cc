// The loop nests of producer and consumer are brought together along the memory of the temporary:
// both walk it as nested contiguous dims, of which the larger ones are split until the extents
// agree.
#include "compiler/lower/fuse.h"

#include <algorithm>
#include <set>

#include "compiler/lower/bodies.h"

namespace dtranspile::lower {
namespace {

// Beyond these a kernel gets slow to compile and runs out of registers.
constexpr size_t kMostOperands = 16, kMostNodes = 160;

// Whether it costs more to compute the value twice than to store and load it.
bool heavy(const Kernel& kernel, ExprId id) {
  bool found = false;
  kernel.exprs.walk(id, [&](const Expr& e) {
    found |= e.op == Op::Div || e.op == Op::Pow || (e.op >= Op::Exp && e.op <= Op::Atanh);
  });
  return found;
}

// Rewrites every expression of the kernel with `leaf` for loads, results and positions.
template <typename Leaf>
void rewrite(Kernel& kernel, Leaf leaf) {
  ExprPool pool;
  std::map<ExprId, ExprId> done;
  auto each = [&](const Expr& e) { return leaf(pool, e); };
  for (Stage& stage : kernel.stages) {
    for (int r : stage.reductions)
      kernel.reductions[r].value =
          kernel.exprs.copyTo(pool, kernel.reductions[r].value, done, each);
    for (Store& store : stage.stores)
      store.value = kernel.exprs.copyTo(pool, store.value, done, each);
  }
  kernel.exprs = std::move(pool);
}

ExprId sameLeaf(ExprPool& pool, const Expr& e) {
  if (e.op == Op::Load) return pool.load(e.index, e.type);
  return e.op == Op::Result ? pool.result(e.index, e.type) : pool.position(e.index);
}

// dim becomes (extent / inner, inner).
void splitDim(Kernel& kernel, int dim, int64_t inner) {
  kernel.dims[dim] /= inner;
  kernel.dims.insert(kernel.dims.begin() + dim + 1, inner);
  for (Operand& operand : kernel.operands) {
    operand.strides.insert(operand.strides.begin() + dim + 1, operand.strides[dim]);
    operand.strides[dim] *= inner;
  }
  if (dim < kernel.inner) ++kernel.inner;
  if (dim < kernel.lane) ++kernel.lane;
  for (Stage& stage : kernel.stages) {
    for (int& loop : stage.loops) loop += loop > dim;
    auto at = std::find(stage.loops.begin(), stage.loops.end(), dim);
    if (at != stage.loops.end()) stage.loops.insert(at + 1, dim + 1);
  }
  rewrite(kernel, [&](ExprPool& pool, const Expr& e) {
    if (e.op != Op::Index || e.index < dim) return sameLeaf(pool, e);
    if (e.index > dim) return pool.position(e.index + 1);
    ExprId outer = pool.binary(Op::Mul, pool.position(dim),
                               pool.constant(static_cast<double>(inner), Scalar::I64));
    return pool.binary(Op::Add, outer, pool.position(dim + 1));
  });
}

// Dims along which an operand moves, innermost (least stride) first; empty if they do not cover
// memory contiguously from its offset on.
std::vector<int> memoryOrder(const Kernel& kernel, const Operand& operand) {
  std::vector<int> order;
  for (size_t dim = 0; dim < kernel.dims.size(); ++dim) {
    if (kernel.dims[dim] > 1 && operand.strides[dim] != 0) order.push_back(static_cast<int>(dim));
  }
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return operand.strides[a] < operand.strides[b]; });
  int64_t expected = 1;
  for (int dim : order) {
    if (operand.strides[dim] != expected) return {};
    expected *= kernel.dims[dim];
  }
  return order;
}

// Splits dims of both until the operands' memory orders have equal extents; nothing if that is not
// possible.
std::optional<std::vector<std::pair<int, int>>> align(Kernel& producer, int store, Kernel& consumer,
                                                      int load) {
  std::vector<std::pair<int, int>> pairs;  // dim of the producer, dim of the consumer
  for (size_t i = 0;; ++i) {
    std::vector<int> p = memoryOrder(producer, producer.operands[store]),
                     c = memoryOrder(consumer, consumer.operands[load]);
    if (i >= p.size() || i >= c.size()) {
      if (p.size() != c.size()) return std::nullopt;
      for (size_t k = 0; k < p.size(); ++k) pairs.emplace_back(p[k], c[k]);
      return pairs;
    }
    const int64_t a = producer.dims[p[i]], b = consumer.dims[c[i]];
    if (a == b) continue;
    if (a > b && a % b == 0) splitDim(producer, p[i], b);
    else if (b > a && b % a == 0 && c[i] != consumer.lane) splitDim(consumer, c[i], a);
    else return std::nullopt;
  }
}

// Stages in which the operand is loaded.
int stagesLoading(const Kernel& kernel, int operand) {
  int count = 0;
  for (const Stage& stage : kernel.stages) {
    bool found = false;
    auto look = [&](ExprId id) {
      kernel.exprs.walk(id,
                        [&](const Expr& e) { found |= e.op == Op::Load && e.index == operand; });
    };
    for (int r : stage.reductions) look(kernel.reductions[r].value);
    for (const Store& s : stage.stores) look(s.value);
    count += found;
  }
  return count;
}

// The operand of the consumer that is the same memory walked the same way, or a new one.
int addOperand(Kernel& kernel, std::vector<int>& buffers, const Operand& operand, int buffer) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    Operand& known = kernel.operands[i];
    if (buffers[i] != buffer || known.strides != operand.strides ||
        known.offset != operand.offset || known.dtype != operand.dtype)
      continue;
    known.reads = true;
    return static_cast<int>(i);
  }
  kernel.operands.push_back(operand);
  kernel.operands.back().writes = false;
  buffers.push_back(buffer);
  return static_cast<int>(buffers.size()) - 1;
}

// Takes out operands that nothing loads or stores.
void dropUnused(Kernel& kernel, std::vector<int>& buffers) {
  std::vector<int> number(kernel.operands.size(), -1);
  rewrite(kernel, [&](ExprPool& pool, const Expr& e) {
    if (e.op == Op::Load) number[e.index] = 0;
    return sameLeaf(pool, e);
  });
  for (const Stage& stage : kernel.stages) {
    for (const Store& store : stage.stores) number[store.operand] = 0;
  }
  int next = 0;
  std::vector<Operand> operands;
  std::vector<int> kept;
  for (size_t i = 0; i < number.size(); ++i) {
    if (number[i] < 0) continue;
    number[i] = next++;
    operands.push_back(kernel.operands[i]);
    kept.push_back(buffers[i]);
  }
  rewrite(kernel, [&](ExprPool& pool, const Expr& e) {
    return e.op == Op::Load ? pool.load(number[e.index], e.type) : sameLeaf(pool, e);
  });
  for (Stage& stage : kernel.stages) {
    for (Store& store : stage.stores) store.operand = number[store.operand];
  }
  kernel.operands = std::move(operands);
  buffers = std::move(kept);
}

}  // namespace

// Replaces the load of a temporary in `consumer` by the expression that `producer` stores there.
// Refused where the producer has reductions, where the loop nests do not align, where the kernel
// would get too large, or where something expensive would be computed more than once. `consumer`
// changes only if it succeeds.
bool fuseInto(Kernel& consumer, std::vector<int>& buffers, int operand, const Kernel& producer,
              const std::vector<int>& producerBuffers) {
  if (!producer.elementwise() || producer.stages.size() != 1 ||
      producer.stages[0].stores.size() != 1)
    return false;
  const Store store = producer.stages[0].stores[0];
  if (consumer.operands.size() + producer.operands.size() > kMostOperands ||
      consumer.exprs.size() + producer.exprs.size() > kMostNodes)
    return false;
  if (consumer.operands[operand].offset != 0 || producer.operands[store.operand].offset != 0)
    return false;
  if (heavy(producer, store.value) && stagesLoading(consumer, operand) > 1) return false;
  Kernel from = producer, into = consumer;
  auto pairs = align(from, store.operand, into, operand);
  if (!pairs) return false;
  // A consumer that repeats the temporary would compute it again for every repetition: only
  // constants are worth that.
  const bool constant = from.operands.size() == 1;
  for (size_t dim = 0; dim < into.dims.size(); ++dim) {
    if (into.dims[dim] > 1 && into.operands[operand].strides[dim] == 0 && !constant &&
        !into.reductions.empty())
      return false;
    if (into.dims[dim] > 1 && into.operands[operand].strides[dim] == 0 &&
        heavy(from, from.stages[0].stores[0].value))
      return false;
  }
  std::vector<int> partner(from.dims.size(), -1);
  for (const auto& [p, c] : *pairs) partner[p] = c;
  std::vector<int> names = buffers, operandOf(from.operands.size(), -1);
  for (size_t i = 0; i < from.operands.size(); ++i) {
    if (static_cast<int>(i) == store.operand) continue;
    Operand moved = from.operands[i];
    moved.strides.assign(into.dims.size(), 0);
    for (size_t dim = 0; dim < from.dims.size(); ++dim) {
      if (partner[dim] >= 0) moved.strides[partner[dim]] = from.operands[i].strides[dim];
    }
    operandOf[i] = addOperand(into, names, moved, producerBuffers[i]);
  }
  const ExprId value = from.stages[0].stores[0].value;
  rewrite(into, [&](ExprPool& pool, const Expr& e) {
    if (e.op != Op::Load || e.index != operand) return sameLeaf(pool, e);
    std::map<ExprId, ExprId> done;
    return from.exprs.copyTo(pool, value, done, [&](const Expr& leaf) {
      if (leaf.op == Op::Load) return pool.load(operandOf[leaf.index], leaf.type);
      return partner[leaf.index] >= 0 ? pool.position(partner[leaf.index])
                                      : pool.constant(0, Scalar::I64);
    });
  });
  dropUnused(into, names);
  canonicalize(into);
  consumer = std::move(into);
  buffers = std::move(names);
  return true;
}

namespace {

// Every producer with one store and one reader is tried in the order of the program, so that chains
// grow from their beginning. Linear in nodes and arguments, up to the logarithms of the sets.
class Fusion {
 public:
  // By storage: all nodes that use it, and those that write it.
  Fusion(Plan& plan, const Body& body) : plan_(plan), whole_(body), body_(body.nodes()) {
    for (size_t i = 0; i < body_.size(); ++i) {
      for (size_t a = 0; a < body_[i].args.size(); ++a) {
        const int storage = plan.storageOf(body_[i].args[a]);
        users_[storage].insert(i);
        if (!body_[i].writes[a]) continue;
        std::vector<size_t>& writers = writers_[storage];
        if (writers.empty() || writers.back() != i) writers.push_back(i);
      }
    }
  }

  void run() {
    std::vector<bool> gone(body_.size());
    for (size_t i = 0; i < body_.size(); ++i) gone[i] = tryFuse(i);
    std::vector<Node> kept;
    for (size_t i = 0; i < body_.size(); ++i) {
      if (!gone[i]) kept.push_back(std::move(body_[i]));
    }
    body_ = std::move(kept);
  }

 private:
  // Moves node `at` into the one kernel that reads what it stores.
  bool tryFuse(size_t at) {
    Node& producer = body_[at];
    const auto* from = producer.as<KernelNode>();
    if (!from || std::count(producer.writes.begin(), producer.writes.end(), true) != 1)
      return false;
    const size_t written =
        std::find(producer.writes.begin(), producer.writes.end(), true) - producer.writes.begin();
    const int storage = plan_.storageOf(producer.args[written]);
    if (producer.reads[written] || plan_.buffers[storage].space != Space::Arena ||
        whole_.isPinned(storage))
      return false;
    const std::set<size_t>& users = users_[storage];
    if (users.size() != 2 || *users.begin() != at) return false;
    const size_t reader = *users.rbegin();
    Node& consumer = body_[reader];
    const auto* into = consumer.as<KernelNode>();
    if (!into || !from->shapes.empty() || !into->shapes.empty()) return false;
    if (overwritten(producer, at, reader)) return false;
    int operand = -1, uses = 0;
    for (size_t a = 0; a < consumer.args.size(); ++a) {
      if (plan_.storageOf(consumer.args[a]) != storage) continue;
      operand = static_cast<int>(a);
      ++uses;
    }
    if (uses != 1 || consumer.writes[operand] ||
        into->kernel->operands[operand].dtype != from->kernel->operands[written].dtype)
      return false;
    // A message about a faulty element names the node's op: the producer's, not the consumer's.
    if (from->kernel->mayFault()) return false;
    if (!fuseInto(*into->kernel, consumer.args, operand, *from->kernel, producer.args))
      return false;
    consumer.reads.clear();
    consumer.writes.clear();
    for (const Operand& o : into->kernel->operands) {
      consumer.reads.push_back(o.reads);
      consumer.writes.push_back(o.writes);
    }
    for (int buffer : producer.args) {
      std::set<size_t>& others = users_[plan_.storageOf(buffer)];
      others.erase(at);
      others.insert(reader);
    }
    return true;
  }

  // True if something that the producer reads changes before the consumer runs.
  bool overwritten(const Node& producer, size_t from, size_t to) const {
    for (size_t a = 0; a < producer.args.size(); ++a) {
      auto writers = writers_.find(plan_.storageOf(producer.args[a]));
      if (writers == writers_.end()) continue;
      auto next = std::upper_bound(writers->second.begin(), writers->second.end(), from);
      if (next != writers->second.end() && *next < to) return true;
    }
    return false;
  }

  Plan& plan_;
  const Body& whole_;
  std::vector<Node>& body_;
  std::map<int, std::set<size_t>> users_;  // nodes that mention a storage
  // Nodes that write a storage, in order, those too that have gone into others: what such a node
  // wrote was its temporary, which nobody mentions any more.
  std::map<int, std::vector<size_t>> writers_;
};

}  // namespace

void fuseKernels(Plan& plan, PlanProgram& program) {
  forEachBody(plan, program, [&](const Body& body) { Fusion(plan, body).run(); });
}

}  // namespace dtranspile::lower
