// The walk that normalize.cc, structure.cc and variables.cc share: PIR values become variables, PIR
// ops those of a ProgramDesc.
#pragma once

#include <unordered_map>

#include "compiler/import/pir/normalize.h"
#include "compiler/import/pir/op_mapping.h"
#include "compiler/import/pir/program.h"
#include "compiler/import/pir/roles.h"
#include "compiler/program_desc/framework.pb.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"

namespace dtranspile::pir {

using framework::BlockDesc;
using framework::OpDesc;
using framework::VarDesc;
using Numbers = std::vector<Number>;

// A value of the file: who makes it, and the variables that hold it now (several for a list).
struct Value {
  int op = 0, result = 0;
  const Type* type = nullptr;
  std::vector<std::string> names;
  int readers = 0;
  bool pinned = false;     // has a name of the file's own
  bool parameter = false;  // set_parameter gives the name
  bool changed = false;    // an in-place op writes to its storage
};

// Ops that are no computation: variables, lists, names.
enum class Structure { None, Parameter, Data, Feed, Fetch, Combine, Split, Slice, Name };

Structure structureOf(llvm::StringRef name);
bool isConstant(const Op& op);

struct VariableFlags {
  bool persistable = false, parameter = false, stopGradient = false, fed = false;
};

void addArgument(google::protobuf::RepeatedPtrField<OpDesc::Var>& slots, llvm::StringRef slot,
                 llvm::StringRef argument);

class Normalizer {
 public:
  Normalizer(mlir::MLIRContext* context, llvm::StringRef file, const Program& program,
             const Budget& budget)
      : builder_(context),
        file_(builder_.getStringAttr(file)),
        program_(program),
        budget_(budget),
        roles_(findRoles(program)),
        emitted_(program.ops.size(), false) {}

  mlir::FailureOr<NormalProgram> run();

 private:
  class OpEmission;  // what a hook sees of all this

  // Before any op is made.
  bool checkNames();
  bool number();
  bool numberOp(int index);
  bool nameValues();
  bool nameOf(int index);
  bool nameParts(int index);

  // One op after the other.
  bool emit(int index);
  bool emitStructure(int index, Structure structure);
  std::string textAttribute(int index, llvm::StringRef name) const;
  bool introduce(int index, const std::string& name);
  bool combine(int index);
  bool takeParts(int index);
  bool emitName(int index);
  bool emitFetch(int index);
  bool emitOp(int index);
  bool setOperands(int index, const Rule& rule, OpDesc& made);
  bool setOperand(int index, size_t operand, const OperandRule& rule, const Rule& row,
                  OpDesc& made);
  bool setResults(int index, const Rule& rule, OpDesc& made);
  bool setResult(int index, size_t result, const ResultRule& rule, const Rule& row, OpDesc& made);
  bool makeResult(int index, const ResultRule& rule, OpDesc& made);
  void setRole(int index, OpDesc& made);
  void finish(int index, OpDesc made);

  bool declare(int index, llvm::StringRef name, const Type& type, VariableFlags flags);
  bool declareResult(int index, size_t result);
  const std::vector<std::string>* read(int index, int64_t id);
  std::optional<Numbers> constantOf(int64_t id) const;
  Value* find(int64_t id);
  std::string defaultName(int op, size_t result) const;
  bool fail(int index, const llvm::Twine& message);

  mlir::Builder builder_;
  mlir::StringAttr file_;
  const Program& program_;
  const Budget& budget_;
  int64_t arguments_ = 0;  // of inputs, lists counted in full
  Roles roles_;
  std::vector<bool> emitted_;
  std::unordered_map<int64_t, Value> values_;
  llvm::StringSet<> declared_;
  framework::ProgramDesc out_;
  BlockDesc* block_ = nullptr;
  NormalProgram normal_;
};

}  // namespace dtranspile::pir
