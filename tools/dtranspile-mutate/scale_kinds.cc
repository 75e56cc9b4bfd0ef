// Factors that are missing, doubled, or where none belongs; sums over the ranks of activations;
// casts that lose values; terms that broadcast.
#include "compiler/analysis/position.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

// Values that a forward, or a backward, op of the program computes.
std::vector<mlir::Value> computed(JobView& view, int role) {
  std::vector<mlir::Value> found;
  for (mlir::Value value : view.values) {
    mlir::Operation* op = value.getDefiningOp();
    if (op && pd::OpView::isFrameworkOp(op) &&
        (pd::OpView(op).role() & (pd::kBackward | pd::kOptimize)) == role)
      found.push_back(value);
  }
  return found;
}

// What the program reads of reductions over the ranks.
std::vector<mlir::Value> reducedValues(JobView& view) {
  std::vector<mlir::Value> found;
  for (mlir::Operation* op : view.collectives)
    for (mlir::Value value : resultsOf(op))
      if (isFloat(value) && !value.use_empty()) found.push_back(value);
  return found;
}

// Factors that passes have put in: 1/ranks of a loss or of a sum, and those of averages.
std::vector<pd::OpView> insertedScales(JobView& view) {
  std::vector<pd::OpView> found;
  for (mlir::Operation* op : view.framework)
    if (isInserted(op) && pd::OpView(op).type() == "scale") found.emplace_back(op);
  return found;
}

using Build = std::function<mlir::Value(mlir::OpBuilder&, mlir::Value)>;

// Everything that reads the value now reads what is built from it.
void after(mlir::Value value, std::string what, Edits& edits, Build build) {
  edits.add(value.getDefiningOp(), std::move(what), [value, build]() {
    Readers readers(value);
    mlir::OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    readers.read(build(builder, value));
  });
}

// Sums are then too large by the number of ranks: the commonest bug of data parallel training,
// which a loss that still falls does not show.
void dropped(JobView& view, Edits& edits) {
  for (pd::OpView op : insertedScales(view))
    edits.add(op.operation(), "the factor is left out", [op]() mutable {
      op.output("Out").replaceAllUsesWith(op.input("X"));
      op.operation()->erase();
    });
}

// The opposite, 1/ranks²; it acts like a smaller learning rate.
void doubled(JobView& view, Edits& edits) {
  for (pd::OpView op : insertedScales(view))
    after(op.output("Out"), "the factor stands twice", edits,
          [factor = op.getFloat("scale")](mlir::OpBuilder& builder, mlir::Value value) {
            return scaled(builder, value, factor);
          });
}

// Among the factors some that hardly show in a run: 1.0001 is within what float32 sums differ by.
void otherFactor(JobView& view, Edits& edits) {
  for (pd::OpView op : insertedScales(view))
    for (double times : {2.0, 1.0 / static_cast<double>(view.ranks), 1.0001, -1.0, 0.0})
      edits.add(op.operation(), "the factor is " + std::to_string(times) + " times what it was",
                [op, times]() mutable {
                  mlir::Builder builder(op.operation()->getContext());
                  op.setAttr("scale", builder.getF32FloatAttr(op.getFloat("scale") * times));
                });
}

// x·s + 0.01: no longer linear, so that a proof which moves factors through sums must not take it
// for one.
void biased(JobView& view, Edits& edits) {
  for (pd::OpView op : insertedScales(view))
    edits.add(op.operation(), "has a bias of 0.01", [op]() mutable {
      op.setAttr("bias", mlir::Builder(op.operation()->getContext()).getF32FloatAttr(0.01F));
    });
}

// The factor on one branch of what comes after it only.
void onOneReader(JobView& view, Edits& edits) {
  for (pd::OpView op : insertedScales(view)) {
    mlir::Value result = op.output("Out"), before = op.input("X");
    if (result.hasOneUse() || result.use_empty()) continue;
    for (mlir::OpOperand& use : result.getUses())
      edits.add(use.getOwner(), "reads " + quoted(before) + " without the factor",
                [at = &use, before]() { at->set(before); });
  }
}

