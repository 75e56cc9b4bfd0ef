// Writes the wire format of protobuf into one growing string: what program.cc would otherwise build
// a message of a million small objects for.
#pragma once

#include <cstdint>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace dtranspile {

class WireWriter {
 public:
  void varint(uint64_t value) {
    for (; value > 0x7f; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  // Negative numbers are sign-extended to ten bytes, as the format has it.
  void integer(uint32_t field, int64_t value) {
    varint(field << 3);
    varint(static_cast<uint64_t>(value));
  }

  void bytes(uint32_t field, llvm::StringRef value) {
    varint(field << 3 | 2);
    varint(value.size());
    raw(value);
  }

  void raw(llvm::StringRef value) { out_.append(value.data(), value.size()); }

  // A message whose length is known when it ends: `begin` returns what `end` wants.
  size_t begin(uint32_t field) {
    varint(field << 3 | 2);
    out_.push_back('\0');
    return out_.size();
  }

  void end(size_t start) {
    uint64_t length = out_.size() - start;
    out_[start - 1] = static_cast<char>(length);
    if (length <= 0x7f) return;
    std::string prefix;
    for (; length > 0x7f; length >>= 7) prefix.push_back(static_cast<char>(length | 0x80));
    prefix.push_back(static_cast<char>(length));
    out_.replace(start - 1, 1, prefix);
  }

  llvm::StringRef since(size_t start) const { return llvm::StringRef(out_).drop_front(start); }
  size_t size() const { return out_.size(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace dtranspile
