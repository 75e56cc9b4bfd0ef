// The only place that knows how scalar operations are spelt in MLIR. Reductions carry `reassoc` on
// the accumulating operation, so that they vectorise; nothing else has fast-math flags (relu of NaN
// stays NaN, an is-finite test stays one).
#include "compiler/lower/kernel/emit.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdio>

#include "compiler/lower/kernel/emitter.h"

namespace dtranspile::lower {
namespace {

struct Spelling {
  Op op;
  const char* floating;  // null: not for that kind
  const char* integer;
};

// Minimum and maximum hand on NaN from either side.
const Spelling kBinary[] = {
    {Op::Add, "arith.addf", "arith.addi"},      {Op::Sub, "arith.subf", "arith.subi"},
    {Op::Mul, "arith.mulf", "arith.muli"},      {Op::Div, "arith.divf", "arith.divsi"},
    {Op::Rem, "arith.remf", "arith.remsi"},     {Op::Min, "arith.minimumf", "arith.minsi"},
    {Op::Max, "arith.maximumf", "arith.maxsi"}, {Op::Pow, "math.powf", nullptr},
    {Op::Atan2, "math.atan2", nullptr},         {Op::FloorDiv, nullptr, "arith.floordivsi"},
    {Op::And, nullptr, "arith.andi"},           {Op::Or, nullptr, "arith.ori"},
};

// Op, its name for floats, and that for integers (null: there is none, the types of expr.cc make
// the operand a float).
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

// Null where the table has no such operation for the kind of numbers.
template <typename Table>
const char* spell(const Table& table, Op op, bool floating) {
  for (const auto& row : table) {
    if (row.op == op) return floating ? row.floating : row.integer;
  }
  return nullptr;
}

// What is in memory; half precision and small integers are computed with in wider types.
const char* storageName(DType type) {
  switch (type) {
    case DType::kBool:
    case DType::kUInt8:
    case DType::kInt8: return "i8";
    case DType::kInt16: return "i16";
    case DType::kFloat16: return "f16";
    // By its bits: code generation splits vectors of the type itself by calls that no library has.
    case DType::kBFloat16: return "i16";
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
// Integers wrap around, halves are rounded to the nearest even.
const char* narrowing(DType type) {
  if (type == DType::kBool) return "arith.extui";
  if (type == DType::kUInt8 || type == DType::kInt8 || type == DType::kInt16) return "arith.trunci";
  if (type == DType::kFloat16 || type == DType::kBFloat16) return "arith.truncf";
  return nullptr;
}

// The nearest integer of the type; 0 of NaN.
int64_t saturated(double value, Scalar type) {
  const int64_t least = type == Scalar::I64 ? INT64_MIN : INT32_MIN;
  const int64_t most = type == Scalar::I64 ? INT64_MAX : INT32_MAX;
  if (std::isnan(value)) return 0;
  // As doubles, 2^63 - 1 and 2^63 are one.
  if (value >= static_cast<double>(most)) return most;
  return value <= static_cast<double>(least) ? least : static_cast<int64_t>(value);
}

}  // namespace

const char* spellBinary(Op op, bool floating) { return spell(kBinary, op, floating); }

// Floats by their bits: no digits are lost and NaN can be written.
std::string numberText(double value, Scalar type) {
  char text[64];
  if (type == Scalar::F64) {
    std::snprintf(text, sizeof text, "0x%016lX", std::bit_cast<uint64_t>(value));
  } else if (isFloat(type) || type == Scalar::Weak) {
    std::snprintf(text, sizeof text, "0x%08X", std::bit_cast<uint32_t>(static_cast<float>(value)));
  } else if (type == Scalar::I1) {
    return value != 0 ? "true" : "false";
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(saturated(value, type)));
  }
  return text;
}

// func @kernel(args…, lo, n): a loop over rows [lo, n), in it loops over the inner dims, in them
// the stages. The runtime gives row ranges to threads.
std::string Emitter::run() {
  header();
  open("scf.for %i0 = %lo to %n step %one");
  for (int dim = 1; dim < kernel_.inner; ++dim) open(loopHead(dim));
  for (const Stage& stage : kernel_.stages)
    kernel_.lane < 0 ? emitStage(stage) : emitLaneStage(stage);
  for (int dim = 0; dim < kernel_.inner; ++dim) close();
  line("return");
  text_ += "}\n";
  return text_;
}

std::string Emitter::unknownName(int64_t value) const {
  return id("%x", std::find(unknown_.begin(), unknown_.end(), value) - unknown_.begin());
}

std::string Emitter::constant(double value, Scalar type) {
  std::string v = fresh();
  line(v + " = arith.constant " + numberText(value, type) +
       (type == Scalar::I1 ? "" : std::string(" : ") + mlirName(type)));
  return v;
}

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

// Arguments are bare memory; the shapes and strides that the kernel walks are put on by
// reinterpret_cast, and extents that only the run knows come in a table.
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
  if (kernel_.mayFault()) text_ += "%fault: memref<1xi64> {llvm.noalias}, ";
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
  allocateLanes();
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

// Indices along the dims that the operand moves along.
std::string Emitter::position(const Operand& operand) const {
  std::string at;
  for (size_t dim = 0; dim < kernel_.dims.size(); ++dim) {
    if (operand.strides[dim] == 0) continue;
    at += (at.empty() ? "%i" : ", %i") + std::to_string(dim);
  }
  return "[" + (at.empty() ? "%zero" : at) + "]";
}

// An element of an operand as the type that is computed with; a bool in memory is any byte but 0.
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
  if (operand.dtype == DType::kBFloat16) {
    const std::string number = fresh();
    line(number + " = arith.bitcast " + v + " : i16 to bf16");
    v = number;
    storage = "bf16";
  }
  if (const char* how = widening(operand.dtype)) {
    std::string wide = fresh();
    line(wide + " = " + how + " " + v + " : " + storage + " to " +
         mlirName(scalarOf(operand.dtype)));
    return wide;
  }
  return v;
}

// To bool by comparison with 0; floats to integers with a test of the range (toInteger): what does
// not fit, NaN too, is the smallest number, which x86 gives.
std::string Emitter::castTo(const std::string& from, Scalar source, Scalar target) {
  if (target == Scalar::I1) {
    const std::string zero = constant(0, source);
    return define((isFloat(source) ? "arith.cmpf une, " : "arith.cmpi ne, ") + from + ", " + zero,
                  mlirName(source));
  }
  if (isFloat(source) && !isFloat(target)) return toInteger(from, source, target);
  const char* how = isFloat(source)   ? (target == Scalar::F64 ? "arith.extf" : "arith.truncf")
                    : isFloat(target) ? (source == Scalar::I1 ? "arith.uitofp" : "arith.sitofp")
                    : source == Scalar::I1  ? "arith.extui"
                    : target == Scalar::I64 ? "arith.extsi"
                                            : "arith.trunci";
  return define(how + (" " + from), mlirName(source) + (std::string(" to ") + mlirName(target)));
}

std::string Emitter::value(ExprId id) {
  if (auto it = values_.find(id); it != values_.end()) return it->second;
  return values_[id] = compute(id);
}

// One operation of MLIR, or a few; values are computed once per scope (value()).
std::string Emitter::compute(ExprId which) {
  const Expr e = kernel_.exprs[which];
  const std::string type = mlirName(e.type);
  if (e.op == Op::Load) return loadElement(e.index);
  if (e.op == Op::Result) {
    if (kernel_.lane < 0) return results_[e.index];
    return loadLane(bufferOf(e.index), kernel_.reductions[e.index].type);
  }
  if (e.op == Op::Cast) {
    std::string from = value(e.a);
    return castTo(from, kernel_.exprs[e.a].type, e.type);
  }
  if (e.op == Op::Const) return constant(e.value, e.type);
  if (e.op == Op::Extent)
    return define("arith.index_cast " + unknownName(static_cast<int64_t>(e.value)), "index to i64");
  if (e.op == Op::Index) return define("arith.index_cast " + id("%i", e.index), "index to i64");
  const std::string a = value(e.a), b = e.b >= 0 ? value(e.b) : "";
  if (e.op == Op::Select) {
    const std::string c = value(e.c);
    return define("arith.select " + a + ", " + b + ", " + c, type);
  }
  return computeArithmetic(e, a, b);
}

// Comparisons of floats are ordered, but for "not equal", which NaN is to everything.
std::string Emitter::computeArithmetic(const Expr& e, const std::string& a, const std::string& b) {
  const std::string type = mlirName(e.type);
  const Scalar operands = kernel_.exprs[e.a].type;
  const bool floating = isFloat(operands);
  if (e.op == Op::Not) return define("arith.xori " + a + ", " + constant(1, Scalar::I1), "i1");
  if (e.op == Op::Neg && !floating)
    return define("arith.subi " + constant(0, e.type) + ", " + a, type);
  if (const char* spelled = spell(kComparisons, e.op, floating)) {
    std::string predicate = spelled;
    // One bit with a sign would be 0 and -1.
    if (operands == Scalar::I1 && predicate[0] == 's') predicate[0] = 'u';
    return define((floating ? "arith.cmpf " : "arith.cmpi ") + predicate + ", " + a + ", " + b,
                  mlirName(operands));
  }
  if (!floating && Kernel::divides(e.op)) return divide(e, a, b);
  if (const char* name = spellBinary(e.op, floating))
    return define(name + (" " + a) + ", " + b, type);
  const char* function = spell(kUnary, e.op, floating);
  assert(function && "an operation that does not exist for its type");
  return define(function + (" " + a), type);
}

// Computation is in float32 or wider; what lies in memory in half precision is rounded here.
// bfloat16 lies as 16-bit integers, since the target need not have the type.
void Emitter::store(const Store& store) {
  const Operand& operand = kernel_.operands[store.operand];
  std::string v = value(store.value);
  if (const char* how = narrowing(operand.dtype)) {
    std::string narrow = fresh();
    const bool bits = operand.dtype == DType::kBFloat16;
    line(narrow + " = " + how + " " + v + " : " + mlirName(scalarOf(operand.dtype)) + " to " +
         (bits ? "bf16" : storageName(operand.dtype)));
    v = bits ? define("arith.bitcast " + narrow, "bf16 to i16") : narrow;
  }
  line("memref.store " + v + ", " + id("%m", store.operand) + position(operand) + " : " +
       memrefOf(operand));
}

std::string emitKernel(const Kernel& kernel) { return Emitter(kernel).run(); }

}  // namespace dtranspile::lower
