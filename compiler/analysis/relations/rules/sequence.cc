// Relation rules: family `sequence`. Ranks hold whole sequences, so that ops within a sequence see
// all of it. What is as long as the longest sequence of the batch (padding without a length, masks
// without one) is that of the share. Notation: rule.h.
#include "compiler/analysis/relations/records.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// The sequences of another value's LoD. Offsets as an attribute, or as the data of Y, are those of
// the whole batch.
void lodReset(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  mlir::Value y = context.op().input("Y");
  if (y && isRagged(y)) giveBatchwise(context, clauses.take_front());
  else giveWhole(context, clauses.drop_front());
}

// Clauses: what is padded to `padded_length`, or to the longest; lengths.
void pad(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  if (context.op().getInt("padded_length") > 0) giveBatchwise(context, clauses.take_front(1));
  else giveWhole(context, clauses.take_front(1));
  giveBatchwise(context, clauses.drop_front());
}

// A row of Y for each length.
void mask(RuleContext& context) {
  mlir::Value x = context.op().input("X"), y = context.op().output("Y"),
              most = context.op().input("MaxLenTensor");
  if (!x || !y || rankOf(y) < rankOf(x)) return;
  const bool fixed = most || context.op().getInt("maxlen") > 0;
  Form form;
  form.terms.push_back({x, fixed ? ownLabels(x) : wholeLabels(x), Use::Value});
  if (most) form.terms.push_back({most, wholeLabels(most), Use::Value});
  form.result = fixed ? ownLabels(x) : wholeLabels(x);
  form.result.resize(rankOf(y), kWholeDim);
  context.result("Y", form);
}

// Padded with lengths, sequences keep their rows. As rows of sequences they do not where nothing is
// left of all of them: then there is one row of -1.
void align(RuleContext& context) {
  if (context.op().input("InputLength")) batchwise(context);
  else giveWhole(context, context.clauses());
}

constexpr const char* kWindow = "contextLength, contextStart, contextStride";

const RuleRow kRows[] = {
    {"sequence_conv", batchwise, "X:l, Filter:wl -> Out", kWindow},
    {"sequence_conv_grad", batchwise,
     "Out@GRAD:l, Filter:wl, X:s -> X@GRAD; Out@GRAD:l, X:l, Filter:ws -> +Filter@GRAD", kWindow},
    // Rows of maxima count over the whole batch.
    {"sequence_pool", recorded, "X -> Out:e; -> MaxIndex", "is_test, pooltype, pad_value"},
    {"sequence_pool_grad", recordedGrad, "Out@GRAD:l, X:s -> X@GRAD; MaxIndex ->",
     "is_test, pooltype, pad_value"},
    {"sequence_softmax", batchwise, "X -> Out", "data_format"},
    {"sequence_softmax_grad", batchwise, "Out@GRAD:l, Out, X -> X@GRAD", "data_format"},
    {"sequence_concat", batchwise, "X -> Out"},
    {"sequence_concat_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD"},
    {"sequence_enumerate", batchwise, "X -> Out", "win_size, pad_value"},
    {"sequence_erase", batchwise, "X -> Out:d", "tokens"},
    {"sequence_expand", batchwise, "X:l, Y:s -> Out", "ref_level"},
    {"sequence_expand_grad", batchwise, "Out@GRAD:l, X:s, Y:s -> X@GRAD", "ref_level"},
    {"sequence_expand_as", batchwise, "X:l, Y:s -> Out"},
    {"sequence_expand_as_grad", batchwise, "Out@GRAD:l, X:s, Y:s -> X@GRAD"},
    {"sequence_mask", mask, "", "X, MaxLenTensor, maxlen, out_dtype"},
    {"sequence_pad", pad, "X, PadValue:w -> Out:e; X:s -> Length:e", "padded_length"},
    {"sequence_pad_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD", "padded_length"},
    {"sequence_unpad", batchwise, "X:l, Length -> Out:d"},
    {"sequence_unpad_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD"},
    {"sequence_reshape", batchwise, "X:l -> Out", "new_dim"},
    {"sequence_reshape_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD", "new_dim"},
    {"sequence_reverse", batchwise, "X:l -> Y"},
    {"sequence_scatter", batchwise, "X, Ids, Updates -> Out:e"},
    {"sequence_scatter_grad", batchwise,
     "Out@GRAD:l, Ids -> X@GRAD; Out@GRAD:l, Ids, Updates:s -> Updates@GRAD"},
    {"sequence_slice", batchwise, "X:l, Offset, Length -> Out:d"},
    {"sequence_slice_grad", batchwise, "Out@GRAD:l, X:s, Offset, Length -> X@GRAD"},
    {"sequence_topk_avg_pooling", recorded, "X, ROW:s, COLUMN:s -> Out; -> pos",
     "topks, channel_num"},
    {"sequence_topk_avg_pooling_grad", recordedGrad,
     "Out@GRAD:l, X:s, ROW:s, COLUMN:s -> X@GRAD; pos ->", "topks, channel_num"},
    {"ctc_align", align, "Input, InputLength -> Output:d, OutputLength",
     "blank, merge_repeated, padding_value"},
    {"edit_distance", batchwise, "Hyps, Refs, HypsLength, RefsLength -> Out:e, +SequenceNum",
     "normalized"},
    {"lod_reset", lodReset, "X:l, Y:s -> Out; X:l, Y -> Out", "target_lod, append"},
    {"lod_reset_grad", batchwise, "Out@GRAD:l, X:s -> X@GRAD", "target_lod, append"},
};

}  // namespace

llvm::ArrayRef<RuleRow> sequenceRules() { return kRows; }

}  // namespace dtranspile::verify
