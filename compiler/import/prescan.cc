#include "compiler/import/prescan.h"

#include "llvm/ADT/Twine.h"

namespace dtranspile {
namespace {

// The messages that the scan enters. Everything else of wire type 2 is counted as one object and skipped.
enum class Message { Program, Block, Var, Op, Slot, Attr, Leaf };

struct Field {
  Message in;
  uint32_t number;
  Message message;
  const char* name;
};

constexpr Field kFields[] = {
    {Message::Program, 1, Message::Block, "block"}, {Message::Block, 3, Message::Var, "variable"}, {Message::Block, 4, Message::Op, "op"},
    {Message::Op, 1, Message::Slot, "input slot"},  {Message::Op, 2, Message::Slot, "output slot"}, {Message::Op, 4, Message::Attr, "attribute"},
};

// Fields that hold names: (message, number).
struct NameField {
  Message in;
  uint32_t number;
};
constexpr NameField kNames[] = {{Message::Op, 3}, {Message::Slot, 1}, {Message::Slot, 2}, {Message::Attr, 1}, {Message::Var, 1}, {Message::Attr, 17}, {Message::Attr, 18}};

class Scanner {
 public:
  Scanner(llvm::StringRef bytes, const Budget& budget) : bytes_(bytes), budget_(budget) {}

  bool scan(Message message, size_t end) {
    while (at_ < end) {
      uint64_t tag = 0;
      if (!varint(tag, end)) return false;
      uint32_t number = static_cast<uint32_t>(tag >> 3);
      if (number == 0 || tag >> 32) return fail("field number " + std::to_string(tag >> 3) + " is not legal");
      if (!field(message, number, static_cast<int>(tag & 7), end)) return false;
    }
    return true;
  }

  std::string error;

 private:
  bool field(Message message, uint32_t number, int wire, size_t end) {
    if (++objects_ > budget_.maxObjects) return fail("more than " + std::to_string(budget_.maxObjects) + " objects");
    uint64_t value = 0;
    switch (wire) {
      case 0: return varint(value, end);
      case 1: return skip(8, end);
      case 5: return skip(4, end);
      case 2: break;
      default: return fail("wire type " + std::to_string(wire) + " does not occur in programs");
    }
    if (!varint(value, end)) return false;
    if (value > end - at_) return fail("a field of " + std::to_string(value) + " bytes reaches behind the end of its message");
    return enter(message, number, value);
  }

  bool enter(Message message, uint32_t number, size_t length) {
    for (const NameField& name : kNames)
      if (name.in == message && name.number == number && length > static_cast<size_t>(budget_.maxNameBytes))
        return fail("a name of " + std::to_string(length) + " bytes (at most " + std::to_string(budget_.maxNameBytes) + ")");
    for (const Field& field : kFields)
      if (field.in == message && field.number == number) return count(field.message) && scan(field.message, at_ + length);
    return skip(length, at_ + length);
  }

  bool count(Message message) {
    struct {
      Message message;
      int64_t* count;
      int64_t limit;
      const char* what;
    } rows[] = {{Message::Block, &blocks_, budget_.maxBlocks, "blocks"}, {Message::Op, &ops_, budget_.maxOps, "ops"}, {Message::Var, &vars_, budget_.maxVars, "variables"}};
    for (auto& row : rows)
      if (row.message == message && ++*row.count > row.limit) return fail("more than " + std::to_string(row.limit) + " " + row.what);
    return true;
  }

  bool varint(uint64_t& value, size_t end) {
    value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at_ >= end) return fail("the file ends inside a number");
      uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return true;
    }
    return fail("a number of more than 64 bits");
  }

  bool skip(size_t length, size_t end) {
    if (length > end - at_) return fail("the file ends inside a field");
    at_ += length;
    return true;
  }

  bool fail(std::string what) {
    if (error.empty()) error = "byte " + std::to_string(at_) + ": " + what;
    return false;
  }

  llvm::StringRef bytes_;
  const Budget& budget_;
  size_t at_ = 0;
  int64_t objects_ = 0, blocks_ = 0, ops_ = 0, vars_ = 0;
};

}  // namespace

std::string prescan(llvm::StringRef bytes, const Budget& budget) {
  if (static_cast<int64_t>(bytes.size()) > budget.maxBytes)
    return "the file has " + std::to_string(bytes.size()) + " bytes, at most " + std::to_string(budget.maxBytes) + " are read";
  Scanner scanner(bytes, budget);
  scanner.scan(Message::Program, bytes.size());
  return scanner.error;
}

}  // namespace dtranspile
