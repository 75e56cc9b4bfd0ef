// The table of framework operators: one row per op type of a ProgramDesc. A row becomes one
// registered op of dialect pd (row_op.cc registers it); verifier, printer, importer, inference and
// `dtranspile ops` all read the same row. Rows stand in ops/<family>.cc; lowering and relation
// rules are rows of their own phase, keyed by the same type.
//
// A row is written in the notation of the operator catalogue:
//
//   {"mul", "X, Y -> Out", "x_num_col_dims:i=1, y_num_col_dims:i=1", Pure, inferMul,
//   kMulConstraints}
//
//   slots       `Name` required, `Name?` dispensable, `Name*` list (may be empty), `Name+` list of
//   at least one, `Name!` (outputs) the cell's
//               old value is an input too: the op writes only part of it, or writes it only
//               sometimes. Combine: `Name?*`, `Name*!`.
//   attributes  `name:type=default`; no `=` : must be given. Types: i INT, l LONG, f FLOAT, d
//   FLOAT64, s STRING, b BOOLEAN, is ls fs
//               ds ss bs lists, blk BLOCK, blks BLOCKS, var VAR, vars VARS, sc SCALAR, scs SCALARS.
//               `i|l` accepts both. `~` after the type marks a hint without effect on the result
//               ("extra"). `@N` after the default: only from op version N. Lists are `{1,2}`,
//               strings are bare words or 'quoted'. Common attributes (op_role …) belong to every
//               op and are not repeated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

namespace dtranspile::pd {

class OpView;
class InferContext;

// What an op does besides computing its results.
enum Effect : unsigned {
  kPure = 0,
  kRandom = 1,        // draws from a random-number generator: never merged, deleted or reordered
  kHost = 2,          // prints, reads files, talks to the outside
  kCommunicates = 4,  // belongs to the framework's communication vocabulary
  // No effect: the op is a gradient, though no slot of its row is called `…@GRAD`.
  kGradient = 8,
};

struct Slot {
  std::string name;
  bool dispensable = false;
  bool duplicable = false;
  bool nonEmpty = false;  // duplicable, at least one argument
  bool updates = false;   // output whose old value is read
};

enum class AttrType {
  Int,
  Long,
  Float,
  Float64,
  String,
  Bool,
  Ints,
  Longs,
  Floats,
  Float64s,
  Strings,
  Bools,
  Block,
  Blocks,
  Var,
  Vars,
  Scalar,
  Scalars
};

struct AttrRow {
  std::string name;
  std::vector<AttrType> types;  // accepted in files, the first is canonical
  bool required = false;
  bool hint = false;
  std::string defaultText;
  int sinceVersion = 0;
};

// A condition that the framework itself checks when the op is built or run. The label ("C1" …) is
// the same in docs, message and test.
struct Constraint {
  const char* label;
  const char* statement;  // what must hold, for docs and the message
  llvm::LogicalResult (*holds)(const OpView&,
                               std::string& found);  // `found` says what is there instead
};

using InferFn = llvm::LogicalResult (*)(InferContext&);

// As written in ops/<family>.cc.
struct OpRow {
  const char* type;
  const char* slots;
  const char* attributes;
  unsigned effects;
  InferFn infer;  // null: result types are the declared ones
  llvm::ArrayRef<Constraint> constraints = {};
};

// A row, parsed; lives for the program.
struct OpSpec {
  std::string type;
  std::string family;
  std::vector<Slot> inputs, outputs;
  std::vector<AttrRow> attributes;
  unsigned effects = 0;
  // Computes gradients of another op: a slot is called `…@GRAD`, or the row says kGradient. Files
  // leave out inputs that a gradient does without, and it finds forward values beside what it
  // reads.
  bool gradient = false;
  InferFn infer = nullptr;
  llvm::ArrayRef<Constraint> constraints;

  const Slot* input(llvm::StringRef name) const;
  const Slot* output(llvm::StringRef name) const;
  const AttrRow* attribute(llvm::StringRef name) const;
};

struct Family {
  const char* name;
  llvm::ArrayRef<OpRow> rows;
};

// All families, in the order of documentation (ops/families.cc: the one list).
llvm::ArrayRef<Family> families();

// Parses one row; the error names what is wrong and where.
llvm::LogicalResult parseRow(const OpRow& row, OpSpec& spec, std::string& error);

// Parses one line of a table file (`--op-table FILE`): `type | slots | attributes | effects` in the
// notation above; effects are words of `pure`, `random`, `host`, `communicates` joined by `+`,
// empty for pure. Such rows have neither inference nor constraints.
llvm::LogicalResult parseRowText(llvm::StringRef family, llvm::StringRef line, OpSpec& spec,
                                 std::string& error);

// Parses a whole table file; empty lines and lines that begin with `#` are skipped. `error` begins
// with `file:line: `.
llvm::LogicalResult parseTable(llvm::StringRef file, llvm::StringRef text,
                               std::vector<OpSpec>& specs, std::string& error);

// Every built-in op, sorted by type; parsed once.
const std::vector<OpSpec>& builtinOps();
const OpSpec* findOp(llvm::StringRef type);

// Attributes that every op may carry: roles, source positions, and hints to back ends without
// effect on results. Null for others.
const AttrRow* commonAttribute(llvm::StringRef name);
inline bool isCommonAttribute(llvm::StringRef name) { return commonAttribute(name) != nullptr; }

// Attributes whose strings are names of variables of the program ("original_output_grad", "states"
// …): a rename carries them along.
bool isNameAttribute(llvm::StringRef op, llvm::StringRef attribute);

}  // namespace dtranspile::pd
