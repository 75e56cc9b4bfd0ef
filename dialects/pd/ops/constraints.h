// Constraints that operators of several families share; a row names one with its slots and
// attributes: kAxis<"X", "axis">.
#pragma once

#include "dialects/pd/op_table.h"
#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult isAxis(const OpView& op, llvm::StringRef input, llvm::StringRef attribute,
                           std::string& found);
llvm::LogicalResult haveSameExtents(const OpView& op, llvm::StringRef a, llvm::StringRef b,
                                    std::string& found);
llvm::LogicalResult isOneOf(const OpView& op, llvm::StringRef attribute, llvm::StringRef words,
                            std::string& found);

// The attribute is an axis of the operand, negative ones counted from the end; tensors of rank 0
// count as of rank 1. Not asked of an op that flattens.
template <SlotName In, SlotName Attribute>
inline constexpr Constraint kAxis[1] = {
    {"C1", "the axis must be one of the operand's", [](const OpView& op, std::string& found) {
       return isAxis(op, In.text, Attribute.text, found);
     }}};

template <SlotName A, SlotName B>
inline constexpr Constraint kSameExtents[1] = {
    {"C1", "the operands must have the same extents", [](const OpView& op, std::string& found) {
       return haveSameExtents(op, A.text, B.text, found);
     }}};

// `Words` are separated by spaces.
template <SlotName Attribute, SlotName Words>
inline constexpr Constraint kOneOf[1] = {
    {"C1", "the attribute must be one of the words that the framework knows",
     [](const OpView& op, std::string& found) {
       return isOneOf(op, Attribute.text, Words.text, found);
     }}};

extern const Constraint kClipConstraints[1];  // C1 min is not above max

}  // namespace dtranspile::pd
