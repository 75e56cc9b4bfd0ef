// A body and its formula are the same if both give the same terms. A term is an operation on terms,
// and equal terms have one number (hash-consing, the operands of sums and products in order of
// their numbers), so that comparing two results is comparing two numbers, however the ops are
// ordered or shared. What the reader does not know (another op, a reduction over other axes, an
// attribute that might change the meaning) is a fresh term, which equals nothing: the check errs
// towards a difference.
#include "compiler/analysis/relations/composite_body.h"

#include <cstring>
#include <map>
#include <tuple>

#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::verify {
namespace {

// Terms that are equal have one number: an operation with its parameters, of numbered terms.
class Terms {
 public:
  int of(const std::string& operation, std::vector<int> operands) {
    return numbers_.try_emplace({operation, std::move(operands)}, static_cast<int>(numbers_.size()))
        .first->second;
  }
  // For what is in no formula.
  int fresh() { return of("unknown " + std::to_string(numbers_.size()), {}); }

  int product(int a, int b) { return of("elementwise_mul", {std::min(a, b), std::max(a, b)}); }
  int sum(int a, int b) { return of("elementwise_add", {std::min(a, b), std::max(a, b)}); }
  int difference(int a, int b) { return of("elementwise_sub", {a, b}); }
  int scaled(int x, float factor, float bias = 0) {
    return factor == 1 && bias == 0 ? x : of("scale " + bits(factor) + " " + bits(bias), {x});
  }

 private:
  static std::string bits(float value) {
    uint32_t word;
    std::memcpy(&word, &value, sizeof word);
    return std::to_string(word);
  }
  std::map<std::pair<std::string, std::vector<int>>, int> numbers_;
};

constexpr llvm::StringRef kElementwise[] = {"elementwise_add", "elementwise_sub",
                                            "elementwise_mul"};

// The dim of the channels of an operand X; the others are folded.
struct Layout {
  int64_t rank = 0, channel = 1;

  static Layout of(dist::CompositeOp composite, mlir::Value x) {
    Layout layout;
    if (mlir::RankedTensorType type = pd::tensorOf(x.getType())) layout.rank = type.getRank();
    auto order = composite.getAttrs().getAs<mlir::StringAttr>("data_layout");
    if (order && order.getValue() == "NHWC") layout.channel = layout.rank - 1;
    return layout;
  }
  bool isAllButChannel(const std::vector<int64_t>& dims) const {
    std::vector<int64_t> all;
    for (int64_t dim = 0; dim < rank; ++dim)
      if (dim != channel) all.push_back(dim);
    return dims == all;
  }
};

// Reads the terms of a body off its ops.
class BodyReader {
 public:
  BodyReader(Terms& terms, const Axes& axes, Layout layout)
      : terms_(terms), axes_(axes), layout_(layout) {}

  void bind(mlir::Value value, int term) { numbers_[value] = term; }
  // Values from outside of the body are in no formula.
  int of(mlir::Value value) {
    auto [at, fresh] = numbers_.try_emplace(value, -1);
    if (fresh) at->second = terms_.fresh();
    return at->second;
  }
  void read(mlir::Block& body) {
    for (mlir::Operation& op : body) {
      if (auto reduce = llvm::dyn_cast<dist::AllReduceOp>(op)) readReduction(reduce);
      else if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) readWait(wait);
      else if (pd::OpView::isFrameworkOp(&op)) readOp(pd::OpView(&op));
    }
  }

 private:
  // Over all axes that the batch is cut over, and no other.
  bool wholeBatch(dist::CommOp comm) const {
    if (!comm || comm.getSubset()) return false;
    for (unsigned axis = 0; axis < axes_.count(); ++axis)
      if (axes_.sizes[axis] > 1 && axes_.isData[axis] != comm.overAxis(axes_.names[axis]))
        return false;
    return true;
  }
  int reduced(dist::AllReduceOp op, mlir::Value operand) {
    const bool sum =
        op.getReduce() == dist::Reduce::Sum && wholeBatch(dist::lookupComm(op, op.getCommAttr()));
    return sum ? terms_.of("all_reduce", {of(operand)}) : terms_.fresh();
  }
  void readReduction(dist::AllReduceOp op) {
    if (op->getNumResults() != op.getInputs().size() ||
        llvm::isa<dist::PendingType>(op->getResult(0).getType()))
      return;
    for (auto [result, operand] : llvm::zip(op->getResults(), op.getInputs()))
      bind(result, reduced(op, operand));
  }
  void readWait(dist::WaitOp wait) {
    auto start = wait.getPending().getDefiningOp<dist::AllReduceOp>();
    if (!start) return;
    for (auto [result, operand] : llvm::zip(wait.getOutputs(), start.getInputs()))
      bind(result, reduced(start, operand));
  }

