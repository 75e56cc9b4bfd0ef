// A tensor and its equal parts along an axis, stacked: what an operation between ranks sends and
// gets in one piece. The last parts have a pad of zeros where the extent does not divide. No op of
// a program calls these; the compiler puts them around collectives
// (compiler/lower/collective_lowering.cc).
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

// The whole as `outer` rows of `extent` positions of `inner` bytes, and its parts as [parts, outer,
// part, inner]. Axis -1: the flattened tensor.
struct Cut {
  int64_t outer = 1, extent = 1, inner = 1;
  int64_t parts = 1, part = 1;
};

// [outer, extent, inner] around the axis, `inner` in bytes; axis -1 is the flattened tensor.
bool CutOf(OpCall& call, const DtBuffer& whole, int64_t axis, int64_t parts, Cut& cut) {
  if (axis < -1 || axis >= whole.rank || parts < 1)
    return call.Fail("'%s' has no axis %lld to be cut into %lld parts", whole.name,
                     static_cast<long long>(axis), static_cast<long long>(parts)),
           false;
  cut.inner = static_cast<int64_t>(SizeOf(static_cast<DType>(whole.dtype)));
  for (int32_t d = 0; d < whole.rank; ++d)
    (axis < 0 || d == axis ? cut.extent : d < axis ? cut.outer : cut.inner) *= whole.dims[d];
  cut.parts = parts;
  cut.part = cut.extent / parts + (cut.extent % parts != 0);
  return true;
}

// Extents of the stacked parts.
std::vector<int64_t> PartsOf(const DtBuffer& whole, int64_t axis, const Cut& cut) {
  std::vector<int64_t> dims = {cut.parts};
  if (axis < 0) return dims.push_back(cut.part), dims;
  dims.insert(dims.end(), whole.dims, whole.dims + whole.rank);
  dims[static_cast<size_t>(axis) + 1] = cut.part;
  return dims;
}

// Rows of all parts: run(place in the whole, place in the parts, bytes of the row that exist, bytes
// of its pad).
template <typename Run>
void ForRows(OpCall& call, const Cut& cut, Run run) {
  const int64_t row = cut.part * cut.inner;
  Parallel(call.context(), cut.parts * cut.outer, GrainFor(2 * row), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      const int64_t part = i / cut.outer, outer = i % cut.outer, begin = part * cut.part;
      const int64_t there = std::clamp<int64_t>(cut.extent - begin, 0, cut.part) * cut.inner;
      run((outer * cut.extent + std::min(begin, cut.extent)) * cut.inner, i * row, there,
          row - there);
    }
  });
}

}  // namespace

// X; axis, parts -> Out
int32_t CutParts(OpCall& call) {
  using A = args::dt_cut_parts;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t axis = call.Int(A::axis);
  Cut cut;
  if (!CutOf(call, x, axis, call.Int(A::parts), cut) || !SameType(call, x, out) ||
      !call.Resize(out, PartsOf(x, axis, cut)))
    return 1;
  const auto* from = static_cast<const char*>(x.data);
  auto* to = static_cast<char*>(out.data);
  ForRows(call, cut, [&](int64_t whole, int64_t part, int64_t bytes, int64_t pad) {
    if (bytes > 0) std::memcpy(to + part, from + whole, static_cast<size_t>(bytes));
    if (pad > 0) std::memset(to + part + bytes, 0, static_cast<size_t>(pad));
  });
  return 0;
}

// X; axis, parts -> Out: extents of the whole are those of the output, which only its buffer knows.
int32_t JoinParts(OpCall& call) {
  using A = args::dt_join_parts;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t axis = call.Int(A::axis);
  Cut cut;
  if (!CutOf(call, out, axis, call.Int(A::parts), cut) || !SameType(call, x, out)) return 1;
  const std::vector<int64_t> expected = PartsOf(out, axis, cut);
  if (!std::equal(expected.begin(), expected.end(), x.dims, x.dims + x.rank))
    return call.Fail("'%s' is not '%s' in %lld parts", x.name, out.name,
                     static_cast<long long>(cut.parts));
  const auto* from = static_cast<const char*>(x.data);
  auto* to = static_cast<char*>(out.data);
  ForRows(call, cut, [&](int64_t whole, int64_t part, int64_t bytes, int64_t) {
    if (bytes > 0) std::memcpy(to + whole, from + part, static_cast<size_t>(bytes));
  });
  return 0;
}

}  // namespace dtranspile::kernels
