// The only place that knows how scalar operations are spelt in MLIR. Reductions carry `reassoc` on
// the accumulating operation, so that they vectorise; nothing else has fast-math flags (relu of NaN
// stays NaN, an is-finite test stays one).
#include "compiler/lower/kernel/emit.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdio>
#include <limits>

#include "llvm/ADT/StringExtras.h"

namespace dtranspile::lower {
namespace {

struct Spelling {
  Op op;
  const char* floating;  // null: not for that kind
  const char* integer;
};

const Spelling kBinary[] = {
    {Op::Add, "arith.addf", "arith.addi"},      {Op::Sub, "arith.subf", "arith.subi"},
    {Op::Mul, "arith.mulf", "arith.muli"},      {Op::Div, "arith.divf", "arith.divsi"},
    {Op::Rem, "arith.remf", "arith.remsi"},     {Op::Min, "arith.minimumf", "arith.minsi"},
    {Op::Max, "arith.maximumf", "arith.maxsi"}, {Op::Pow, "math.powf", nullptr},
    {Op::Atan2, "math.atan2", nullptr},         {Op::FloorDiv, nullptr, "arith.floordivsi"},
    {Op::And, nullptr, "arith.andi"},           {Op::Or, nullptr, "arith.ori"},
};

const Spelling kUnary[] = {
    {Op::Neg, "arith.negf", nullptr},   {Op::Abs, "math.absf", "math.absi"},
    {Op::Exp, "math.exp", nullptr},     {Op::Log, "math.log", nullptr},
    {Op::Log2, "math.log2", nullptr},   {Op::Log10, "math.log10", nullptr},
    {Op::Log1p, "math.log1p", nullptr}, {Op::Expm1, "math.expm1", nullptr},
    {Op::Sqrt, "math.sqrt", nullptr},   {Op::Tanh, "math.tanh", nullptr},
    {Op::Erf, "math.erf", nullptr},     {Op::Sin, "math.sin", nullptr},
    {Op::Cos, "math.cos", nullptr},     {Op::Tan, "math.tan", nullptr},
    {Op::Asin, "math.asin", nullptr},   {Op::Acos, "math.acos", nullptr},
    {Op::Atan, "math.atan", nullptr},   {Op::Sinh, "math.sinh", nullptr},
    {Op::Cosh, "math.cosh", nullptr},   {Op::Asinh, "math.asinh", nullptr},
    {Op::Acosh, "math.acosh", nullptr}, {Op::Atanh, "math.atanh", nullptr},
    {Op::Floor, "math.floor", nullptr}, {Op::Ceil, "math.ceil", nullptr},
    {Op::Round, "math.round", nullptr}, {Op::Trunc, "math.trunc", nullptr},
};

struct Comparison {
  Op op;
  const char* floating;
  const char* integer;
};
const Comparison kComparisons[] = {{Op::Eq, "oeq", "eq"},  {Op::Ne, "une", "ne"},
                                   {Op::Lt, "olt", "slt"}, {Op::Le, "ole", "sle"},
                                   {Op::Gt, "ogt", "sgt"}, {Op::Ge, "oge", "sge"}};

template <typename Table>
const char* spell(const Table& table, Op op, bool floating) {
  for (const auto& row : table) {
    if (row.op == op) return floating ? row.floating : row.integer;
  }
  return nullptr;
}

std::string number(double value, Scalar type) {
  char text[64];
  if (type == Scalar::F64) {
    std::snprintf(text, sizeof text, "0x%016lX", std::bit_cast<uint64_t>(value));
  } else if (isFloat(type) || type == Scalar::Weak) {
    std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(static_cast<float>(value)));
  } else if (type == Scalar::I1) {
    return value != 0 ? "true" : "false";
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(value));
  }
  return text;
}

const char* storageName(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8: return "i8";
    case DType::kInt16: return "i16";
    case DType::kFloat16: return "f16";
    case DType::kBFloat16: return "bf16";
    default: return mlirName(scalarOf(type));
  }
}

