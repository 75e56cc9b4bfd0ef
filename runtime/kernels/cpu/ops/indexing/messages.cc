// Messages along the edges of a graph (phi send_ue_recv, send_uv; Wang et al., "Deep Graph
// Library", 2019): a row of nodes and one of the edge, or of the node at the other end, are added
// or multiplied, broadcasting; graph_send_ue_recv pools them by where they go. Rows:
// runtime/kernels/signatures/indexing.calls.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/indexing/calls.h"
#include "runtime/kernels/cpu/ops/indexing/pools.h"

namespace dtranspile::kernels {
namespace {

bool MultipliesOf(OpCall& call, std::string_view text, bool& multiplies) {
  if (text == "ADD" || text == "MUL") return multiplies = text == "MUL", true;
  return call.Fail("'%.*s' is no message", static_cast<int>(text.size()), text.data()), false;
}

// Row numbers, each one of a tensor's.
bool RowsOf(OpCall& call, const DtBuffer& index, const DtBuffer& of, int64_t rows,
            std::vector<int64_t>& values) {
  if (!IntegersOf(call, index, values)) return false;
  for (int64_t value : values)
    if (value < 0 || value >= rows)
      return call.Fail("'%s' has the row %lld, '%s' has %lld", index.name,
                       static_cast<long long>(value), of.name, static_cast<long long>(rows)),
             false;
  return true;
}

// The elements of two rows that each element of their message is made of.
struct Message {
  std::vector<int64_t> dims;  // of a message
  std::vector<int64_t> left, right;
  int64_t leftWidth = 1, rightWidth = 1;

