// What a library call takes and gives, stated once per call in signatures/<family>.calls:
//
//   dt_gather_grad(X, Index, Axis?, Out@GRAD; axis:int, overwrite:bool, @version:int) -> X@GRAD
//
// Inputs, attributes, outputs. A slot holds one argument; with `?` it may be without, with `*` it
// is a list. Of an output nobody reads, no argument is given. An output written `ParamOut = Param`
// may be the same memory as that input, which is then updated where it lies; the call copies the
// input first where they differ. Kinds of attributes: bool int ints real reals text texts; `?`
// after a kind: callers may leave the attribute out. Names of attributes that begin with `@` say
// something of the program or the call, not of the op (compiler/lower/rules.h).
//
// The compiler gives arguments in this order (compiler/lower/call_row.h), and rows of rules are
// held against it by a test; tools/call_args makes the names by which kernels read their arguments
// (docs/lowering.md, "Library calls").
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace dtranspile::kernels {

enum class AttributeKind : uint8_t { kBool, kInt, kInts, kReal, kReals, kText, kTexts };

struct SlotSpec {
  std::string name;
  bool optional = false, list = false;
  std::string shares = {};  // of an output: the input whose memory it may have
};

struct AttributeSpec {
  std::string name;
  AttributeKind kind = AttributeKind::kInt;
  bool optional = false;
};

struct Signature {
  std::string name, family;
  std::vector<SlotSpec> inputs, outputs;
  std::vector<AttributeSpec> attributes;
};

// kInvalidArgument says what is wrong with the line.
absl::StatusOr<Signature> ParseSignature(std::string_view family, std::string_view line);

// The lines of a file: empty ones and those that begin with `#` say nothing, indented ones go on
// with the line above. kInvalidArgument also where a call is stated twice.
absl::StatusOr<std::vector<Signature>> ParseSignatures(std::string_view family,
                                                       std::string_view text);

}  // namespace dtranspile::kernels
