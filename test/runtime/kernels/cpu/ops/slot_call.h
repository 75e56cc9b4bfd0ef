// Calls kernels that take an op slot by slot (runtime/kernels/cpu/op_call.h) as the executor does,
// outputs growing as they ask for.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "runtime/exec/value.h"
#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {

class SlotCall {
 public:
  explicit SlotCall(std::string name) : name_(std::move(name)) {}

  // An input slot: with one argument, without, or with several (With after Slot).
  template <typename T>
  SlotCall& In(Tensor<T>& tensor, const char* name = "x") {
    return Slot().With(tensor, name);
  }
  SlotCall& Slot() { return slots_.push_back(static_cast<int32_t>(args_.size())), *this; }
  template <typename T>
  SlotCall& With(Tensor<T>& tensor, const char* name = "x") {
    tensor.data.reserve(1);
    args_.push_back({tensor.data.data(), tensor.dims.data(),
                     static_cast<int32_t>(tensor.dims.size()), static_cast<int32_t>(tensor.type),
                     DT_HOST, name, nullptr});
    return *this;
  }
  SlotCall& With(exec::Value& value, const char* name = "x") {
    args_.push_back({value.data(), value.dims.data(), static_cast<int32_t>(value.dims.size()),
                     static_cast<int32_t>(value.dtype), DT_HOST, name, &value});
    return *this;
  }
  // An output slot with `count` arguments.
  SlotCall& Out(DType dtype, int count = 1) {
    Slot();
    for (int i = 0; i < count; ++i) {
      exec::Value& value = values_.emplace_back(exec::Value::Kind::kTensor, dtype);
      args_.push_back(
          {nullptr, value.dims.data(), 1, static_cast<int32_t>(dtype), DT_HOST, "out", &value});
    }
    return *this;
  }

  SlotCall& Ints(std::vector<int64_t> values) {
    ints_.push_back(std::move(values));
    attrs_.push_back(
        {ints_.back().data(), nullptr, nullptr, static_cast<int32_t>(ints_.back().size())});
    return *this;
  }
  SlotCall& Reals(std::vector<double> values) {
    reals_.push_back(std::move(values));
    attrs_.push_back(
        {nullptr, reals_.back().data(), nullptr, static_cast<int32_t>(reals_.back().size())});
    return *this;
  }
  SlotCall& Text(const char* text) {
    texts_.push_back(text);
    attrs_.push_back({nullptr, nullptr, &texts_.back(), 1});
    return *this;
  }

  // `times` after each other, so that state kept from the first call is used.
  absl::Status Run(int threads = 2, int times = 1) {
    exec::ThreadPool pool({threads, false});
    exec::NumericScope numerics;
    DtContext context(&pool);
    void* state = nullptr;
    std::vector<int32_t> slots = slots_;
    slots.push_back(static_cast<int32_t>(args_.size()));
    DtCall call = {};
    call.name = name_.c_str(), call.op = "0:0 test", call.state = &state;
    call.args = args_.data(), call.num_args = static_cast<int32_t>(args_.size());
    call.slots = slots.data(), call.num_slots = static_cast<int32_t>(slots_.size());
    call.attrs = attrs_.data(), call.num_attrs = static_cast<int32_t>(attrs_.size());
    const DtFunction function = FindFunction(name_);
    if (function == nullptr) return absl::NotFoundError(name_);
    absl::Status status = context.Call(function, call);
    for (int i = 1; i < times && status.ok(); ++i) status = context.Call(function, call);
    return status;
  }

  // The message of a call that must fail.
  std::string Message() {
    const absl::Status status = Run();
    return status.ok() ? "succeeded" : std::string(status.message());
  }

  const exec::Value& Result(size_t index = 0) const { return values_[index]; }
  template <typename T>
  std::vector<T> Data(size_t index = 0) const {
    const T* data = values_[index].as<T>();
    return {data, data + values_[index].count()};
  }

 private:
  std::string name_;
  std::vector<int32_t> slots_;
  std::vector<DtBuffer> args_;
  std::vector<DtAttr> attrs_;
  std::deque<exec::Value> values_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> reals_;
  std::deque<const char*> texts_;
};

}  // namespace dtranspile::kernels