  int64_t width() const { return static_cast<int64_t>(left.size()); }
};

// Computes, for each element of a message, which element of either row it is made from: dims behind
// the first broadcast, aligned at the last.
bool MessageOf(OpCall& call, const DtBuffer& x, const DtBuffer& y, Message& message) {
  if (x.rank < 1 || y.rank < 1)
    return call.Fail("'%s' and '%s' have no rows", x.name, y.name), false;
  const int32_t rank = std::max(x.rank, y.rank) - 1;
  message.leftWidth = Elements(x, 1, x.rank);
  message.rightWidth = Elements(y, 1, y.rank);
  message.left = message.right = {0};
  for (int32_t d = 0; d < rank; ++d) {
    // Dims of rows are aligned at the last one.
    const int32_t a = d - rank + x.rank, b = d - rank + y.rank;
    const int64_t m = a >= 1 ? x.dims[a] : 1, n = b >= 1 ? y.dims[b] : 1;
    if (m != n && m != 1 && n != 1)
      return call.Fail("rows of '%s' and '%s' do not broadcast", x.name, y.name), false;
    const int64_t extent = m == 1 ? n : m;
    message.dims.push_back(extent);
    std::vector<int64_t> left, right;
    for (size_t i = 0; i < message.left.size(); ++i)
      for (int64_t j = 0; j < extent; ++j) {
        left.push_back(message.left[i] * m + (m == 1 ? 0 : j));
        right.push_back(message.right[i] * n + (n == 1 ? 0 : j));
      }
    message.left = std::move(left);
    message.right = std::move(right);
  }
  return true;
}

template <typename T>
T Made(bool multiplies, T a, T b) {
  if (!multiplies) return Plus(a, b);
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else return a * b;
}

void Clear(DtBuffer& buffer) {
  std::memset(buffer.data, 0, static_cast<size_t>(Elements(buffer) * ElementSize(buffer)));
}

// Gradients of a message that flow to rows `from` of x and `at` of y.
struct Sides {
  DtBuffer *dx = nullptr, *dy = nullptr;
};
bool SidesOf(OpCall& call, int xSlot, int ySlot, const DtBuffer& x, const DtBuffer& y,
             Sides& sides) {
  if (call.Has(xSlot)) {
    sides.dx = &call.Arg(xSlot);
    if (!call.Resize(*sides.dx, x)) return false;
    Clear(*sides.dx);
  }
  if (call.Has(ySlot)) {
    sides.dy = &call.Arg(ySlot);
    if (!call.Resize(*sides.dy, y)) return false;
    Clear(*sides.dy);
  }
  return true;
}
template <typename T>
void Spread(const Sides& sides, bool multiplies, T gradient, const T* x, int64_t left, const T* y,
            int64_t right) {
  if (sides.dx != nullptr) {
    T& sum = Data<T>(*sides.dx)[left];
    sum = Plus(sum, multiplies ? Made(true, gradient, y[right]) : gradient);
  }
  if (sides.dy != nullptr) {
    T& sum = Data<T>(*sides.dy)[right];
    sum = Plus(sum, multiplies ? Made(true, gradient, x[left]) : gradient);
  }
}

// The edges of graph_send_ue_recv: one row of Y for each.
bool EdgesOf(OpCall& call, const DtBuffer& x, const DtBuffer& y, const DtBuffer& source,
             const DtBuffer& target, const DtBuffer& results, int64_t rows,
             std::vector<int64_t>& from, std::vector<int64_t>& to) {
  if (!RowsOf(call, source, x, x.dims[0], from) || !RowsOf(call, target, results, rows, to))
    return false;
  if (from.size() == to.size() && static_cast<int64_t>(from.size()) == y.dims[0]) return true;
  return call.Fail("'%s', '%s' and the rows of '%s' differ in number", source.name, target.name,
                   y.name),
         false;
}

}  // namespace

// X, Y, Src_index, Dst_index, Out_size; message_op, reduce_op, out_size -> Out, Dst_count
int32_t SendEdges(OpCall& call) {
  using A = args::dt_send_edges;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  Pool pool = Pool::kSum;
  bool multiplies = false;
  Message message;
  if (!PoolOf(call, call.Text(A::reduce_op), pool) ||
      !MultipliesOf(call, call.Text(A::message_op), multiplies) || !MessageOf(call, x, y, message))
    return 1;
  const absl::Span<const int64_t> given = call.Ints(A::out_size);
  std::vector<int64_t> size(given.begin(), given.end()), dims = message.dims, from, to;
  if (call.Has(A::Out_size) && !IntegersOf(call, call.Arg(A::Out_size), size)) return 1;
  dims.insert(dims.begin(), !size.empty() && size[0] > 0 ? size[0] : x.dims[0]);
  if (!EdgesOf(call, x, y, call.Arg(A::Src_index), call.Arg(A::Dst_index), out, dims[0], from,
               to) ||
      !call.Resize(out, dims))
    return 1;
  Clear(out);
  std::vector<int32_t> counts(static_cast<size_t>(dims[0]));
  const int32_t bad = VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = message.width();
    for (size_t e = 0; e < from.size(); ++e) {
      const T *left = Data<T>(x) + from[e] * message.leftWidth,
              *right = Data<T>(y) + static_cast<int64_t>(e) * message.rightWidth;
      T* into = Data<T>(out) + to[e] * width;
      const bool first = counts[static_cast<size_t>(to[e])]++ == 0;
      for (int64_t j = 0; j < width; ++j) {
        const auto at = static_cast<size_t>(j);
        const T made = Made(multiplies, left[message.left[at]], right[message.right[at]]);
        if (pool == Pool::kSum || pool == Pool::kMean) into[j] = Plus(into[j], made);
        else if (first || (pool == Pool::kMax ? into[j] < made : made < into[j])) into[j] = made;
      }
    }
    for (size_t r = 0; pool == Pool::kMean && r < counts.size(); ++r)
      for (int64_t j = 0; counts[r] > 1 && j < width; ++j)
        Data<T>(out)[static_cast<int64_t>(r) * width + j] /= static_cast<T>(counts[r]);
    return 0;
  });
  if (bad != 0 || !call.Has(A::Dst_count)) return bad;
  // The framework counts for means only, and leaves one number without a value else.
  const bool counted = pool == Pool::kMean;
  DtBuffer& count = call.Arg(A::Dst_count);
  if (!call.Resize(count, counted ? std::vector<int64_t>{dims[0]} : std::vector<int64_t>{}))
    return 1;
  Clear(count);
  if (counted) std::copy(counts.begin(), counts.end(), Data<int32_t>(count));
  return 0;
}

