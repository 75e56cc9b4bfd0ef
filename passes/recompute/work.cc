#include "passes/recompute/work.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "runtime/base/dtype.h"

namespace dtranspile::passes {
namespace {

// An element that goes through memory takes about as long as this many multiplications.
constexpr double kPerElement = 8;

double elementsOf(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  if (!tensor) return 0;
  double count = 1;
  for (int64_t extent : pd::dimsOf(tensor))
    count *= static_cast<double>(extent < 0 ? kOpenExtent : extent);
  return count;
}

double extentOf(mlir::Value value, int64_t dim) {
  mlir::RankedTensorType tensor = value ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
  if (!tensor || tensor.getRank() == 0) return 1;
  const int64_t extent =
      pd::dimsOf(tensor)[(dim % tensor.getRank() + tensor.getRank()) % tensor.getRank()];
  return static_cast<double>(extent < 0 ? kOpenExtent : extent);
}

// How many terms an element of Out is the sum of.
double termsOfMul(pd::OpView op) {
  mlir::RankedTensorType x = pd::tensorOf(op.input("X").getType());
  double terms = 1;
  for (int64_t dim = op.getInt("x_num_col_dims"); x && dim < x.getRank(); ++dim)
    terms *= extentOf(op.input("X"), dim);
  return terms;
}
double termsOfMatmul(pd::OpView op) {
  const char* flag = op.spec()->attribute("trans_x") ? "trans_x" : "transpose_X";
  return extentOf(op.input("X"), op.getBool(flag) ? -2 : -1);
}
double termsOfConvolution(pd::OpView op) {
  mlir::Value filter = op.input("Filter");
  return elementsOf(filter.getType()) / extentOf(filter, 0);
}
double termsOfRecurrent(pd::OpView op) {
  mlir::Value weight = op.input("Weight");
  return weight ? elementsOf(weight.getType()) / extentOf(weight, 0) : 1;
}

struct Product {
  llvm::StringRef type, out;
  double (*terms)(pd::OpView);
};
const Product kProducts[] = {
    {"mul", "Out", termsOfMul},
    {"matmul", "Out", termsOfMatmul},
    {"matmul_v2", "Out", termsOfMatmul},
    {"conv2d", "Output", termsOfConvolution},
    {"conv3d", "Output", termsOfConvolution},
    {"depthwise_conv2d", "Output", termsOfConvolution},
    {"conv2d_transpose", "Output", termsOfConvolution},
    {"lstm", "Hidden", termsOfRecurrent},
    {"gru", "Hidden", termsOfRecurrent},
};

}  // namespace

int64_t estimatedBytes(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  if (!tensor) return 0;
  const std::optional<DType> dtype = pd::dtypeOf(tensor.getElementType());
  return static_cast<int64_t>(elementsOf(type)) *
         static_cast<int64_t>(dtype ? SizeOf(*dtype) : sizeof(float));
}

// Work is counted in multiplications, and what only goes through memory at kPerElement of them: a
// chain of element-wise ops is not free to repeat, and a product dominates as it does on a machine.
// Only ratios matter (bestSegments compares them with a percentage of the step).
double estimatedWork(pd::OpView op) {
  double work = 0;
  for (mlir::Value operand : op.operation()->getOperands())
    work += kPerElement * elementsOf(operand.getType());
  for (mlir::Value result : op.operation()->getResults())
    work += kPerElement * elementsOf(result.getType());
  llvm::StringRef type = op.type();
  // Two products of the same size, by each factor.
  const bool gradient = type.consume_back("_grad");
  const auto* row = llvm::find_if(kProducts, [&](const Product& one) { return one.type == type; });
  if (row == std::end(kProducts)) return work;
  mlir::Value out = gradient ? op.input((row->out + "@GRAD").str()) : op.output(row->out);
  return out ? work + (gradient ? 4 : 2) * elementsOf(out.getType()) * row->terms(op) : work;
}

}  // namespace dtranspile::passes
