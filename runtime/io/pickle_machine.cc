#include "runtime/io/pickle_machine.h"

#include <bit>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/status.h"
#include "runtime/io/pickle_objects.h"
#include "runtime/io/pickle_opcodes.h"

namespace dtranspile::io {
namespace {

constexpr PickleRef kNoValue = std::numeric_limits<PickleRef>::max();

}  // namespace

// The virtual machine of pickles (Python's pickletools describes it), for protocols 2 to 5, without
// what runs code: opcodes are rows of a table, those without a handler are refused, and the only
// names and calls are the permitted ones of FindGlobal and CallGlobal. Values are nodes on a heap
// with a budget, so that a small file cannot become a large value. Linear in the file.
absl::StatusOr<PickleRef> PickleMachine::Run() {
  while (true) {
    opcode_ = at_;
    DT_ASSIGN_OR_RETURN(const uint8_t code, Number<uint8_t>());
    if (code == kPickleStop) break;
    const PickleOpcode* row = FindPickleOpcode(code);
    if (!row) return absl::InvalidArgumentError(absl::StrFormat("byte 0x%02x is no opcode", code));
    if (!row->handler) return absl::PermissionDeniedError("this opcode is not permitted");
    DT_RETURN_IF_ERROR((this->*row->handler)());
  }
  if (stack_.size() != 1 || !marks_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the pickle ends with ", stack_.size(), " values instead of one"));
  }
  return stack_[0];
}

const char* PickleMachine::opcode_name() const {
  const PickleOpcode* row =
      opcode_ < file_.size() ? FindPickleOpcode(static_cast<uint8_t>(file_[opcode_])) : nullptr;
  return row ? row->name : "end of file";
}

// All reading goes through here: no length of the file is believed before it was compared with what
// is left.
absl::StatusOr<std::string_view> PickleMachine::Take(uint64_t count) {
  if (count > file_.size() - at_) {
    return absl::DataLossError(
        absl::StrCat(count, " bytes wanted, ", file_.size() - at_, " are left"));
  }
  const std::string_view taken = file_.substr(at_, count);
  at_ += count;
  return taken;
}

// Little-endian, as the machine is.
template <typename T>
absl::StatusOr<T> PickleMachine::Number() {
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(sizeof(T)));
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// The one text format of protocol 2: module and name of a global, each ended by a line feed.
absl::StatusOr<std::string_view> PickleMachine::Line() {
  const size_t end = file_.find('\n', at_);
  if (end == std::string_view::npos) return absl::DataLossError("a name without an end");
  const std::string_view line = file_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

absl::Status PickleMachine::PushResult(absl::StatusOr<PickleRef> ref) {
  if (ref.ok()) Push(*ref);
  return ref.status();
}

// Values below the last mark are not available: an opcode may not take what belongs to an outer
// one.
absl::Status PickleMachine::Want(size_t count) const {
  if (Available() >= count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(count, " values wanted, the stack has ", Available()));
}

PickleRef PickleMachine::PopOne() {
  const PickleRef top = stack_.back();
  stack_.pop_back();
  return top;
}

// The values since the last mark, in order; the mark goes, too.
absl::StatusOr<std::vector<PickleRef>> PickleMachine::PopToMark() {
  if (marks_.empty()) return absl::InvalidArgumentError("no mark on the stack");
  const auto begin = stack_.begin() + static_cast<ptrdiff_t>(marks_.back());
  std::vector<PickleRef> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

absl::Status PickleMachine::Proto() {
  DT_ASSIGN_OR_RETURN(const uint8_t version, Number<uint8_t>());
  if (version >= 2 && version <= 5) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("protocol ", version, "; 2 to 5 are read"));
}

// Frames only help readers that fetch a file in pieces; the content follows unframed.
absl::Status PickleMachine::Frame() {
  DT_ASSIGN_OR_RETURN(const uint64_t size, Number<uint64_t>());
  if (size <= file_.size() - at_) return absl::OkStatus();
  return absl::DataLossError(
      absl::StrCat("a frame of ", size, " bytes, ", file_.size() - at_, " are left"));
}

absl::Status PickleMachine::Mark() {
  marks_.push_back(stack_.size());
  return absl::OkStatus();
}

absl::Status PickleMachine::Pop() {
  DT_RETURN_IF_ERROR(Want(1));
  PopOne();
  return absl::OkStatus();
}

absl::Status PickleMachine::PopMark() { return PopToMark().status(); }

absl::Status PickleMachine::Dup() {
  DT_RETURN_IF_ERROR(Want(1));
  Push(stack_.back());
  return absl::OkStatus();
}

absl::Status PickleMachine::None() { return PushResult(heap_.none()); }
absl::Status PickleMachine::True() { return PushResult(heap_.boolean(true)); }
absl::Status PickleMachine::False() { return PushResult(heap_.boolean(false)); }

absl::Status PickleMachine::BinInt() {
  DT_ASSIGN_OR_RETURN(const int32_t value, Number<int32_t>());
  return PushResult(heap_.AddInt(value));
}

absl::Status PickleMachine::BinInt1() {
  DT_ASSIGN_OR_RETURN(const uint8_t value, Number<uint8_t>());
  return PushResult(heap_.AddInt(value));
}

absl::Status PickleMachine::BinInt2() {
  DT_ASSIGN_OR_RETURN(const uint16_t value, Number<uint16_t>());
  return PushResult(heap_.AddInt(value));
}

// Two's complement, little-endian, of any length; no number of a state needs more than 64 bits.
absl::Status PickleMachine::LongOf(uint64_t count) {
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(count));
  if (count > sizeof(int64_t))
    return absl::InvalidArgumentError(absl::StrCat("an integer of ", count, " bytes"));
  int64_t value = count > 0 && (bytes.back() & 0x80) ? -1 : 0;
  std::memcpy(&value, bytes.data(), count);
  return PushResult(heap_.AddInt(value));
}

absl::Status PickleMachine::Long1() {
  DT_ASSIGN_OR_RETURN(const uint8_t count, Number<uint8_t>());
  return LongOf(count);
}

absl::Status PickleMachine::Long4() {
  DT_ASSIGN_OR_RETURN(const uint32_t count, Number<uint32_t>());
  return LongOf(count);
}

// The only number of a pickle with its most significant byte first.
absl::Status PickleMachine::BinFloat() {
  DT_ASSIGN_OR_RETURN(const uint64_t big_endian, Number<uint64_t>());
  DT_ASSIGN_OR_RETURN(const PickleRef ref, heap_.Add(PickleKind::kFloat));
  heap_[ref].real = std::bit_cast<double>(__builtin_bswap64(big_endian));
  Push(ref);
  return absl::OkStatus();
}

// A length of the opcode's width, then as many bytes.
template <typename Length>
absl::Status PickleMachine::Bytes(PickleKind kind) {
  DT_ASSIGN_OR_RETURN(const Length count, Number<Length>());
  DT_ASSIGN_OR_RETURN(const std::string_view bytes, Take(count));
  return PushResult(heap_.AddBytes(kind, bytes));
}

absl::Status PickleMachine::ShortBinUnicode() { return Bytes<uint8_t>(PickleKind::kText); }
absl::Status PickleMachine::BinUnicode() { return Bytes<uint32_t>(PickleKind::kText); }
absl::Status PickleMachine::BinUnicode8() { return Bytes<uint64_t>(PickleKind::kText); }
absl::Status PickleMachine::ShortBinString() { return Bytes<uint8_t>(PickleKind::kString); }
absl::Status PickleMachine::BinString() { return Bytes<uint32_t>(PickleKind::kString); }
absl::Status PickleMachine::ShortBinBytes() { return Bytes<uint8_t>(PickleKind::kBytes); }
absl::Status PickleMachine::BinBytes() { return Bytes<uint32_t>(PickleKind::kBytes); }
absl::Status PickleMachine::BinBytes8() { return Bytes<uint64_t>(PickleKind::kBytes); }

absl::Status PickleMachine::PushTuple(std::vector<PickleRef> items) {
  if (items.empty()) return PushResult(heap_.empty_tuple());
  DT_ASSIGN_OR_RETURN(const PickleRef tuple, heap_.Add(PickleKind::kTuple));
  heap_[tuple].items = std::move(items);
  Push(tuple);
  return absl::OkStatus();
}

absl::Status PickleMachine::TupleOf(size_t count) {
  DT_RETURN_IF_ERROR(Want(count));
  std::vector<PickleRef> items(stack_.end() - static_cast<ptrdiff_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return PushTuple(std::move(items));
}

absl::Status PickleMachine::EmptyTuple() { return PushResult(heap_.empty_tuple()); }
absl::Status PickleMachine::Tuple1() { return TupleOf(1); }
absl::Status PickleMachine::Tuple2() { return TupleOf(2); }
absl::Status PickleMachine::Tuple3() { return TupleOf(3); }

absl::Status PickleMachine::Tuple() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return PushTuple(std::move(items));
}

// Appends to the list or dict on top of the stack.
absl::Status PickleMachine::AddItems(PickleKind kind, std::vector<PickleRef> items) {
  DT_RETURN_IF_ERROR(Want(1));
  PickleNode& target = heap_[stack_.back()];
  if (target.kind != kind) {
    return absl::InvalidArgumentError(
        absl::StrCat("items for ", NameOf(kind), " meet ", NameOf(target.kind)));
  }
  if (kind == PickleKind::kDict && items.size() % 2 != 0)
    return absl::InvalidArgumentError("a key without a value");
  target.items.insert(target.items.end(), items.begin(), items.end());
  return absl::OkStatus();
}

absl::Status PickleMachine::EmptyList() { return PushResult(heap_.Add(PickleKind::kList)); }
absl::Status PickleMachine::EmptyDict() { return PushResult(heap_.Add(PickleKind::kDict)); }

absl::Status PickleMachine::List() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  DT_RETURN_IF_ERROR(EmptyList());
  return AddItems(PickleKind::kList, std::move(items));
}

