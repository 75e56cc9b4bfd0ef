// Which programs of test/corpus have an op and with which element types: what `dtranspile ops` says
// of tests. The rows come from the corpora themselves, when the tool is built (generate.cc writes
// them).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dtranspile::coverage {

// A case of test/corpus with values to compare with. One-operator programs stand below "ops/".
struct Case {
  const char* name;  // "ops/p262/abs", "fluid18/lenet"
  int64_t version;   // of the program: 1008005, 2006002 …
};

// Element types of the arguments that a slot has in these programs: bit 1 << code
// (runtime/base/dtype.h).
struct SlotTypes {
  const char* slot;
  uint64_t types;
};

struct Use {
  const char* type;                  // of the op
  std::span<const uint16_t> cases;   // indices into cases(), in order
  std::span<const SlotTypes> slots;  // sorted by name, inputs and outputs
};

std::span<const Case> cases();

// Null: no program has the op.
const Use* findUse(std::string_view type);

}  // namespace dtranspile::coverage
