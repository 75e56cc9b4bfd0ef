// Tensors of numbers that the program holds, and of one number in a shape that comes with the data:
// fill_constant with tensor inputs, fill_constant_batch_size_like, assign_value, fill, empty, eye
// (phi full, assign_value, empty, eye; 1.x fill).
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "runtime/kernels/cpu/ops/creation/calls.h"

namespace dtranspile::kernels {
namespace {

void Spread(DtBuffer& out, const void* element) {
  const auto size = static_cast<size_t>(ElementSize(out));
  for (int64_t i = 0; i < Elements(out); ++i)
    std::memcpy(Data<char>(out) + static_cast<size_t>(i) * size, element, size);
}

template <typename Values>
int32_t Store(OpCall& call, const Values& values, DtBuffer& out) {
  if (static_cast<int64_t>(values.size()) != Elements(out))
    return call.Fail("%zu values for '%s' of %lld elements", values.size(), out.name,
                     static_cast<long long>(Elements(out)));
  return VisitPlain(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<typename Values::value_type, int64_t>)
        Data<T>(out)[i] = static_cast<T>(values[i]);
      else if (!FromNumber(call, out, values[i], Data<T>(out)[i])) return 1;
    }
    return 0;
  });
}

// The number of fill_constant: the text, which is exact, before the float32.
bool NumberOf(OpCall& call, const DtBuffer& out, double number, std::string_view text,
              void* element) {
  const std::string copy(text);
  char* end = nullptr;
  if (!copy.empty() && (TypeOf(out) == DType::kInt64 || TypeOf(out) == DType::kInt32)) {
    const long long whole = std::strtoll(copy.c_str(), &end, 10);
    if (*end == '\0')
      return VisitIndex(call.context(), out, [&](auto tag) {
               const auto value = static_cast<typename decltype(tag)::type>(whole);
               std::memcpy(element, &value, sizeof value);
               return 0;
             }) == 0;
  }
  if (!copy.empty()) {
    number = std::strtod(copy.c_str(), &end);
    if (*end != '\0') return call.Fail("'%s' for '%s' is no number", copy.c_str(), out.name), false;
  }
  return NumberTo(call, out, number, element);
}

bool Make(OpCall& call, DtBuffer& out, absl::Span<const int64_t> dims) {
  for (int64_t d : dims)
    if (d < 0)
      return call.Fail("'%s' would have an extent of %lld", out.name, static_cast<long long>(d)),
             false;
  return call.Resize(out, dims);
}

}  // namespace

// ValueTensor, ShapeTensor, ShapeTensorList; shape, value, str_value -> Out
int32_t FillConstant(OpCall& call) {
  using A = args::dt_fill_constant;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims;
  char element[16];
  if (!NumbersFrom(call, A::ShapeTensorList, A::ShapeTensor, call.Ints(A::shape), dims) ||
      !Make(call, out, dims))
    return 1;
  if (call.Has(A::ValueTensor)) {
    const DtBuffer& value = call.Arg(A::ValueTensor);
    if (!SameType(call, value, out)) return 1;
    if (Elements(value) != 1)
      return call.Fail("'%s' has %lld elements, expected one", value.name,
                       static_cast<long long>(Elements(value)));
    return Spread(out, value.data), 0;
  }
  if (!NumberOf(call, out, call.Real(A::value), call.Text(A::str_value), element)) return 1;
  return Spread(out, element), 0;
}

// Input; shape, input_dim_idx, output_dim_idx, value, str_value -> Out. The batch of ragged rows is
// the number of sequences.
int32_t FillBatchLike(OpCall& call) {
  using A = args::dt_fill_batch_like;
  const DtBuffer& input = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  const auto shape = call.Ints(A::shape);
  std::vector<int64_t> dims(shape.begin(), shape.end());
  const int64_t from = call.Int(A::input_dim_idx), to = call.Int(A::output_dim_idx);
  if (from < 0 || from >= input.rank || to < 0 || to >= static_cast<int64_t>(dims.size()))
    return call.Fail("extent %lld of '%s' cannot be extent %lld of '%s'",
                     static_cast<long long>(from), input.name, static_cast<long long>(to),
                     out.name);
  const Lod& lod = OpCall::LodOf(input);
  const bool ragged = from == 0 && !lod.empty() && !lod.back().empty();
  dims[static_cast<size_t>(to)] =
      ragged ? static_cast<int64_t>(lod.back().size()) - 1 : input.dims[from];
  char element[16];
  if (!Make(call, out, dims) ||
      !NumberOf(call, out, call.Real(A::value), call.Text(A::str_value), element))
    return 1;
  return Spread(out, element), 0;
}

