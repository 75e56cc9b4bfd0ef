// A pass over the bytes of a ProgramDesc before anything is parsed: is it well-formed, and how many objects would a parser make of it?
// A file of a few bytes can ask for gigabytes; this finds out in constant memory. Called by import.cc.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace dtranspile {

struct Budget {
  int64_t maxBytes = (int64_t{1} << 31) - 1;  // the limit of the format itself
  int64_t maxBlocks = 100'000;
  int64_t maxOps = 20'000'000;
  int64_t maxVars = 40'000'000;
  int64_t maxObjects = 400'000'000;  // slots, arguments, attributes and their values, together
  int64_t maxNameBytes = 1 << 16;    // of a type, slot, attribute or variable name
};

// Empty when the bytes may be parsed; else what is wrong, with the byte offset.
std::string prescan(llvm::StringRef bytes, const Budget& budget);

}  // namespace dtranspile
