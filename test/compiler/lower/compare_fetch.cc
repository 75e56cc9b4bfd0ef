#include "test/compiler/lower/compare_fetch.h"

#include <cmath>
#include <filesystem>

#include "test/compiler/lower/statistics.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

bool closeTo(double got, double want, double rtol, double atol) {
  if (std::isnan(want) || std::isinf(want)) return std::isnan(want) ? std::isnan(got) : got == want;
  return std::fabs(got - want) <= atol + rtol * std::fabs(want);
}

}  // namespace

std::string compareFetch(ProgramCase& c, exec::Executor& executor, const exec::FetchSlot& fetch,
                         int64_t step, bool exact) {
  const double rtol = exact ? 0 : c.info()["rtol"].get<double>(),
               atol = exact ? 0 : c.info()["atol"].get<double>();
  auto golden = io::ReadNpy(c.folder() + "/golden/" + fetch.name + ".npy");
  if (!golden.ok()) return std::string(golden.status().message());
  const Lod* lod = nullptr;
  const TensorView value = ProgramCase::valueOf(executor, fetch.buffer, &lod);
  const std::string ragged = c.folder() + "/golden/" + fetch.name + ".lod.json";
  if (fs::exists(ragged) && (lod == nullptr || json(*lod) != readJson(ragged))) {
    return fetch.name + " has the LoD " + (lod ? json(*lod).dump() : "[]") + ", not " +
           readJson(ragged).dump();
  }
  // A value that the framework leaves unset is saved as no elements of float64: nothing to compare
  // with.
  const bool unset = golden->view().bytes() == 0 && golden->dtype == DType::kFloat64;
  if (unset && (value.dtype != DType::kFloat64 || c.widened())) return "";
  const int64_t count = value.bytes() / static_cast<int64_t>(SizeOf(value.dtype)),
                steps = c.info()["steps"];
  const int64_t expected =
      golden->view().bytes() / static_cast<int64_t>(SizeOf(golden->dtype)) / steps;
  if (count != expected)
    return fetch.name + " has " + std::to_string(count) + " elements, not " +
           std::to_string(expected);
  std::vector<int64_t> dims = golden->dims;
  if (steps > 1 && !dims.empty()) dims.erase(dims.begin());
  // 1.x knows no tensors without dims: a variable that is declared with none has one element.
  const bool alone = value.dims.empty() && dims == std::vector<int64_t>{1} &&
                     c.info()["paddle_version"].get<std::string>().starts_with("1.");
  if (!unset && !alone && value.dims != dims)
    return fetch.name + " has the extents " + json(value.dims).dump() + ", not " +
           json(dims).dump();
  if (!c.widened() && !unset && value.dtype != golden->dtype)
    return fetch.name + " is of " + std::string(NameOf(value.dtype)) + ", not " +
           std::string(NameOf(golden->dtype));
  for (int64_t i = 0; i < count; ++i) {
    const double got = element(value.dtype, value.data, i),
                 want = element(golden->dtype, golden->view().data, step * count + i);
    if (!closeTo(got, want, rtol, atol)) {
      return fetch.name + "[" + std::to_string(i) + "] of step " + std::to_string(step) + ": " +
             std::to_string(got) + ", not " + std::to_string(want);
    }
  }
  return "";
}

}  // namespace dtranspile::lower
