// Relation rules: family `shape`, second part: what repeats, turns and spreads. Numbers that belong
// to the batch are those of the whole: -1, and extents of tensors that are cut likewise, fit a
// share. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

constexpr int kNew = 100;  // labels of dims that X lacks, by dim of the result

// Dims of a value, and terms for tensors that say extents of the result.
struct Repeated {
  Labels x, out;
  llvm::SmallVector<Term, 2> terms;
};

Repeated nothingKnown(int rank, int resultRank) {
  return {Labels(rank, kWholeDim), Labels(resultRank, kWholeDim), {}};
}

// Numbers that nobody can trace: the tensors that have them have to be equal on all ranks.
void addUntraced(const pd::OpView& op, std::initializer_list<llvm::StringRef> slots,
                 Repeated& repeated) {
  for (llvm::StringRef slot : slots)
    for (mlir::Value value : op.inputs(slot))
      if (value) repeated.terms.push_back({value, wholeLabels(value), Use::Value});
}

// Neither a constant nor the extent of a tensor.
bool isUnknown(const Number& number) { return number.kind == Number::Kind::Unknown; }

// A dim of X that has one element becomes as long as an extent of a tensor.
void growWith(RuleContext& context, const Number& number, int dim, Repeated& repeated) {
  Form form;
  addExtent(context, number, kNew + dim, repeated.out[dim], form);
  repeated.terms.append(form.terms);
}

// `times` copies along each dim of the result. Along a dim that is not repeated parts stay parts.
Repeated tiled(RuleContext& context, const pd::OpView& op, mlir::Value x, mlir::Value out) {
  const bool tile = op.type().starts_with("tile");
  std::optional<Numbers> times =
      tile ? numbersOf(op, {"repeat_times_tensor", "RepeatTimes", "repeat_times"})
           : numbersOf(op, {"expand_times_tensor", "ExpandTimes", "expand_times"});
  const int rank = rankOf(x), resultRank = rankOf(out);
  Repeated repeated = nothingKnown(rank, resultRank);
  if (!times || llvm::any_of(*times, isUnknown) ||
      std::max<int>(rank, static_cast<int>(times->size())) != resultRank) {
    addUntraced(op, {"repeat_times_tensor", "RepeatTimes", "expand_times_tensor", "ExpandTimes"},
                repeated);
    return repeated;
  }
  const int lead = resultRank - rank, skip = resultRank - static_cast<int>(times->size());
  const llvm::SmallVector<int64_t> dims = dimsOf(x);
  for (int d = 0; d < resultRank; ++d) {
    const Number number = d < skip ? Number::known(1) : (*times)[d - skip];
    const bool one = d < lead || dims[d - lead] == 1;
    if (number.isKnown() && number.value == 1) {
      if (d >= lead) repeated.x[d - lead] = repeated.out[d] = d;
    } else if (one) {
      if (d >= lead) repeated.x[d - lead] = kBroadcastDim;
      growWith(context, number, d, repeated);
    }
  }
  return repeated;
}

// To a shape: -1 keeps an extent, another one is that of the whole.
Repeated broadcast(RuleContext& context, const pd::OpView& op, mlir::Value x, mlir::Value out,
                   const NumberSource& source) {
  std::optional<Numbers> shape = numbersOf(op, source);
  const int rank = rankOf(x), resultRank = rankOf(out), lead = resultRank - rank;
  Repeated repeated = nothingKnown(rank, resultRank);
  if (!shape || llvm::any_of(*shape, isUnknown) || static_cast<int>(shape->size()) != resultRank ||
      lead < 0) {
    addUntraced(op, {"Shape", "expand_shapes_tensor"}, repeated);
    return repeated;
  }
  const llvm::SmallVector<int64_t> dims = dimsOf(x);
  for (int d = 0; d < resultRank; ++d) {
    const Number& number = (*shape)[d];
    const bool one = d < lead || dims[d - lead] == 1;
    if (number.isKnown() && number.value == -1 && d >= lead) {
      repeated.x[d - lead] = repeated.out[d] = d;
    } else if (one) {
      if (d >= lead) repeated.x[d - lead] = kBroadcastDim;
      growWith(context, number, d, repeated);
    } else if (number.isExtent() && isSplitAlong(context, number.tensor, number.dim)) {
      growWith(context, number, d, repeated);
      repeated.x[d - lead] = repeated.out[d];
    }
  }
  return repeated;
}

