#include "compiler/lower/matrices.h"

namespace dtranspile::lower {

int64_t productOf(const std::vector<int64_t>& dims, size_t from, size_t to) {
  int64_t n = 1;
  for (size_t i = from; i < to; ++i) n *= dims[i];
  return n;
}

bool isKnown(const TensorRef& tensor) {
  return llvm::none_of(tensor.dims, [](int64_t extent) { return extent < 0; });
}

namespace {

llvm::ArrayRef<int64_t> withoutLeadingOnes(llvm::ArrayRef<int64_t> dims) {
  return dims.drop_while([](int64_t extent) { return extent == 1; });
}

}  // namespace

bool plainBatches(const Matrices& a, const Matrices& b) {
  if (!isKnown(a.tensor) || !isKnown(b.tensor)) return false;
  const auto x = withoutLeadingOnes(a.batch), y = withoutLeadingOnes(b.batch);
  return x == y || x.empty() || y.empty();
}

bool plainGradients(const Matrices& a, const Matrices& b) {
  const int64_t x = a.batchSize(), y = b.batchSize();
  return x == y || (x > y && !a.transposed);
}

bool isProduct(const Matrices& a, const Matrices& b, const TensorRef& out) {
  const int64_t m = a.transposed ? a.columns : a.rows, k = a.transposed ? a.rows : a.columns,
                n = b.transposed ? b.rows : b.columns;
  if (a.tensor.elements() == 0 || b.tensor.elements() == 0) return true;
  return k == (b.transposed ? b.columns : b.rows) &&
         out.elements() == std::max(a.batchSize(), b.batchSize()) * m * n;
}

std::vector<int64_t> longerBatch(const Matrices& a, const Matrices& b) {
  return a.batchSize() >= b.batchSize() ? a.batch : b.batch;
}

}  // namespace dtranspile::lower
