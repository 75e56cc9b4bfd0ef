#include "compiler/analysis/relations/vocabulary_body.h"

#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

constexpr double kLowest = -64;  // softmax of the framework's processors sees nothing below it

mlir::RankedTensorType tensorOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

// Fills a composite that has operands, types of results and attributes.
class Body {
 public:
  Body(dist::CompositeOp composite, const VocabularyParts& parts, pd::Declarations& declarations)
      : composite_(composite),
        parts_(parts),
        declarations_(declarations),
        builder_(composite.getContext()),
        form_(*vocabularyForm(composite.getOp())) {
    auto role = composite.getAttrs().getAs<mlir::IntegerAttr>("op_role");
    role_ = role ? static_cast<int>(role.getInt()) : static_cast<int>(pd::kForward);
    mlir::Block* block = builder_.createBlock(&composite.getBody());
    for (auto [slot, value] : llvm::zip(
             composite.getInputSlots().getAsValueRange<mlir::StringAttr>(), composite.getInputs()))
      inputs_[slot] = block->addArgument(value.getType(), value.getLoc());
    const mlir::RankedTensorType cut = tensorOf(in(form_.slot));
    rows_ = cut.getDimSize(form_.last ? cut.getRank() - 1 : 0);
    all_ = rows_ * parts.count;
  }

  void fill() {
    const llvm::StringRef what = form_.composite;
    if (what == "c_embedding") lookup("Out", false);
    else if (what == "c_embedding_grad") lookup("W@GRAD", true);
    else if (what == "c_softmax_with_cross_entropy") loss();
    else lossGradient();
    llvm::SmallVector<mlir::Value> results;
    for (auto [slot, name, type] :
         llvm::zip(composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                   composite_.getOutputNames().getAsValueRange<mlir::StringAttr>(),
                   composite_.getResultTypes())) {
      mlir::Value made = outputs_.lookup(slot);
      if (!made) made = pd::UndefOp::create(builder_, loc(), type, name);
      results.push_back(made);
    }
    dist::YieldOp::create(builder_, loc(), results);
  }

 private:
  using Attributes = std::vector<mlir::NamedAttribute>;

  mlir::Value in(llvm::StringRef slot) { return inputs_.lookup(slot); }
  mlir::Location loc() { return composite_.getLoc(); }
  int64_t attribute(llvm::StringRef name, int64_t otherwise) {
    auto value = composite_.getAttrs().getAs<mlir::IntegerAttr>(name);
    return value ? value.getInt() : otherwise;
  }
  std::string fresh() {
    auto first = llvm::cast<mlir::StringAttr>(composite_.getOutputNames()[0]);
    return first.getValue().str() + ".part." + std::to_string(count_++);
  }
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::Value op(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs, mlir::Type result,
                 const Attributes& attributes = {}, llvm::StringRef slot = "Out") {
    return declarations_
        .create(builder_, loc(), type, inputs, {{slot, {{fresh(), result}}}}, attributes, role_)
        .output(slot);
  }
  mlir::Value unary(llvm::StringRef type, mlir::Value x) {
    return op(type, {{"X", {x}}}, x.getType());
  }
  // Of the type of x; y may be one number, or one per row.
  mlir::Value binary(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return op(type, {{"X", {x}}, {"Y", {y}}}, x.getType(), {named("axis", i32(-1))});
  }
  mlir::Value compare(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return op(type, {{"X", {x}}, {"Y", {y}}}, tensorOf(x).clone(builder_.getI1Type()),
              {named("axis", i32(-1))});
  }
  mlir::Value logical(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return op(type, {{"X", {x}}, {"Y", {y}}}, x.getType());
  }
  mlir::IntegerAttr i32(int64_t value) {
    return builder_.getI32IntegerAttr(static_cast<int32_t>(value));
  }
  mlir::Value cast(mlir::Value x, mlir::Type element) {
    mlir::RankedTensorType from = tensorOf(x);
    if (from.getElementType() == element) return x;
    const auto code = [&](mlir::Type one) { return i32(static_cast<int64_t>(*pd::dtypeOf(one))); };
    return op("cast", {{"X", {x}}}, from.clone(element),
              {named("in_dtype", code(from.getElementType())), named("out_dtype", code(element))});
  }
  mlir::Value constant(int64_t value) {
    const mlir::Type integer = builder_.getI64Type();
    return op("fill_constant", {}, mlir::RankedTensorType::get({1}, integer),
              {named("dtype", i32(static_cast<int64_t>(*pd::dtypeOf(integer)))),
               named("shape", builder_.getDenseI64ArrayAttr({1})),
               named("value", builder_.getF32FloatAttr(static_cast<float>(value))),
               named("str_value", builder_.getStringAttr(std::to_string(value)))});
  }
  mlir::Value overClasses(llvm::StringRef type, mlir::Value x) {
    mlir::RankedTensorType of = tensorOf(x);
    llvm::SmallVector<int64_t> shape(of.getShape());
    shape.back() = 1;
    return op(
        type, {{"X", {x}}}, of.clone(shape),
        {named("dim", builder_.getDenseI32ArrayAttr({static_cast<int32_t>(of.getRank() - 1)})),
         named("keep_dim", builder_.getBoolAttr(true)),
         named("reduce_all", builder_.getBoolAttr(false))});
  }
  mlir::ResultRange overRanks(dist::Reduce reduce, mlir::ValueRange values) {
    return dist::AllReduceOp::create(builder_, loc(), values.getTypes(),
                                     dist::ReduceAttr::get(builder_.getContext(), reduce), values,
                                     parts_.comm)
        ->getResults();
  }

