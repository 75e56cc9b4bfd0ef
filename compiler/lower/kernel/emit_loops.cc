// The loops of stages, and how long sums are formed in them. One accumulator that takes 10^7 values
// one after the other loses digits, and one of float32 that has come to 2^24 takes no more ones.
// So sums and products of floats go in blocks of a length that the extents alone decide: a block in
// the type of its values (which vectorises), the sum of blocks in float64. The error then grows
// with the length of a block and not with that of the sum (Higham, "The accuracy of floating point
// summation", SIAM J. Sci. Comput. 14, 1993, section 3: blocked sums).
#include <algorithm>
#include <limits>

#include "compiler/lower/kernel/emitter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::lower {
namespace {

// Values of a block. A sum along a row has an accumulator per lane of the vectors that LLVM makes
// of its loop, at least 16 of float32; one over rows has one accumulator per column.
constexpr int64_t kBlock = 2048, kLaneBlock = 256;

bool sums(const Reduction& r) {
  return isFloat(r.type) && (r.how == Combine::Sum || r.how == Combine::Prod);
}

// The neutral element of a reduction; constants of integers saturate.
double neutral(Combine how) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (how) {
    case Combine::Sum:
    case Combine::Any: return 0;
    case Combine::Prod:
    case Combine::All: return 1;
    case Combine::Max: return -infinity;
    case Combine::Min: return infinity;
  }
  return 0;
}

Op combiner(Combine how) {
  static const Op kOps[] = {Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or};
  return kOps[static_cast<int>(how)];
}

}  // namespace

// Loop `at` of a stage is walked in blocks of `step` turns; those inside it are in a block as a
// whole.
struct Emitter::Cut {
  size_t at;
  int64_t step;
};

// Nothing where no float is summed, or all values are one block.
std::optional<Emitter::Cut> Emitter::cutOf(const Stage& stage) const {
  auto isSum = [&](int r) { return sums(kernel_.reductions[r]); };
  if (llvm::none_of(stage.reductions, isSum)) return std::nullopt;
  const int64_t block = kernel_.lane < 0 ? kBlock : kLaneBlock;
  int64_t inside = 1;
  for (size_t k = stage.loops.size(); k-- > 0;) {
    const int64_t extent = kernel_.dims[stage.loops[k]];
    if (kernel_.unknown(extent) || extent > block / inside) return Cut{k, block / inside};
    inside *= std::max<int64_t>(extent, 1);
  }
  return std::nullopt;
}

bool Emitter::widens(const Reduction& r, const std::optional<Cut>& cut) const {
  return cut.has_value() && sums(r);
}

// Of what loops around the blocks carry.
Scalar Emitter::carriedType(const Reduction& r, const std::optional<Cut>& cut) const {
  return widens(r, cut) ? Scalar::F64 : r.type;
}

std::string Emitter::accumulate(const Reduction& r, const std::string& old,
                                const std::string& next) {
  return define(spellBinary(combiner(r.how), isFloat(r.type)) + (" " + old) + ", " + next +
                    (sums(r) ? " fastmath<reassoc,contract>" : ""),
                mlirName(r.type));
}

std::string Emitter::addBlock(const Reduction& r, const std::string& total,
                              const std::string& block) {
  const std::string wide =
      r.type == Scalar::F64 ? block : define("arith.extf " + block, "f32 to f64");
  return define(spellBinary(combiner(r.how), true) + (" " + total) + ", " + wide, "f64");
}

std::string Emitter::narrowed(const Reduction& r, const std::string& total) {
  return r.type == Scalar::F64 ? total : define("arith.truncf " + total, "f64 to f32");
}

std::string Emitter::neutralOf(const Reduction& r, Scalar type) {
  return constant(neutral(r.how), type);
}

std::string Emitter::loopHead(int dim) const {
  return "scf.for " + id("%i", dim) + " = %zero to " + index(kernel_.dims[dim]) + " step %one";
}

std::string Emitter::blocksHead(int dim, const std::string& step) const {
  return "scf.for " + id("%j", dim) + " = %zero to " + index(kernel_.dims[dim]) + " step " + step;
}

// The loop over the block that begins at %j.
std::string Emitter::blockHead(int dim, const std::string& step) {
  const std::string next = define("arith.addi " + id("%j", dim) + ", " + step, "index");
  const std::string end = define("arith.minsi " + next + ", " + index(kernel_.dims[dim]), "index");
  return "scf.for " + id("%i", dim) + " = " + id("%j", dim) + " to " + end + " step %one";
}

// What closing a loop has to know: what it yields, and of a loop over blocks the totals before the
// block.
struct Emitter::Level {
  bool wide;  // carries totals, not a block's
  Names results = {}, totals = {};
};

Emitter::Names Emitter::typesOf(const Stage& stage, const std::optional<Cut>& cut) const {
  Names types;
  for (int r : stage.reductions)
    types.emplace_back(mlirName(carriedType(kernel_.reductions[r], cut)));
  return types;
}

// Opens a loop that carries values; their names inside.
Emitter::Names Emitter::openCarrying(const std::string& head, const Names& initial,
                                     const Names& types, Level& level) {
  if (initial.empty()) return open(head), Names();
  Names inside, bindings;
  for (const std::string& value : initial) {
    inside.push_back(fresh());
    level.results.push_back(fresh());
    bindings.push_back(inside.back() + " = " + value);
  }
  open(llvm::join(level.results, ", ") + " = " + head + " iter_args(" + llvm::join(bindings, ", ") +
       ") -> (" + llvm::join(types, ", ") + ")");
  return inside;
}