  // Gives the result of an op the term that it computes. Only the forms that the formula of batch
  // norm is made of are known; whatever is not understood (other attributes, other dims of a
  // reduction, a factor that is read) binds nothing, so that its result is a fresh term, which
  // equals none of the formula's.
  void readOp(pd::OpView op) {
    llvm::StringRef type = op.type();
    mlir::Value x = op.input("X"), out = op.output("Out");
    if (!x || !out) return;
    if (type == "cast") return readCast(x, out);
    if (!onlyKnownAttributes(op)) return;
    if (llvm::is_contained(kElementwise, type)) return readElementwise(op, x, op.input("Y"), out);
    if (type == "square" || type == "rsqrt") return bind(out, terms_.of(type.str(), {of(x)}));
    if (type == "reduce_mean" || type == "reduce_sum") {
      if (layout_.isAllButChannel(op.getInts("dim")) && !op.getBool("keep_dim") &&
          !op.getBool("reduce_all"))
        bind(out, terms_.of(type.str(), {of(x)}));
      return;
    }
    if (type == "scale" && !op.hasInput("ScaleTensor") && op.getBool("bias_after_scale"))
      bind(out, terms_.scaled(of(x), static_cast<float>(op.getFloat("scale")),
                              static_cast<float>(op.getFloat("bias"))));
  }

  // Half precision in and out of a body that computes in more: what is rounded is what it gives.
  void readCast(mlir::Value x, mlir::Value out) {
    mlir::RankedTensorType from = pd::tensorOf(x.getType()), to = pd::tensorOf(out.getType());
    if (!from || !to || !llvm::isa<mlir::FloatType>(from.getElementType()) ||
        !llvm::isa<mlir::FloatType>(to.getElementType()))
      return;
    const bool widens = from.getElementTypeBitWidth() <= to.getElementTypeBitWidth();
    const bool given = llvm::all_of(
        out.getUsers(), [](mlir::Operation* user) { return llvm::isa<dist::YieldOp>(user); });
    if (widens || given) bind(out, of(x));
  }

  void readElementwise(pd::OpView op, mlir::Value x, mlir::Value y, mlir::Value out) {
    if (!y || (x.getType() != y.getType() && op.getInt("axis") != layout_.channel)) return;
    const int a = of(x), b = of(y);
    bind(out, op.type() == "elementwise_sub"   ? terms_.difference(a, b)
              : op.type() == "elementwise_add" ? terms_.sum(a, b)
                                               : terms_.product(a, b));
  }

  // Others might change what the op computes.
  static bool onlyKnownAttributes(pd::OpView op) {
    constexpr llvm::StringRef kKnown[] = {"axis",     "dim",  "keep_dim",         "reduce_all",
                                          "scale",    "bias", "bias_after_scale", "op_role",
                                          "op_device"};
    auto attributes = op.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs");
    return !attributes || llvm::all_of(attributes, [&](mlir::NamedAttribute attribute) {
      return llvm::is_contained(kKnown, attribute.getName().getValue());
    });
  }

  Terms& terms_;
  const Axes& axes_;
  Layout layout_;
  llvm::DenseMap<mlir::Value, int> numbers_;
};

// Operands and results of batch norm, as terms.
class BatchNorm {
 public:
  BatchNorm(Terms& terms, dist::CompositeOp composite, int64_t shares)
      : t(terms), composite_(composite), share_(static_cast<float>(1.0 / shares)) {}

  int in(llvm::StringRef slot) { return t.of("operand " + slot.str(), {}); }

