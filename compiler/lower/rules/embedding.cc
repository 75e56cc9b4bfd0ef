// Lowering rules: family `embedding`.
#include "compiler/lower/rules.h"
#include "dialects/dist/dist.h"

namespace dtranspile::lower {
namespace {

// Of a table that is on servers only the height is known here (dist.remote).
llvm::LogicalResult lowerLookupGradient(OpLowering& op) {
  mlir::Value table = op.op().input("W");
  if (!table || !table.getDefiningOp<dist::RemoteOp>()) return op.callRow();
  auto ids = op.in("Ids"), gradient = op.in("Out@GRAD"), out = op.out("W@GRAD");
  if (!ids || !gradient) return op.unsupported("an absent input");
  if (!out) return llvm::success();
  op.call("dt_lookup_table_grad",
          {.tensors = {{"Ids", *ids}, {"Out@GRAD", *gradient}, {"W@GRAD", *out}},
           .attributes = {{"padding_idx", op.op().getInt("padding_idx")},
                          {"height",
                           llvm::cast<mlir::RankedTensorType>(table.getType()).getDimSize(0)}},
           .anyExtents = true});
  return llvm::success();
}

const LoweringRule kRules[] = {
    callRule("lookup_table", "dt_lookup_table(start_index=-, vocab_size=-)"),
    kindsRule("lookup_table_grad", lowerLookupGradient,
              "dt_lookup_table_grad(height=-, start_index=-, vocab_size=-)"),
    callRule("lookup_table_v2", "dt_lookup_table(start_index=-, vocab_size=-)"),
    kindsRule("lookup_table_v2_grad", lowerLookupGradient,
              "dt_lookup_table_grad(height=-, start_index=-, vocab_size=-)"),
    callRule("c_embedding", "dt_lookup_table(padding_idx=-)"),
    callRule("c_embedding_grad", "dt_lookup_table_grad(padding_idx=-, height=-)"),
    callRule("one_hot", "dt_one_hot"),
    callRule("one_hot_v2", "dt_one_hot"),
    callRule("hierarchical_sigmoid", "dt_hierarchical_sigmoid"),
    callRule("hierarchical_sigmoid_grad", "dt_hierarchical_sigmoid_grad"),
    callRule("nce", "dt_nce"),
    callRule("nce_grad", "dt_nce_grad"),
    callRule("sample_logits", "dt_sample_logits"),
    callRule("sample_logits_grad", "dt_sample_logits_grad"),
    callRule("merge_selected_rows", "dt_merge_selected_rows"),
    callRule("get_tensor_from_selected_rows", "dt_values_of_rows"),
    callRule("hash", "dt_hash"),
    callRule("cvm", "dt_cvm"),
    callRule("cvm_grad", "dt_cvm_grad"),
    callRule("filter_by_instag", "dt_filter_by_instag"),
    callRule("similarity_focus", "dt_similarity_focus"),
    callRule("add_position_encoding", "dt_add_position_encoding"),
    {"add_position_encoding_grad", Inner::None, "X@GRAD = alpha * Out@GRAD"},
};

}  // namespace

RuleTable embeddingRules() { return kRules; }

}  // namespace dtranspile::lower
