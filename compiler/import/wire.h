// The wire format of a ProgramDesc, read in place: one pass checks that the bytes are well-formed
// and within budget and leaves views into them, before any object is made. A file of a few bytes
// can ask for gigabytes; this finds out in memory proportional to the file. The importer builds the
// IR from the views and parses what it meets rarely (attribute values, kinds of variables) with
// protobuf. Called by import.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/CachedHashString.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

namespace dtranspile {

struct Budget {
  int64_t maxBytes = (int64_t{1} << 31) - 1;  // the limit of the format itself
  int64_t maxBlocks = 100'000;
  int64_t maxOps = 5'000'000;
  int64_t maxVars = 10'000'000;
  int64_t maxFields = 300'000'000;  // of all messages, elements of packed lists included
  int64_t maxNameBytes = 1 << 16;   // of a type, slot, attribute or variable name
  int64_t maxSlots = 256;           // inputs or outputs of one op; the framework has 40
  // What the IR may take: so much whatever the file, and so much for each of its bytes.
  int64_t freeMemory = int64_t{256} << 20;
  int64_t memoryPerByte = 64;
  int64_t maxInterfaceNames = 50'000'000;  // names that regions take and yield, over all sub-blocks
  int maxDepth = 64;                       // of blocks within blocks
};

// A variable name: an index into WireProgram::names.
using Name = uint32_t;
inline constexpr Name kEmptyName = 0;  // "@EMPTY@"

struct WireSlot {
  llvm::StringRef parameter;
  llvm::ArrayRef<Name> arguments;
};

struct WireAttr {
  llvm::StringRef name;
  int32_t type = 0;
  llvm::StringRef bytes;            // the whole message, for protobuf
  llvm::ArrayRef<Name> references;  // of a VAR or VARS attribute
  llvm::ArrayRef<int32_t> blocks;   // of a BLOCK or BLOCKS attribute
};

struct WireOp {
  llvm::StringRef type;
  llvm::ArrayRef<WireSlot> inputs, outputs;
  llvm::ArrayRef<WireAttr> attrs;
  llvm::StringRef attrBytes;  // all attributes, where they stand together; else empty
  std::optional<bool> isTarget;
  llvm::StringRef unknown;  // fields that the schema does not have
};

struct WireVar {
  Name name = 0;
  uint32_t number = 0;   // counts over the program
  llvm::StringRef type;  // bytes of the VarType
  std::optional<bool> persistable, needCheckFeed, isParameter, stopGradient;
  llvm::StringRef bytes;  // the whole message
  bool more = false;      // holds fields other than the above
};

struct WireBlock {
  int32_t idx = 0, parent = 0;
  std::optional<int32_t> forward;
  std::vector<WireVar> vars;
  std::vector<WireOp> ops;
  llvm::StringRef unknown;
};

struct WireProgram {
  std::vector<WireBlock> blocks;
  std::optional<llvm::StringRef> version, opVersions;  // bytes of the messages
  llvm::StringRef unknown;
  std::vector<llvm::StringRef> names;
  size_t variables = 0;
  // Fields within slots, attributes and versions that the schema does not have: there is no place
  // for them in the IR.
  size_t lostFields = 0;
  llvm::BumpPtrAllocator arena;  // arrays of the views
};

// Views into `bytes`, which must outlive them. Empty on success; else what is wrong, with the byte
// offset.
std::string readWire(llvm::StringRef bytes, const Budget& budget, WireProgram& program);

}  // namespace dtranspile
