// Lists of input slots as bytes. Called by import.cc.
#pragma once

#include <cstring>

#include "dialects/pd/pd.h"
#include "llvm/ADT/SmallString.h"

namespace dtranspile {

// The slots of one side of an op, written down so that equal lists are equal bytes: (length, name,
// number of arguments, a byte for each: is it there?). Lists of inputs repeat in all ops of a type,
// so the attribute is found by the bytes.
class SlotPattern {
 public:
  void slot(llvm::StringRef prefix, llvm::StringRef name, size_t arguments) {
    number(prefix.size() + name.size());
    key_ += prefix;
    key_ += name;
    number(arguments);
  }
  void argument(bool present) { key_.push_back(present); }

  llvm::StringRef key() const { return key_; }

  mlir::ArrayAttr make(mlir::Builder& builder, mlir::StringAttr blank,
                       mlir::StringAttr empty) const {
    llvm::SmallVector<mlir::Attribute> slots;
    for (size_t at = 0; at < key_.size();) {
      size_t length = read(at);
      mlir::StringAttr name = builder.getStringAttr(llvm::StringRef(key_).substr(at + 4, length));
      at += 4 + length;
      size_t count = read(at);
      at += 4;
      llvm::SmallVector<mlir::StringAttr> arguments;
      for (size_t i = 0; i < count; ++i) arguments.push_back(key_[at++] ? blank : empty);
      slots.push_back(pd::SlotAttr::get(builder.getContext(), name, arguments));
    }
    return builder.getArrayAttr(slots);
  }

 private:
  void number(size_t value) {
    uint32_t word = static_cast<uint32_t>(value);
    key_.append(llvm::StringRef(reinterpret_cast<const char*>(&word), sizeof(word)));
  }
  size_t read(size_t at) const {
    uint32_t word = 0;
    std::memcpy(&word, key_.data() + at, sizeof(word));
    return word;
  }

  llvm::SmallString<256> key_;
};

}  // namespace dtranspile
