#include "runtime/launch/report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/control.h"
#include "runtime/io/npy.h"
#include "runtime/io/output.h"

namespace dtranspile::launch {
namespace {

// The inverse of exec::JsonNumber.
double Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr) : std::numeric_limits<double>::quiet_NaN();
}

absl::StatusOr<Json> Same(const std::vector<Json>& values) {
  for (size_t rank = 1; rank < values.size(); ++rank)
    if (values[rank] != values[0])
      return absl::FailedPreconditionError(absl::StrCat("ranks 0 and ", rank, " should have the same value, but have ", values[0].dump().substr(0, 100),
                                                        " and ", values[rank].dump().substr(0, 100)));
  return values[0];
}

absl::StatusOr<Json> Sum(const std::vector<Json>& values, double factor) {
  Json sum = Json::array();
  for (size_t i = 0; i < values[0].size(); ++i) {
    double total = 0;
    for (const Json& value : values) {
      if (value.size() != values[0].size()) return absl::FailedPreconditionError("ranks have values of different sizes");
      total += Number(value[i]);
    }
    sum.push_back(exec::JsonNumber(total * factor));
  }
  return sum;
}

Json Concatenated(const std::vector<Json>& values) {
  Json all = Json::array();
  for (const Json& value : values) all.insert(all.end(), value.begin(), value.end());
  return all;
}

template <typename T>
void AddTo(Tensor& sum, const Tensor& value) {
  const auto count = static_cast<int64_t>(sum.bytes.size() / sizeof(T));
  for (int64_t i = 0; i < count; ++i) sum.as<T>()[i] += value.as<T>()[i];
}

template <typename T>
void DivideBy(Tensor& sum, size_t ranks) {
  const auto count = static_cast<int64_t>(sum.bytes.size() / sizeof(T));
  for (int64_t i = 0; i < count; ++i) sum.as<T>()[i] /= static_cast<T>(ranks);
}

absl::StatusOr<Tensor> SumOf(std::vector<Tensor>& values, bool mean) {
  const bool wide = values[0].dtype == DType::kFloat64;
  if (!wide && values[0].dtype != DType::kFloat32) return absl::InvalidArgumentError(absl::StrCat("no sum over ranks of ", NameOf(values[0].dtype)));
  for (size_t rank = 1; rank < values.size(); ++rank) (wide ? AddTo<double> : AddTo<float>)(values[0], values[rank]);
  if (mean) (wide ? DivideBy<double> : DivideBy<float>)(values[0], values.size());
  return std::move(values[0]);
}

// Along the dimension behind the step.
absl::StatusOr<Tensor> ConcatenationOf(const std::vector<Tensor>& values) {
  const Tensor& first = values[0];
  if (first.dims.size() < 2) return absl::InvalidArgumentError("scalars cannot be concatenated");
  std::vector<int64_t> dims = first.dims;
  dims[1] *= static_cast<int64_t>(values.size());
  DT_ASSIGN_OR_RETURN(Tensor all, Tensor::Zeros(first.dtype, dims));
  const int64_t steps = std::max<int64_t>(dims[0], 1);
  const int64_t bytes = static_cast<int64_t>(first.bytes.size()) / steps;
  std::byte* to = all.bytes.data();
  for (int64_t step = 0; step < steps; ++step)
    for (const Tensor& value : values) to = std::copy_n(value.bytes.data() + step * bytes, bytes, to);
  return all;
}

absl::StatusOr<Tensor> CombineTensors(const std::string& how, std::vector<Tensor>& values) {
  for (const Tensor& value : values)
    if (value.dims != values[0].dims || value.dtype != values[0].dtype) return absl::FailedPreconditionError("ranks have values of different extents");
  if (how == "mean" || how == "sum") return SumOf(values, how == "mean");
  if (how == "concat") return ConcatenationOf(values);
  return std::move(values[0]);
}

}  // namespace

Json Shown(const Json& list) { return list.is_array() && list.size() == 1 ? list[0] : list; }

absl::StatusOr<Json> Combine(const std::string& how, const std::vector<Json>& values) {
  if (values.empty()) return Json();
  // Too large to be shown (docs/file-formats.md): nothing to combine.
  if (std::any_of(values.begin(), values.end(), [](const Json& value) { return !value.is_array(); })) return Json();
  if (how == "same") return Same(values);
  if (how == "mean") return Sum(values, 1.0 / static_cast<double>(values.size()));
  if (how == "sum") return Sum(values, 1.0);
  if (how == "concat") return Concatenated(values);
  return Json(values);
}

absl::Status CombineFiles(const std::string& folder, const std::map<std::string, std::string>& combine, int ranks) {
  for (const auto& [name, how] : combine) {
    if (how == "list") continue;
    std::vector<Tensor> values;
    for (int rank = 0; rank < (how == "same" ? 1 : ranks); ++rank) {
      DT_ASSIGN_OR_RETURN(const std::string path, io::PathInside(absl::StrCat(folder, "/", rank), name + ".npy"));
      DT_ASSIGN_OR_RETURN(Tensor value, io::ReadNpy(path));
      values.push_back(std::move(value));
    }
    const auto combined = CombineTensors(how, values);
    if (!combined.ok()) return absl::Status(combined.status().code(), absl::StrCat("fetch '", name, "': ", combined.status().message()));
    DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, name + ".npy"));
    DT_RETURN_IF_ERROR(io::WriteNpy(path, combined->view()));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::launch