  // By slot. SavedVariance is what the framework keeps there: 1/sqrt(variance + epsilon).
  llvm::StringMap<int> forward() {
    const int x = in("X"), mean = overBatch(reduce("reduce_mean", x));
    const int squares = overBatch(reduce("reduce_mean", t.of("square", {x})));
    const int variance = t.difference(squares, t.of("square", {mean}));
    const int inverse =
        t.of("rsqrt", {t.scaled(variance, 1, static_cast<float>(attribute("epsilon", 1e-5F)))});
    const int normal = t.product(t.difference(x, mean), inverse);
    return {{"Y", t.sum(t.product(normal, in("Scale")), in("Bias"))},
            {"MeanOut", running(in("Mean"), mean)},
            {"VarianceOut", running(in("Variance"), variance)},
            {"SavedMean", mean},
            {"SavedVariance", inverse}};
  }

  // With x̂ = (x − μ)·r and r = 1/√(v + ε), which is what SavedVariance holds: dx = γ·r·(dy − E[dy]
  // − x̂·E[dy·x̂]), dγ = Σ dy·x̂, dβ = Σ dy. Means are over the whole batch, sums over the rank's
  // share, as they are summed over ranks later like any gradient.
  llvm::StringMap<int> backward() {
    const int dy = in("Y@GRAD");
    const int normal = t.product(t.difference(in("X"), in("SavedMean")), in("SavedVariance"));
    const int perScale = t.product(dy, normal);
    const int meanDy = overBatch(reduce("reduce_mean", dy));
    const int meanScaled = overBatch(reduce("reduce_mean", perScale));
    const int inner = t.difference(t.difference(dy, meanDy), t.product(normal, meanScaled));
    return {{"X@GRAD", t.product(inner, t.product(in("Scale"), in("SavedVariance")))},
            {"Scale@GRAD", reduce("reduce_sum", perScale)},
            {"Bias@GRAD", reduce("reduce_sum", dy)}};
  }

 private:
  int reduce(const char* type, int x) { return t.of(type, {x}); }
  int overBatch(int x) { return t.scaled(t.of("all_reduce", {x}), share_); }
  int running(int old, int now) {
    const double momentum = attribute("momentum", 0.9F);
    return t.sum(t.scaled(old, static_cast<float>(momentum)),
                 t.scaled(now, static_cast<float>(1 - momentum)));
  }
  double attribute(llvm::StringRef name, float otherwise) {
    auto value = composite_.getAttrs().getAs<mlir::FloatAttr>(name);
    return value ? value.getValueAsDouble() : otherwise;
  }

  Terms& t;
  dist::CompositeOp composite_;
  float share_;
};

}  // namespace

// Compares the body of a synchronous batch norm with the formula of its op over the whole batch
// (Ioffe and Szegedy 2015, with E[x²] − E[x]² for the variance). `shares` is the number of parts
// the batch is cut into: the mean over the batch is the sum over ranks of the means of their
// shares, divided by it. Returns what differs; empty where nothing does.
std::string bodyDiffers(dist::CompositeOp composite, const Axes& axes) {
  int64_t shares = 1;
  for (unsigned axis = 0; axis < axes.count(); ++axis)
    if (axes.isData[axis]) shares *= axes.sizes[axis];
  Terms terms;
  BatchNorm formula(terms, composite, shares);
  mlir::Block& body = composite.getBody().front();
  llvm::SmallVector<llvm::StringRef> slots(
      composite.getInputSlots().getAsValueRange<mlir::StringAttr>());
  auto x = llvm::find(slots, "X");
  if (x == slots.end()) return "has no operand X";
  BodyReader reader(terms, axes, Layout::of(composite, composite.getInputs()[x - slots.begin()]));
  for (auto [slot, argument] : llvm::zip(slots, body.getArguments()))
    reader.bind(argument, formula.in(slot));
  reader.read(body);
  const llvm::StringMap<int> wanted =
      composite.getOp() == "sync_batch_norm" ? formula.forward() : formula.backward();
  auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
  for (auto [name, value] : llvm::zip(
           composite.getOutputSlots().getAsValueRange<mlir::StringAttr>(), yield.getValues())) {
    auto found = wanted.find(name);
    // ReserveSpace is scratch of another library.
    const bool ok = found == wanted.end() ? static_cast<bool>(value.getDefiningOp<pd::UndefOp>())
                                          : reader.of(value) == found->second;
    if (!ok)
      return "gives in slot " + name.str() + " something else than " + composite.getOp().str() +
             " is";
  }
  return "";
}

}  // namespace dtranspile::verify