  // Whether the number is not the one that counts as nothing: 0 or 1.
  mlir::Value counts(mlir::Value numbers, int64_t nothing, mlir::Type element) {
    return cast(compare("not_equal", numbers, constant(nothing)), element);
  }
  // Numbers of the whole, counted from the first row of this rank. What counts as nothing becomes
  // V − 1, which no rank has: the last one counts less from its own first row.
  mlir::Value fromFirstRow(mlir::Value numbers, std::optional<int64_t> nothing) {
    const mlir::Type integer = builder_.getI64Type();
    numbers = cast(numbers, integer);
    mlir::Value coordinate =
        dist::CoordOp::create(builder_, loc(), mlir::RankedTensorType::get({1}, integer),
                              builder_.getStringAttr(parts_.axis));
    mlir::Value first = binary("elementwise_mul", coordinate, constant(rows_));
    mlir::Value local = binary("elementwise_sub", numbers, first);
    if (!nothing) return local;
    mlir::Value kept = counts(numbers, *nothing, integer), none = constant(all_ - 1);
    return binary("elementwise_add",
                  binary("elementwise_mul", binary("elementwise_sub", local, none), kept), none);
  }
  // -1 for what other ranks have. What no rank has stays, and is refused.
  mlir::Value ownLabel(mlir::Value local) {
    mlir::Value zero = constant(0), one = constant(1);
    const auto within = [&](mlir::Value low, mlir::Value high) {
      return logical("logical_and", compare("greater_equal", local, low),
                     compare("less_than", local, high));
    };
    mlir::Value elsewhere = logical("logical_or", within(constant(rows_ - all_), zero),
                                    within(constant(rows_), constant(all_)));
    mlir::Value here = cast(unary("logical_not", elsewhere), builder_.getI64Type());
    return binary("elementwise_sub",
                  binary("elementwise_mul", binary("elementwise_add", local, one), here), one);
  }

  void lookup(llvm::StringRef result, bool gradient) {
    const int64_t padding = attribute("padding_idx", -1);
    mlir::Value local =
        fromFirstRow(in("Ids"), padding == -1 ? std::nullopt : std::optional<int64_t>(padding));
    std::vector<pd::InputSlot> inputs = {{"W", {in("W")}}, {"Ids", {local}}};
    if (gradient) inputs = {{"Ids", {local}}, {"Out@GRAD", {in("Out@GRAD")}}, {"W", {in("W")}}};
    outputs_[result] = op(form_.composite, inputs, typeOf(result),
                          {named("start_index", builder_.getI64IntegerAttr(0)),
                           named("vocab_size", builder_.getI64IntegerAttr(all_))},
                          result);
  }

