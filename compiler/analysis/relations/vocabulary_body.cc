// Lookups, losses and their gradients of a part of a vocabulary.
#include "compiler/analysis/relations/body_builder.h"

namespace dtranspile::verify {
namespace {

constexpr double kLowest = -64;  // softmax of the framework's processors sees nothing below it

mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

// Writes the four bodies of part_bodies.h. `rows_` is the number of classes of a part, `all_` that
// of all parts.
class Vocabulary {
 public:
  Vocabulary(BodyBuilder& body, const PartForm& form) : b(body), form_(form) {
    const mlir::RankedTensorType cut = tensorOf(b.in(form.cut));
    rows_ = cut.getDimSize(form.dim == CutDim::Last ? cut.getRank() - 1 : 0);
    all_ = rows_ * b.parts().count;
  }

  void fill() {
    const llvm::StringRef what = form_.composite;
    if (what == "c_embedding") lookup("Out", false);
    else if (what == "c_embedding_grad") lookup("W@GRAD", true);
    else if (what == "c_softmax_with_cross_entropy") loss();
    else lossGradient();
  }

 private:
  mlir::Value logical(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return b.op(type, {{"X", {x}}, {"Y", {y}}}, x.getType());
  }
  mlir::Value overClasses(llvm::StringRef type, mlir::Value x) {
    mlir::RankedTensorType of = tensorOf(x);
    llvm::SmallVector<int64_t> shape(of.getShape());
    shape.back() = 1;
    return b.op(
        type, {{"X", {x}}}, of.clone(shape),
        {b.named("dim", b.builder().getDenseI32ArrayAttr({static_cast<int32_t>(of.getRank() - 1)})),
         b.named("keep_dim", b.builder().getBoolAttr(true)),
         b.named("reduce_all", b.builder().getBoolAttr(false))});
  }

  // Whether the number is not the one that counts as nothing: 0 or 1.
  mlir::Value counts(mlir::Value numbers, int64_t nothing, mlir::Type element) {
    return b.cast(b.compare("not_equal", numbers, b.constant(nothing)), element);
  }
  // Numbers of the whole, counted from the first row of this rank. What counts as nothing becomes
  // V − 1, which no rank has: the last one counts less from its own first row.
  mlir::Value fromFirstRow(mlir::Value numbers, std::optional<int64_t> nothing) {
    const mlir::Type integer = b.builder().getI64Type();
    numbers = b.cast(numbers, integer);
    mlir::Value first = b.binary("elementwise_mul", b.coordinate(), b.constant(rows_));
    mlir::Value local = b.binary("elementwise_sub", numbers, first);
    if (!nothing) return local;
    mlir::Value kept = counts(numbers, *nothing, integer), none = b.constant(all_ - 1);
    return b.binary("elementwise_add",
                    b.binary("elementwise_mul", b.binary("elementwise_sub", local, none), kept),
                    none);
  }
  // -1 for what other ranks have. What no rank has stays, and is refused.
  mlir::Value ownLabel(mlir::Value local) {
    mlir::Value zero = b.constant(0), one = b.constant(1);
    const auto within = [&](mlir::Value low, mlir::Value high) {
      return logical("logical_and", b.compare("greater_equal", local, low),
                     b.compare("less_than", local, high));
    };
    mlir::Value elsewhere = logical("logical_or", within(b.constant(rows_ - all_), zero),
                                    within(b.constant(rows_), b.constant(all_)));
    mlir::Value here = b.cast(b.unary("logical_not", elsewhere), b.builder().getI64Type());
    return b.binary("elementwise_sub",
                    b.binary("elementwise_mul", b.binary("elementwise_add", local, one), here),
                    one);
  }

  void lookup(llvm::StringRef result, bool gradient) {
    const int64_t padding = b.integer("padding_idx", -1);
    mlir::Value local =
        fromFirstRow(b.in("Ids"), padding == -1 ? std::nullopt : std::optional<int64_t>(padding));
    std::vector<pd::InputSlot> inputs = {{"W", {b.in("W")}}, {"Ids", {local}}};
    if (gradient) inputs = {{"Ids", {local}}, {"Out@GRAD", {b.in("Out@GRAD")}}, {"W", {b.in("W")}}};
    b.give(result, b.op(form_.composite, inputs, b.typeOf(result),
                        {b.named("start_index", b.builder().getI64IntegerAttr(0)),
                         b.named("vocab_size", b.builder().getI64IntegerAttr(all_))},
                        result));
  }

  // With z = x − max x over all ranks and s = Σ exp z over all ranks: log s − z[label]. The rank of
  // the label has −z there, all others nothing; it travels with the sum.
  void loss() {
    mlir::Value logits = b.in("Logits");
    const mlir::Type element = tensorOf(logits).getElementType();
    const int64_t ignored = b.integer("ignore_index", -100);
    mlir::Value most = b.overRanks(dist::Reduce::Max, overClasses("reduce_max", logits))[0];
    mlir::Value z =
        b.op("clip", {{"X", {b.binary("elementwise_sub", logits, most)}}}, logits.getType(),
             {b.named("min", b.f32(kLowest)), b.named("max", b.f32(0))});
    mlir::Value exp = b.unary("exp", z), sum = overClasses("reduce_sum", exp);
    mlir::Value label = ownLabel(fromFirstRow(b.in("Label"), ignored));
    mlir::Value picked = b.op(
        "cross_entropy", {{"X", {exp}}, {"Label", {label}}}, sum.getType(),
        {b.named("soft_label", b.builder().getBoolAttr(false)), b.named("ignore_index", b.i32(-1))},
        "Y");
    mlir::ResultRange sums = b.overRanks(dist::Reduce::Sum, mlir::ValueRange{sum, picked});
    b.give("Softmax", b.binary("elementwise_div", exp, sums[0]));
    mlir::Value all = b.binary("elementwise_add", b.unary("log", sums[0]), sums[1]);
    b.give("Loss",
           b.binary("elementwise_mul", all,
                    counts(b.cast(b.in("Label"), b.builder().getI64Type()), ignored, element)));
  }

  // 1.x has no ignore_index in this gradient; later versions multiply the gradient of ignored rows
  // by zero.
  void lossGradient() {
    mlir::Value softmax = b.in("Softmax"), gradient = b.in("Loss@GRAD");
    const int64_t ignored = b.integer("ignore_index", -100);
    const bool older = b.parts().version > 0 && b.parts().version < 2000000;
    mlir::Value label = ownLabel(
        fromFirstRow(b.in("Label"), older ? std::nullopt : std::optional<int64_t>(ignored)));
    if (!older)
      gradient = b.binary("elementwise_mul", gradient,
                          counts(b.cast(b.in("Label"), b.builder().getI64Type()), ignored,
                                 tensorOf(gradient).getElementType()));
    // No label is V: what is to be ignored has no gradient already.
    b.give("Logits@GRAD",
           b.op(form_.composite,
                {{"Softmax", {softmax}}, {"Label", {label}}, {"Loss@GRAD", {gradient}}},
                softmax.getType(),
                {b.named("ignore_index", b.builder().getI64IntegerAttr(all_)),
                 b.named("ring_id", b.i32(0)), b.named("rank", b.i32(0)),
                 b.named("nranks", b.i32(b.parts().count))},
                "Logits@GRAD"));
  }

  BodyBuilder& b;
  const PartForm& form_;
  int64_t rows_ = 0, all_ = 0;  // of a rank; of all of them
};

}  // namespace

void fillVocabulary(BodyBuilder& body, const PartForm& form) { Vocabulary(body, form).fill(); }

}  // namespace dtranspile::verify
