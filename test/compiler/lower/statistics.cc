#include "test/compiler/lower/statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::lower {
namespace {

// Deviations beyond so many standard errors are no chance: fewer than one in a million.
constexpr double kErrors = 5;
// Draws that statistics are taken over.
constexpr double kDraws = 10000;

struct Sample {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::vector<double> values;

  double size() const { return static_cast<double>(values.size()); }
};

Sample sampleOf(const TensorView& view) {
  Sample sample{view.dtype, {view.dims.begin(), view.dims.end()}, {}};
  const int64_t count = view.bytes() / static_cast<int64_t>(SizeOf(view.dtype));
  for (int64_t i = 0; i < count; ++i) sample.values.push_back(element(view.dtype, view.data, i));
  return sample;
}

std::string text(double value) { return std::to_string(value); }

double meanOf(const std::vector<double>& values) {
  double sum = 0;
  for (double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviationOf(const std::vector<double>& values) {
  const double mean = meanOf(values);
  double squares = 0;
  for (double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

// A share of n that is expected to be p.
std::string shareIs(double share, double p, double n, const std::string& what) {
  const double error = kErrors * std::sqrt(std::max(p * (1 - p), 1e-12) / n);
  return std::fabs(share - p) <= error ? ""
                                       : "a share of " + text(share) + " is " + what +
                                             ", expected " + text(p) + " within " + text(error);
}

}  // namespace

class Statistics::Checker {
 public:
  explicit Checker(ProgramCase& c) : c_(c), said_(c.info().value("stats", json::object())) {}

  std::string add(const exec::Executor& executor) {
    for (const exec::FetchSlot& fetch : executor.plan().step().fetches)
      fetched_[fetch.name] = sampleOf(ProgramCase::valueOf(executor, fetch.buffer));
    for (const auto& [name, sample] : fetched_) {
      if (std::string difference = shape(name, sample); !difference.empty())
        return name + difference;
    }
    for (const auto& [name, stats] : said_.items()) {
      if (!fetched_.contains(name)) return name + " is no fetch";
      Sample& all = collected_[name];
      const Sample& step = fetched_[name];
      all.dims = step.dims;
      all.values.insert(all.values.end(), step.values.begin(), step.values.end());
    }
    return checkAll(kOfStep, fetched_);
  }

  std::string finish() { return checkAll(kOfAll, collected_); }

  bool enough() const {
    return std::all_of(collected_.begin(), collected_.end(), [](const auto& entry) {
      return entry.second.values.empty() || entry.second.size() >= kDraws;
    });
  }

 private:
  std::string shape(const std::string& name, const Sample& sample) {
    auto golden = io::ReadNpy(c_.folder() + "/golden/" + name + ".npy");
    if (!golden.ok()) return ": " + std::string(golden.status().message());
    if (golden->dtype != sample.dtype)
      return std::string(" is ") + NameOf(sample.dtype) + ", not " + NameOf(golden->dtype);
    const std::vector<int64_t> dims(golden->dims.begin(), golden->dims.end());
    // A variable of one number keeps its declared rank.
    if (golden->view().bytes() == static_cast<int64_t>(SizeOf(golden->dtype)) &&
        sample.values.size() == 1)
      return "";
    return dims == sample.dims
               ? ""
               : " has the extents " + json(sample.dims).dump() + ", not " + json(dims).dump();
  }

  // What one step must show, and what all draws together must.
  using Check = std::string (Checker::*)(const json& expected, const json& stats,
                                         const Sample& sample);
  struct Row {
    Check ofStep = nullptr, ofAll = nullptr;
  };
  static const std::map<std::string, Row>& rows() {
    static const std::map<std::string, Row> kRows = {
        {"min", {&Checker::least}},
        {"max", {&Checker::most}},
        {"integer", {&Checker::integer}},
        {"nonnegative", {&Checker::nonnegative}},
        {"permutation_of", {&Checker::permutation}},
        {"distinct_per_row", {&Checker::distinct}},
        {"crop_of_input", {&Checker::crop}},
        {"dropout_mode", {&Checker::kept}},
        {"dropped_axes", {}},  // said together with `dropped`
        {"dropped", {&Checker::slices, &Checker::dropped}},
        {"two_valued_mask", {&Checker::twoValued, &Checker::mostCommon}},
        {"mean", {nullptr, &Checker::mean}},
        {"std", {nullptr, &Checker::deviation}},
        {"frequencies", {nullptr, &Checker::frequencies}},
    };
    return kRows;
  }
  static constexpr Check Row::* kOfStep = &Row::ofStep;
  static constexpr Check Row::* kOfAll = &Row::ofAll;

  std::string checkAll(Check Row::* which, const std::map<std::string, Sample>& samples) {
    for (const auto& [name, stats] : said_.items()) {
      for (const auto& [key, expected] : stats.items()) {
        const auto row = rows().find(key);
        if (row == rows().end()) return name + ": no check of '" + key + "'";
        const Check check = row->second.*which;
        if (std::string difference = check ? (this->*check)(expected, stats, samples.at(name)) : "";
            !difference.empty())
          return name + ": " + difference;
      }
    }
    return "";
  }

  std::string all(const Sample& sample, const std::function<bool(double)>& holds,
                  const std::string& what) {
    for (double value : sample.values) {
      if (!holds(value)) return text(value) + " is not " + what;
    }
    return "";
  }
  std::string least(const json& e, const json&, const Sample& s) {
    return all(
        s, [low = e.get<double>()](double v) { return v >= low - 1e-6; }, "at least " + e.dump());
  }
  std::string most(const json& e, const json&, const Sample& s) {
    return all(
        s, [high = e.get<double>()](double v) { return v <= high + 1e-6; }, "at most " + e.dump());
  }
  std::string integer(const json&, const json&, const Sample& s) {
    return all(s, [](double v) { return v == std::trunc(v); }, "whole");
  }
  std::string nonnegative(const json&, const json&, const Sample& s) {
    return all(s, [](double v) { return v >= 0; }, "at least 0");
  }

  std::string mean(const json& e, const json& stats, const Sample& s) {
    const double error = kErrors * stats.value("std", deviationOf(s.values)) / std::sqrt(s.size());
    const double found = meanOf(s.values), want = e.get<double>();
    return std::fabs(found - want) <= error
               ? ""
               : "mean " + text(found) + ", expected " + text(want) + " within " + text(error);
  }
  std::string deviation(const json& e, const json&, const Sample& s) {
    // The standard error of a standard deviation is below std / sqrt(n) for all the distributions
    // here.
    const double want = e.get<double>(), found = deviationOf(s.values),
                 error = kErrors * want / std::sqrt(s.size()) + 1e-3;
    return std::fabs(found - want) <= error ? ""
                                            : "standard deviation " + text(found) + ", expected " +
                                                  text(want) + " within " + text(error);
  }
  std::string frequencies(const json& e, const json&, const Sample& s) {
    for (size_t k = 0; k < e.size(); ++k) {
      const auto hits =
          static_cast<double>(std::count(s.values.begin(), s.values.end(), static_cast<double>(k)));
      if (std::string difference =
              shareIs(hits / s.size(), e[k].get<double>(), s.size(), "class " + std::to_string(k));
          !difference.empty())
        return difference;
    }
    return "";
  }
  std::string permutation(const json& e, const json&, const Sample& s) {
    std::vector<double> sorted = s.values;
    std::sort(sorted.begin(), sorted.end());
    bool counts = sorted.size() == e.get<size_t>();
    for (size_t i = 0; i < sorted.size(); ++i) counts &= sorted[i] == static_cast<double>(i);
    return counts && sorted != s.values ? "" : "no shuffled permutation of " + e.dump();
  }
  std::string distinct(const json&, const json&, const Sample& s) {
    const auto width = static_cast<size_t>(s.dims.back());
    for (size_t row = 0; row + width <= s.values.size(); row += width) {
      if (std::set<double>(s.values.begin() + row, s.values.begin() + row + width).size() != width)
        return "a number occurs twice in a row";
    }
    return "";
  }

  // Elements of a slice over the dims after the first of `dropped_axes`, which is dropped as a
  // whole.
  static size_t sliceOf(const json& stats, const Sample& s) {
    const size_t axes = stats.value("dropped_axes", json::array()).size();
    size_t slice = 1;
    for (size_t d = axes == 0 ? s.dims.size() : axes; d < s.dims.size(); ++d)
      slice *= static_cast<size_t>(s.dims[d]);
    return slice;
  }
  std::string slices(const json&, const json& stats, const Sample& s) {
    const size_t slice = sliceOf(stats, s);
    for (size_t at = 0; at < s.values.size(); at += slice) {
      const auto zeros = static_cast<size_t>(
          std::count(s.values.begin() + at, s.values.begin() + at + slice, 0.0));
      if (zeros != 0 && zeros != slice) return "a slice is dropped in part";
    }
    return gradientFollows(s);
  }
  std::string dropped(const json& e, const json& stats, const Sample& s) {
    const size_t slice = sliceOf(stats, s);
    double zeros = 0;
    for (size_t at = 0; at < s.values.size(); at += slice) zeros += s.values[at] == 0;
    const double slices = s.size() / static_cast<double>(slice);
    return shareIs(zeros / slices, e.get<double>(), slices, "dropped");
  }

  // out = x f and gradient = w f with the same f, so out w = gradient x; the loss is the sum of out
  // w.
  std::string gradientFollows(const Sample& s) {
    const Sample &x = feed("x"), &w = feed("w_out"), &gradient = fetched_["x@GRAD"];
    if (x.values.size() != s.values.size() || w.values.size() != s.values.size() ||
        gradient.values.size() != s.values.size())
      return "no gradient to compare with";
    double loss = 0;
    for (size_t i = 0; i < s.values.size(); ++i) {
      const double a = s.values[i] * w.values[i], b = gradient.values[i] * x.values[i];
      loss += a;
      if (std::fabs(a - b) > 1e-5 + 1e-4 * std::fabs(a))
        return "the gradient of element " + std::to_string(i) + " does not agree with the mask";
    }
    for (const auto& [name, sample] : fetched_) {
      const bool isLoss = name.find("sum_") != std::string::npos && sample.values.size() == 1;
      if (isLoss && std::fabs(sample.values[0] - loss) > 1e-3 * std::max(1.0, std::fabs(loss)))
        return "the loss is " + text(sample.values[0]) + ", not " + text(loss);
    }
    return "";
  }

  // Elements that were kept: x, or x / (1 - p) where dropout scales while training; and the mask,
  // which is the fetch of bytes.
  std::string kept(const json& e, const json& stats, const Sample& s) {
    const double scale = e == "upscale_in_train" ? 1 / (1 - stats.at("dropped").get<double>()) : 1;
    const Sample& x = feed("x");
    for (const auto& [name, mask] : fetched_) {
      if (mask.dtype != DType::kUInt8) continue;
      for (size_t i = 0; i < s.values.size(); ++i) {
        const double want = mask.values[i] * x.values[i] * scale;
        if (std::fabs(s.values[i] - want) > 1e-5 + 1e-4 * std::fabs(want))
          return "element " + std::to_string(i) + " is " + text(s.values[i]) + ", by the mask " +
                 text(want);
      }
      return "";
    }
    return "no mask is fetched";
  }

  static std::pair<double, double> commonest(const Sample& s) {
    std::map<double, double> counts;
    for (double value : s.values) ++counts[value];
    return *std::max_element(counts.begin(), counts.end(),
                             [](const auto& a, const auto& b) { return a.second < b.second; });
  }
  // alpha_dropout: what is dropped has one value, and no gradient.
  std::string twoValued(const json&, const json&, const Sample& s) {
    const double value = commonest(s).first;
    const Sample& gradient = fetched_["x@GRAD"];
    if (gradient.values.size() != s.values.size()) return "no gradient to compare with";
    for (size_t i = 0; i < s.values.size(); ++i) {
      if ((gradient.values[i] == 0) != (s.values[i] == value))
        return "the gradient of element " + std::to_string(i) + " does not agree with the mask";
    }
    return "";
  }
  std::string mostCommon(const json& e, const json&, const Sample& s) {
    return shareIs(commonest(s).second / s.size(), e.get<double>(), s.size(), "dropped");
  }

  // Each instance is a window of the input's: the last two dims are cropped.
  std::string crop(const json&, const json&, const Sample& s) {
    const Sample& x = feed("x");
    const size_t rank = s.dims.size();
    const int64_t h = x.dims[rank - 2], w = x.dims[rank - 1], oh = s.dims[rank - 2],
                  ow = s.dims[rank - 1];
    auto matches = [&](int64_t instance, int64_t row, int64_t column) {
      for (int64_t i = 0; i < oh * ow; ++i) {
        if (s.values[static_cast<size_t>(instance * oh * ow + i)] !=
            x.values[static_cast<size_t>(instance * h * w + (row + i / ow) * w + column + i % ow)])
          return false;
      }
      return true;
    };
    for (int64_t instance = 0; instance < static_cast<int64_t>(s.values.size()) / (oh * ow);
         ++instance) {
      bool found = false;
      for (int64_t at = 0; at < (h - oh + 1) * (w - ow + 1) && !found; ++at)
        found = matches(instance, at / (w - ow + 1), at % (w - ow + 1));
      if (!found) return "instance " + std::to_string(instance) + " is no window of the input";
    }
    return "";
  }

  const Sample& feed(const std::string& name) {
    if (!feeds_.contains(name)) {
      auto read = io::ReadNpy(c_.folder() + "/feeds/" + name + ".npy");
      Sample sample = read.ok() ? sampleOf(read->view()) : Sample();
      if (!sample.dims.empty()) sample.dims.erase(sample.dims.begin());  // the step
      feeds_[name] = std::move(sample);
    }
    return feeds_[name];
  }

  ProgramCase& c_;
  const json said_;
  std::map<std::string, Sample> fetched_, collected_, feeds_;
};

Statistics::Statistics(ProgramCase& c) : checker_(std::make_unique<Checker>(c)) {}
Statistics::~Statistics() = default;
std::string Statistics::add(const exec::Executor& executor) { return checker_->add(executor); }
std::string Statistics::finish() { return checker_->finish(); }
bool Statistics::enough() const { return checker_->enough(); }

double element(DType dtype, const std::byte* data, int64_t i) {
  switch (dtype) {
    case DType::kFloat32: return reinterpret_cast<const float*>(data)[i];
    case DType::kFloat64: return reinterpret_cast<const double*>(data)[i];
    case DType::kInt64: return static_cast<double>(reinterpret_cast<const int64_t*>(data)[i]);
    case DType::kInt32: return reinterpret_cast<const int32_t*>(data)[i];
    case DType::kBool:
    case DType::kUInt8: return reinterpret_cast<const uint8_t*>(data)[i];
    case DType::kInt8: return reinterpret_cast<const int8_t*>(data)[i];
    case DType::kInt16: return reinterpret_cast<const int16_t*>(data)[i];
    default: return std::nan("");
  }
}

bool isRandom(const json& info) {
  return std::any_of(info["tags"].begin(), info["tags"].end(),
                     [](const json& tag) { return tag == "random" || tag == "dropout"; });
}

bool isReproducible(ProgramCase& c) {
  // Ops that take what they draw from `seed`; random_crop has it in a variable, dropout only where
  // it is fixed.
  static const llvm::StringSet<> kSeeded = {"uniform_random",
                                            "gaussian_random",
                                            "truncated_gaussian_random",
                                            "uniform_random_batch_size_like",
                                            "gaussian_random_batch_size_like",
                                            "dropout",
                                            "sampling_id",
                                            "nce"};
  bool reproducible = true;
  c.program()->walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    const pd::OpView view(op);
    if (!view.spec() || (view.spec()->effects & pd::kRandom) == 0 || view.type() == "random_crop")
      return;
    const bool fixed = view.type() != "dropout" || view.getBool("fix_seed");
    reproducible &= kSeeded.contains(view.type()) && view.getInt("seed") != 0 && fixed;
  });
  return reproducible;
}

bool isDrawn(ProgramCase& c, const std::string& name) {
  static const llvm::StringSet<> kComputes = {"nce", "sample_logits", "dpsgd"};
  bool drawn = false;
  c.program()->walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    const pd::OpView view(op);
    if (!view.spec() || (view.spec()->effects & pd::kRandom) == 0 ||
        kComputes.contains(view.type()))
      return;
    for (mlir::Value result : op->getResults()) drawn |= pd::nameOf(result) == name;
  });
  return drawn;
}

}  // namespace dtranspile::lower
