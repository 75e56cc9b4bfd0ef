// What a library call takes and gives, stated once per call in signatures/<family>.calls:
//
//   dt_gather_grad(X:number, Index:index, Axis?:index, Out@GRAD:X; axis:int, overwrite:bool,
//       @version:int) -> X@GRAD:X
//
// Inputs, attributes, outputs. A slot holds one argument; with `?` it may be without, with `*` it
// is a list. Of an output nobody reads, no argument is given. An output written
// `ParamOut:Param = Param` may be the same memory as that input, which is then updated where it
// lies; the call copies the input first where they differ. Kinds of attributes: bool int ints real
// reals text texts; `?` after a kind: callers may leave the attribute out; `int<=2^28` is a number
// that it must not exceed (a count that would keep the call busy for minutes). Names of attributes
// that begin with `@` say something of the program or the call, not of the op
// (compiler/lower/rules.h).
//
// After the colon of a slot stands which element types it may have, and how many dims
// (signature_types.h): a class of types, a type, or another slot, whose type it has then. This is
// what kernels rely on when they take memory for elements of a type: cpu/argument_check.h holds
// every call against it before the kernel runs.
//
// The compiler gives arguments in this order (compiler/lower/call_row.h), and rows of rules are
// held against it by a test; tools/call_args makes the names by which kernels read their arguments
// (docs/lowering.md, "Library calls").
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/kernels/signature_types.h"

namespace dtranspile::kernels {

enum class AttributeKind : uint8_t { kBool, kInt, kInts, kReal, kReals, kText, kTexts };

struct SlotSpec {
  std::string name;
  bool optional = false, list = false;
  std::string shares = {};  // of an output: the input whose memory it may have
  TypeDemand demand = {};
};

struct AttributeSpec {
  std::string name;
  AttributeKind kind = AttributeKind::kInt;
  bool optional = false;
  int64_t most = std::numeric_limits<int64_t>::max();  // of int and ints
};

struct Signature {
  std::string name, family;
  std::vector<SlotSpec> inputs, outputs;
  std::vector<AttributeSpec> attributes;

  // Inputs, then outputs: the numbers by which TypeDemand::like names a slot.
  size_t slots() const { return inputs.size() + outputs.size(); }
  const SlotSpec& slot(size_t k) const {
    return k < inputs.size() ? inputs[k] : outputs[k - inputs.size()];
  }
};

// kInvalidArgument says what is wrong with the line.
absl::StatusOr<Signature> ParseSignature(std::string_view family, std::string_view line);

// The lines of a file: empty ones and those that begin with `#` say nothing, indented ones go on
// with the line above. kInvalidArgument also where a call is stated twice.
absl::StatusOr<std::vector<Signature>> ParseSignatures(std::string_view family,
                                                       std::string_view text);

}  // namespace dtranspile::kernels