// The factor on the gradients in front of the updates, after what is added to them before.
void movedToUpdates(JobView& view, Edits& edits) {
  std::vector<pd::OpView> updates;
  for (mlir::Operation* op : view.framework)
    if (isOptimizer(op) && pd::OpView(op).input("Grad") && isFloat(pd::OpView(op).input("Grad")))
      updates.emplace_back(op);
  for (pd::OpView op : insertedScales(view))
    if (!updates.empty())
      edits.add(op.operation(), "the factor is on the gradients that the updates take",
                [op, updates, factor = op.getFloat("scale")]() mutable {
                  op.output("Out").replaceAllUsesWith(op.input("X"));
                  op.operation()->erase();
                  for (pd::OpView update : updates) {
                    mlir::OpBuilder builder(update.operation());
                    update.setInput("Grad", 0, scaled(builder, update.input("Grad"), factor));
                  }
                });
}

// The factors that passes insert, rightly, elsewhere, and plainly wrong ones.
double factorFor(JobView& view) {
  double list[] = {
      1.0 / static_cast<double>(view.ranks), static_cast<double>(view.ranks), 0.5, 2, 0, -1};
  return list[view.draw(6)];
}

// A value that all its readers see multiplied.
template <int role>
void inserted(JobView& view, Edits& edits) {
  for (mlir::Value value : computed(view, role)) {
    double factor = factorFor(view);
    after(value, quoted(value) + " is multiplied by " + std::to_string(factor), edits,
          [factor](mlir::OpBuilder& builder, mlir::Value v) { return scaled(builder, v, factor); });
  }
}

// A factor after the reduction, where those that passes insert could stand, too: it is the number
// that is wrong, not the place.
void insertedOnReduced(JobView& view, Edits& edits) {
  for (mlir::Value value : reducedValues(view)) {
    double factor = factorFor(view);
    after(value, "the reduced " + quoted(value) + " is multiplied by " + std::to_string(factor),
          edits,
          [factor](mlir::OpBuilder& builder, mlir::Value v) { return scaled(builder, v, factor); });
  }
}

void insertedOnAny(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values) {
    if (!value.getDefiningOp()) continue;
    double factor = factorFor(view);
    after(value, quoted(value) + " is multiplied by " + std::to_string(factor), edits,
          [factor](mlir::OpBuilder& builder, mlir::Value v) { return scaled(builder, v, factor); });
  }
}

void insertedOnRead(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values) {
    if (!value.getDefiningOp<pd::GetOp>() && !value.getDefiningOp<pd::InputOp>()) continue;
    double factor = factorFor(view);
    after(value, quoted(value) + " is multiplied by " + std::to_string(factor), edits,
          [factor](mlir::OpBuilder& builder, mlir::Value v) { return scaled(builder, v, factor); });
  }
}

// The harder case: the value itself is right, and one of several readers sees another.
void insertedForOneReader(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values) {
    if (value.hasOneUse()) continue;
    for (mlir::OpOperand& use : value.getUses()) {
      if (!pd::OpView::isFrameworkOp(use.getOwner())) continue;
      double factor = factorFor(view);
      edits.add(use.getOwner(), "reads " + quoted(value) + " times " + std::to_string(factor),
                [at = &use, factor]() {
                  mlir::OpBuilder builder(at->getOwner());
                  at->set(scaled(builder, at->get(), factor));
                });
    }
  }
}

// The mean over the ranks of what each has of its own samples.
template <int role>
void averaged(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    for (mlir::Value value : computed(view, role))
      after(value, quoted(value) + " is averaged over the ranks on @" + comm.getSymName().str(),
            edits, [comm, ranks = view.ranks](mlir::OpBuilder& builder, mlir::Value v) {
              return reduced(builder, scaled(builder, v, 1.0 / static_cast<double>(ranks)), comm);
            });
}

// The same, and the op is declared to be one that is evaluated per share.
void averagedAndDeclared(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    for (mlir::Value value : computed(view, 0)) {
      if (isInserted(value.getDefiningOp())) continue;
      edits.add(value.getDefiningOp(),
                quoted(value) + " is averaged over the ranks, and its op a declared site",
                [value, comm, job = view.job, ranks = view.ranks]() {
                  Readers readers(value);
                  mlir::OpBuilder builder(value.getContext());
                  builder.setInsertionPointAfterValue(value);
                  mlir::Value part = scaled(builder, value, 1.0 / static_cast<double>(ranks));
                  readers.read(reduced(builder, part, comm));
                  declareContract(job, "parts", {verify::siteName(value.getDefiningOp())});
                });
    }
}

