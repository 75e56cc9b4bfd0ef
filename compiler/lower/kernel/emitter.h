// A kernel being printed: what the files emit*.cc share. emit.cc has memory and scalars,
// emit_integers.cc the integer operations that hardware does not define everywhere, emit_loops.cc
// the loops of stages and their sums. Not for others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/kernel/kernel.h"

namespace dtranspile::lower {

// "arith.addf" or "arith.addi"; null where there is none.
const char* spellBinary(Op op, bool floating);
// A constant of the type; integers saturate.
std::string numberText(double value, Scalar type);

class Emitter {
 public:
  explicit Emitter(const Kernel& kernel)
      : kernel_(kernel), unknown_(kernel.unknownNumbers()), results_(kernel.reductions.size()) {}

  std::string run();

 private:
  using Names = std::vector<std::string>;

  std::string id(const char* prefix, int64_t n) const { return prefix + std::to_string(n); }
  std::string fresh() { return "%v" + std::to_string(next_++); }
  void line(const std::string& s) { text_ += s + "\n"; }
  void open(const std::string& head) {
    line(head + " {");
    scopes_.push_back(values_);
  }
  void close(const std::string& yield = "") {
    if (!yield.empty()) line(yield);
    line("}");
    values_ = scopes_.back();
    scopes_.pop_back();
  }
  // %v = arith.constant …
  std::string constant(double value, Scalar type);
  // %v = `what` : `type`
  std::string define(const std::string& what, const std::string& type) {
    std::string v = fresh();
    line(v + " = " + what + " : " + type);
    return v;
  }

  // Bounds are few: named once in the header.
  std::string index(int64_t value) const {
    return kernel_.unknown(value) ? unknownName(value) : "%c" + std::to_string(value);
  }
  // An extent or stride known at run time only: its place in the table of extents.
  std::string unknownName(int64_t value) const;
  std::string inType(int64_t value) const {
    return kernel_.unknown(value) ? "?" : std::to_string(value);
  }
  std::string inCast(int64_t value) const {
    return kernel_.unknown(value) ? unknownName(value) : std::to_string(value);
  }
  void loadExtents();
  std::string memrefOf(const Operand& operand) const;
  void header();
  std::string position(const Operand& operand) const;
  std::string value(ExprId id);
  std::string compute(ExprId id);
  std::string computeArithmetic(const Expr& e, const std::string& a, const std::string& b);
  std::string loadElement(int operand);
  std::string castTo(const std::string& from, Scalar source, Scalar target);
  void store(const Store& store);

  // emit_integers.cc
  std::string toInteger(const std::string& from, Scalar source, Scalar target);
  std::string divide(const Expr& e, const std::string& a, const std::string& b);
  void reportFault(const std::string& isZero);

  // emit_loops.cc
  struct Cut;
  std::optional<Cut> cutOf(const Stage& stage) const;
  bool widens(const Reduction& r, const std::optional<Cut>& cut) const;
  Scalar carriedType(const Reduction& r, const std::optional<Cut>& cut) const;
  std::string accumulate(const Reduction& r, const std::string& old, const std::string& next);
  std::string addBlock(const Reduction& r, const std::string& total, const std::string& block);
  std::string narrowed(const Reduction& r, const std::string& total);
  std::string neutralOf(const Reduction& r, Scalar type);
  std::string loopHead(int dim) const;
  std::string blocksHead(int dim, const std::string& step) const;
  std::string blockHead(int dim, const std::string& step);
  struct Level;
  Names typesOf(const Stage& stage, const std::optional<Cut>& cut) const;
  Names openCarrying(const std::string& head, const Names& initial, const Names& types,
                     Level& level);
  void emitStage(const Stage& stage);
  void emitLaneStage(const Stage& stage);
  void allocateLanes();
  std::string bufferOf(int reduction) const { return id("%acc", reduction); }
  std::string totalOf(int reduction) const { return id("%sum", reduction); }
  std::string laneMemref(Scalar type) const {
    return "memref<" + std::to_string(kernel_.dims[kernel_.lane]) + "x" + mlirName(type) + ">";
  }
  std::string atLane() const { return "[" + id("%i", kernel_.lane) + "]"; }
  std::string loadLane(const std::string& buffer, Scalar type);
  template <typename Body>
  void eachLane(const Stage& stage, Body body);
  void storeLane(const std::string& value, const std::string& buffer, Scalar type);

  const Kernel& kernel_;
  const std::vector<int64_t> unknown_;
  std::string text_;
  std::vector<std::string> results_;  // of reductions, where there is no lane
  int next_ = 0;
  std::map<ExprId, std::string> values_;               // what is computed in the current scope
  std::vector<std::map<ExprId, std::string>> scopes_;  // and in the enclosing ones
};

}  // namespace dtranspile::lower