// Copies that stand one after another (1.x): as many as go into the extents of a tensor. One where
// both extents are the same number.
Repeated tiledAs(mlir::Value x, mlir::Value like) {
  Repeated repeated = nothingKnown(rankOf(x), rankOf(like));
  const llvm::SmallVector<int64_t> dims = dimsOf(x), wanted = dimsOf(like);
  Labels shape = wholeLabels(like);
  for (size_t d = 0; dims.size() == wanted.size() && d < dims.size(); ++d) {
    const int label = kNew + static_cast<int>(d);
    if (dims[d] == 1) repeated.x[d] = wanted[d] == 1 ? label : kBroadcastDim;
    else if (dims[d] > 0 && dims[d] == wanted[d]) repeated.x[d] = label;
    if (repeated.x[d] != kWholeDim) shape[d] = repeated.out[d] = label;
  }
  repeated.terms.push_back({like, shape, Use::Shape});
  return repeated;
}

// By the type of the op; versions differ in where the numbers come from and in what they say: how
// often, or how long.
Repeated repeatedLabels(RuleContext& context, mlir::Value x, mlir::Value out) {
  const pd::OpView& op = context.op();
  const llvm::StringRef type = op.type();
  if (type.starts_with("expand_v2"))
    return broadcast(context, op, x, out, {"expand_shapes_tensor", "Shape", "shape"});
  if (type.starts_with("expand_as_v2"))
    return broadcast(context, op, x, out, {"", "", "target_shape"});
  if (type.starts_with("expand_as")) {
    mlir::Value like = op.input("target_tensor");
    return like ? tiledAs(x, like) : nothingKnown(rankOf(x), rankOf(out));
  }
  return tiled(context, op, x, out);
}

// As the kernels of expand_as_v2: `target_shape` counts where it has all extents.
bool knowsShape(const pd::OpView& op) {
  const std::vector<int64_t> shape = op.getInts("target_shape");
  return !shape.empty() && llvm::all_of(shape, [](int64_t extent) { return extent >= 0; });
}

// Linear in X: copies of a multiple are a multiple of the copies. Not shareable, as the number of
// copies would have to be that of the whole.
void repeat(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), out = op.output("Out");
  if (!x || !out) return;
  // With a tensor to be like it broadcasts against that, unless the program knows all extents.
  if (op.type() == "expand_as_v2" && op.input("Y") && !knowsShape(op)) return pointwise(context);
  Repeated repeated = repeatedLabels(context, x, out);
  Form form;
  form.shareable = false;
  form.terms.push_back({x, repeated.x, Use::Linear});
  form.terms.append(repeated.terms);
  form.result = repeated.out;
  context.result("Out", form);
}

// The sum over the copies.
void repeatGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD"), out = op.output("X@GRAD");
  if (!gradient || !out) return;
  // It is told the extents of both: nothing else decides.
  if (op.type() == "expand_as_v2_grad" && op.getInts("target_shape").empty())
    return pointwise(context);
  Repeated repeated = repeatedLabels(context, x ? x : out, gradient);
  Form form;
  form.shareable = false;
  form.fold = Fold::Sum;
  form.terms.push_back({gradient, repeated.out, Use::Linear});
  if (x) form.terms.push_back({x, repeated.x, Use::Shape});
  form.terms.append(repeated.terms);
  form.result = repeated.x;
  context.result("X@GRAD", form);
}

// Each position so often, one after the other: parts stay parts. With a number of its own for each
// position they are as long as the data say.
void repeatInterleave(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value x = op.input("X"), numbers = op.input("RepeatsTensor"),
              from = back ? op.input("Out@GRAD") : x,
              to = back ? op.output("X@GRAD") : op.output("Out");
  if (!from || !to || rankOf(from) != rankOf(to)) return;
  const int axis = normalAxis(op.getInt("dim"), rankOf(from));
  if (axis < 0 || axis >= rankOf(from)) return;
  Form form;
  form.terms.push_back({from, ownLabels(from), Use::Linear});
  if (back && x) form.terms.push_back({x, ownLabels(x), Use::Shape});
  if (numbers) {
    Labels labels = wholeLabels(numbers);
    const bool each = !labels.empty() && dimsOf(numbers)[0] != 1;
    if (each) labels[0] = axis;
    form.terms.push_back({numbers, labels, Use::Value});
    if (each && !back) form.rows = Rows::Data;
  }
  form.result = ownLabels(to);
  context.result(back ? "X@GRAD" : "Out", form);
}

