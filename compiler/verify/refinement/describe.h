// What tells one framework op from another, as text: its type, every attribute that changes a value
// (with defaults filled in), slots, types. Used as the key of atoms.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/verify/refinement/terms.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

struct Description {
  std::string type;
  std::map<std::string, std::string> attributes;
  std::map<std::string, std::vector<mlir::Value>> inputs;  // null values: empty arguments
  std::vector<std::string> outputs;                        // "ParamOut#0", by result
  std::map<unsigned, mlir::Value> handedOn;                // results that are an operand, unchanged

  // Of an input slot that the op has; null where it has none.
  mlir::Value input(llvm::StringRef slot) const;
};

// `anyFloat`: float types are one type, and attributes that name them are left out (amp).
Description describeOp(pd::OpView op, bool anyFloat);
// What the attributes of an op of a type are where a program says nothing of them.
std::map<std::string, std::string> defaultAttributes(mlir::MLIRContext* context,
                                                     llvm::StringRef type);
std::string describeType(mlir::Type type, bool anyFloat);

// Numbers and words as `Description::attributes` holds them; `single`: of 32-bit floats.
std::string attributeText(const std::vector<double>& numbers, bool single);
std::string attributeText(const std::vector<std::string>& words);

// What the blocks of an op do, with values numbered in order of appearance.
struct RegionDescription {
  std::string text;
  std::vector<std::string> read, written;  // variables, in order of appearance
  std::vector<mlir::Value> captured;       // values of outside that are used inside
};
RegionDescription describeRegions(mlir::Operation* op, bool anyFloat);

}  // namespace dtranspile::verify
