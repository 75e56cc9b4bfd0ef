// The reference program with its values numbered: what relations refer to. A get of a persistable
// has the number of the value set last, so that reading after writing needs no rule. Built once per
// program; walk.cc looks numbers up.
#pragma once

#include <string>
#include <vector>

#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {

class Reference {
 public:
  // An empty reference has no ops and no variables.
  explicit Reference(pd::ProgramOp program = {});

  // Framework op number `index` (dist.src counts them in pre-order); null if there is none.
  mlir::Operation* op(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(ops_.size()) ? ops_[index] : nullptr;
  }
  int64_t opCount() const { return static_cast<int64_t>(ops_.size()); }

  // Number of a value of the program; -1 for others.
  int numberOf(mlir::Value value) const;
  int inputNumber(llvm::StringRef name)
      const;  // of what is fed for a name; -1 where the program has no such input
  int initialNumber(llvm::StringRef var)
      const;  // of a persistable before the step; -1 where the program does not know it
  int finalNumber(llvm::StringRef var) const;  // of a persistable after the step
  int namedNumber(
      llvm::StringRef name) const;  // of the last value that a name holds in block 0; -1
  // Its pd.var; null where the program does not know it.
  mlir::Operation* variable(llvm::StringRef var) const {
    int number = initialNumber(var);
    return number < 0 ? nullptr : definitions_[number].op;
  }
  // An optimizer's op trains it: it is read in the slot Param, or set to the ParamOut. (Files mark
  // running statistics as parameters too.)
  bool trains(llvm::StringRef var) const { return trained_.contains(var); }
  bool sets(llvm::StringRef var) const { return finalNumber(var) != initialNumber(var); }
  // A value that is another one times a factor, where an update op hands such a power on
  // (updates.h).
  struct Multiple {
    int number = -1;  // of the product; -1 where there is none
    double factor = 0;
  };
  Multiple powerBehind(int number) const { return powers_.lookup(number); }
  // Numbers of a persistable that the regions of op `index` set: before the op, at the end of the
  // regions, and after the op, when they may have run or not; -1 otherwise.
  int numberBefore(int64_t index, llvm::StringRef var) const;
  int numberWithin(int64_t index, llvm::StringRef var) const;
  int numberAfter(int64_t index, llvm::StringRef var) const;

  // The op that gives the value: a framework op, or the pd.input or pd.var that it enters with.
  mlir::Operation* definingOp(int number) const { return definitions_[number].op; }
  // Of the variable that a number is a version of; empty where it has none.
  llvm::StringRef nameOf(int number) const { return definitions_[number].name; }
  // Whether it is definition `count` of a name, counted from 1 in the order of the program; 0: the
  // only one, or the first.
  bool isDefinition(int number, llvm::StringRef name, int64_t count) const;
  // "`fc_0.w_0@GRAD` of mul_grad of `fc_0.w_0@GRAD` (block 0, op 10)".
  std::string describe(int number) const;

 private:
  // What a number stands for; `name` belongs to the context.
  struct Definition {
    mlir::Operation* op;
    llvm::StringRef name;
    const char* kind;
    int64_t count;  // of the definitions of its name, from 1
  };
  int add(mlir::Operation* op, llvm::StringRef name, const char* kind);
  void number(mlir::Block& block);
  void noteTrained(mlir::Operation* op);
  void notePowers(mlir::Operation* op);
  void enterRegions(mlir::Operation* op, int64_t index);

  std::vector<mlir::Operation*> ops_;
  std::vector<Definition> definitions_;
  llvm::DenseMap<mlir::Value, int> numbers_;
  llvm::StringMap<int> inputs_, initial_, current_, named_;
  llvm::DenseMap<int64_t, llvm::StringMap<int>> before_, within_, after_;
  llvm::StringMap<int64_t> counts_;
  llvm::StringSet<> trained_;
  llvm::DenseMap<int, Multiple> powers_;
};

}  // namespace dtranspile::verify
