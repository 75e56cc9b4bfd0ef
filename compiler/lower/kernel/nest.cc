// A formula over a domain becomes a loop nest in three moves. Dims are put into a new order: kept
// ones outside, where rows are shared out over threads; reduced ones inside, as loops of the
// stages; and, if the innermost dim in memory is kept while others are reduced, that one as the
// lane, innermost in every stage with an accumulator per element, so that memory is still walked
// contiguously. A long lane is cut into blocks, whose number becomes an outer dim. Then the
// expressions are copied level by level: a level reads the reductions of those before it, which
// makes it a stage of its own, and an element that was stored is loaded again where computing it
// anew would cost a division or a transcendental function. Last come stores that happen once per
// row.
#include "compiler/lower/kernel/nest.h"

#include <algorithm>
#include <map>

#include "compiler/lower/kernel/extents.h"

namespace dtranspile::lower {
namespace {

// A lane longer than this does not get accumulators on the stack; one up to the second is not cut
// into blocks.
constexpr int64_t kLongestLane = 8192, kBlock = 512;

bool heavy(const ExprPool& pool, ExprId id) {
  bool found = false;
  pool.walk(id, [&](const Expr& e) {
    found |= e.op == Op::Div || e.op == Op::Pow || (e.op >= Op::Exp && e.op <= Op::Atanh);
  });
  return found;
}

// Builds one kernel from the statements that fit it: orders dims, renumbers the operands that are
// loaded and stored by buffer and strides, and copies expressions into the kernel's own pool, stage
// by stage.
class NestBuilder {
 public:
  NestBuilder(std::string_view hint, const Dims& domain, const ExprPool& source,
              const std::vector<Ref>& refs, const Nest& nest, bool dynamic)
      : domain_(domain), source_(source), refs_(refs), nest_(nest) {
    kernel_.hint = std::string(hint);
    kernel_.dynamic = dynamic;
  }

  BoundKernel run() {
    layOut();
    int last = 0;
    for (const Assignment& s : nest_.stores) last = std::max(last, s.level);
    for (const PendingReduction& r : nest_.reductions) last = std::max(last, r.level);
    for (int level = 0; level <= last; ++level) fillLevel(level);
    rowStores();
    canonicalize(kernel_);
    return {std::move(kernel_), std::move(buffers_)};
  }

 private:
  bool rowForm() const {
    return !nest_.reductions.empty() || std::any_of(nest_.stores.begin(), nest_.stores.end(),
                                                    [](const Assignment& s) { return s.perRow; });
  }

  void addDim(int from, int64_t extent, int64_t step) {
    kernel_.dims.push_back(extent);
    sources_.push_back({from, step});
  }

  // New order of dims: kept, reduced, lane.
  void layOut() {
    const int rank = static_cast<int>(domain_.size());
    int lane = -1;
    if (rowForm()) {
      for (int d = rank - 1; d >= 0; --d) {
        if (domain_[d] == 1) continue;
        if (!nest_.inner[d] && reducesSomething() && domain_[d] <= kLongestLane) lane = d;
        break;
      }
    }
    std::vector<int> reduced;
    for (int d = 0; d < rank; ++d) {
      if (rowForm() && nest_.inner[d]) reduced.push_back(d);
      else if (d != lane) addDim(d, domain_[d], 1);
    }
    int64_t block = lane < 0 ? 1 : blockOf(domain_[lane]);
    if (lane >= 0 && block != domain_[lane]) addDim(lane, domain_[lane] / block, block);
    if (kernel_.dims.empty()) addDim(-1, 1, 0);
    kernel_.inner = static_cast<int>(kernel_.dims.size());
    for (int d : reduced) {
      loops_.push_back(static_cast<int>(kernel_.dims.size()));
      addDim(d, domain_[d], 1);
    }
    if (lane >= 0) {
      kernel_.lane = static_cast<int>(kernel_.dims.size());
      addDim(lane, block, 1);
    }
  }

  bool reducesSomething() const {
    for (size_t d = 0; d < domain_.size(); ++d) {
      if (nest_.inner[d] && domain_[d] > 1) return true;
    }
    return false;
  }

  static int64_t blockOf(int64_t extent) {
    if (extent <= kBlock) return extent;
    for (int64_t block = kBlock; block >= 64; --block) {
      if (extent % block == 0) return block;
    }
    return extent;
  }