// All loads of a stage come before its stores, so that an operand may be updated in place.
void Emitter::emitStage(const Stage& stage) {
  const std::optional<Cut> cut = cutOf(stage);
  const size_t count = stage.reductions.size();
  auto reduction = [&](size_t k) -> const Reduction& {
    return kernel_.reductions[stage.reductions[k]];
  };
  std::vector<Level> levels;
  Names carried;
  for (size_t k = 0; k < count; ++k)
    carried.push_back(neutralOf(reduction(k), carriedType(reduction(k), cut)));
  auto enter = [&](const std::string& head, bool wide) {
    levels.push_back({wide});
    carried = openCarrying(head, carried, typesOf(stage, wide ? cut : std::nullopt), levels.back());
  };
  for (size_t loop = 0; loop < stage.loops.size(); ++loop) {
    const int dim = stage.loops[loop];
    if (!cut || loop != cut->at) {
      enter(loopHead(dim), cut && loop < cut->at);
      continue;
    }
    const std::string step = define("arith.constant " + std::to_string(cut->step), "index");
    enter(blocksHead(dim, step), true);
    const std::string head = blockHead(dim, step);
    levels.back().totals = carried;
    for (size_t k = 0; k < count; ++k) {
      if (widens(reduction(k), cut)) carried[k] = neutralOf(reduction(k), reduction(k).type);
    }
    enter(head, false);
  }
  Names yielded;
  for (size_t k = 0; k < count; ++k)
    yielded.push_back(accumulate(reduction(k), carried[k], value(reduction(k).value)));
  for (const Store& s : stage.stores) value(s.value);
  for (const Store& s : stage.stores) store(s);
  for (; !levels.empty(); levels.pop_back()) {
    Level& level = levels.back();
    for (size_t k = 0; k < level.totals.size(); ++k) {
      if (widens(reduction(k), cut))
        yielded[k] = addBlock(reduction(k), level.totals[k], yielded[k]);
    }
    close(count == 0 ? ""
                     : "scf.yield " + llvm::join(yielded, ", ") + " : " +
                           llvm::join(typesOf(stage, level.wide ? cut : std::nullopt), ", "));
    yielded = level.results;
  }
  for (size_t k = 0; k < count; ++k) {
    results_[stage.reductions[k]] =
        widens(reduction(k), cut) ? narrowed(reduction(k), yielded[k]) : yielded[k];
  }
}

// Accumulators of a lane, and its totals where some stage goes in blocks.
void Emitter::allocateLanes() {
  if (kernel_.lane < 0) return;
  const std::string alloca = " = memref.alloca() {alignment = 64 : i64} : ";
  for (const Stage& stage : kernel_.stages) {
    const std::optional<Cut> cut = cutOf(stage);
    for (int r : stage.reductions) {
      const Reduction& reduction = kernel_.reductions[r];
      line(bufferOf(r) + alloca + laneMemref(reduction.type));
      if (widens(reduction, cut)) line(totalOf(r) + alloca + laneMemref(Scalar::F64));
    }
  }
}

std::string Emitter::loadLane(const std::string& buffer, Scalar type) {
  return define("memref.load " + buffer + atLane(), laneMemref(type));
}

void Emitter::storeLane(const std::string& value, const std::string& buffer, Scalar type) {
  line("memref.store " + value + ", " + buffer + atLane() + " : " + laneMemref(type));
}

template <typename Body>
void Emitter::eachLane(const Stage& stage, Body body) {
  if (stage.reductions.empty()) return;
  open(loopHead(kernel_.lane));
  for (int r : stage.reductions) body(r, kernel_.reductions[r]);
  close();
}

// The lane loop is innermost, its accumulators stand in memory: a[lane] = a[lane] + x.
void Emitter::emitLaneStage(const Stage& stage) {
  const std::optional<Cut> cut = cutOf(stage);
  eachLane(stage, [&](int r, const Reduction& reduction) {
    const Scalar type = carriedType(reduction, cut);
    storeLane(neutralOf(reduction, type), widens(reduction, cut) ? totalOf(r) : bufferOf(r), type);
  });
  for (size_t loop = 0; loop < stage.loops.size(); ++loop) {
    const int dim = stage.loops[loop];
    if (!cut || loop != cut->at) {
      open(loopHead(dim));
      continue;
    }
    const std::string step = define("arith.constant " + std::to_string(cut->step), "index");
    open(blocksHead(dim, step));
    const std::string head = blockHead(dim, step);
    eachLane(stage, [&](int r, const Reduction& reduction) {
      if (widens(reduction, cut))
        storeLane(neutralOf(reduction, reduction.type), bufferOf(r), reduction.type);
    });
    open(head);
  }
  open(loopHead(kernel_.lane));
  for (int r : stage.reductions) {
    const Reduction& reduction = kernel_.reductions[r];
    const std::string old = loadLane(bufferOf(r), reduction.type);
    storeLane(accumulate(reduction, old, value(reduction.value)), bufferOf(r), reduction.type);
  }
  for (const Store& s : stage.stores) value(s.value);
  for (const Store& s : stage.stores) store(s);
  close();
  for (size_t loop = stage.loops.size(); loop-- > 0;) {
    close();
    if (!cut || loop != cut->at) continue;
    eachLane(stage, [&](int r, const Reduction& reduction) {
      if (!widens(reduction, cut)) return;
      const std::string total = loadLane(totalOf(r), Scalar::F64);
      const std::string block = loadLane(bufferOf(r), reduction.type);
      storeLane(addBlock(reduction, total, block), totalOf(r), Scalar::F64);
    });
    close();
  }
  if (!cut) return;
  eachLane(stage, [&](int r, const Reduction& reduction) {
    if (!widens(reduction, cut)) return;
    storeLane(narrowed(reduction, loadLane(totalOf(r), Scalar::F64)), bufferOf(r), reduction.type);
  });
}

}  // namespace dtranspile::lower