  mlir::Type typeOf(llvm::StringRef slot) {
    for (auto [name, type] :
         llvm::zip(composite_.getOutputSlots().getAsValueRange<mlir::StringAttr>(),
                   composite_.getResultTypes()))
      if (name == slot) return type;
    return {};
  }

  // With z = x − max x over all ranks and s = Σ exp z over all ranks: log s − z[label]. The rank of
  // the label has −z there, all others nothing; it travels with the sum.
  void loss() {
    mlir::Value logits = in("Logits");
    const mlir::Type element = tensorOf(logits).getElementType();
    const int64_t ignored = attribute("ignore_index", -100);
    mlir::Value most = overRanks(dist::Reduce::Max, overClasses("reduce_max", logits))[0];
    mlir::Value z = op("clip", {{"X", {binary("elementwise_sub", logits, most)}}}, logits.getType(),
                       {named("min", builder_.getF32FloatAttr(kLowest)),
                        named("max", builder_.getF32FloatAttr(0))});
    mlir::Value exp = unary("exp", z), sum = overClasses("reduce_sum", exp);
    mlir::Value label = ownLabel(fromFirstRow(in("Label"), ignored));
    mlir::Value picked =
        op("cross_entropy", {{"X", {exp}}, {"Label", {label}}}, sum.getType(),
           {named("soft_label", builder_.getBoolAttr(false)), named("ignore_index", i32(-1))}, "Y");
    mlir::ResultRange sums = overRanks(dist::Reduce::Sum, mlir::ValueRange{sum, picked});
    outputs_["Softmax"] = binary("elementwise_div", exp, sums[0]);
    mlir::Value all = binary("elementwise_add", unary("log", sums[0]), sums[1]);
    outputs_["Loss"] = binary("elementwise_mul", all,
                              counts(cast(in("Label"), builder_.getI64Type()), ignored, element));
  }

  void lossGradient() {
    mlir::Value softmax = in("Softmax"), gradient = in("Loss@GRAD");
    const int64_t ignored = attribute("ignore_index", -100);
    const bool older = parts_.version > 0 && parts_.version < 2000000;
    mlir::Value label =
        ownLabel(fromFirstRow(in("Label"), older ? std::nullopt : std::optional<int64_t>(ignored)));
    if (!older)
      gradient = binary("elementwise_mul", gradient,
                        counts(cast(in("Label"), builder_.getI64Type()), ignored,
                               tensorOf(gradient).getElementType()));
    // No label is V: what is to be ignored has no gradient already.
    outputs_["Logits@GRAD"] =
        op(form_.composite, {{"Softmax", {softmax}}, {"Label", {label}}, {"Loss@GRAD", {gradient}}},
           softmax.getType(),
           {named("ignore_index", builder_.getI64IntegerAttr(all_)), named("ring_id", i32(0)),
            named("rank", i32(0)), named("nranks", i32(parts_.count))},
           "Logits@GRAD");
  }

  dist::CompositeOp composite_;
  const VocabularyParts& parts_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  const VocabularyForm& form_;
  llvm::StringMap<mlir::Value> inputs_, outputs_;
  int64_t rows_ = 0, all_ = 0;  // of a rank; of all of them
  int role_ = 0, count_ = 0;
};

// The ops of two bodies in their order, whatever they call their results.
class Comparison {
 public:
  std::string differs(mlir::Block& mine, mlir::Block& wanted) {
    for (auto [a, b] : llvm::zip(mine.getArguments(), wanted.getArguments())) same_[b] = a;
    const std::vector<mlir::Operation*> own = ops(mine), theirs = ops(wanted);
    for (auto [a, b] : llvm::zip(own, theirs)) {
      if (std::string text = differ(a, b); !text.empty()) return text;
      for (auto [x, y] : llvm::zip(a->getResults(), b->getResults())) same_[y] = x;
    }
    return own.size() == theirs.size() ? ""
                                       : "has " + std::to_string(own.size()) + " ops and not " +
                                             std::to_string(theirs.size());
  }

