// What every PIR op becomes: one row per op of dialect pd_op, in rows/<family>.cc. normalize.cc
// walks a program with them; `hook`s (hooks.cc) do what the notation cannot say.
//
//   {"matmul", "matmul_v2", "X, Y -> Out", "transpose_x>trans_x, transpose_y>trans_y"}
//
//   operands    in the order of the file, each one of
//                 `X`          goes to slot X. `X?` may be absent (number 0), `X*` is a list
//                 (builtin.combine).
//                 `#shape`     is a constant that becomes attribute `shape`. `#shape|Shape`: goes
//                 to slot Shape where it is none, `#shape|Shape|Parts`: to
//                            slot Parts where it is a list of numbers.
//                 `~Y`         is not read: its storage matters to an in-place result, or the op
//                 made does not need it.
//                 `!Y`         has no counterpart and must be absent.
//               A trailing `#shape?` may be missing: some releases have it as an attribute.
//   results     `Out` slot Out, absent where the file has no type for it; `Out?` the file may lack
//   it; `Out*` a list; `!Y` has no counterpart, so
//               nobody may read it; `ParamOut=Param` in place of operand Param; `+XShape` the file
//               has none, a variable is made (extents 0, X…);
//               `@X?` the file may have it: extents of operand X, whose readers get X itself
//               (`XShape` of releases up to 3.0).
//   Two rows of one name differ in the number of operands.
//
//   attributes  Those that the op of dialect pd has too keep their names and take its types.
//   Others: `a>b` is renamed, `-a` has no effect
//               on results and is dropped, `a=text` must have that value, `+a=text` is set. What is
//               named nowhere is refused.
#pragma once

#include <string>
#include <vector>

#include "compiler/import/pir/program.h"
#include "compiler/import/pir/values.h"
#include "compiler/program_desc/framework.pb.h"
#include "dialects/pd/op_table.h"
#include "llvm/ADT/ArrayRef.h"

namespace dtranspile::pir {

class Emission;
// What is wrong, or empty.
using Hook = std::string (*)(Emission&);

// As written in rows/<family>.cc.
struct PirRow {
  const char* name;  // without "pd_op."
  const char* type;  // of the op of dialect pd
  const char* slots;
  const char* attributes = "";
  Hook hook = nullptr;
  bool gradient = false;  // it computes gradients, which the op of dialect pd does not tell
};

struct OperandRule {
  enum Kind { Slot, Constant, Storage, Refused } kind = Slot;
  std::string name;         // slot, attribute, or what `=` of a result refers to
  std::string slot, parts;  // of a constant that is none, or a list of them
  bool optional = false, list = false;
};

struct ResultRule {
  enum Kind { Slot, Unread, Made, Operand } kind = Slot;
  std::string slot, inPlaceOf;  // `slot` is the operand that an Operand stands for
  bool optional = false, list = false;
};

struct AttributeRule {
  enum Kind { Rename, Drop, Must, Set } kind = Rename;
  std::string name, text;  // new name, or value
};

// A row, parsed; lives for the program.
struct Rule {
  std::string name;
  const pd::OpSpec* spec = nullptr;
  bool gradient = false;  // it computes gradients of another op
  std::vector<OperandRule> operands;
  std::vector<ResultRule> results;
  std::vector<AttributeRule> attributes;
  Hook hook = nullptr;

  int operand(llvm::StringRef name) const;  // its index, -1 if there is none
  bool takes(size_t count) const;           // that many operands
  const AttributeRule* attribute(llvm::StringRef name) const;
};

// The row of an op of dialect pd_op; null where there is none. Where rows of that name take other
// numbers of operands, one of them.
const Rule* findRule(const Op& op);

// Parses a row and checks it against the op table; `error` says what is wrong with it.
bool parseRow(const PirRow& row, Rule& rule, std::string& error);

// All rows, for tests and documentation.
std::vector<llvm::ArrayRef<PirRow>> families();

llvm::ArrayRef<PirRow> activationRows();
llvm::ArrayRef<PirRow> creationRows();
llvm::ArrayRef<PirRow> elementwiseRows();
llvm::ArrayRef<PirRow> nnRows();
llvm::ArrayRef<PirRow> optimizerRows();
llvm::ArrayRef<PirRow> reductionRows();
llvm::ArrayRef<PirRow> shapeRows();

// What a hook sees: the op of the file and the op being made, its arguments and attributes set by
// the row.
class Emission {
 public:
  virtual ~Emission() = default;
  virtual const Op& op() const = 0;
  virtual framework::OpDesc& made() = 0;
  virtual const Type* operandType(size_t operand) const = 0;
  // The numbers of a constant operand; nothing where it is computed.
  virtual std::optional<std::vector<Number>> constant(size_t operand) = 0;
  // Makes an op before this one and the variable "#N.NAME" that it writes to slot Out; the name of
  // the variable.
  virtual std::string before(framework::OpDesc op, llvm::StringRef name, const Type& type) = 0;
};

// An attribute of the op being made, added where it is missing.
framework::OpDesc::Attr& attributeOf(framework::OpDesc& op, llvm::StringRef name, int type);
// Replaces the arguments of an input slot.
void setInput(framework::OpDesc& op, llvm::StringRef slot, llvm::StringRef argument);

// hooks.cc
std::string makeFull(Emission&);
std::string makeIntArray(Emission&);
std::string makeAssignValue(Emission&);
std::string makeArange(Emission&);
std::string makeCast(Emission&);
std::string makeCastGrad(Emission&);

}  // namespace dtranspile::pir
