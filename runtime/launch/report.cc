#include "runtime/launch/report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/control.h"
#include "runtime/io/feed.h"
#include "runtime/io/npy.h"
#include "runtime/io/output.h"

namespace dtranspile::launch {
namespace {

// The inverse of exec::JsonNumber.
double Number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  return value.is_string() ? std::strtod(value.get<std::string>().c_str(), nullptr)
                           : std::numeric_limits<double>::quiet_NaN();
}

// Replicas must agree to the last bit: a difference is an error of the job, not noise.
absl::StatusOr<Json> Same(const std::vector<Json>& values, const std::vector<int>& ranks) {
  for (size_t i = 1; i < values.size(); ++i)
    if (values[i] != values[0])
      return absl::FailedPreconditionError(absl::StrCat(
          "ranks ", ranks[0], " and ", ranks[i], " should have the same value, but have ",
          values[0].dump().substr(0, 100), " and ", values[i].dump().substr(0, 100)));
  return values[0];
}

// Element by element in the order of the ranks, in double.
absl::StatusOr<Json> Sum(const std::vector<Json>& values, double factor) {
  Json sum = Json::array();
  for (size_t i = 0; i < values[0].size(); ++i) {
    double total = 0;
    for (const Json& value : values) {
      if (value.size() != values[0].size())
        return absl::FailedPreconditionError("ranks have values of different sizes");
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

// The sum of all ranks' values in place of the first one, in the order of the ranks.
absl::StatusOr<Tensor> SumOf(std::vector<Tensor>& values, bool mean) {
  const bool wide = values[0].dtype == DType::kFloat64;
  if (!wide && values[0].dtype != DType::kFloat32)
    return absl::InvalidArgumentError(
        absl::StrCat("no sum over ranks of ", NameOf(values[0].dtype)));
  for (size_t rank = 1; rank < values.size(); ++rank)
    (wide ? AddTo<double> : AddTo<float>)(values[0], values[rank]);
  if (mean) (wide ? DivideBy<double> : DivideBy<float>)(values[0], values.size());
  return std::move(values[0]);
}

// Along the dimension after the step.
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
    for (const Tensor& value : values)
      to = std::copy_n(value.bytes.data() + step * bytes, bytes, to);
  return all;
}

// Rows and sequences of one after those of the other.
absl::StatusOr<Tensor> JoinedRows(const std::vector<Tensor>& values) {
  const Tensor& first = values[0];
  if (first.dims.empty()) return absl::InvalidArgumentError("scalars cannot be concatenated");
  std::vector<int64_t> dims = first.dims;
  for (size_t rank = 1; rank < values.size(); ++rank) dims[0] += values[rank].dims[0];
  DT_ASSIGN_OR_RETURN(Tensor all, Tensor::Zeros(first.dtype, dims));
  all.lod = first.lod;
  std::byte* to = all.bytes.data();
  for (size_t rank = 0; rank < values.size(); ++rank) {
    const Tensor& value = values[rank];
    to = std::copy_n(value.bytes.data(), value.bytes.size(), to);
    if (value.lod.size() != all.lod.size())
      return absl::FailedPreconditionError("ranks have different levels of sequences");
    for (size_t level = 0; rank > 0 && level < all.lod.size(); ++level) {
      const uint64_t before = all.lod[level].back();
      for (size_t i = 1; i < value.lod[level].size(); ++i)
        all.lod[level].push_back(before + value.lod[level][i]);
    }
  }
  return all;
}

// One step of a ragged fetch; of values that are concatenated rows may differ in number.
absl::StatusOr<Tensor> CombineStep(const std::string& how, std::vector<Tensor>& values) {
  const auto inner = [](const Tensor& value) {
    return std::vector<int64_t>(value.dims.begin() + !value.dims.empty(), value.dims.end());
  };
  for (const Tensor& value : values) {
    const bool same = how == "concat" ? value.dims.size() == values[0].dims.size() &&
                                            inner(value) == inner(values[0])
                                      : value.dims == values[0].dims;
    if (!same || value.dtype != values[0].dtype)
      return absl::FailedPreconditionError("ranks have values of different extents");
  }
  if (how == "mean" || how == "sum") return SumOf(values, how == "mean");
  if (how == "concat") return JoinedRows(values);
  return std::move(values[0]);
}

// Files per step (ragged values).
absl::Status CombineSteps(const std::string& folder, const std::string& name,
                          const std::string& how, const std::vector<io::Feed>& files) {
  DT_ASSIGN_OR_RETURN(const std::string stem, io::PrepareInside(folder, name));
  io::ClearSteps(stem, files[0].steps());
  for (int64_t step = 0; step < files[0].steps(); ++step) {
    std::vector<Tensor> values;
    for (const io::Feed& file : files) {
      DT_ASSIGN_OR_RETURN(Tensor value, file.Read(step));
      values.push_back(std::move(value));
    }
    DT_ASSIGN_OR_RETURN(const Tensor combined, CombineStep(how, values));
    DT_RETURN_IF_ERROR(io::WriteStep(stem, step, combined.view(), combined.lod));
  }
  return absl::OkStatus();
}

// All steps at once; the step is the first dim of every tensor.
absl::StatusOr<Tensor> CombineTensors(const std::string& how, std::vector<Tensor>& values) {
  for (const Tensor& value : values)
    if (value.dims != values[0].dims || value.dtype != values[0].dtype)
      return absl::FailedPreconditionError("ranks have values of different extents");
  if (how == "mean" || how == "sum") return SumOf(values, how == "mean");
  if (how == "concat") return ConcatenationOf(values);
  return std::move(values[0]);
}

// One file for all steps.
absl::Status CombineStacks(const std::string& folder, const std::string& name,
                           const std::string& how, const std::vector<io::Feed>& files) {
  std::vector<Tensor> values;
  for (const io::Feed& file : files) {
    DT_ASSIGN_OR_RETURN(Tensor value, io::ReadNpy(file.file()));
    values.push_back(std::move(value));
  }
  DT_ASSIGN_OR_RETURN(const Tensor combined, CombineTensors(how, values));
  DT_ASSIGN_OR_RETURN(const std::string path, io::PrepareInside(folder, name + ".npy"));
  return io::WriteNpy(path, combined.view());
}

}  // namespace

Json Shown(const Json& list) { return list.is_array() && list.size() == 1 ? list[0] : list; }

Json Listed(const Json& shown) {
  return shown.is_array() || shown.is_null() ? shown : Json::array({shown});
}

// What a user sees of a fetch that several ranks hold, by the word that the plan has for it: mean,
// same, sum, concat, or a list of what each has.
absl::StatusOr<Json> Combine(const std::string& how, const std::vector<Json>& values,
                             const std::vector<int>& ranks) {
  if (values.empty()) return Json();
  // Too large to be shown (docs/file-formats.md): nothing to combine.
  if (std::any_of(values.begin(), values.end(),
                  [](const Json& value) { return !value.is_array(); }))
    return Json();
  if (how == "same") return Same(values, ranks);
  if (how == "mean") return Sum(values, 1.0 / static_cast<double>(values.size()));
  if (how == "sum") return Sum(values, 1.0);
  if (how == "concat") return Concatenated(values);
  return Json(values);
}

// Files of the ranks (folder/RANK/…) to one file for each fetch.
absl::Status CombineFiles(const std::string& folder,
                          const std::map<std::string, HeldFetch>& fetches) {
  for (const auto& [name, fetch] : fetches) {
    const std::string& how = fetch.combine;
    if (how == "list") continue;
    std::vector<io::Feed> files;
    for (int rank : fetch.ranks) {
      DT_ASSIGN_OR_RETURN(io::Feed file, io::Feed::Open(absl::StrCat(folder, "/", rank), name));
      files.push_back(std::move(file));
      if (how == "same") break;
    }
    const absl::Status status = files[0].ragged() ? CombineSteps(folder, name, how, files)
                                                  : CombineStacks(folder, name, how, files);
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("fetch '", name, "': ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::launch
