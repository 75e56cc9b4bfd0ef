// Formulas: the language in which rule tables say what an operator computes. One row per operator:
//
//   leaky_relu         Out = X > 0 ? X : alpha * X
//   leaky_relu_grad    X@GRAD = X > 0 ? Out@GRAD : alpha * Out@GRAD
//   softmax            m = max(X); Out = exp(X - m); Out = Out / sum(Out)
//   layer_norm         m = sum(X) / count; Mean[r] = m; …
//
// A statement assigns to an output slot, or names an intermediate value. Names are slots, else
// attributes, else intermediates.
//   X           element of the slot's tensor, broadcast to the domain (aligned right, or by the
//               operator's `axis`)
//   X[r]        one element per row: the tensor runs over the kept dims, whatever its shape is
//   X[i]        one element per inner position: the tensor runs over the inner dims
//   sum max min prod all any (e)   over the inner dims of the row
//   count rows  extents of the inner dims and of the kept dims, multiplied
//   position    place in the inner dims, flattened
//   or(X, e)    X where the slot is there, else e
//   has(X)      1 or 0
//   f(...)      exp log log2 log10 log1p expm1 sqrt tanh erf sin cos … pow min max floordiv rem
//   sign
//               float int64 …, and what formula_functions.h defines: square sigmoid adam_step …
//   ?: || && == != < <= > >= + - * / ! -
// The domain is the tensor with most elements among those without [ ]. An output that is smaller
// than the domain, or marked [i] while the value changes from row to row, gets the sum over what it
// lacks: the gradient of a broadcast.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/lower/kernel/kernel.h"

namespace dtranspile::lower {

// A tensor as a formula sees it.
struct TensorRef {
  int buffer = -1;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  int axis = -1;  // domain dim of its first dim; -1: aligned right

  // Tokens (extents.h) stand for extents that are not known.
  int64_t elements() const;
};

// Who the names of a formula are.
struct FormulaNames {
  std::function<std::optional<TensorRef>(std::string_view)> input, output;
  std::function<std::optional<double>(std::string_view)> attribute;
};

// Which dims of the domain are inner (reduced by sum, max …); the others are kept. Empty for
// element-wise formulas.
using InnerDims = std::function<std::vector<bool>(const std::vector<int64_t>& domain)>;

// A kernel and the buffers of its operands.
struct BoundKernel {
  Kernel kernel;
  std::vector<int> buffers;
};

// The kernels of a formula, canonical, in order of execution. On failure empty, and `error` says
// what is wrong. `dynamic`: extents may be tokens.
std::optional<std::vector<BoundKernel>> buildFormula(std::string_view hint,
                                                     std::string_view formula,
                                                     const FormulaNames& names,
                                                     const InnerDims& inner, std::string& error,
                                                     bool dynamic = false);

}  // namespace dtranspile::lower