 private:
  static std::vector<mlir::Operation*> ops(mlir::Block& block) {
    std::vector<mlir::Operation*> all;
    for (mlir::Operation& op : block)
      if (!llvm::isa<pd::DeclOp>(op)) all.push_back(&op);
    return all;
  }
  std::string differ(mlir::Operation* mine, mlir::Operation* wanted) {
    const auto described = [](mlir::Operation* op) {
      return pd::OpView::isFrameworkOp(op) ? pd::OpView(op).type().str()
                                           : op->getName().getStringRef().str();
    };
    const std::string where = "at " + described(mine);
    if (mine->getName() != wanted->getName() ||
        mine->getNumOperands() != wanted->getNumOperands() ||
        !llvm::equal(mine->getResultTypes(), wanted->getResultTypes()))
      return "has " + described(mine) + " where " + described(wanted) + " stands";
    for (auto [a, b] : llvm::zip(mine->getOperands(), wanted->getOperands()))
      if (same_.lookup(b) != a) return where + " takes something else";
    if (llvm::isa<pd::UndefOp>(mine)) return "";
    if (!pd::OpView::isFrameworkOp(mine))
      return mine->getAttrDictionary() == wanted->getAttrDictionary() ? ""
                                                                      : where + " says otherwise";
    const pd::OpView a(mine), b(wanted);
    if (mine->getAttr("attrs") != wanted->getAttr("attrs")) return where + " has other attributes";
    return a.inputSlots() == b.inputSlots() && a.outputSlots() == b.outputSlots()
               ? ""
               : where + " has other slots";
  }

  llvm::DenseMap<mlir::Value, mlir::Value> same_;
};

}  // namespace

dist::CompositeOp composeVocabulary(pd::OpView op, const VocabularyParts& parts,
                                    pd::Declarations& declarations) {
  mlir::Operation* old = op.operation();
  mlir::OpBuilder builder(old);
  const VocabularyForm& form = *vocabularyForm(op);
  llvm::SmallVector<mlir::Attribute> inputSlots, outputSlots, outputNames;
  llvm::SmallVector<mlir::Value> operands;
  for (const std::string& slot : op.inputSlots())
    for (mlir::Value value : op.inputs(slot)) {
      if (!value) continue;
      inputSlots.push_back(builder.getStringAttr(slot));
      operands.push_back(value);
    }
  for (mlir::OpResult value : old->getResults()) {
    outputSlots.push_back(builder.getStringAttr(op.slotOf(value).first));
    outputNames.push_back(builder.getStringAttr(pd::nameOf(value)));
  }
  auto composite = dist::CompositeOp::create(
      builder, old->getLoc(), old->getResultTypes(), builder.getStringAttr(form.composite),
      builder.getArrayAttr(inputSlots), operands, builder.getArrayAttr(outputSlots),
      builder.getArrayAttr(outputNames), old->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  for (mlir::NamedAttribute one : old->getDiscardableAttrs())
    if (one.getName().getValue().starts_with("dist."))
      composite->setAttr(one.getName(), one.getValue());
  Body(composite, parts, declarations).fill();
  old->replaceAllUsesWith(composite.getResults());
  old->erase();
  return composite;
}

std::string vocabularyBodyDiffers(dist::CompositeOp composite, llvm::StringRef axis,
                                  int64_t count) {
  VocabularyParts parts{axis.str(), count, {}, programVersion(composite)};
  std::string text;
  composite.getBody().walk([&](dist::AllReduceOp op) {
    dist::CommOp comm = dist::lookupComm(op, op.getCommAttr());
    if (!comm || comm.getSubset() || comm.getAxes().size() != 1 || !comm.overAxis(axis))
      text = "exchanges something over other ranks than those of axis " + axis.str();
    parts.comm = op.getCommAttr();
  });
  if (!text.empty()) return text;
  auto wanted = llvm::cast<dist::CompositeOp>(composite->cloneWithoutRegions());
  pd::Declarations declarations;
  Body(wanted, parts, declarations).fill();
  text = Comparison().differs(composite.getBody().front(), wanted.getBody().front());
  wanted->erase();
  return text;
}

}  // namespace dtranspile::verify
