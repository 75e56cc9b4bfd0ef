// What a lowering rule sees of one framework op, and what it may emit. Rules (rules/<family>.cc)
// are rows of tables: an op is a formula, a view of its input, or a function that emits library
// calls.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/lower/kernel/formula.h"
#include "compiler/lower/plan.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::lower {

class ExtentTokens;
class Lowering;
struct LoweringRule;

class OpLowering {
 public:
  OpLowering(Lowering& program, pd::OpView op, const LoweringRule& rule)
      : program_(program), op_(op), rule_(rule) {}

  const pd::OpView& op() const { return op_; }
  int64_t version() const;    // of the program: 1008005, 2006002 …
  bool mendsDefects() const;  // see LoweringRequest

  // Arguments. Nothing where the slot is absent, empty or @EMPTY@; outputs also where nobody reads
  // the result.
  std::optional<TensorRef> in(llvm::StringRef slot, unsigned index = 0) const;
  TensorRef in(mlir::Value operand) const;
  std::optional<TensorRef> out(llvm::StringRef slot, unsigned index = 0);
  // For callees that write an output whether somebody reads it or not.
  TensorRef outOrTemporary(llvm::StringRef slot, DType dtype, const std::vector<int64_t>& dims);
  bool has(llvm::StringRef slot) const { return static_cast<bool>(op_.input(slot)); }

  // Whether some argument, or an output that is read, is known only at run time (Space::Value), or
  // is SelectedRows or a list.
  bool hasUnknown() const;
  bool hasOtherKinds() const;

  // What the program asks for and no rule offers yet.
  llvm::LogicalResult unsupported(const llvm::Twine& what) const;

  // A temporary of the step.
  TensorRef temporary(llvm::StringRef hint, DType dtype, std::vector<int64_t> dims);

  // The same memory under other dims; byte counts must agree.
  llvm::LogicalResult view(llvm::StringRef input, llvm::StringRef output);

  // The same value in this memory: a copy where it lies in another one, else a view.
  llvm::LogicalResult move(llvm::StringRef input, llvm::StringRef output, exec::Memory memory);

  // A library call by the names of its signature (runtime/kernels/signature.h), in any order; the
  // arguments of a list each under its name. What may be absent may be left out.
  using CallValue = std::variant<int64_t, double, std::string, std::vector<int64_t>>;
  struct CallArguments {
    std::vector<std::pair<llvm::StringRef, TensorRef>> tensors = {};
    std::vector<std::pair<llvm::StringRef, CallValue>> attributes = {};
    bool keep = false;
    bool anyExtents =
        false;  // takes extents from its buffers only: good for those known at run time
  };
  void call(llvm::StringRef function, const CallArguments& given);
  void copy(const TensorRef& from, const TensorRef& to);

  // Hands the op to the call of its row (callRule of rules.h).
  llvm::LogicalResult callRow();
  // Stands in a list for an argument that the program lacks, or an output that nobody reads.
  TensorRef nothing();

  // Names of the formula are slots and attributes of the op, before them those of the bindings: an
  // argument of a list, a slot under dims that show the structure (groups of channels).
  struct Bindings {
    std::vector<std::pair<std::string, TensorRef>> tensors = {};
    std::vector<std::pair<std::string, double>> numbers = {};
    std::vector<std::pair<std::string, int>> axes =
        {};  // domain dim that a tensor (and its gradient) is aligned at
    InnerDims inner = nullptr;
  };
  llvm::LogicalResult formula(llvm::StringRef text, const Bindings& bindings);
  llvm::LogicalResult formula(llvm::StringRef text) { return formula(text, Bindings()); }

  // After the rule: gives ragged results that have no LoD yet that of an input with as many rows.
  // Gradients are cut like what they are gradients of; results of kernels that read nothing ragged
  // (the gradient of a sum over all rows) like any ragged input. `firstNode`: the op's first.
  void shareLod(size_t firstNode);

  // Whether a diagnostic says that the op cannot be lowered with the extents that are known.
  bool refused() const { return refused_; }

 private:
  std::optional<double> attribute(llvm::StringRef name) const;
  void addExtentSources(BoundKernel& kernel, const ExtentTokens& tokens) const;
  bool isRagged(int buffer) const;
  bool needsLod(int buffer, size_t firstNode) const;
  // Says that a library call was made for extents that are not known.
  void refuse(llvm::StringRef function);
  int asSeen(const TensorRef& tensor);

  Lowering& program_;
  pd::OpView op_;
  const LoweringRule& rule_;
  bool refused_ = false;
};

}  // namespace dtranspile::lower
