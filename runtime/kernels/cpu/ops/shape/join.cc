// concat, split, stack, unstack, unbind and their gradients: a whole of `outer` rows, each made of
// one piece per part (phi concat, split, stack, unstack). Where the parts are stacked, each is one
// position of a dim that it lacks.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

struct Piece {
  char* data;      // null: nobody reads or gives it
  int64_t extent;  // along the axis
};

// `inner` bytes per position of the axis.
template <bool kToWhole>
void Move(OpCall& call, char* whole, absl::Span<const Piece> pieces, int64_t outer, int64_t inner) {
  int64_t row = 0;
  for (const Piece& piece : pieces) row += piece.extent * inner;
  Parallel(call.context(), outer, GrainFor(2 * row), [&](int64_t lo, int64_t n) {
    int64_t at = 0;
    for (const Piece& piece : pieces) {
      const int64_t bytes = piece.extent * inner;
      for (int64_t i = lo; bytes > 0 && piece.data != nullptr && i < lo + n; ++i) {
        char *part = piece.data + i * bytes, *place = whole + i * row + at;
        std::memcpy(kToWhole ? place : part, kToWhole ? part : place, static_cast<size_t>(bytes));
      }
      at += bytes;
    }
  });
}

// The axis of an op: from the tensor of its slot (< 0: it has none), else from the attribute;
// counted from the end where negative. Written to `axis` only within the rank.
bool AxisOf(OpCall& call, int tensor_slot, int attr, int64_t rank, const char* name,
            int64_t& axis) {
  std::vector<int64_t> given;
  const int64_t attribute[] = {call.Int(attr)};
  if (!NumbersFrom(call, -1, tensor_slot, attribute, given)) return false;
  if (given.size() != 1)
    return call.Fail("%zu numbers are given as the axis of '%s'", given.size(), name), false;
  axis = given[0] < 0 ? given[0] + rank : given[0];
  if (axis >= 0 && axis < rank) return true;
  return call.Fail("axis %lld of '%s', which has %lld dims", static_cast<long long>(given[0]), name,
                   static_cast<long long>(rank)),
         false;
}

// Whether `part` has the extents of `first` but along the axis, and its type.
bool Fits(OpCall& call, const DtBuffer& first, const DtBuffer& part, int64_t axis) {
  if (!SameType(call, first, part)) return false;
  bool fits = part.rank == first.rank;
  for (int32_t d = 0; fits && d < part.rank; ++d) fits = d == axis || part.dims[d] == first.dims[d];
  if (!fits)
    call.Fail("the extents of '%s' do not fit those of '%s' beside it", part.name, first.name);
  return fits;
}

// Rows of several parts, joined level by level: offsets of the later ones follow those of the
// former.
Lod JoinedLod(OpCall& call, int slot) {
  Lod joined = OpCall::LodOf(call.Arg(slot, 0));
  for (int i = 1; i < call.Count(slot); ++i) {
    const Lod& next = OpCall::LodOf(call.Arg(slot, i));
    if (next.size() != joined.size()) return {};
    for (size_t level = 0; level < joined.size(); ++level) {
      if (joined[level].empty() || next[level].empty()) return {};
      const auto end = joined[level].back();
      for (size_t k = 1; k < next[level].size(); ++k) joined[level].push_back(end + next[level][k]);
    }
  }
  return joined;
}

// Extents of the sections along the axis; one may be -1.
// Without any, `parts` equal ones, and the extent has to be a multiple. With some, there have to be
// as many as parts; what the others leave goes to the one that is -1, else nothing may be left.
bool SectionsOf(OpCall& call, const DtBuffer& x, int64_t extent, int parts,
                std::vector<int64_t>& sections) {
  using A = args::dt_split;
  if (!NumbersFrom(call, A::SectionsTensorList, -1, call.Ints(A::sections), sections)) return false;
  if (sections.empty()) {
    if (parts == 0 || extent % parts != 0)
      return call.Fail("'%s' has %lld positions, which are not %d equal parts", x.name,
                       static_cast<long long>(extent), parts),
             false;
    sections.assign(static_cast<size_t>(parts), extent / parts);
    return true;
  }
  int64_t rest = extent;
  int64_t* open = nullptr;
  bool fits = static_cast<int>(sections.size()) == parts;
  for (int64_t& section : sections) {
    if (section == -1 && open == nullptr) open = &section;
    else if (section < 0 || section > rest) fits = false;
    else rest -= section;
  }
  if (fits && open != nullptr) *open = rest, rest = 0;
  if (fits && rest == 0) return true;
  return call.Fail("the sections do not add up to the %lld positions of '%s'",
                   static_cast<long long>(extent), x.name),
         false;
}

}  // namespace

// X, AxisTensor; axis -> Out
// Joined along the first dim, the sequences of the parts follow one another, too; along another
// one, rows stay rows, and the first part's LoD is that of all.
int32_t Concat(OpCall& call) {
  using A = args::dt_concat;
  DtBuffer& out = call.Arg(A::Out);
  const DtBuffer& first = call.Arg(A::X, 0);
  int64_t axis = 0;
  if (!AxisOf(call, A::AxisTensor, A::axis, first.rank, first.name, axis) ||
      !SameType(call, first, out))
    return 1;
  std::vector<int64_t> dims(first.dims, first.dims + first.rank);
  std::vector<Piece> pieces;
  int64_t total = 0;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& part = call.Arg(A::X, i);
    if (!Fits(call, first, part, axis)) return 1;
    pieces.push_back({Data<char>(part), part.dims[axis]});
    if (__builtin_add_overflow(total, part.dims[axis], &total))
      return call.Fail("'%s' would be too large", out.name);
  }
  dims[static_cast<size_t>(axis)] = total;
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, axis == 0 ? JoinedLod(call, A::X) : OpCall::LodOf(first));
  Move<true>(call, Data<char>(out), pieces, Elements(out, 0, static_cast<int32_t>(axis)),
             Elements(out, static_cast<int32_t>(axis) + 1, out.rank) * ElementSize(out));
  return 0;
}