absl::Status PickleMachine::Dict() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  DT_RETURN_IF_ERROR(EmptyDict());
  return AddItems(PickleKind::kDict, std::move(items));
}

absl::Status PickleMachine::Append() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef item = PopOne();
  return AddItems(PickleKind::kList, {item});
}

absl::Status PickleMachine::Appends() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return AddItems(PickleKind::kList, std::move(items));
}

absl::Status PickleMachine::SetItem() {
  DT_RETURN_IF_ERROR(Want(3));
  const PickleRef value = PopOne();
  const PickleRef key = PopOne();
  return AddItems(PickleKind::kDict, {key, value});
}

absl::Status PickleMachine::SetItems() {
  DT_ASSIGN_OR_RETURN(std::vector<PickleRef> items, PopToMark());
  return AddItems(PickleKind::kDict, std::move(items));
}

// The only way by which names enter; what is not on the list of permitted ones is an error.
absl::Status PickleMachine::FindName(std::string_view module, std::string_view name) {
  // Longer names than any permitted one are cut for the message.
  return PushResult(
      FindGlobal(heap_, std::string(module.substr(0, 256)), std::string(name.substr(0, 256))));
}

absl::Status PickleMachine::Global() {
  DT_ASSIGN_OR_RETURN(const std::string_view module, Line());
  DT_ASSIGN_OR_RETURN(const std::string_view name, Line());
  return FindName(module, name);
}