// ---- other orders along some axes, which must be whole; without axes roll sees one long row

// flip, reverse and roll: elements change places along the axes named, along which thus no rank can
// have a part; along all others parts stay parts.
void turn(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value from = op.input(back ? "Out@GRAD" : "X"), to = op.output(back ? "X@GRAD" : "Out");
  if (!from || !to) return;
  std::vector<int64_t> axes = op.getInts("axis");
  if (axes.empty() && op.spec()->attribute("dims")) axes = op.getInts("dims");
  Labels labels =
      axes.empty() && op.type().starts_with("roll") ? wholeLabels(from) : ownLabels(from);
  for (int64_t axis : axes)
    if (int at = normalAxis(axis, rankOf(from)); at >= 0 && at < rankOf(from))
      labels[at] = kWholeDim;
  Form form;
  form.terms.push_back({from, labels, Use::Linear});
  if (mlir::Value shifts = op.input("ShiftsTensor"))
    form.terms.push_back({shifts, wholeLabels(shifts), Use::Value});
  if (mlir::Value x = back ? op.input("X") : mlir::Value())
    form.terms.push_back({x, labels, Use::Shape});
  form.result = labels;
  context.result(back ? "X@GRAD" : "Out", form);
}

// Every X is a vector along a dim of its own of all results; a result repeats one of them.
void meshgrid(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  for (unsigned k = 0, n = op.inputCount("X"); k < n; ++k) {
    mlir::Value gradient = back ? op.input("outputs@GRAD", k) : mlir::Value(),
                out = op.output(back ? "X@GRAD" : "Out", k);
    if (!out || (back && !gradient)) continue;
    Form form;
    form.fold = back ? Fold::Sum : Fold::None;
    if (back) form.terms.push_back({gradient, ownLabels(gradient), Use::Linear});
    for (unsigned i = 0; i < n; ++i) {
      mlir::Value x = op.input("X", i);
      if (!x || rankOf(x) != 1) return;
      form.terms.push_back({x, {static_cast<int>(i)}, back || i != k ? Use::Shape : Use::Linear});
    }
    form.result = back ? Labels{static_cast<int>(k)} : ownLabels(out);
    context.result(back ? "X@GRAD" : "Out", k, form);
  }
}

// A result repeats one of the operands over the extents of all.
void broadcastTensors(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  for (unsigned k = 0, n = op.inputCount("X"); k < n; ++k) {
    mlir::Value wide = back ? op.input("Out@GRAD", k) : op.output("Out", k),
                to = back ? op.output("X@GRAD", k) : wide;
    if (!wide || !to) continue;
    const llvm::SmallVector<int64_t> extents = dimsOf(wide);
    auto labels = [&](mlir::Value value) {
      return alignedLabels(value, extents, static_cast<int>(extents.size()) - rankOf(value));
    };
    Form form;
    form.fold = back ? Fold::Sum : Fold::None;
    if (back) form.terms.push_back({wide, ownLabels(wide), Use::Linear});
    for (unsigned i = 0; i < n; ++i)
      if (mlir::Value x = op.input("X", i))
        form.terms.push_back({x, labels(x), back || i != k ? Use::Shape : Use::Linear});
    form.result = back ? labels(op.input("X", k)) : ownLabels(wide);
    context.result(back ? "X@GRAD" : "Out", k, form);
  }
}

