// multi_dot: the product of a chain of matrices, in the order that costs least (Cormen, Leiserson,
// Rivest, Stein: Introduction to Algorithms, 15.2), and its gradients. The first factor may be a
// vector, which is a row then, and the last one, a column (phi multi_dot).
#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

// Factor i has extents[i] rows and extents[i + 1] columns.
struct Chain {
  std::vector<int64_t> extents, out;

  int64_t rows(int i) const { return extents[static_cast<size_t>(i)]; }
  int64_t columns(int i) const { return extents[static_cast<size_t>(i) + 1]; }
};

bool ChainOf(OpCall& call, int slot, Chain& chain) {
  const int count = call.Count(slot);
  if (count < 2) return call.Fail("a product of %d factors, expected 2 or more", count), false;
  for (int i = 0; i < count; ++i) {
    const DtBuffer& x = call.Arg(slot, i);
    const bool row = i == 0 && x.rank == 1, column = i == count - 1 && x.rank == 1;
    if (x.rank != 2 && !row && !column)
      return call.Fail("'%s' of %d dims is no factor %d of %d", x.name, x.rank, i, count), false;
    const int64_t rows = row ? 1 : x.dims[0], columns = column ? 1 : x.dims[x.rank - 1];
    if (i > 0 && rows != chain.extents.back())
      return call.Fail("'%s' has %lld rows, the factor before it %lld columns", x.name,
                       static_cast<long long>(rows), static_cast<long long>(chain.extents.back())),
             false;
    if (i == 0) chain.extents.push_back(rows);
    chain.extents.push_back(columns);
    if (i == 0 && !row) chain.out.push_back(rows);
    if (i == count - 1 && !column) chain.out.push_back(columns);
  }
  return true;
}

// Where each part of the chain is split, for the least number of multiplications.
std::vector<std::vector<int>> SplitsOf(const Chain& chain, int count) {
  const auto n = static_cast<size_t>(count);
  std::vector<std::vector<double>> cost(n, std::vector<double>(n, 0));
  std::vector<std::vector<int>> split(n, std::vector<int>(n, 0));
  for (int length = 1; length < count; ++length)
    for (int i = 0; i + length < count; ++i) {
      const int j = i + length;
      double& least = cost[static_cast<size_t>(i)][static_cast<size_t>(j)];
      least = std::numeric_limits<double>::infinity();
      for (int k = i; k < j; ++k) {
        const double all = cost[static_cast<size_t>(i)][static_cast<size_t>(k)] +
                           cost[static_cast<size_t>(k) + 1][static_cast<size_t>(j)] +
                           static_cast<double>(chain.rows(i)) *
                               static_cast<double>(chain.columns(k)) *
                               static_cast<double>(chain.columns(j));
        if (all < least) least = all, split[static_cast<size_t>(i)][static_cast<size_t>(j)] = k;
      }
    }
  return split;
}

// Factors of the call and their products.
template <typename T>
class Products {
 public:
  Products(OpCall& call, int slot, const Chain& chain) : call_(call), slot_(slot), chain_(chain) {}

  const T* Factor(int i) const { return Data<T>(call_.Arg(slot_, i)); }

  // to = op(a) op(b), of m·k and k·n.
  bool Multiply(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k, const T* a, const T* b,
                T* to) const {
    return kernels::Multiply(call_.context(), Contiguous(trans_a, trans_b, m, n, k), a, b, to) == 0;
  }

  // Factors first to last, to `to`.
  bool Between(const std::vector<std::vector<int>>& split, int first, int last, T* to) const {
    const int k = split[static_cast<size_t>(first)][static_cast<size_t>(last)];
    std::vector<T> left, right;
    const T *a = Part(split, first, k, left), *b = Part(split, k + 1, last, right);
    return a != nullptr && b != nullptr &&
           Multiply(false, false, chain_.rows(first), chain_.columns(last), chain_.columns(k), a, b,
                    to);
  }

 private:
  const T* Part(const std::vector<std::vector<int>>& split, int first, int last,
                std::vector<T>& memory) const {
    if (first == last) return Factor(first);
    // One more, so that a product without elements has an address too.
    memory.resize(static_cast<size_t>(chain_.rows(first) * chain_.columns(last)) + 1);
    return Between(split, first, last, memory.data()) ? memory.data() : nullptr;
  }

  OpCall& call_;
  const int slot_;
  const Chain& chain_;
};

}  // namespace

// X -> Out
int32_t MultiDot(OpCall& call) {
  using A = args::dt_multi_dot;
  DtBuffer& out = call.Arg(A::Out);
  Chain chain;
  if (!ChainOf(call, A::X, chain) || !call.Resize(out, chain.out)) return 1;
  const int count = call.Count(A::X);
  return VisitFloat(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return Products<T>(call, A::X, chain)
                   .Between(SplitsOf(chain, count), 0, count - 1, Data<T>(out))
               ? 0
               : 1;
  });
}

// X, Out@GRAD -> X@GRAD. With L the product of the factors before one and R of those behind it, it
// has Lᵀ dOut Rᵀ: the left product is carried along the chain, the right ones are kept.
int32_t MultiDotGrad(OpCall& call) {
  using A = args::dt_multi_dot_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  Chain chain;
  if (!ChainOf(call, A::X, chain)) return 1;
  const int count = call.Count(A::X);
  const int64_t rows = chain.rows(0), columns = chain.columns(count - 1);
  if (Elements(gradient) != rows * columns)
    return call.Fail("'%s' has %lld elements, the product %lld", gradient.name,
                     static_cast<long long>(Elements(gradient)),
                     static_cast<long long>(rows * columns));
  return VisitFloat(call.context(), gradient, [&](auto tag) -> int32_t {
    using T = typename decltype(tag)::type;
    const Products<T> products(call, A::X, chain);
    // behind[i]: the product of the factors behind i.
    std::vector<std::vector<T>> behind(static_cast<size_t>(count));
    for (int i = count - 2; i >= 0; --i) {
      const T* factor = products.Factor(i + 1);
      std::vector<T>& to = behind[static_cast<size_t>(i)];
      const std::vector<T>& next = behind[static_cast<size_t>(i) + 1];
      to.resize(static_cast<size_t>(chain.columns(i) * columns) + 1);
      if (i == count - 2) std::copy_n(factor, chain.columns(i) * columns, to.data());
      else if (!products.Multiply(false, false, chain.columns(i), columns, chain.columns(i + 1),
                                  factor, next.data(), to.data()))
        return 1;
    }
    std::vector<T> carried(Data<T>(gradient), Data<T>(gradient) + rows * columns);
    for (int i = 0; i < count; ++i) {
      if (call.Has(A::X_GRAD, i)) {
        DtBuffer& dx = call.Arg(A::X_GRAD, i);
        if (!call.Resize(dx, call.Arg(A::X, i))) return 1;
        if (i == count - 1) std::copy_n(carried.data(), Elements(dx), Data<T>(dx));
        else if (!products.Multiply(false, true, chain.rows(i), chain.columns(i), columns,
                                    carried.data(), behind[static_cast<size_t>(i)].data(),
                                    Data<T>(dx)))
          return 1;
      }
      if (i == count - 1) break;
      std::vector<T> next(static_cast<size_t>(chain.columns(i) * columns) + 1);
      if (!products.Multiply(true, false, chain.columns(i), columns, chain.rows(i),
                             products.Factor(i), carried.data(), next.data()))
        return 1;
      carried = std::move(next);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
