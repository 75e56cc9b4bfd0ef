// Relation rules: family `tensor_array`. All elements of an array have one relation; it is that of
// the elements. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Elements one after the other along `axis`, or along a dim of their own there. Clauses: of the
// elements and their gradient; of their extents along it.
void join(RuleContext& context, llvm::StringRef elements, llvm::StringRef joined, bool forward) {
  const pd::OpView& op = context.op();
  mlir::Value one = op.input(elements), all = forward ? op.output(joined) : op.input(joined);
  if (!one || !all) return;
  const int rank = rankOf(one), axis = normalAxis(op.getInt("axis"), rankOf(all));
  const bool stacks = op.getBool("use_stack");
  if (axis < 0 || axis >= rankOf(all) || rankOf(all) != rank + stacks) return;
  Labels single, whole, extents;
  for (int d = 0; d < rankOf(all); ++d) {
    whole.push_back(d == axis ? kWholeDim : d - (stacks && d > axis));
    if (d != axis || !stacks) single.push_back(whole.back());
  }
  for (int label : single) extents.push_back(label < 0 ? kWholeDim : kAnyDim);
  Form form;
  if (forward) {
    form.terms = {{one, single, Use::Linear}};
    form.result = whole;
    context.result(joined, form);
    form.terms = {{one, extents, Use::Shape}};
    form.result = {kWholeDim};
    context.result("OutIndex", form);
  } else {
    form.terms = {{all, whole, Use::Linear}, {one, single, Use::Shape}};
    form.result = single;
    context.result("X@GRAD", form);
  }
}
void joinArray(RuleContext& context) { join(context, "X", "Out", true); }
void joinArrayGrad(RuleContext& context) { join(context, "X", "Out@GRAD", false); }

// A rank table sorts the sequences of a batch by length, so that its parts do not stand one after
// the other: only the parts reading goes on.
// `$Out` is the array before the write; an empty one fits every relation.
const RuleRow kRows[] = {
    {"write_to_array", pointwise, "X:l, $Out:l, I:w => Out"},
    {"read_from_array", pointwise, "X:l, I:w, X_W:s -> Out"},
    {"lod_rank_table", wholeOnly, "X:s -> Out", "level"},
    {"max_sequence_len", wholeOnly, "RankTable -> Out"},
    {"lod_tensor_to_array", wholeOnly, "X:l, RankTable -> Out"},
    {"array_to_lod_tensor", wholeOnly, "X:l, RankTable -> Out"},
    {"reorder_lod_tensor_by_rank", wholeOnly, "X:l, RankTable -> Out"},
    {"reorder_lod_tensor_by_rank_grad", wholeOnly, "X:l, RankTable -> Out"},
    {"shrink_rnn_memory", wholeOnly, "X:l, RankTable, I -> Out"},
    {"shrink_rnn_memory_grad", wholeOnly, "Out@GRAD:l, X:s -> X@GRAD"},
    {"lod_array_length", wholeOnly, "X:s -> Out"},
    {"rnn_memory_helper", pointwise, "X:l -> Out", "dtype"},
    {"rnn_memory_helper_grad", pointwise, "Out@GRAD:l, X:s, Out:s -> X@GRAD", "dtype"},
    {"tensor_array_to_tensor", joinArray, "", "X, axis, use_stack"},
    {"tensor_array_to_tensor_grad", joinArrayGrad, "Out@GRAD:l, X:s -> X@GRAD", "axis, use_stack"},
    // How many rows are on either side, the data say; after it each is where it was.
    {"split_lod_tensor", batchwise, "X:l, Mask -> OutTrue:d, OutFalse:d", "level"},
    {"merge_lod_tensor", batchwise, "X:s, Mask, InTrue, InFalse -> Out:e", "level"},
};

}  // namespace

llvm::ArrayRef<RuleRow> tensorArrayRules() { return kRows; }

}  // namespace dtranspile::verify