// Ranks then hold different values where they should hold equal ones, or parts of which one is too
// large.
void scaledOnOneRank(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  std::vector<mlir::Value> values = reducedValues(view);
  llvm::append_range(values, view.values);
  for (mlir::Value value : values) {
    if (!value.getDefiningOp()) continue;
    double factor = view.draw(2) ? 2.0 : 1.0 / static_cast<double>(view.ranks);
    after(value, quoted(value) + " is multiplied by " + std::to_string(factor) + " on one rank",
          edits, [factor, axis = view.axis](mlir::OpBuilder& builder, mlir::Value v) {
            return onOneRank(
                builder, axis, v,
                [&](mlir::OpBuilder& inside) { return scaled(inside, v, factor); },
                [&](mlir::OpBuilder&) { return v; });
          });
  }
}

// The classic of an owner's value that was never broadcast.
void zeroElsewhere(JobView& view, Edits& edits) {
  if (view.axis.empty()) return;
  std::vector<mlir::Value> values = reducedValues(view);
  llvm::append_range(values, view.values);
  for (mlir::Value value : values)
    if (value.getDefiningOp() && isStatic(value))
      after(value, quoted(value) + " is zero on all ranks but one", edits,
            [axis = view.axis](mlir::OpBuilder& builder, mlir::Value v) {
              auto type = llvm::cast<mlir::RankedTensorType>(v.getType());
              return onOneRank(
                  builder, axis, v, [&](mlir::OpBuilder&) { return v; },
                  [&](mlir::OpBuilder& inside) {
                    return zeros(inside, v.getLoc(), type.getShape(), type.getElementType());
                  });
            });
}

enum class Number { Int32, Int64, Bool, Half, BFloat };
// The element type of the name.
mlir::Type typeOf(Number number, mlir::MLIRContext* context) {
  mlir::Builder builder(context);
  switch (number) {
    case Number::Int32: return builder.getI32Type();
    case Number::Int64: return builder.getI64Type();
    case Number::Bool: return builder.getI1Type();
    case Number::Half: return builder.getF16Type();
    case Number::BFloat: return builder.getBF16Type();
  }
  return {};
}

// Rounding, or worse: bool leaves nothing but the sign of zero.
template <Number number>
void castAndBack(JobView& view, Edits& edits) {
  std::vector<mlir::Value> values = reducedValues(view);
  llvm::append_range(values, view.values);
  for (mlir::Value value : values)
    if (value.getDefiningOp())
      after(value, quoted(value) + " goes through another element type", edits,
            [](mlir::OpBuilder& builder, mlir::Value v) {
              mlir::Type element = llvm::cast<mlir::RankedTensorType>(v.getType()).getElementType();
              return cast(builder, cast(builder, v, typeOf(number, builder.getContext())), element);
            });
}

// Rounding that a contract excuses on the wire, anywhere.
void castDeclared(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values)
    if (value.getDefiningOp())
      edits.add(value.getDefiningOp(),
                quoted(value) + " is rounded to float16, and fp16_wire declared",
                [value, job = view.job]() {
                  Readers readers(value);
                  mlir::OpBuilder builder(value.getContext());
                  builder.setInsertionPointAfterValue(value);
                  mlir::Type element =
                      llvm::cast<mlir::RankedTensorType>(value.getType()).getElementType();
                  readers.read(cast(builder, cast(builder, value, builder.getF16Type()), element));
                  declareContract(job, "fp16_wire", {pd::nameOf(value).str()});
                });
}

// elementwise_add of two values, of the type given: it may be larger than x's where y broadcasts
// it.
mlir::Value sum(mlir::OpBuilder& builder, mlir::Value x, mlir::Value y, mlir::Type type) {
  return pd::Declarations()
      .create(builder, x.getLoc(), "elementwise_add", {{"X", {x}}, {"Y", {y}}},
              {{"Out", {{pd::Declarations().freshName(builder.getInsertionBlock(), "sum"), type}}}},
              {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))}, pd::kForward)
      .output("Out");
}

