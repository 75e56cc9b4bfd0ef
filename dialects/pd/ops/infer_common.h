// What inference of all families shares: extents with -1 for unknown, results that take after an
// input, and gradients that take after the forward value. Used by infer_<topic>.cc and, through the
// templates at the end, by the rows.
#pragma once

#include <algorithm>
#include <optional>

#include "dialects/pd/infer.h"

namespace dtranspile::pd {

using Dims = llvm::SmallVector<int64_t, 4>;
using DimsRef = llvm::ArrayRef<int64_t>;

// Product of extents; -1 when one is not known (and none is 0); nothing on overflow or an extent
// below -1.
std::optional<int64_t> productOf(DimsRef dims);
std::string textOf(DimsRef dims);  // "[?, 3]"
inline bool known(int64_t extent) { return extent >= 0; }
// True unless both are known and differ.
inline bool agree(int64_t a, int64_t b) { return a == b || !known(a) || !known(b); }
bool agree(DimsRef a, DimsRef b);

// Position of an axis counted from the end when negative; nothing outside of [-rank, rank).
std::optional<int64_t> axisOf(int64_t axis, int64_t rank);

// Shape of a result with one element: [1] up to 2.4, [] from 2.5 on.
Dims scalarDims(const InferContext& c);

// The input, or null after a report.
const TensorInfo* require(InferContext& c, llvm::StringRef slot, unsigned index = 0);

TensorInfo tensorInfo(DType dtype, Dims dims);
// Kind, dtype and LoD of `like`.
TensorInfo withDims(const TensorInfo& like, Dims dims);
TensorInfo withoutLod(TensorInfo info);
TensorInfo unknownLike(const TensorInfo& like);  // rank not known

// Element type of an attribute that holds a dtype code; reports codes that are none.
std::optional<DType> dtypeAttr(InferContext& c, llvm::StringRef name);

// Numbers given by a list of one-element inputs, a tensor input or an attribute, in the framework's
// order of precedence. A number that is not known while compiling is kUnknownValue. Nothing when
// not even their count is known.
inline constexpr int64_t kUnknownValue = INT64_MIN;
std::optional<Dims> listFrom(InferContext& c, llvm::StringRef listSlot, llvm::StringRef tensorSlot,
                             llvm::StringRef attribute);

// The number that a one-element tensor input holds, else that of the attribute; kUnknownValue where
// the tensor is not constant.
int64_t numberFrom(InferContext& c, llvm::StringRef tensorSlot, llvm::StringRef attribute);

// Such a number as an extent: -1 where it is not known.
inline int64_t orUnknown(int64_t extent) { return extent == kUnknownValue ? -1 : extent; }

// Says that there is no such axis.
llvm::LogicalResult noAxis(InferContext& c, int64_t axis, DimsRef dims);

// The result takes after the input, slot by slot.
llvm::LogicalResult inferSameAs(InferContext& c, llvm::StringRef input, llvm::StringRef output);
// Every output takes after the input.
llvm::LogicalResult inferAllLike(InferContext& c, llvm::StringRef input);
// Every `S@GRAD` output takes after input S, argument by argument.
llvm::LogicalResult inferGradients(InferContext& c);

// A slot name as a template argument, so that rows can say inferSame<"X", "Out">.
template <size_t N>
struct SlotName {
  char text[N];
  constexpr SlotName(const char (&name)[N]) { std::copy_n(name, N, text); }
};

template <SlotName In, SlotName Out>
llvm::LogicalResult inferSame(InferContext& c) {
  return inferSameAs(c, In.text, Out.text);
}

template <SlotName In>
llvm::LogicalResult inferAll(InferContext& c) {
  return inferAllLike(c, In.text);
}

}  // namespace dtranspile::pd