// The conversion between what is stored and what is computed with; null when they are the same.
// Bools are read by comparison.
const char* widening(DType type) {
  if (type == DType::kUInt8) return "arith.extui";
  if (type == DType::kInt8 || type == DType::kInt16) return "arith.extsi";
  if (type == DType::kFloat16 || type == DType::kBFloat16) return "arith.extf";
  return nullptr;
}
const char* narrowing(DType type) {
  if (type == DType::kBool) return "arith.extui";
  if (type == DType::kUInt8 || type == DType::kInt8 || type == DType::kInt16) return "arith.trunci";
  if (type == DType::kFloat16 || type == DType::kBFloat16) return "arith.truncf";
  return nullptr;
}

// The neutral element of a reduction.
double neutral(Combine how, Scalar type) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool wide = type == Scalar::I64;
  const double least = isFloat(type) ? -infinity : wide ? -9223372036854775808.0 : -2147483648.0;
  // The largest int64 is no double; the constant is printed from the nearest one below.
  const double most = isFloat(type) ? infinity : wide ? 9223372036854774784.0 : 2147483647.0;
  switch (how) {
    case Combine::Sum:
    case Combine::Any: return 0;
    case Combine::Prod:
    case Combine::All: return 1;
    case Combine::Max: return least;
    case Combine::Min: return most;
  }
  return 0;
}

Op combiner(Combine how) {
  static const Op kOps[] = {Op::Add, Op::Mul, Op::Max, Op::Min, Op::And, Op::Or};
  return kOps[static_cast<int>(how)];
}

class Emitter {
 public:
  explicit Emitter(const Kernel& kernel)
      : kernel_(kernel), unknown_(kernel.unknownNumbers()), results_(kernel.reductions.size()) {}

  std::string run() {
    header();
    open("scf.for %i0 = %lo to %n step %one");
    for (int dim = 1; dim < kernel_.inner; ++dim) openLoop(dim, "");
    for (const Stage& stage : kernel_.stages)
      kernel_.lane < 0 ? emitStage(stage) : emitLaneStage(stage);
    for (int dim = 0; dim < kernel_.inner; ++dim) close();
    line("return");
    text_ += "}\n";
    return text_;
  }

 private:
  std::string id(const char* prefix, int64_t n) { return prefix + std::to_string(n); }
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

  // Bounds are few: named once in the header.
  std::string index(int64_t value) const {
    return kernel_.unknown(value) ? unknownName(value) : "%c" + std::to_string(value);
  }
  // An extent or stride known at run time only: its place in the table of extents.
  std::string unknownName(int64_t value) const {
    return "%x" +
           std::to_string(std::find(unknown_.begin(), unknown_.end(), value) - unknown_.begin());
  }
  std::string inType(int64_t value) const {
    return kernel_.unknown(value) ? "?" : std::to_string(value);
  }
  std::string inCast(int64_t value) const {
    return kernel_.unknown(value) ? unknownName(value) : std::to_string(value);
  }
  void loadExtents();
  void openLoop(int dim, const std::string& carried) {
    open("scf.for " + id("%i", dim) + " = %zero to " + index(kernel_.dims[dim]) + " step %one" +
         carried);
  }

  std::string memrefOf(const Operand& operand) const;
  void header();
  std::string position(const Operand& operand) const;
  std::string value(ExprId id);
  std::string compute(ExprId id);
  std::string loadElement(int operand);
  std::string castTo(const std::string& from, Scalar source, Scalar target);
  std::string accumulate(const Reduction& r, const std::string& old, const std::string& next);
  std::string neutralOf(const Reduction& r);
  void store(const Store& store);
  void emitStage(const Stage& stage);
  void emitLaneStage(const Stage& stage);
  std::string bufferOf(int reduction) const { return "%acc" + std::to_string(reduction); }
  std::string laneMemref(int reduction) const {
    return "memref<" + std::to_string(kernel_.dims[kernel_.lane]) + "x" +
           mlirName(kernel_.reductions[reduction].type) + ">";
  }

  const Kernel& kernel_;
  const std::vector<int64_t> unknown_;
  std::string text_;
  std::vector<std::string> results_;  // of reductions, where there is no lane
  int next_ = 0;
  std::map<ExprId, std::string> values_;               // what is computed in the current scope
  std::vector<std::map<ExprId, std::string>> scopes_;  // and in the enclosing ones
};

