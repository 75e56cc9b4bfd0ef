// Relation rules: family `convolution`. Split batches only: a split channel or image dim is not
// known (yet). Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

constexpr const char* kConvolution = "Input:l, Filter:wl -> Output";
constexpr const char* kConvolutionGrad =
    "Output@GRAD:l, Filter:wl, Input:s -> Input@GRAD; Output@GRAD:l, Input:l, Filter:ws -> "
    "+Filter@GRAD";

// Max pooling commutes with positive factors only, average pooling is linear.
void pool(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  Labels labels = wholeLabels(x);
  if (!labels.empty()) labels[0] = 0;
  Form form;
  form.terms.push_back(
      {x, labels,
       context.op().getString("pooling_type") == "avg" ? Use::Linear : Use::Homogeneous});
  form.result = labels;
  context.result("Out", form);
}

const RuleRow kRows[] = {
    {"conv2d", batchwise, kConvolution,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"conv2d_grad", batchwise, kConvolutionGrad,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"depthwise_conv2d", batchwise, kConvolution,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"depthwise_conv2d_grad", batchwise, kConvolutionGrad,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"conv3d", batchwise, kConvolution,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"conv3d_grad", batchwise, kConvolutionGrad,
     "is_test, strides, paddings, padding_algorithm, groups, dilations, data_format"},
    {"conv2d_transpose", batchwise, kConvolution,
     "is_test, output_size, groups, dilations, strides, paddings, data_format, padding_algorithm, "
     "output_padding"},
    {"conv2d_transpose_grad", batchwise, kConvolutionGrad,
     "is_test, output_size, groups, dilations, strides, paddings, data_format, padding_algorithm, "
     "output_padding"},
    {"pool2d", pool, "",
     "X, pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
     "data_format, is_test, padding_algorithm"},
    {"pool2d_grad", batchwise, "Out@GRAD:l, X:m, Out:m -> X@GRAD",
     "pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
     "data_format, is_test, padding_algorithm"},
    {"pool3d", pool, "",
     "X, pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
     "data_format, padding_algorithm"},
    {"pool3d_grad", batchwise, "Out@GRAD:l, X:m, Out:m -> X@GRAD",
     "pooling_type, ksize, global_pooling, strides, paddings, exclusive, adaptive, ceil_mode, "
     "data_format, padding_algorithm"},
    {"max_pool2d_with_index", batchwise, "X:h -> Out; X:m -> Mask",
     "ksize, global_pooling, adaptive, strides, paddings, ceil_mode"},
    {"max_pool2d_with_index_grad", batchwise, "Out@GRAD:l, Mask, X:s -> X@GRAD",
     "ksize, global_pooling, adaptive, strides, paddings, ceil_mode"},
};

}  // namespace

llvm::ArrayRef<RuleRow> convolutionRules() { return kRows; }

}  // namespace dtranspile::verify
