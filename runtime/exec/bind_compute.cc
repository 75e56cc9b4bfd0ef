// Nodes that compute: generated kernels, library calls, copies.
#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/narrow_arguments.h"
#include "runtime/exec/unknown_extents.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

absl::StatusOr<std::vector<ValueArgument>> ValuesOf(const std::vector<int>& args,
                                                    std::vector<void*>& pointers,
                                                    const Binder& binder) {
  std::vector<ValueArgument> values;
  for (int id : args) {
    DT_ASSIGN_OR_RETURN(std::byte* const address, binder.Address(id));
    pointers.push_back(address);
    values.push_back({binder.storage.value(id), &binder.buffer(id).name});
  }
  return values;
}

// What a kernel node shares out over threads. Kernels take the end of their rows, dt_parallel gives
// the number.
struct Rows {
  DtKernel kernel;
  void* const* args;
};

void RunRows(void* arg, int64_t lo, int64_t n) {
  const Rows& rows = *static_cast<const Rows*>(arg);
  rows.kernel(rows.args, lo, lo + n);
}

// A generated kernel with its arguments. Pointers of fixed places are bound once; those of values
// and the table of extents are looked up at every run, since values move when they grow. The last
// argument is where a kernel notes the element at which it would have divided by zero: kernels
// cannot return a status.
class BoundKernel : public BoundNode {
 public:
  BoundKernel(const KernelNode& kernel, const Node& node, DtKernel function,
              std::vector<void*> pointers, std::vector<ValueArgument> values, const Binder& binder)
      : BoundNode(node),
        kernel_(kernel),
        function_(function),
        pointers_(std::move(pointers)),
        values_(std::move(values)),
        context_(binder.context),
        fault_(binder.fault) {
    pointers_.push_back(&fault_);
    if (kernel_.unknown) pointers_.push_back(&fault_);  // after the table of extents
  }

  // Kernels with extents that only the step knows read them off their arguments first, which also
  // sizes the outputs. A fault cell collects the place of an integer division by zero: a kernel has
  // no other way to fail.
  absl::Status Run(Walk&) override {
    int64_t rows = kernel_.rows;
    if (kernel_.unknown) {
      DT_RETURN_IF_ERROR(BindExtents(*kernel_.unknown, values_, extents_));
      for (size_t i = 0; i < values_.size(); ++i)
        if (values_[i].value != nullptr) pointers_[i] = values_[i].value->data();
      pointers_[values_.size()] = extents_.table.data();
      rows = extents_.rows;
    }
    Rows shared{function_, pointers_.data()};
    dt_parallel(&context_, rows, kernel_.grain, RunRows, &shared);
    const uint64_t element = std::exchange(fault_, DT_NO_FAULT);
    if (element == DT_NO_FAULT) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("element ", element, ": an integer is divided by zero"));
  }

 private:
  const KernelNode& kernel_;
  const DtKernel function_;
  std::vector<void*> pointers_;
  const std::vector<ValueArgument> values_;
  BoundExtents extents_;
  DtContext& context_;
  uint64_t& fault_;
};

// A library call with its arguments and attributes, all in memory that lives as long as the node: a
// run changes only what values have for extents. `narrow_` widens arguments of element types that
// the kernel lacks, and narrows its results.
class BoundCall : public BoundNode {
 public:
  BoundCall(const CallNode& call, const Node& node, DtFunction function,
            std::vector<DtBuffer> buffers, const Binder& binder);

  absl::Status Run(Walk&) override;

 private:
  void BindAttributes(const CallNode& call);
  void ShareLod();
  Value* value(size_t argument) const { return static_cast<Value*>(buffers_[argument].value); }

  const DtFunction function_;
  DtContext& context_;
  std::vector<DtBuffer> buffers_;
  std::vector<const char*> strings_;
  std::vector<DtAttr> attributes_;
  DtCall call_ = {};
  void* state_ = nullptr;
  std::unique_ptr<NarrowArguments> narrow_;  // null where there are none
  std::vector<size_t> ragged_outputs_;       // arguments that may have to get a LoD
};

BoundCall::BoundCall(const CallNode& call, const Node& node, DtFunction function,
                     std::vector<DtBuffer> buffers, const Binder& binder)
    : BoundNode(node), function_(function), context_(binder.context), buffers_(std::move(buffers)) {
  for (int at : call.written)
    if (binder.buffer(call.args[static_cast<size_t>(at)]).lod_level > 0)
      ragged_outputs_.push_back(static_cast<size_t>(at));
  BindAttributes(call);
  call_.state = &state_;
  if (function == nullptr || !binder.links.element_types) return;
  auto narrow =
      std::make_unique<NarrowArguments>(binder.links.element_types(call.callee), buffers_,
                                        call.written, binder.links.find_function("dt_cast"));
  if (narrow->any()) narrow_ = std::move(narrow);
}

// The plan keeps all integers, reals and strings of a call in one list each; an attribute is a kind
// and a count, and takes the next ones of its kind.
void BoundCall::BindAttributes(const CallNode& call) {
  for (const std::string& text : call.strings) strings_.push_back(text.c_str());
  const int64_t* ints = call.ints.data();
  const double* reals = call.reals.data();
  const char* const* strings = strings_.data();
  for (const CallNode::Attribute& a : call.attributes()) {
    attributes_.push_back({a.kind == 'i' ? ints : nullptr, a.kind == 'r' ? reals : nullptr,
                           a.kind == 's' ? strings : nullptr, a.count});
    ints += a.kind == 'i' ? a.count : 0;
    reals += a.kind == 'r' ? a.count : 0;
    strings += a.kind == 's' ? a.count : 0;
  }
  const auto count = [](const auto& list) { return static_cast<int32_t>(list.size()); };
  call_ = {call.callee.c_str(),
           op().c_str(),
           buffers_.data(),
           count(buffers_),
           nullptr,
           call.slots.data(),
           std::max(count(call.slots) - 1, 0),
           attributes_.data(),
           count(attributes_)};
}

