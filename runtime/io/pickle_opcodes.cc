// Every opcode of protocols 0 to 5, as Python's Lib/pickletools.py has them.
#include "runtime/io/pickle_opcodes.h"

#include <array>

namespace dtranspile::io {
namespace {

constexpr PickleOpcode kRows[] = {
    {0x80, "PROTO", &PickleMachine::Proto},
    {0x95, "FRAME", &PickleMachine::Frame},
    {'(', "MARK", &PickleMachine::Mark},
    {'0', "POP", &PickleMachine::Pop},
    {'1', "POP_MARK", &PickleMachine::PopMark},
    {'2', "DUP", &PickleMachine::Dup},
    {'N', "NONE", &PickleMachine::None},
    {0x88, "NEWTRUE", &PickleMachine::True},
    {0x89, "NEWFALSE", &PickleMachine::False},
    {'J', "BININT", &PickleMachine::BinInt},
    {'K', "BININT1", &PickleMachine::BinInt1},
    {'M', "BININT2", &PickleMachine::BinInt2},
    {0x8a, "LONG1", &PickleMachine::Long1},
    {0x8b, "LONG4", &PickleMachine::Long4},
    {'G', "BINFLOAT", &PickleMachine::BinFloat},
    {0x8c, "SHORT_BINUNICODE", &PickleMachine::ShortBinUnicode},
    {'X', "BINUNICODE", &PickleMachine::BinUnicode},
    {0x8d, "BINUNICODE8", &PickleMachine::BinUnicode8},
    {'U', "SHORT_BINSTRING", &PickleMachine::ShortBinString},
    {'T', "BINSTRING", &PickleMachine::BinString},
    {'C', "SHORT_BINBYTES", &PickleMachine::ShortBinBytes},
    {'B', "BINBYTES", &PickleMachine::BinBytes},
    {0x8e, "BINBYTES8", &PickleMachine::BinBytes8},
    {0x96, "BYTEARRAY8", &PickleMachine::BinBytes8},
    {')', "EMPTY_TUPLE", &PickleMachine::EmptyTuple},
    {'t', "TUPLE", &PickleMachine::Tuple},
    {0x85, "TUPLE1", &PickleMachine::Tuple1},
    {0x86, "TUPLE2", &PickleMachine::Tuple2},
    {0x87, "TUPLE3", &PickleMachine::Tuple3},
    {']', "EMPTY_LIST", &PickleMachine::EmptyList},
    {'l', "LIST", &PickleMachine::List},
    {'a', "APPEND", &PickleMachine::Append},
    {'e', "APPENDS", &PickleMachine::Appends},
    {'}', "EMPTY_DICT", &PickleMachine::EmptyDict},
    {'d', "DICT", &PickleMachine::Dict},
    {'s', "SETITEM", &PickleMachine::SetItem},
    {'u', "SETITEMS", &PickleMachine::SetItems},
    {'c', "GLOBAL", &PickleMachine::Global},
    {0x93, "STACK_GLOBAL", &PickleMachine::StackGlobal},
    {'R', "REDUCE", &PickleMachine::Reduce},
    {'b', "BUILD", &PickleMachine::Build},
    {0x94, "MEMOIZE", &PickleMachine::Memoize},
    {'q', "BINPUT", &PickleMachine::BinPut},
    {'r', "LONG_BINPUT", &PickleMachine::LongBinPut},
    {'h', "BINGET", &PickleMachine::BinGet},
    {'j', "LONG_BINGET", &PickleMachine::LongBinGet},
    {kPickleStop, "STOP", nullptr},
    {'F', "FLOAT (protocol 0)", nullptr},
    {'I', "INT (protocol 0)", nullptr},
    {'L', "LONG (protocol 0)", nullptr},
    {'P', "PERSID", nullptr},
    {'Q', "BINPERSID", nullptr},
    {'S', "STRING (protocol 0)", nullptr},
    {'V', "UNICODE (protocol 0)", nullptr},
    {'g', "GET (protocol 0)", nullptr},
    {'i', "INST", nullptr},
    {'o', "OBJ", nullptr},
    {'p', "PUT (protocol 0)", nullptr},
    {0x81, "NEWOBJ", nullptr},
    {0x82, "EXT1", nullptr},
    {0x83, "EXT2", nullptr},
    {0x84, "EXT4", nullptr},
    {0x8f, "EMPTY_SET", nullptr},
    {0x90, "ADDITEMS", nullptr},
    {0x91, "FROZENSET", nullptr},
    {0x92, "NEWOBJ_EX", nullptr},
    {0x97, "NEXT_BUFFER (data outside of the file)", nullptr},
    {0x98, "READONLY_BUFFER (data outside of the file)", nullptr},
};

constexpr std::array<const PickleOpcode*, 256> MakeIndex() {
  std::array<const PickleOpcode*, 256> index{};
  for (const PickleOpcode& row : kRows) index[row.code] = &row;
  return index;
}

constexpr std::array<const PickleOpcode*, 256> kIndex = MakeIndex();

}  // namespace

const PickleOpcode* FindPickleOpcode(uint8_t code) { return kIndex[code]; }

}  // namespace dtranspile::io