// X, Y, Src_index, Dst_index, Out, Dst_count, Out@GRAD; message_op, reduce_op -> X@GRAD, Y@GRAD.
// Every message that equals an extreme has its gradient.
int32_t SendEdgesGrad(OpCall& call) {
  using A = args::dt_send_edges_grad;
  const DtBuffer &x = call.Arg(A::X), &y = call.Arg(A::Y), &gradient = call.Arg(A::Out_GRAD);
  Pool pool = Pool::kSum;
  bool multiplies = false;
  Message message;
  std::vector<int64_t> from, to;
  if (!PoolOf(call, call.Text(A::reduce_op), pool) ||
      !MultipliesOf(call, call.Text(A::message_op), multiplies) || !MessageOf(call, x, y, message))
    return 1;
  const bool extreme = pool == Pool::kMax || pool == Pool::kMin;
  if (gradient.rank < 1 || Elements(gradient, 1, gradient.rank) != message.width() ||
      (extreme && (!call.Has(A::Out) || !SameShape(call.Arg(A::Out), gradient))))
    return call.Fail("'%s' has not the extents of the messages", gradient.name);
  Sides sides;
  if (!EdgesOf(call, x, y, call.Arg(A::Src_index), call.Arg(A::Dst_index), gradient,
               gradient.dims[0], from, to) ||
      !SidesOf(call, A::X_GRAD, A::Y_GRAD, x, y, sides))
    return 1;
  std::vector<int64_t> counts(static_cast<size_t>(gradient.dims[0]));
  for (int64_t row : to) ++counts[static_cast<size_t>(row)];
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* out = extreme ? Data<T>(call.Arg(A::Out)) : nullptr;
    for (size_t e = 0; e < from.size(); ++e)
      for (int64_t j = 0, width = message.width(); j < width; ++j) {
        const int64_t left = from[e] * message.leftWidth + message.left[static_cast<size_t>(j)],
                      right = static_cast<int64_t>(e) * message.rightWidth +
                              message.right[static_cast<size_t>(j)],
                      at = to[e] * width + j;
        T value = Data<T>(gradient)[at];
        if (pool == Pool::kMean) value /= static_cast<T>(counts[static_cast<size_t>(to[e])]);
        if (extreme && Made(multiplies, Data<T>(x)[left], Data<T>(y)[right]) != out[at]) continue;
        Spread(sides, multiplies, value, Data<T>(x), left, Data<T>(y), right);
      }
    return 0;
  });
}

namespace {

// Edges of which both ends have something to say.
struct BothEnds {
  bool multiplies = false;
  Message message;
  std::vector<int64_t> from, to;  // rows of x and of y
};

bool BothEndsOf(OpCall& call, std::string_view text, const DtBuffer& x, const DtBuffer& y,
                const DtBuffer& source, const DtBuffer& target, BothEnds& ends) {
  if (!MultipliesOf(call, text, ends.multiplies) || !MessageOf(call, x, y, ends.message) ||
      !RowsOf(call, source, x, x.dims[0], ends.from) ||
      !RowsOf(call, target, y, y.dims[0], ends.to))
    return false;
  return ends.from.size() == ends.to.size() ||
         (call.Fail("'%s' and '%s' differ in extent", source.name, target.name), false);
}

}  // namespace

// x, y, src_index, dst_index; message_op -> out: a message for each edge
int32_t SendBoth(OpCall& call) {
  using A = args::dt_send_both;
  const DtBuffer &x = call.Arg(A::x), &y = call.Arg(A::y);
  DtBuffer& out = call.Arg(A::out);
  BothEnds ends;
  if (!BothEndsOf(call, call.Text(A::message_op), x, y, call.Arg(A::src_index),
                  call.Arg(A::dst_index), ends))
    return 1;
  const auto& [multiplies, message, from, to] = ends;
  std::vector<int64_t> dims = message.dims;
  dims.insert(dims.begin(), static_cast<int64_t>(from.size()));
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* into = Data<T>(out);
    for (size_t e = 0; e < from.size(); ++e)
      for (size_t j = 0; j < message.left.size(); ++j)
        *into++ = Made(multiplies, Data<T>(x)[from[e] * message.leftWidth + message.left[j]],
                       Data<T>(y)[to[e] * message.rightWidth + message.right[j]]);
    return 0;
  });
}

// x, y, src_index, dst_index, out@GRAD; message_op -> x@GRAD, y@GRAD
int32_t SendBothGrad(OpCall& call) {
  using A = args::dt_send_both_grad;
  const DtBuffer &x = call.Arg(A::x), &y = call.Arg(A::y), &gradient = call.Arg(A::out_GRAD);
  BothEnds ends;
  if (!BothEndsOf(call, call.Text(A::message_op), x, y, call.Arg(A::src_index),
                  call.Arg(A::dst_index), ends))
    return 1;
  const auto& [multiplies, message, from, to] = ends;
  if (Elements(gradient) != static_cast<int64_t>(from.size()) * message.width())
    return call.Fail("'%s' has not the extents of the messages", gradient.name);
  Sides sides;
  if (!SidesOf(call, A::x_GRAD, A::y_GRAD, x, y, sides)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* value = Data<T>(gradient);
    for (size_t e = 0; e < from.size(); ++e)
      for (size_t j = 0; j < message.left.size(); ++j)
        Spread(sides, multiplies, *value++, Data<T>(x),
               from[e] * message.leftWidth + message.left[j], Data<T>(y),
               to[e] * message.rightWidth + message.right[j]);
    return 0;
  });
}

}  // namespace dtranspile::kernels