// Only dims that the operand moves along are dims of its memref: broadcast needs no stride 0.
std::string Emitter::memrefOf(const Operand& operand) const {
  std::string shape, strides;
  for (size_t dim = 0; dim < kernel_.dims.size(); ++dim) {
    if (operand.strides[dim] == 0) continue;
    shape += dim == 0 ? "?x" : inType(kernel_.dims[dim]) + "x";
    strides += (strides.empty() ? "" : ", ") + inType(operand.strides[dim]);
  }
  if (shape.empty())
    return std::string("memref<1x") + storageName(operand.dtype) +
           ", strided<[1], offset: " + std::to_string(operand.offset) + ">>";
  return "memref<" + shape + storageName(operand.dtype) + ", strided<[" + strides +
         "], offset: " + std::to_string(operand.offset) + ">>";
}

void Emitter::header() {
  text_ += "func.func @kernel(";
  for (size_t i = 0; i < kernel_.operands.size(); ++i) {
    const Operand& operand = kernel_.operands[i];
    text_ += id("%a", i) + ": memref<1x" + storageName(operand.dtype) +
             "> {llvm.noalias, llvm.align = 64 : i64" + (operand.writes ? "" : ", llvm.readonly") +
             "}, ";
  }
  const std::string table = "memref<" + std::to_string(unknown_.size()) + "xi64>";
  if (!unknown_.empty()) text_ += "%extents: " + table + " {llvm.noalias, llvm.readonly}, ";
  text_ += "%lo: index, %n: index) {\n";
  line("%zero = arith.constant 0 : index");
  line("%one = arith.constant 1 : index");
  std::map<int64_t, bool> bounds;
  for (size_t dim = 1; dim < kernel_.dims.size(); ++dim) {
    if (!kernel_.unknown(kernel_.dims[dim])) bounds[kernel_.dims[dim]] = true;
  }
  for (const auto& [bound, unused] : bounds)
    line(index(bound) + " = arith.constant " + std::to_string(bound) + " : index");
  loadExtents();
  for (size_t i = 0; i < kernel_.operands.size(); ++i) {
    const Operand& operand = kernel_.operands[i];
    std::string sizes, strides;
    for (size_t dim = 0; dim < kernel_.dims.size(); ++dim) {
      if (operand.strides[dim] == 0) continue;
      const char* comma = sizes.empty() ? "" : ", ";
      sizes += comma + (dim == 0 ? std::string("%n") : inCast(kernel_.dims[dim]));
      strides += comma + inCast(operand.strides[dim]);
    }
    if (sizes.empty()) sizes = strides = "1";
    line(id("%m", i) + " = memref.reinterpret_cast " + id("%a", i) + " to offset: [" +
         std::to_string(operand.offset) + "], sizes: [" + sizes + "], strides: [" + strides +
         "] : memref<1x" + storageName(operand.dtype) + "> to " + memrefOf(operand));
  }
  if (kernel_.lane < 0) return;
  for (size_t i = 0; i < kernel_.reductions.size(); ++i) {
    line(bufferOf(i) + " = memref.alloca() {alignment = 64 : i64} : " + laneMemref(i));
  }
}

// %x<k>: entry k of the table as an index.
void Emitter::loadExtents() {
  const std::string table = "memref<" + std::to_string(unknown_.size()) + "xi64>";
  for (size_t k = 0; k < unknown_.size(); ++k) {
    const std::string at = fresh(), value = fresh();
    line(at + " = arith.constant " + std::to_string(k) + " : index");
    line(value + " = memref.load %extents[" + at + "] : " + table);
    line(id("%x", static_cast<int64_t>(k)) + " = arith.index_cast " + value + " : i64 to index");
  }
}

std::string Emitter::position(const Operand& operand) const {
  std::string at;
  for (size_t dim = 0; dim < kernel_.dims.size(); ++dim) {
    if (operand.strides[dim] == 0) continue;
    at += (at.empty() ? "%i" : ", %i") + std::to_string(dim);
  }
  return "[" + (at.empty() ? "%zero" : at) + "]";
}

std::string Emitter::loadElement(int which) {
  const Operand& operand = kernel_.operands[which];
  const char* storage = storageName(operand.dtype);
  std::string v = fresh();
  line(v + " = memref.load " + id("%m", which) + position(operand) + " : " + memrefOf(operand));
  if (operand.dtype == DType::kBool) {
    std::string zero = fresh(), flag = fresh();
    line(zero + " = arith.constant 0 : i8");
    line(flag + " = arith.cmpi ne, " + v + ", " + zero + " : i8");
    return flag;
  }
  if (const char* how = widening(operand.dtype)) {
    std::string wide = fresh();
    line(wide + " = " + how + " " + v + " : " + storage + " to " +
         mlirName(scalarOf(operand.dtype)));
    return wide;
  }
  return v;
}