// Values may have moved or grown since the last step, so that buffers of values are refreshed
// before each call. Calls that do not know half precision get float32 copies.
absl::Status BoundCall::Run(Walk&) {
  for (DtBuffer& buffer : buffers_)
    if (const auto* v = static_cast<const Value*>(buffer.value)) {
      buffer.data = v->data();
      buffer.dims = v->dims.data();
      buffer.rank = static_cast<int32_t>(v->dims.size());
      buffer.dtype = static_cast<int32_t>(v->dtype);
    }
  if (narrow_) DT_RETURN_IF_ERROR(narrow_->Widen(context_, buffers_));
  DT_RETURN_IF_ERROR(context_.Call(function_, call_));
  if (narrow_) DT_RETURN_IF_ERROR(narrow_->Narrow(context_, buffers_));
  if (!ragged_outputs_.empty()) ShareLod();
  return absl::OkStatus();
}

// Outputs that are ragged by the op's inference and that the call gave no LoD have that of the
// first argument with as many rows.
void BoundCall::ShareLod() {
  for (size_t at : ragged_outputs_) {
    Value& out = *value(at);
    if (!out.lod.empty() || out.dims.empty()) continue;
    for (size_t i = 0; i < buffers_.size(); ++i) {
      const Value* other = value(i);
      if (other == nullptr || other == &out || other->lod.empty() || other->dims[0] != out.dims[0])
        continue;
      out.lod = other->lod;
      break;
    }
  }
}

// Between values and fixed places; extents that differ are an error.
class BoundCopy : public BoundNode {
 public:
  struct End {
    const Buffer* buffer;
    std::byte* data;
    Value* value;
  };
  BoundCopy(const Node& node, End from, End to) : BoundNode(node), from_(from), to_(to) {}

  // Four cases: value or fixed buffer on either side. Fixed ones must agree in bytes.
  absl::Status Run(Walk&) override {
    if (to_.value != nullptr)
      return from_.value != nullptr ? to_.value->Assign(*from_.value)
                                    : to_.value->Assign(TensorView{from_.buffer->dtype,
                                                                   from_.buffer->dims, from_.data});
    if (from_.value != nullptr && from_.value->bytes() != to_.buffer->bytes)
      return absl::InvalidArgumentError(absl::StrCat(
          "'", from_.buffer->name, "' is ", ShapeText(from_.value->dtype, from_.value->dims),
          ", but '", to_.buffer->name, "' is ", ShapeText(to_.buffer->dtype, to_.buffer->dims)));
    const std::byte* data = from_.value != nullptr ? from_.value->data() : from_.data;
    if (to_.buffer->bytes > 0) std::memmove(to_.data, data, static_cast<size_t>(to_.buffer->bytes));
    return absl::OkStatus();
  }

 private:
  const End from_, to_;
};

}  // namespace

// A symbol that the library lacks is noted and binding goes on, so that one message names all of
// them.
BindResult Bind(const KernelNode& kernel, const Node& node, Binder& binder) {
  std::vector<void*> pointers;
  DT_ASSIGN_OR_RETURN(std::vector<ValueArgument> values, ValuesOf(kernel.args, pointers, binder));
  const auto found = binder.library.Find(kernel.symbol);
  if (!found.ok()) binder.Miss(std::string(found.status().message()));
  return std::make_unique<BoundKernel>(kernel, node, found.ok() ? *found : nullptr,
                                       std::move(pointers), std::move(values), binder);
}

BindResult Bind(const CallNode& call, const Node& node, Binder& binder) {
  const auto& find = binder.links.find_function;
  const DtFunction function = find ? find(call.callee) : nullptr;
  if (function == nullptr)
    binder.Miss(absl::StrCat("op ", node.op, ": this runtime has no call '", call.callee, "'"));
  std::vector<DtBuffer> buffers;
  for (int id : call.args) {
    const Buffer& buffer = binder.buffer(id);
    DT_ASSIGN_OR_RETURN(std::byte* const address, binder.Address(id));
    buffers.push_back({address, buffer.dims.data(), static_cast<int32_t>(buffer.dims.size()),
                       static_cast<int32_t>(buffer.dtype), DT_HOST, buffer.name.c_str(),
                       binder.storage.value(id)});
  }
  return std::make_unique<BoundCall>(call, node, function, std::move(buffers), binder);
}

BindResult Bind(const CopyNode& copy, const Node& node, Binder& binder) {
  DT_ASSIGN_OR_RETURN(std::byte* const from, binder.Address(copy.from));
  DT_ASSIGN_OR_RETURN(std::byte* const to, binder.Address(copy.to));
  return std::make_unique<BoundCopy>(
      node, BoundCopy::End{&binder.buffer(copy.from), from, binder.storage.value(copy.from)},
      BoundCopy::End{&binder.buffer(copy.to), to, binder.storage.value(copy.to)});
}

}  // namespace dtranspile::exec
