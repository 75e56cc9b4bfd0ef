// The rows of file.td as C++, made by generate.py. Used by file.cc, which builds the descriptor of
// strategy files from them, and by request.cc, which reads what becomes of an entry.
#pragma once

#include <vector>

#include "llvm/ADT/StringRef.h"

namespace dtranspile {

// What becomes of an entry that a file sets; the words are explained in file.td.
enum class Fate { Field, Told, Refused, Hint, Part };

struct EntryRow {
  llvm::StringRef message;
  int number;
  bool repeated;
  llvm::StringRef type, name, initial;
  Fate fate;
  llvm::StringRef is, why, on;
};

// An older spelling of an entry of the same message.
struct OldRow {
  llvm::StringRef message, name, type, to, sense, why;
};

struct EnumRow {
  llvm::StringRef name;
  int first;
  std::vector<llvm::StringRef> values;
};

inline constexpr llvm::StringLiteral kStrategyMessage = "DistributedStrategy";

// In the order of the tables, by message.
const std::vector<EntryRow>& entryRows();
const std::vector<OldRow>& oldRows();
const std::vector<EnumRow>& enumRows();

}  // namespace dtranspile
