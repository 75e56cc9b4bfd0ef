// Pickles of named arrays, in the few opcodes that protocol 4 needs for them (names: Python's
// Lib/pickletools.py).
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/npy_type.h"
#include "runtime/io/output.h"
#include "runtime/io/pickle.h"

namespace dtranspile::io {
namespace {

// The framework's default since 2.1.
constexpr int kProtocol = 4;

// Collects opcodes and hands them to the file in pieces. The first error is kept, so that emitting
// reads like the pickle.
class Emitter {
 public:
  explicit Emitter(OutputFile& file) : file_(file) {}

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

  void Flush() {
    if (status_.ok()) status_ = file_.Write(buffer_.data(), static_cast<int64_t>(buffer_.size()));
    buffer_.clear();
  }

  OutputFile& file_;
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

}  // namespace

// PROTO 4, EMPTY_DICT, MARK, key and value for each, SETITEMS, STOP.
absl::Status WritePickleState(const std::string& path,
                              const std::map<std::string, TensorView>& values) {
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  Emitter out(file);
  out.Op(0x80);
  out.Op(kProtocol);
  out.Op('}');
  out.Op('(');
  for (const auto& [name, value] : values) {
    out.Text(name);
    EmitArray(out, value);
  }
  out.Op('u');
  out.Op('.');
  DT_RETURN_IF_ERROR(out.Finish());
  return file.Close();
}

}  // namespace dtranspile::io