// Protocol 4 has names on the stack.
absl::Status PickleMachine::StackGlobal() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef name = PopOne();
  const PickleRef module = PopOne();
  if (!heap_[name].IsText() || !heap_[module].IsText())
    return absl::InvalidArgumentError("a name that is no text");
  return FindName(heap_[module].bytes, heap_[name].bytes);
}

// "Call the function with the arguments": of the permitted ones, each of which is written anew here
// (pickle_objects.h).
absl::Status PickleMachine::Reduce() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef arguments = PopOne();
  const PickleRef function = PopOne();
  return PushResult(CallGlobal(heap_, function, arguments));
}

// The state of an object that Reduce made stays on the stack in its place.
absl::Status PickleMachine::Build() {
  DT_RETURN_IF_ERROR(Want(2));
  const PickleRef state = PopOne();
  return SetState(heap_, stack_.back(), state);
}

// The memo is a vector, since picklers number densely; `memoized_` counts the entries for MEMOIZE,
// which takes the next number.
absl::Status PickleMachine::Store(uint64_t index) {
  DT_RETURN_IF_ERROR(Want(1));
  // Picklers number what they store from 0, with at least an opcode each.
  if (index >= file_.size())
    return absl::InvalidArgumentError(
        absl::StrCat("memo entry ", index, " of a file of ", file_.size(), " bytes"));
  if (memo_.size() <= index) memo_.resize(index + 1, kNoValue);
  if (memo_[index] == kNoValue) ++memoized_;
  memo_[index] = stack_.back();
  return absl::OkStatus();
}

// A value of the memo is the value, not a copy: two names of one list stay one list.
absl::Status PickleMachine::Load(uint64_t index) {
  if (index >= memo_.size() || memo_[index] == kNoValue) {
    return absl::InvalidArgumentError(absl::StrCat("memo entry ", index, " is empty"));
  }
  Push(memo_[index]);
  return absl::OkStatus();
}

absl::Status PickleMachine::Memoize() { return Store(memoized_); }

absl::Status PickleMachine::BinPut() {
  DT_ASSIGN_OR_RETURN(const uint8_t index, Number<uint8_t>());
  return Store(index);
}

absl::Status PickleMachine::LongBinPut() {
  DT_ASSIGN_OR_RETURN(const uint32_t index, Number<uint32_t>());
  return Store(index);
}

absl::Status PickleMachine::BinGet() {
  DT_ASSIGN_OR_RETURN(const uint8_t index, Number<uint8_t>());
  return Load(index);
}

absl::Status PickleMachine::LongBinGet() {
  DT_ASSIGN_OR_RETURN(const uint32_t index, Number<uint32_t>());
  return Load(index);
}

// Errors name the offset and the opcode; a pickle ends where the file does.
absl::StatusOr<PickleRef> RunPickle(const std::string& name, std::string_view file,
                                    PickleHeap& heap) {
  if (file.size() < 2 || static_cast<uint8_t>(file[0]) != 0x80) {
    return absl::InvalidArgumentError(name + ": does not begin as a pickle of protocol 2 to 5");
  }
  PickleMachine machine(file, heap);
  absl::StatusOr<PickleRef> root = machine.Run();
  if (!root.ok()) {
    return absl::Status(root.status().code(),
                        absl::StrCat(name, ": offset ", machine.opcode_offset(), ": ",
                                     machine.opcode_name(), ": ", root.status().message()));
  }
  if (machine.offset() != file.size()) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": offset ", machine.offset(), ": ",
                                                   file.size() - machine.offset(),
                                                   " bytes after the pickle"));
  }
  return root;
}

}  // namespace dtranspile::io