// A signal and its frames, along the first or the last dims, which must be whole.
void frames(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient, cuts = op.type().starts_with("frame") != back,
             first = op.getInt("axis") == 0;
  mlir::Value x = op.input("X"), from = back ? op.input("Out@GRAD") : x,
              like = back ? x : op.output("Out");
  if (!x || !from || !like || (!first && op.getInt("axis") != -1)) return;
  auto labels = [&](mlir::Value value, bool framed) {
    Labels own = ownLabels(value);
    const int rank = rankOf(value), whole = framed ? 2 : 1;
    for (int i = 0; i < rank; ++i) {
      if (first ? i < whole : i >= rank - whole) own[i] = kWholeDim;
      else if (first) own[i] = i - whole;
    }
    return own;
  };
  Form form;
  form.terms.push_back({from, labels(from, !cuts), Use::Linear});
  if (back) form.terms.push_back({x, labels(x, cuts), Use::Shape});
  form.result = labels(like, cuts);
  context.result(back ? "X@GRAD" : "Out", form);
}

#define DT_EXPAND "X, ExpandTimes, expand_times_tensor, expand_times"
#define DT_EXPAND_V2 "X, Shape, expand_shapes_tensor, shape"
#define DT_TILE "X, RepeatTimes, repeat_times_tensor, repeat_times"

constexpr const char* kSumBack = "Out@GRAD:l, X:s -> X@GRAD";

// Columns of matrices, which must be whole; linear in all of them together.
void partial(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value gradient = op.input("Out@GRAD");
  if (back && !gradient) return;
  Form form;
  if (back) form.terms.push_back({gradient, batchLabels(gradient), Use::Linear});
  else form.combine = Combine::Sum;
  for (mlir::Value x : op.inputs("X"))
    form.terms.push_back({x, batchLabels(x), back ? Use::Shape : Use::Linear});
  form.result = {0, kWholeDim};
  if (!back) return context.result("Out", form);
  for (unsigned i = 0, n = op.inputCount("X"); i < n; ++i) context.result("X@GRAD", i, form);
}

const RuleRow kRows[] = {
    {"expand", repeat, "", DT_EXPAND},
    {"expand_grad", repeatGrad, "", "Out@GRAD, " DT_EXPAND},
    {"expand_v2", repeat, "", DT_EXPAND_V2},
    {"expand_v2_grad", repeatGrad, "", "Out@GRAD, " DT_EXPAND_V2},
    {"expand_as", repeat, "", "X, target_tensor"},
    {"expand_as_grad", repeatGrad, "", "Out@GRAD, X, target_tensor"},
    {"expand_as_v2", repeat, "X:l, Y:s -> Out", "target_shape"},
    {"expand_as_v2_grad", repeatGrad, kSumBack, "target_shape"},
    {"tile", repeat, "", DT_TILE},
    {"tile_grad", repeatGrad, "", "Out@GRAD, " DT_TILE},
    {"repeat_interleave", repeatInterleave, "", "X, RepeatsTensor, Repeats, dim"},
    {"repeat_interleave_grad", repeatInterleave, "", "Out@GRAD, X, RepeatsTensor, Repeats, dim"},
    {"flip", turn, "", "X, dims, axis"},
    {"reverse", turn, "", "X, axis"},
    {"roll", turn, "", "X, ShiftsTensor, shifts, dims, axis"},
    {"roll_grad", turn, "", "Out@GRAD, X, ShiftsTensor, shifts, dims, axis"},
    {"meshgrid", meshgrid, "", "X"},
    {"meshgrid_grad", meshgrid, "", "X, outputs@GRAD"},
    {"partial_concat", partial, "", "X, start_index, length"},
    {"partial_concat_grad", partial, "", "X, Out@GRAD, start_index, length"},
    {"partial_sum", partial, "", "X, start_index, length"},
    {"partial_sum_grad", partial, "", "X, Out@GRAD, start_index, length"},
    {"broadcast_tensors", broadcastTensors, "", "X"},
    {"broadcast_tensors_grad", broadcastTensors, "", "X, Out@GRAD"},
    {"frame", frames, "", "X, frame_length, hop_length, axis"},
    {"frame_grad", frames, "", "X, Out@GRAD, frame_length, hop_length, axis"},
    {"overlap_add", frames, "", "X, hop_length, axis"},
    {"overlap_add_grad", frames, "", "X, Out@GRAD, hop_length, axis"},
};

}  // namespace

llvm::ArrayRef<RuleRow> repetitionRules() { return kRows; }

}  // namespace dtranspile::verify