// X, AxisTensor, Out@GRAD; axis -> X@GRAD
// Parts whose gradient nobody wants are passed over: their piece has no data, but its extent.
int32_t ConcatGrad(OpCall& call) {
  using A = args::dt_concat_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  int64_t axis = 0, total = 0;
  if (!AxisOf(call, A::AxisTensor, A::axis, gradient.rank, gradient.name, axis)) return 1;
  std::vector<Piece> pieces;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& part = call.Arg(A::X, i);
    if (!Fits(call, gradient, part, axis)) return 1;
    char* data = nullptr;
    if (call.Has(A::X_GRAD, i)) {
      DtBuffer& out = call.Arg(A::X_GRAD, i);
      if (!SameType(call, gradient, out) || !call.Resize(out, part)) return 1;
      OpCall::SetLod(out, OpCall::LodOf(part));
      data = Data<char>(out);
    }
    pieces.push_back({data, part.dims[axis]});
    total += part.dims[axis];
  }
  if (total != gradient.dims[axis])
    return call.Fail("'%s' has not as many positions as the parts of the result that it belongs to",
                     gradient.name);
  Move<false>(
      call, Data<char>(gradient), pieces, Elements(gradient, 0, static_cast<int32_t>(axis)),
      Elements(gradient, static_cast<int32_t>(axis) + 1, gradient.rank) * ElementSize(gradient));
  return 0;
}

// X, AxisTensor, SectionsTensorList; sections, axis -> Out
int32_t Split(OpCall& call) {
  using A = args::dt_split;
  const DtBuffer& x = call.Arg(A::X);
  int64_t axis = 0;
  std::vector<int64_t> sections, dims(x.dims, x.dims + x.rank);
  if (!AxisOf(call, A::AxisTensor, A::axis, x.rank, x.name, axis) ||
      !SectionsOf(call, x, x.dims[axis], call.Count(A::Out), sections))
    return 1;
  std::vector<Piece> pieces;
  for (int i = 0; i < call.Count(A::Out); ++i) {
    char* data = nullptr;
    const int64_t extent = sections[static_cast<size_t>(i)];
    if (call.Has(A::Out, i)) {
      DtBuffer& out = call.Arg(A::Out, i);
      dims[static_cast<size_t>(axis)] = extent;
      if (!SameType(call, x, out) || !call.Resize(out, dims)) return 1;
      if (axis != 0) OpCall::SetLod(out, OpCall::LodOf(x));
      data = Data<char>(out);
    }
    pieces.push_back({data, extent});
  }
  Move<false>(call, Data<char>(x), pieces, Elements(x, 0, static_cast<int32_t>(axis)),
              Elements(x, static_cast<int32_t>(axis) + 1, x.rank) * ElementSize(x));
  return 0;
}

// X; axis -> Y. Also the gradient of unstack.
int32_t Stack(OpCall& call) {
  using A = args::dt_stack;
  const DtBuffer& first = call.Arg(A::X, 0);
  DtBuffer& out = call.Arg(A::Y);
  int64_t axis = 0;
  if (!AxisOf(call, -1, A::axis, first.rank + 1, first.name, axis) || !SameType(call, first, out))
    return 1;
  std::vector<Piece> pieces;
  for (int i = 0; i < call.Count(A::X); ++i) {
    if (!Fits(call, first, call.Arg(A::X, i), -1)) return 1;
    pieces.push_back({Data<char>(call.Arg(A::X, i)), 1});
  }
  std::vector<int64_t> dims(first.dims, first.dims + first.rank);
  dims.insert(dims.begin() + axis, call.Count(A::X));
  if (!call.Resize(out, dims)) return 1;
  const auto at = static_cast<int32_t>(axis);
  Move<true>(call, Data<char>(out), pieces, Elements(first, 0, at),
             Elements(first, at, first.rank) * ElementSize(first));
  return 0;
}

// X; axis -> Y. Also unbind and the gradient of stack.
int32_t Unstack(OpCall& call) {
  using A = args::dt_unstack;
  const DtBuffer& x = call.Arg(A::X);
  int64_t axis = 0;
  if (!AxisOf(call, -1, A::axis, x.rank, x.name, axis)) return 1;
  if (x.dims[axis] != call.Count(A::Y))
    return call.Fail("'%s' has %lld positions along axis %lld, taken apart into %d", x.name,
                     static_cast<long long>(x.dims[axis]), static_cast<long long>(axis),
                     call.Count(A::Y));
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  dims.erase(dims.begin() + axis);
  std::vector<Piece> pieces;
  for (int i = 0; i < call.Count(A::Y); ++i) {
    char* data = nullptr;
    if (call.Has(A::Y, i)) {
      DtBuffer& out = call.Arg(A::Y, i);
      if (!SameType(call, x, out) || !call.Resize(out, dims)) return 1;
      data = Data<char>(out);
    }
    pieces.push_back({data, 1});
  }
  const auto at = static_cast<int32_t>(axis);
  Move<false>(call, Data<char>(x), pieces, Elements(x, 0, at),
              Elements(x, at + 1, x.rank) * ElementSize(x));
  return 0;
}

}  // namespace dtranspile::kernels