std::string Emitter::castTo(const std::string& from, Scalar source, Scalar target) {
  std::string v = fresh();
  const std::string types = std::string(" : ") + mlirName(source) + " to " + mlirName(target);
  if (target == Scalar::I1) {
    std::string zero = fresh();
    line(zero + " = arith.constant " + number(0, source) + " : " + mlirName(source));
    line(v + (isFloat(source) ? " = arith.cmpf une, " : " = arith.cmpi ne, ") + from + ", " + zero +
         " : " + mlirName(source));
    return v;
  }
  const char* how = isFloat(source)
                        ? (isFloat(target) ? (target == Scalar::F64 ? "arith.extf" : "arith.truncf")
                                           : "arith.fptosi")
                    : isFloat(target) ? (source == Scalar::I1 ? "arith.uitofp" : "arith.sitofp")
                    : source == Scalar::I1  ? "arith.extui"
                    : target == Scalar::I64 ? "arith.extsi"
                                            : "arith.trunci";
  line(v + " = " + how + " " + from + types);
  return v;
}

std::string Emitter::value(ExprId id) {
  if (auto it = values_.find(id); it != values_.end()) return it->second;
  return values_[id] = compute(id);
}

std::string Emitter::compute(ExprId which) {
  const Expr e = kernel_.exprs[which];
  const std::string type = mlirName(e.type);
  if (e.op == Op::Load) return loadElement(e.index);
  if (e.op == Op::Result) {
    if (kernel_.lane < 0) return results_[e.index];
    std::string v = fresh();
    line(v + " = memref.load " + bufferOf(e.index) + "[" + id("%i", kernel_.lane) +
         "] : " + laneMemref(e.index));
    return v;
  }
  if (e.op == Op::Cast) {
    std::string from = value(e.a);
    return castTo(from, kernel_.exprs[e.a].type, e.type);
  }
  std::string a = e.a >= 0 ? value(e.a) : "", b = e.b >= 0 ? value(e.b) : "",
              c = e.c >= 0 ? value(e.c) : "";
  std::string v = fresh();
  const bool floating = e.a >= 0 && isFloat(kernel_.exprs[e.a].type);
  const std::string operandType = e.a >= 0 ? mlirName(kernel_.exprs[e.a].type) : type;
  if (e.op == Op::Const) {
    line(v + " = arith.constant " + number(e.value, e.type) +
         (e.type == Scalar::I1 ? "" : " : " + type));
  } else if (e.op == Op::Extent) {
    line(v + " = arith.index_cast " + unknownName(static_cast<int64_t>(e.value)) +
         " : index to i64");
  } else if (e.op == Op::Index) {
    line(v + " = arith.index_cast " + id("%i", e.index) + " : index to i64");
  } else if (e.op == Op::Select) {
    line(v + " = arith.select " + a + ", " + b + ", " + c + " : " + type);
  } else if (e.op == Op::Not) {
    std::string yes = fresh();
    line(yes + " = arith.constant true");
    line(v + " = arith.xori " + a + ", " + yes + " : i1");
  } else if (e.op == Op::Neg && !floating) {
    std::string zero = fresh();
    line(zero + " = arith.constant 0 : " + type);
    line(v + " = arith.subi " + zero + ", " + a + " : " + type);
  } else if (const char* predicate = spell(kComparisons, e.op, floating)) {
    line(v + (floating ? " = arith.cmpf " : " = arith.cmpi ") + predicate + ", " + a + ", " + b +
         " : " + operandType);
  } else if (const char* name = spell(kBinary, e.op, floating)) {
    line(v + " = " + name + " " + a + ", " + b + " : " + type);
  } else {
    const char* function = spell(kUnary, e.op, floating);
    assert(function && "an operation that does not exist for its type");
    line(v + " = " + function + " " + a + " : " + type);
  }
  return v;
}

