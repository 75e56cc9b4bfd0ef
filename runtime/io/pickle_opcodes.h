// The class of RunPickle (pickle_machine.h) and the table of its opcodes. Used by
// pickle_machine.cc and pickle_opcodes.cc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/pickle_heap.h"

namespace dtranspile::io {

class PickleMachine {
 public:
  PickleMachine(std::string_view file, PickleHeap& heap) : file_(file), heap_(heap) {}

  using Handler = absl::Status (PickleMachine::*)();

  // Runs to the opcode STOP.
  absl::StatusOr<PickleRef> Run();

  // Where the opcode is that was executed last, and its name.
  size_t opcode_offset() const { return opcode_; }
  const char* opcode_name() const;
  size_t offset() const { return at_; }

 private:
  // -- input
  absl::StatusOr<std::string_view> Take(uint64_t count);
  template <typename T>
  absl::StatusOr<T> Number();
  absl::StatusOr<std::string_view> Line();

  // -- stack
  void Push(PickleRef ref) { stack_.push_back(ref); }
  absl::Status PushResult(absl::StatusOr<PickleRef> ref);
  // Items that an opcode may take: those above the innermost mark.
  size_t Available() const { return stack_.size() - (marks_.empty() ? 0 : marks_.back()); }
  absl::Status Want(size_t count) const;
  PickleRef PopOne();
  absl::StatusOr<std::vector<PickleRef>> PopToMark();

  // -- shared parts of handlers
  template <typename Length>
  absl::Status Bytes(PickleKind kind);
  absl::Status LongOf(uint64_t bytes);
  absl::Status TupleOf(size_t count);
  absl::Status PushTuple(std::vector<PickleRef> items);
  absl::Status AddItems(PickleKind kind, std::vector<PickleRef> items);
  absl::Status Store(uint64_t index);
  absl::Status Load(uint64_t index);
  absl::Status FindName(std::string_view module, std::string_view name);

 public:
  // -- one handler per opcode
  absl::Status Proto();
  absl::Status Frame();
  absl::Status Mark();
  absl::Status Pop();
  absl::Status PopMark();
  absl::Status Dup();
  absl::Status None();
  absl::Status True();
  absl::Status False();
  absl::Status BinInt();
  absl::Status BinInt1();
  absl::Status BinInt2();
  absl::Status Long1();
  absl::Status Long4();
  absl::Status BinFloat();
  absl::Status ShortBinUnicode();
  absl::Status BinUnicode();
  absl::Status BinUnicode8();
  absl::Status ShortBinString();
  absl::Status BinString();
  absl::Status ShortBinBytes();
  absl::Status BinBytes();
  absl::Status BinBytes8();
  absl::Status EmptyTuple();
  absl::Status Tuple();
  absl::Status Tuple1();
  absl::Status Tuple2();
  absl::Status Tuple3();
  absl::Status EmptyList();
  absl::Status List();
  absl::Status Append();
  absl::Status Appends();
  absl::Status EmptyDict();
  absl::Status Dict();
  absl::Status SetItem();
  absl::Status SetItems();
  absl::Status Global();
  absl::Status StackGlobal();
  absl::Status Reduce();
  absl::Status Build();
  absl::Status Memoize();
  absl::Status BinPut();
  absl::Status LongBinPut();
  absl::Status BinGet();
  absl::Status LongBinGet();

 private:
  std::string_view file_;
  PickleHeap& heap_;
  size_t at_ = 0;
  size_t opcode_ = 0;
  std::vector<PickleRef> stack_;
  std::vector<size_t> marks_;
  std::vector<PickleRef> memo_;
  size_t memoized_ = 0;
};

struct PickleOpcode {
  uint8_t code;
  const char* name;
  PickleMachine::Handler handler;  // null: refused, and kStop
};

constexpr uint8_t kPickleStop = '.';

// Null for a byte that is no opcode.
const PickleOpcode* FindPickleOpcode(uint8_t code);

}  // namespace dtranspile::io
