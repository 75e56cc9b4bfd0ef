// A PIR program (Paddle 3.x JSON) as the file has it: ops, values by number, types. Attributes stay
// JSON until an op's row says what they become. program.cc reads, normalize.cc turns the result
// into a ProgramDesc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/import/pir/json.h"

namespace dtranspile::pir {

enum class TypeKind { Absent, Tensor, SelectedRows, TensorArray, List, Other };

struct Type {
  TypeKind kind = TypeKind::Absent;
  int dtype = -1;             // code of the framework's VarType; -1: not known
  std::vector<int64_t> dims;  // -1: not known
  int lodLevel = 0;
  std::vector<Type> elements;  // of a list of tensors
  std::string name;            // as in the file
};

struct Result {
  int64_t id = 0;
  Type type;
  bool persistable = false, stopGradient = false;
};

struct Parameter {
  std::string name;
  bool isParameter = true;
};

struct Op {
  std::string name;               // "pd_op.matmul", "builtin.combine": dialect ids are spelled out
  std::vector<int64_t> operands;  // numbers of values; 0: absent
  std::vector<Result> results;
  const json* attributes = nullptr;  // the list "A" of an ordinary op
  std::optional<Parameter> parameter;
  bool hasRegions = false;

  // The value of an attribute ({"#": kind, "D": data}), or null.
  const json* attribute(llvm::StringRef name) const;
};

struct Program {
  json document;  // what the ops point into
  int64_t version = 0;
  std::vector<Op> ops;
};

// Why a file is refused; `op` is negative where no op is to blame.
struct ReadError {
  int op = -1;
  std::string name;  // of the op
  std::string message;
};

bool readProgram(llvm::StringRef bytes, const Budget& budget, Program& program, ReadError& error);

// The framework's code of an element type by its name ("float32"); -1 for "Undefined(…)", nothing
// for others.
std::optional<int> dtypeCode(llvm::StringRef name);

}  // namespace dtranspile::pir