  // Two references to one buffer with the same strides are one operand, which may be read and
  // written. With other strides they are two parameters, both `noalias`: right for what is read
  // only, so that in-place results are for operands that are walked alike (in_place.h).
  int operandOf(int ref, bool write) {
    const Ref& r = refs_[ref];
    Operand operand{.dtype = r.tensor.dtype};
    for (const auto& [dim, step] : sources_)
      operand.strides.push_back(dim < 0 ? 0 : r.strides[dim] * step);
    for (size_t i = 0; i < kernel_.operands.size(); ++i) {
      Operand& known = kernel_.operands[i];
      if (buffers_[i] != r.tensor.buffer || known.strides != operand.strides ||
          known.dtype != operand.dtype)
        continue;
      (write ? known.writes : known.reads) = true;
      return static_cast<int>(i);
    }
    (write ? operand.writes : operand.reads) = true;
    kernel_.operands.push_back(operand);
    buffers_.push_back(r.tensor.buffer);
    return static_cast<int>(kernel_.operands.size()) - 1;
  }

  // The flat place in the inner dims, which are loops of the stages or, in an element-wise kernel,
  // enclosing ones.
  ExprId place() {
    ExprPool& p = kernel_.exprs;
    ExprId sum = p.constant(0, Scalar::I64);
    int64_t step = 1;
    for (size_t d = sources_.size(); d-- > 0;) {
      if (sources_[d].first < 0 || !nest_.inner[sources_[d].first]) continue;
      sum = p.binary(Op::Add,
                     p.binary(Op::Mul, p.position(static_cast<int>(d)),
                              kernel_.dynamic ? p.count(step, Scalar::I64)
                                              : p.constant(static_cast<double>(step), Scalar::I64)),
                     sum);
      step *= kernel_.dims[d];
    }
    return sum;
  }

  ExprId copy(ExprId id, std::map<ExprId, ExprId>& done) {
    return source_.copyTo(kernel_.exprs, id, done, [&](const Expr& e) {
      if (e.op == Op::Load) return kernel_.exprs.load(operandOf(e.index, false), e.type);
      if (e.op == Op::Result) return kernel_.exprs.result(e.index, e.type);
      return place();
    });
  }

  // A level holds what needs the reductions of the levels before it (softmax: a maximum, then a
  // sum, then quotients), and becomes one stage: a loop that accumulates its reductions and makes
  // its stores. Expressions are copied once per stage and shared in it (`done`). What an earlier
  // level computed is computed again, unless that is dear and it has been stored in an output: then
  // it is read back.
  void fillLevel(int level) {
    Stage stage;
    stage.loops = rowForm() ? loops_ : std::vector<int>{};
    std::map<ExprId, ExprId> done;
    // What earlier levels stored is read back instead of computed again where that is dear.
    for (const auto& [value, operand] : stored_) {
      if (heavy(source_, value)) {
        kernel_.operands[operand].reads = true;
        done[value] = kernel_.exprs.load(operand, scalarOf(kernel_.operands[operand].dtype));
      }
    }
    kernel_.reductions.resize(nest_.reductions.size());
    for (size_t r = 0; r < nest_.reductions.size(); ++r) {
      const PendingReduction& pending = nest_.reductions[r];
      if (pending.level != level) continue;
      stage.reductions.push_back(static_cast<int>(r));
      ExprId value = copy(pending.value, done);
      kernel_.reductions[r] = {pending.how, kernel_.exprs[value].type, value};
    }
    for (const Assignment& s : nest_.stores) {
      if (s.perRow || s.level != level) continue;
      ExprId value = copy(s.value, done);
      int operand = operandOf(s.ref, true);
      stage.stores.push_back(
          {operand, kernel_.exprs.cast(value, scalarOf(kernel_.operands[operand].dtype))});
      std::erase_if(stored_, [&](const auto& entry) { return entry.second == operand; });
      if (isFloat(source_[s.value].type)) stored_[s.value] = operand;
    }
    if (!stage.reductions.empty() || !stage.stores.empty())
      kernel_.stages.push_back(std::move(stage));
  }

  // A last stage without loops: what is stored once per row, from the reductions of the stages
  // before.
  void rowStores() {
    Stage stage;
    std::map<ExprId, ExprId> done;
    for (const Assignment& s : nest_.stores) {
      if (!s.perRow) continue;
      ExprId value = copy(s.value, done);
      int operand = operandOf(s.ref, true);
      stage.stores.push_back(
          {operand, kernel_.exprs.cast(value, scalarOf(kernel_.operands[operand].dtype))});
    }
    if (!stage.stores.empty()) kernel_.stages.push_back(std::move(stage));
  }

  const Dims& domain_;
  const ExprPool& source_;
  const std::vector<Ref>& refs_;
  const Nest& nest_;
  Kernel kernel_;
  std::vector<int> buffers_;
  std::vector<std::pair<int, int64_t>>
      sources_;  // per dim of the kernel: dim of the domain, its step there
  std::vector<int> loops_;
  std::map<ExprId, int> stored_;
};

}  // namespace

BoundKernel buildNest(std::string_view hint, const Dims& domain, const ExprPool& source,
                      const std::vector<Ref>& refs, const Nest& nest, bool dynamic) {
  return NestBuilder(hint, domain, source, refs, nest, dynamic).run();
}

}  // namespace dtranspile::lower
