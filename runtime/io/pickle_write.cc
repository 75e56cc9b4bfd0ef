// Pickles of named arrays, in the few opcodes that protocols 2 and 4 need for them (names: Python's
// Lib/pickletools.py).
#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/npy_type.h"
#include "runtime/io/output.h"
#include "runtime/io/pickle.h"

namespace dtranspile::io {
namespace {

// Twice as many still have a length of 32 bits.
constexpr int64_t kMostBytes = (int64_t{1} << 31) - 1;

// Collects opcodes and hands them to the file in pieces. The first error is kept, so that emitting
// reads like the pickle.
class Emitter {
 public:
  Emitter(OutputFile& file, int protocol) : file_(file), protocol_(protocol) {}

  void Op(char opcode) { Raw(&opcode, 1); }
  void Op(int opcode) { Op(static_cast<char>(opcode)); }

  void Raw(const void* data, size_t size) {
    buffer_.append(static_cast<const char*>(data), size);
    if (buffer_.size() > kPiece) Flush();
  }

  void Text(const std::string& text) {
    Op('X');  // BINUNICODE
    Number(static_cast<uint32_t>(text.size()));
    Raw(text.data(), text.size());
  }

  void Global(const std::string& module, const std::string& name) {
    Raw2("c" + module + "\n" + name + "\n");
  }

  void Int(int64_t value) {
    if (value >= std::numeric_limits<int32_t>::min() &&
        value <= std::numeric_limits<int32_t>::max()) {
      Op('J');  // BININT
      Number(static_cast<int32_t>(value));
    } else {
      Op(0x8a);  // LONG1
      Op(8);
      Number(value);
    }
  }

  void IntTuple(const std::vector<int64_t>& values) {
    Op('(');
    for (int64_t value : values) Int(value);
    Op('t');
  }

  void Bytes(const std::byte* data, int64_t size) {
    if (protocol_ == 2) return BytesAsText(data, size);
    Op(0x8e);  // BINBYTES8
    Number(static_cast<uint64_t>(size));
    Data(data, size);
  }

  absl::Status Finish() {
    Flush();
    return status_;
  }

 private:
  static constexpr size_t kPiece = 1 << 20;

  template <typename T>
  void Number(T value) {
    Raw(&value, sizeof value);
  }

  void Raw2(const std::string& bytes) { Raw(bytes.data(), bytes.size()); }

  void Data(const std::byte* data, int64_t size) {
    Flush();
    if (status_.ok()) status_ = file_.Write(data, size);
  }

  // Protocol 2 has no bytes: _codecs.encode(text, 'latin1'), where byte b is character b. UTF-8
  // takes two bytes for those from 128 on.
  void BytesAsText(const std::byte* data, int64_t size) {
    const auto high = std::count_if(
        data, data + size, [](std::byte b) { return (b & std::byte{0x80}) != std::byte{0}; });
    Global("_codecs", "encode");
    Op('X');
    Number(static_cast<uint32_t>(size + high));
    for (int64_t i = 0; i < size; ++i) {
      const auto byte = static_cast<uint8_t>(data[i]);
      if (byte >= 0x80) Op(0xc0 | byte >> 6);
      Op(byte >= 0x80 ? 0x80 | (byte & 0x3f) : byte);
    }
    Text("latin1");
    Op(0x86);  // TUPLE2
    Op('R');
  }

  void Flush() {
    if (status_.ok()) status_ = file_.Write(buffer_.data(), static_cast<int64_t>(buffer_.size()));
    buffer_.clear();
  }

  OutputFile& file_;
  int protocol_;
  std::string buffer_;
  absl::Status status_;
};

// What ndarray.__reduce__ and dtype.__reduce__ give.
void EmitArray(Emitter& out, const TensorView& value) {
  const std::string descr = NumpyFromDType(value.dtype);
  out.Global("numpy.core.multiarray", "_reconstruct");
  out.Global("numpy", "ndarray");
  out.IntTuple({0});
  out.Text("b");
  out.Op(0x87);  // TUPLE3
  out.Op('R');
  out.Op('(');
  out.Int(1);
  out.IntTuple(value.dims);
  out.Global("numpy", "dtype");
  out.Text(descr.substr(1));
  out.Op(0x89);  // NEWFALSE
  out.Op(0x88);  // NEWTRUE
  out.Op(0x87);
  out.Op('R');
  out.Op('(');
  out.Int(3);
  out.Text(descr.substr(0, 1));
  for (int i = 0; i < 3; ++i) out.Op('N');
  out.Int(-1);
  out.Int(-1);
  out.Int(0);
  out.Op('t');
  out.Op('b');
  out.Op(0x89);  // C order
  out.Bytes(value.data, value.bytes());
  out.Op('t');
  out.Op('b');
}

struct Sliced {
  std::string name;
  std::vector<int64_t> dims;
  int64_t slices;
};

std::string SliceName(const std::string& name, int64_t index) {
  return absl::StrCat(name, "@@.", index);
}

// Cuts into flat parts of at most `most` elements, as the framework does for protocol 2.
Sliced EmitSlices(Emitter& out, const std::string& name, const TensorView& value, int64_t most) {
  const auto size = static_cast<int64_t>(SizeOf(value.dtype));
  const int64_t count = value.bytes() / size;
  Sliced sliced{name, value.dims, 0};
  for (int64_t begin = 0; begin < count; begin += most) {
    const int64_t part = std::min(most, count - begin);
    out.Text(SliceName(name, sliced.slices++));
    EmitArray(out, {value.dtype, {part}, value.data + begin * size});
  }
  return sliced;
}

void EmitSliceInfo(Emitter& out, const std::vector<Sliced>& all) {
  out.Text("UnpackBigParamInfor@@");
  out.Op('}');
  out.Op('(');
  for (const Sliced& sliced : all) {
    out.Text(sliced.name);
    out.Op('}');
    out.Op('(');
    out.Text("OriginShape");
    out.IntTuple(sliced.dims);
    out.Text("slices");
    out.Op(']');
    out.Op('(');
    for (int64_t i = 0; i < sliced.slices; ++i) out.Text(SliceName(sliced.name, i));
    out.Op('e');
    out.Op('u');
  }
  out.Op('u');
}

}  // namespace

absl::Status WritePickleState(const std::string& path,
                              const std::map<std::string, TensorView>& values,
                              const PickleOptions& options) {
  if (options.protocol != 2 && options.protocol != 4) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": pickles are written in protocol 2 or 4, not ", options.protocol));
  }
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  Emitter out(file, options.protocol);
  out.Op(0x80);
  out.Op(options.protocol);
  out.Op('}');
  out.Op('(');
  std::vector<Sliced> sliced;
  for (const auto& [name, value] : values) {
    const int64_t most = std::max<int64_t>(
        1, std::min(options.slice_bytes, kMostBytes) / static_cast<int64_t>(SizeOf(value.dtype)));
    if (options.protocol == 2 && value.bytes() / static_cast<int64_t>(SizeOf(value.dtype)) > most) {
      sliced.push_back(EmitSlices(out, name, value, most));
    } else {
      out.Text(name);
      EmitArray(out, value);
    }
  }
  if (!sliced.empty()) EmitSliceInfo(out, sliced);
  out.Op('u');
  out.Op('.');
  DT_RETURN_IF_ERROR(out.Finish());
  return file.Close();
}

}  // namespace dtranspile::io
