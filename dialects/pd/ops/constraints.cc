#include "dialects/pd/ops/constraints.h"

#include "dialects/pd/ops/declared.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::pd {

llvm::LogicalResult isAxis(const OpView& op, llvm::StringRef input, llvm::StringRef attribute,
                           std::string& found) {
  std::optional<Dims> dims = declaredDims(op, input);
  const int64_t axis = op.getInt(attribute);
  const bool flattens = op.spec()->attribute("flatten") && op.getBool("flatten");
  if (!dims || flattens || axisOf(axis, std::max<int64_t>(dims->size(), 1))) return llvm::success();
  found = attribute.str() + " " + std::to_string(axis) + " of " + input.str() + " " + textOf(*dims);
  return llvm::failure();
}

llvm::LogicalResult haveSameExtents(const OpView& op, llvm::StringRef a, llvm::StringRef b,
                                    std::string& found) {
  std::optional<Dims> first = declaredDims(op, a), second = declaredDims(op, b);
  if (!first || !second || agree(DimsRef(*first), DimsRef(*second))) return llvm::success();
  found = a.str() + " " + textOf(*first) + ", " + b.str() + " " + textOf(*second);
  return llvm::failure();
}

llvm::LogicalResult isOneOf(const OpView& op, llvm::StringRef attribute, llvm::StringRef words,
                            std::string& found) {
  const std::string value = op.getString(attribute);
  if (llvm::is_contained(llvm::split(words, ' '), llvm::StringRef(value))) return llvm::success();
  found = attribute.str() + " '" + value + "', known: " + words.str();
  return llvm::failure();
}

const Constraint kClipConstraints[1] = {
    {"C1", "min must not be above max",
     [](const OpView& op, std::string& found) {
       if (op.hasInput("Min") || op.hasInput("Max") || op.getFloat("min") <= op.getFloat("max"))
         return llvm::success();
       found = "min " + std::to_string(op.getFloat("min")) + ", max " +
               std::to_string(op.getFloat("max"));
       return llvm::failure();
     }},
};

}  // namespace dtranspile::pd
