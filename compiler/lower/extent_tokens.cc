#include "compiler/lower/extent_tokens.h"

#include <algorithm>

#include "compiler/lower/kernel/extents.h"

namespace dtranspile::lower {
namespace {

int64_t unknowns(const std::vector<int64_t>& dims) {
  return std::count_if(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
}

}  // namespace

void ExtentTokens::add(const std::optional<TensorRef>& tensor, bool rows) {
  if (!tensor || tensor->buffer < 0) return;
  tensors_.push_back(*tensor);
  if (rows) rows_.push_back(tensor->buffer);
}

// The dim of the domain that a dim of a tensor stands at.
size_t ExtentTokens::placeOf(const TensorRef& tensor, size_t dim) const {
  if (tensor.axis >= 0 && tensor.dims.size() < domain_.size())
    return static_cast<size_t>(tensor.axis) + dim;
  if (tensor.dims.size() < domain_.size() && tensor.dims.size() == outer_.size() &&
      std::count(rows_.begin(), rows_.end(), tensor.buffer) > 0)
    return outer_[dim];
  return domain_.size() - std::min(domain_.size(), tensor.dims.size()) + dim;
}

// Kernels are compiled before extents that only a step knows are. Each such dim of the domain (of
// the tensor with the most unknowns) gets a token, a number that stands for it in dims and strides
// and that the step replaces. A dim that some operand declares to be larger than 1 is that long.
// Extents that are tokens by chance, and operands whose unknown dims cannot be matched with the
// domain's, are refused.
bool ExtentTokens::assign(const InnerDims& inner, std::string& error) {
  auto less = [](const TensorRef& a, const TensorRef& b) {
    const int64_t x = unknowns(a.dims), y = unknowns(b.dims);
    return x != y ? x < y : a.dims.size() < b.dims.size();
  };
  const auto most = std::max_element(tensors_.begin(), tensors_.end(), less);
  if (most == tensors_.end() || unknowns(most->dims) == 0) return true;
  domain_ = most->dims;
  const std::vector<bool> reduced = inner ? inner(domain_) : std::vector<bool>();
  for (size_t d = 0; d < reduced.size(); ++d)
    if (!reduced[d]) outer_.push_back(d);
  for (size_t d = 0; d < domain_.size(); ++d) {
    if (domain_[d] < 0) unknown_.push_back(d);
  }
  if (unknown_.size() > static_cast<size_t>(kMostTokens))
    return error = "more than 6 extents known only at run time", false;
  for (const TensorRef& tensor : tensors_) {
    if (tensor.dims.size() != domain_.size()) continue;
    for (size_t d : unknown_) {
      if (tensor.dims[d] > 1) domain_[d] = tensor.dims[d];
    }
  }
  for (size_t k = 0; k < unknown_.size(); ++k) {
    if (domain_[unknown_[k]] < 0) domain_[unknown_[k]] = tokenNumber(static_cast<int>(k));
    any_ |= isSymbolic(domain_[unknown_[k]]);
  }
  for (const TensorRef& tensor : tensors_) {
    for (int64_t d : tensor.dims) {
      if (d > 0 && isSymbolic(d))
        return error =
                   "an extent of " + std::to_string(d) + " beside extents known only at run time",
               false;
    }
    for (int64_t d : resolved(tensor)) {
      if (d < 0) return error = "extents known only at run time that do not correspond", false;
    }
  }
  return true;
}

// With as many unknown extents as the domain has, they correspond in their order; else by the place
// of the dim, aligned at the end.
std::vector<int64_t> ExtentTokens::resolved(const TensorRef& tensor) const {
  std::vector<int64_t> dims = tensor.dims;
  const bool inOrder = unknowns(dims) == static_cast<int64_t>(unknown_.size());
  size_t next = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] >= 0) continue;
    const size_t place = inOrder ? unknown_[next++] : placeOf(tensor, d);
    if (inOrder || (place < domain_.size() && domain_[place] != 1)) dims[d] = domain_[place];
  }
  return dims;
}

std::optional<TensorRef> ExtentTokens::resolve(std::optional<TensorRef> tensor) const {
  if (tensor) tensor->dims = resolved(*tensor);
  return tensor;
}

std::vector<int64_t> ExtentTokens::shapeOf(int buffer) const {
  for (const TensorRef& tensor : tensors_) {
    if (tensor.buffer == buffer) return resolved(tensor);
  }
  return {};
}

}  // namespace dtranspile::lower