// Zeros whose shape is larger: the sum has their shape, or the readers see more rows.
void largerZeros(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values) {
    if (!value.getDefiningOp()) continue;
    auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    llvm::SmallVector<int64_t> larger(type.getShape());
    if (larger.empty()) larger.push_back(3);
    else if (larger[0] == 1 || type.isDynamicDim(0)) larger[0] = 4;
    else larger.insert(larger.begin(), 2);
    if (llvm::any_of(larger, mlir::ShapedType::isDynamic)) continue;
    bool sameType = type.getRank() > 0 && type.isDynamicDim(0);
    after(value, quoted(value) + " is added to zeros of a larger shape", edits,
          [larger, sameType](mlir::OpBuilder& builder, mlir::Value v) {
            auto own = llvm::cast<mlir::RankedTensorType>(v.getType());
            mlir::Value zero = zeros(builder, v.getLoc(), larger, own.getElementType());
            mlir::Type result = sameType ? own : own.clone(larger);
            return static_cast<int64_t>(larger.size()) > own.getRank()
                       ? sum(builder, zero, v, result)
                       : sum(builder, v, zero, result);
          });
  }
}

// A value is added to itself, or to another rank's sum.
void addedToItself(JobView& view, Edits& edits) {
  for (mlir::Value value : view.values)
    if (value.getDefiningOp())
      after(
          value, quoted(value) + " is added to itself", edits,
          [](mlir::OpBuilder& builder, mlir::Value v) { return sum(builder, v, v, v.getType()); });
}

}  // namespace

std::vector<Kind> scaleKinds() {
  const char* scale = "scale";
  const char* precision = "precision";
  return {
      {scale, "scale-dropped", "an inserted factor is left out", Place::Main, dropped},
      {scale, "scale-doubled", "an inserted factor stands twice", Place::Main, doubled},
      {scale, "scale-factor", "an inserted factor is another number", Place::Main, otherFactor},
      {scale, "scale-bias", "an inserted scale adds a bias", Place::Main, biased},
      {scale, "scale-one-reader", "one reader passes the factor by", Place::Main, onOneReader},
      {scale, "scale-moved", "the factor is on what the updates take", Place::Main, movedToUpdates},
      {scale, "scale-inserted-read", "a variable or a feed is multiplied", Place::Main,
       insertedOnRead},
      {scale, "scale-inserted-one-reader", "one reader gets a multiple", Place::Main,
       insertedForOneReader},
      {scale, "scale-inserted-forward", "an activation is multiplied", Place::Main, inserted<0>},
      {scale, "scale-inserted-backward", "a gradient is multiplied", Place::Main,
       inserted<pd::kBackward>},
      {scale, "scale-inserted-update", "what the update computes is multiplied", Place::Main,
       inserted<pd::kOptimize>},
      {scale, "scale-inserted-reduced", "a reduced gradient is multiplied", Place::Main,
       insertedOnReduced},
      {scale, "scale-inserted-body", "a value of a block is multiplied", Place::Bodies,
       insertedOnAny},
      {scale, "scale-inserted-composite", "a value of a composite is multiplied", Place::Composites,
       insertedOnAny},
      {scale, "scale-dropped-composite", "a factor of a composite's body is left out",
       Place::Composites, dropped},
      {scale, "scale-factor-composite", "a factor of a composite's body is another number",
       Place::Composites, otherFactor},
      {scale, "scale-inserted-startup", "an initial value is multiplied", Place::Startup,
       insertedOnAny},
      {scale, "averaged-forward", "an activation is averaged over the ranks", Place::Main,
       averaged<0>},
      {scale, "averaged-backward", "a gradient of an activation is averaged over the ranks",
       Place::Main, averaged<pd::kBackward>},
      {scale, "averaged-declared", "an activation is averaged, and its op a declared site",
       Place::Main, averagedAndDeclared},
      {scale, "scale-on-one-rank", "a value is multiplied on one rank", Place::Main,
       scaledOnOneRank},
      {scale, "zero-elsewhere", "a value is zero on all ranks but one", Place::Main, zeroElsewhere},
      {scale, "added-to-itself", "a value is added to itself", Place::Main, addedToItself},
      {precision, "cast-int32", "a value goes through int32", Place::Main,
       castAndBack<Number::Int32>},
      {precision, "cast-int64", "a value goes through int64", Place::Main,
       castAndBack<Number::Int64>},
      {precision, "cast-bool", "a value goes through bool", Place::Main, castAndBack<Number::Bool>},
      {precision, "cast-float16", "a value goes through float16", Place::Main,
       castAndBack<Number::Half>},
      {precision, "cast-bfloat16", "a value goes through bfloat16", Place::Main,
       castAndBack<Number::BFloat>},
      {precision, "cast-declared", "a value is rounded, and a contract declared", Place::Main,
       castDeclared},
      {"zeros", "zeros-larger", "zeros of a larger shape are added", Place::Main, largerZeros},
  };
}

}  // namespace dtranspile::mutate