std::string Emitter::accumulate(const Reduction& r, const std::string& old,
                                const std::string& next) {
  std::string v = fresh();
  const bool sums = isFloat(r.type) && (r.how == Combine::Sum || r.how == Combine::Prod);
  line(v + " = " + spell(kBinary, combiner(r.how), isFloat(r.type)) + " " + old + ", " + next +
       (sums ? " fastmath<reassoc,contract>" : "") + " : " + mlirName(r.type));
  return v;
}

std::string Emitter::neutralOf(const Reduction& r) {
  std::string init = fresh();
  line(init + " = arith.constant " + number(neutral(r.how, r.type), r.type) +
       (r.type == Scalar::I1 ? "" : std::string(" : ") + mlirName(r.type)));
  return init;
}

void Emitter::store(const Store& store) {
  const Operand& operand = kernel_.operands[store.operand];
  std::string v = value(store.value);
  if (const char* how = narrowing(operand.dtype)) {
    std::string narrow = fresh();
    line(narrow + " = " + how + " " + v + " : " + mlirName(scalarOf(operand.dtype)) + " to " +
         storageName(operand.dtype));
    v = narrow;
  }
  line("memref.store " + v + ", " + id("%m", store.operand) + position(operand) + " : " +
       memrefOf(operand));
}

// All loads of a stage come before its stores, so that an operand may be updated in place.
void Emitter::emitStage(const Stage& stage) {
  using Names = std::vector<std::string>;
  Names inits, types;
  for (int r : stage.reductions) {
    inits.push_back(neutralOf(kernel_.reductions[r]));
    types.push_back(mlirName(kernel_.reductions[r].type));
  }
  std::vector<Names> carried = {inits}, produced;
  for (int dim : stage.loops) {
    if (inits.empty()) {
      openLoop(dim, "");
      continue;
    }
    Names arguments, outs;
    std::string list;
    for (const std::string& initial : carried.back()) {
      arguments.push_back(fresh());
      outs.push_back(fresh());
      list += (list.empty() ? "" : ", ") + arguments.back() + " = " + initial;
    }
    text_ += llvm::join(outs, ", ") + " = ";
    openLoop(dim, " iter_args(" + list + ") -> (" + llvm::join(types, ", ") + ")");
    carried.push_back(arguments);
    produced.push_back(outs);
  }
  Names yielded;
  for (size_t k = 0; k < inits.size(); ++k) {
    const Reduction& reduction = kernel_.reductions[stage.reductions[k]];
    yielded.push_back(accumulate(reduction, carried.back()[k], value(reduction.value)));
  }
  for (const Store& s : stage.stores) value(s.value);
  for (const Store& s : stage.stores) store(s);
  for (size_t depth = stage.loops.size(); depth-- > 0;) {
    close(inits.empty()
              ? ""
              : "scf.yield " + llvm::join(yielded, ", ") + " : " + llvm::join(types, ", "));
    if (!inits.empty()) yielded = produced[depth];
  }
  for (size_t k = 0; k < inits.size(); ++k) results_[stage.reductions[k]] = yielded[k];
}

// The lane loop is innermost, its accumulators stand in memory: a[lane] = a[lane] + x.
void Emitter::emitLaneStage(const Stage& stage) {
  const std::string at = "[" + id("%i", kernel_.lane) + "]";
  if (!stage.reductions.empty()) {
    openLoop(kernel_.lane, "");
    for (int r : stage.reductions) {
      const std::string init = neutralOf(kernel_.reductions[r]);
      line("memref.store " + init + ", " + bufferOf(r) + at + " : " + laneMemref(r));
    }
    close();
  }
  for (int dim : stage.loops) openLoop(dim, "");
  openLoop(kernel_.lane, "");
  for (int r : stage.reductions) {
    std::string old = fresh();
    line(old + " = memref.load " + bufferOf(r) + at + " : " + laneMemref(r));
    std::string next = accumulate(kernel_.reductions[r], old, value(kernel_.reductions[r].value));
    line("memref.store " + next + ", " + bufferOf(r) + at + " : " + laneMemref(r));
  }
  for (const Store& s : stage.stores) value(s.value);
  for (const Store& s : stage.stores) store(s);
  close();
  for (size_t i = 0; i < stage.loops.size(); ++i) close();
}

}  // namespace

std::string emitKernel(const Kernel& kernel) { return Emitter(kernel).run(); }

}  // namespace dtranspile::lower