// X; value (0 where there is none) -> Out
int32_t FillLike(OpCall& call) {
  using A = args::dt_fill_like;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const Lod& lod = OpCall::LodOf(x);
  char element[16];
  if (!call.Resize(out, x) ||
      !NumberTo(call, out, call.Given(A::value) ? call.Real(A::value) : 0, element))
    return 1;
  OpCall::SetLod(out, lod);
  return Spread(out, element), 0;
}

// ; shape, bool_values, int32_values, int64_values, fp32_values, fp64_values, values -> Out: the
// list of Out's element type, else the one that is not empty
int32_t AssignValue(OpCall& call) {
  using A = args::dt_assign_value;
  DtBuffer& out = call.Arg(A::Out);
  if (!Make(call, out, call.Ints(A::shape))) return 1;
  // The list of the element type counts, if others hold something too; a shape may take fewer.
  const auto store = [&](auto values) {
    return Store(call, values.subspan(0, static_cast<size_t>(Elements(out))), out);
  };
  const auto integers = [&](int list) { return !call.Ints(list).empty(); };
  const auto reals = [&](int list) { return !call.Reals(list).empty(); };
  switch (TypeOf(out)) {
    case DType::kBool:
      if (integers(A::bool_values)) return store(call.Ints(A::bool_values));
      break;
    case DType::kInt32:
      if (integers(A::int32_values)) return store(call.Ints(A::int32_values));
      break;
    case DType::kInt64:
      if (integers(A::int64_values)) return store(call.Ints(A::int64_values));
      break;
    case DType::kFloat32:
      if (reals(A::fp32_values)) return store(call.Reals(A::fp32_values));
      break;
    case DType::kFloat64:
      if (reals(A::fp64_values)) return store(call.Reals(A::fp64_values));
      break;
    default: break;
  }
  for (int list : {A::bool_values, A::int32_values, A::int64_values})
    if (integers(list)) return store(call.Ints(list));
  for (int list : {A::fp32_values, A::fp64_values})
    if (reals(list)) return store(call.Reals(list));
  return store(call.Reals(A::values));
}

// ; value, shape -> Out
int32_t Fill(OpCall& call) {
  using A = args::dt_fill;
  return Make(call, call.Arg(A::Out), call.Ints(A::shape))
             ? Store(call, call.Reals(A::value), call.Arg(A::Out))
             : 1;
}

// ShapeTensor, ShapeTensorList; shape -> Out: its content is nobody's business, so it is 0
int32_t Empty(OpCall& call) {
  using A = args::dt_empty;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims;
  if (!NumbersFrom(call, A::ShapeTensorList, A::ShapeTensor, call.Ints(A::shape), dims) ||
      !Make(call, out, dims))
    return 1;
  std::memset(out.data, 0, static_cast<size_t>(Elements(out) * ElementSize(out)));
  return 0;
}

// ; num_rows, num_columns -> Out
int32_t Eye(OpCall& call) {
  using A = args::dt_eye;
  DtBuffer& out = call.Arg(A::Out);
  const int64_t rows = call.Int(A::num_rows),
                columns = call.Int(A::num_columns) == -1 ? rows : call.Int(A::num_columns),
                dims[] = {rows, columns};
  char one[16];
  if (!Make(call, out, dims) || !NumberTo(call, out, 1, one)) return 1;
  const auto size = static_cast<size_t>(ElementSize(out));
  std::memset(out.data, 0, static_cast<size_t>(Elements(out)) * size);
  for (int64_t i = 0; i < std::min(rows, columns); ++i)
    std::memcpy(Data<char>(out) + static_cast<size_t>(i * (columns + 1)) * size, one, size);
  return 0;
}

}  // namespace dtranspile::kernels
