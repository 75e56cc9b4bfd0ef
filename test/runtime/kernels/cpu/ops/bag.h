// Values by name and kernels called on them as the executor does, every argument one with extents
// and LoD of its own. For the tests of kernels of LoD, and of gradients against differences.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "runtime/exec/value.h"
#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {

class Attributes {
 public:
  Attributes& Int(int64_t value) { return Ints({value}); }
  Attributes& Ints(std::vector<int64_t> values) {
    return items_.push_back({.ints = std::move(values)}), *this;
  }
  Attributes& Real(double value) { return items_.push_back({.reals = {value}}), *this; }
  Attributes& Text(const char* value) { return items_.push_back({.texts = {value}}), *this; }

  // Valid as long as this object is.
  std::vector<DtAttr> rows() const {
    std::vector<DtAttr> rows;
    for (const Item& item : items_) {
      const auto count =
          static_cast<int32_t>(item.ints.size() + item.reals.size() + item.texts.size());
      rows.push_back({item.ints.empty() ? nullptr : item.ints.data(),
                      item.reals.empty() ? nullptr : item.reals.data(),
                      item.texts.empty() ? nullptr : item.texts.data(), count});
    }
    return rows;
  }

 private:
  struct Item {
    std::vector<int64_t> ints = {};
    std::vector<double> reals = {};
    std::vector<const char*> texts = {};
  };
  std::vector<Item> items_;
};

class Bag {
 public:
  template <typename T>
  void Put(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& data,
           const Lod& lod = {}) {
    exec::Value value(exec::Value::Kind::kTensor, CodeOf<T>::value);
    if (!value.Resize(dims).ok() || value.count() != static_cast<int64_t>(data.size()))
      throw std::runtime_error("extents of " + name);
    std::copy(data.begin(), data.end(), value.as<T>());
    value.lod = lod;
    values_[name] = std::move(value);
  }
  void PutNoise(const std::string& name, const std::vector<int64_t>& dims, const Lod& lod = {}) {
    Put(name, dims, Noise<double>(dims, ++seed_).data, lod);
  }
  void PutList(const std::string& name, std::vector<std::string> items) {
    exec::Value list(exec::Value::Kind::kList, values_.at(items.at(0)).dtype);
    for (const std::string& item : items) list.items.push_back(std::move(values_.at(item)));
    values_[name] = std::move(list);
  }

  exec::Value& at(const std::string& name) { return values_.at(name); }
  bool has(const std::string& name) const { return values_.contains(name); }
  template <typename T = double>
  std::vector<T> Data(const std::string& name) const {
    const exec::Value& value = values_.at(name);
    return {value.as<T>(), value.as<T>() + value.count()};
  }

  // Names of slots: "X", "X, Y" for a list of two, "" for none; outputs "Out", or "Index:int32"
  // where they are not double.
  absl::Status Run(const std::string& callee, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, const Attributes& attributes = {}) {
    std::vector<DtBuffer> args;
    std::vector<int32_t> slots = {0};
    for (const auto* list : {&inputs, &outputs})
      for (const std::string& slot : *list) {
        for (size_t from = 0; from < slot.size();) {
          const size_t end = std::min(slot.find(", ", from), slot.size());
          args.push_back(Argument(slot.substr(from, end - from), list == &outputs));
          from = end + 2;
        }
        slots.push_back(static_cast<int32_t>(args.size()));
      }
    DtCall call = {};
    void* state = nullptr;
    call.name = callee.c_str(), call.op = "0:0 test", call.state = &state;
    call.args = args.data(), call.num_args = static_cast<int32_t>(args.size());
    call.slots = slots.data(), call.num_slots = static_cast<int32_t>(slots.size()) - 1;
    const std::vector<DtAttr> attrs = attributes.rows();
    call.attrs = attrs.data(), call.num_attrs = static_cast<int32_t>(attrs.size());
    exec::ThreadPool pool({2, false});
    exec::NumericScope numerics;
    DtContext context(&pool);
    const DtFunction function = FindFunction(callee);
    return function == nullptr ? absl::NotFoundError(callee) : context.Call(function, call);
  }

  // The message of a call that must fail.
  std::string Message(const std::string& callee, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs, const Attributes& attributes = {}) {
    const absl::Status status = Run(callee, inputs, outputs, attributes);
    return status.ok() ? "succeeded" : std::string(status.message());
  }

 private:
  DtBuffer Argument(const std::string& slot, bool output) {
    static const std::map<std::string, DType> kTypes = {{"", DType::kFloat64},
                                                        {"int32", DType::kInt32},
                                                        {"int64", DType::kInt64},
                                                        {"float", DType::kFloat32}};
    const size_t colon = slot.find(':');
    const std::string name = slot.substr(0, colon);
    if (output)
      values_[name] =
          exec::Value(exec::Value::Kind::kTensor,
                      kTypes.at(colon == std::string::npos ? "" : slot.substr(colon + 1)));
    auto found = values_.find(name);
    if (found == values_.end()) throw std::runtime_error("no value " + name);
    exec::Value& value = found->second;
    return {value.data(),
            value.dims.data(),
            static_cast<int32_t>(value.dims.size()),
            static_cast<int32_t>(value.dtype),
            DT_HOST,
            found->first.c_str(),
            &value};
  }

  std::map<std::string, exec::Value> values_;
  unsigned seed_ = 0;
};

// Largest difference between the gradient of sum(w * out) that `backward` leaves in NAME@GRAD and
// that by central differences of `forward`, over the elements of the named inputs. w is noise and
// given to `backward` as OUT@GRAD.
template <typename Forward, typename Backward>
double GradientError(Bag& bag, const std::string& out, const std::vector<std::string>& inputs,
                     Forward&& forward, Backward&& backward) {
  if (absl::Status status = forward(); !status.ok())
    throw std::runtime_error(std::string(status.message()));
  const std::vector<int64_t> dims = bag.at(out).dims;
  bag.PutNoise(out + "@GRAD", dims, bag.at(out).lod);
  const std::vector<double> weights = bag.Data(out + "@GRAD");
  if (absl::Status status = backward(); !status.ok())
    throw std::runtime_error(std::string(status.message()));
  const auto loss = [&] {
    if (absl::Status status = forward(); !status.ok())
      throw std::runtime_error(std::string(status.message()));
    double sum = 0;
    for (size_t k = 0; k < weights.size(); ++k) sum += weights[k] * bag.at(out).as<double>()[k];
    return sum;
  };
  double error = 0;
  for (const std::string& input : inputs) {
    const std::vector<double> gradient = bag.Data(input + "@GRAD");
    if (static_cast<int64_t>(gradient.size()) != bag.at(input).count()) return INFINITY;
    for (size_t k = 0; k < gradient.size(); ++k) {
      constexpr double kStep = 1e-5;
      double& x = bag.at(input).as<double>()[k];
      const double before = x;
      x = before + kStep;
      const double above = loss();
      x = before - kStep;
      const double below = loss();
      x = before;
      error = std::max(error, std::fabs((above - below) / (2 * kStep) - gradient[k]));
    }
  }
  return error;
}

}  // namespace dtranspile::kernels
