// One op as a library call sees it: slots with their arguments, attributes, outputs to size and to
// fill. Kernels of runtime/kernels/cpu/ops are functions `int32_t f(OpCall&)`; a table of the
// family names them, runtime/kernels/signatures/<family>.calls says which slots and attributes they
// are given, in which order.
//
// Outputs are slots after the inputs. A slot has no argument where the program has none, and an
// output none where nobody reads it. Every kernel sizes its outputs (Resize) before it writes them:
// for a buffer of fixed extents that only checks.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/value.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {

class OpCall {
 public:
  OpCall(DtContext* context, const DtCall* call) : context_(context), call_(call) {}

  DtContext* context() const { return context_; }
  const DtCall* raw() const { return call_; }

  int Count(int slot) const;  // arguments of the slot
  bool Has(int slot) const { return Count(slot) > 0; }
  DtBuffer& Arg(int slot,
                int index = 0);  // an empty buffer, and a failure of the call, where there is none
  // Whether a slot has argument `index`: a place in a list may stand for an argument that the
  // program lacks, or an output that nobody reads.
  bool Has(int slot, int index);

  // Whether a value of an attribute that callers may leave out was given.
  bool Given(int attr) const {
    return attr >= 0 && attr < call_->num_attrs && call_->attrs[attr].count > 0;
  }
  // Attributes by position. One of another kind is a failure of the call.
  int64_t Int(int attr);
  bool Bool(int attr) { return Int(attr) != 0; }
  double Real(int attr);  // of an integer attribute too
  std::string_view Text(int attr);
  absl::Span<const int64_t> Ints(int attr);
  absl::Span<const double> Reals(int attr);
  int Strings(int attr);  // how many
  std::string_view Text(int attr, int index);

  // Gives an output its extents; false (with a message) where its extents are fixed and others, or
  // memory lacks. The LoD of `out` is dropped. Do not keep pointers to its data or dims over this
  // call.
  bool Resize(DtBuffer& out, absl::Span<const int64_t> dims);
  bool Resize(DtBuffer& out, const DtBuffer& like) { return Resize(out, Dims(like)); }

  // LoD of an argument: empty levels for dense ones.
  static const Lod& LodOf(const DtBuffer& buffer);
  // Gives an output LoD; ignored where the plan has it dense (nobody can see it).
  static void SetLod(DtBuffer& out, const Lod& lod);

  // SelectedRows and lists; null where the argument is none.
  static exec::Value* ValueOf(const DtBuffer& buffer) {
    return static_cast<exec::Value*>(buffer.value);
  }

  // For outputs of kind SelectedRows: `rows` row numbers in a tensor of `height` rows, values
  // [rows, inner...]. After it the data of `out` are those of the values; the caller fills
  // ValueOf(out)->rows.
  bool ResizeRows(DtBuffer& out, int64_t rows, int64_t height, absl::Span<const int64_t> inner);

  // Reads extents and type of a buffer's Value again, after the kernel has changed it.
  static void Refresh(DtBuffer& buffer);

  static absl::Span<const int64_t> Dims(const DtBuffer& buffer) {
    return {buffer.dims, static_cast<size_t>(buffer.rank)};
  }

  // printf-like; returns 1.
  int32_t Fail(const char* format, ...) __attribute__((format(printf, 2, 3)));

  // Whether an accessor was asked for what is not there. The wrapper of call_table.h turns it into
  // an error.
  bool broken() const { return broken_; }

 private:
  const DtAttr* Attr(int attr);
  DtContext* context_;
  const DtCall* call_;
  DtBuffer nothing_ = {};
  bool broken_ = false;
};

// A buffer for a value inside another one (an item of a list), as the functions here take them.
DtBuffer BufferOf(exec::Value& value, const char* name);

// Gives an output its element type, before Resize; false (with a message) where the plan has fixed
// another.
bool SetType(OpCall& call, DtBuffer& out, DType type);

// Makes `out` a deep copy: elements, extents, LoD, rows, items. False (with a message) where `out`
// has a fixed place of other extents or type.
bool Copy(OpCall& call, DtBuffer& out, const DtBuffer& x);

// Whether nobody has given a value extents or items yet. Zero rows of rank 1 look the same.
bool IsUnset(const DtBuffer& buffer);

// The Value of a tensor array; null (with a message) for anything else.
exec::Value* ListOf(OpCall& call, const DtBuffer& buffer);

using OpKernel = int32_t (*)(OpCall&);

// The entry of the ABI for a kernel: checks buffers, and that the kernel got what it asked for.
int32_t RunOpKernel(DtContext* context, const DtCall* call, OpKernel kernel);

template <OpKernel kernel>
int32_t Entry(DtContext* context, const DtCall* call) {
  return RunOpKernel(context, call, kernel);
}

// Normalises `axis` of a tensor of `rank` dims; false (with a message that names the argument) when
// out of range.
bool NormalAxis(OpCall& call, const DtBuffer& buffer, int64_t& axis);

// Integers that an op takes from a tensor argument (int32 or int64), as ShapeTensor, StartsTensor
// …; false with a message for other types.
bool IntegersOf(OpCall& call, const DtBuffer& buffer, std::vector<int64_t>& values);

// Whether both have the same element type; false with a message that names them.
bool SameType(OpCall& call, const DtBuffer& a, const DtBuffer& b);

}  // namespace dtranspile::kernels
