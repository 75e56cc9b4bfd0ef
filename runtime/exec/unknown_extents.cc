#include "runtime/exec/unknown_extents.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {
namespace {

absl::Status Mismatch(const ValueArgument& argument, size_t dim, int64_t expected) {
  return absl::InvalidArgumentError(absl::StrCat(
      "'", *argument.name, "' is ", ShapeText(argument.value->dtype, argument.value->dims),
      ": extent ", dim, " has to be ", expected, " beside the other arguments"));
}

absl::Status NoElements(const UnknownExtents& unknown,
                        const std::vector<ValueArgument>& arguments) {
  std::string of;
  for (size_t i = 0; of.empty() && i < arguments.size(); ++i)
    if (const Value* value = arguments[i].value;
        value != nullptr && !unknown.written[i] && value->count() == 0)
      of = absl::StrCat(": '", *arguments[i].name, "' is ", ShapeText(value->dtype, value->dims));
  return absl::InvalidArgumentError(
      absl::StrCat("a mean, maximum or minimum of no elements has no value", of));
}

// `shape` has -k - 1 where the k-th unknown stands: the first argument that has it decides, and all
// others must agree.
absl::Status ReadExtents(const std::vector<int64_t>& shape, const ValueArgument& argument,
                         std::vector<int64_t>& unknowns) {
  const std::vector<int64_t>& dims = argument.value->dims;
  if (dims.size() != shape.size())
    return absl::InvalidArgumentError(absl::StrCat("'", *argument.name, "' is ",
                                                   ShapeText(argument.value->dtype, dims),
                                                   ", expected ", shape.size(), " dims"));
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t expected = shape[d];
    if (shape[d] < 0) {
      int64_t& unknown = unknowns[static_cast<size_t>(-shape[d] - 1)];
      if (unknown < 0) unknown = dims[d];
      expected = unknown;
    }
    if (expected != dims[d]) return Mismatch(argument, d, expected);
  }
  return absl::OkStatus();
}

absl::Status Multiply(const UnknownExtents::Product& product, const std::vector<int64_t>& unknowns,
                      int64_t& result) {
  result = product.factor;
  for (int k : product.unknowns)
    if (__builtin_mul_overflow(result, unknowns[static_cast<size_t>(k)], &result))
      return absl::InvalidArgumentError("a product of extents overflows");
  return absl::OkStatus();
}

}  // namespace

// What is read decides the unknowns, what is written is sized by them. Then the kernel's table is
// filled: each entry is a product of unknowns and a factor, computed with overflow checks. An
// output whose rows are those of a ragged input gets its offsets.
absl::Status BindExtents(const UnknownExtents& unknown, const std::vector<ValueArgument>& arguments,
                         BoundExtents& bound) {
  bound.unknowns.assign(static_cast<size_t>(unknown.count), -1);
  const Value* ragged = nullptr;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].value == nullptr || unknown.written[i]) continue;
    DT_RETURN_IF_ERROR(ReadExtents(unknown.shapes[i], arguments[i], bound.unknowns));
    if (ragged == nullptr && !arguments[i].value->lod.empty()) ragged = arguments[i].value;
  }
  std::vector<int64_t>& dims = bound.table;  // scratch until it is filled
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].value == nullptr || !unknown.written[i]) continue;
    dims.clear();
    for (int64_t extent : unknown.shapes[i])
      dims.push_back(extent < 0 ? bound.unknowns[static_cast<size_t>(-extent - 1)] : extent);
    DT_RETURN_IF_ERROR(arguments[i].value->Resize(dims));
    if (ragged != nullptr && !dims.empty() && dims[0] == ragged->dims[0])
      arguments[i].value->lod = ragged->lod;
  }
  bound.table.resize(unknown.table.size());
  for (size_t k = 0; k < unknown.table.size(); ++k)
    DT_RETURN_IF_ERROR(Multiply(unknown.table[k], bound.unknowns, bound.table[k]));
  DT_RETURN_IF_ERROR(Multiply(unknown.rows, bound.unknowns, bound.rows));
  int64_t needs = 0;
  DT_RETURN_IF_ERROR(Multiply(unknown.needs, bound.unknowns, needs));
  return needs == 0 && bound.rows > 0 ? NoElements(unknown, arguments) : absl::OkStatus();
}

}  // namespace dtranspile::exec
