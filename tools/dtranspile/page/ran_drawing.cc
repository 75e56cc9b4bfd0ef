// The step of a pipeline as it ran, to scale.
#include <cmath>

#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/stages.h"

namespace dtranspile::page {
namespace {

using schedule::Entry;

struct StageTrace {
  int64_t rank = 0;
  const RankTrace* trace = nullptr;
  size_t perStep = 0;  // tasks that the schedule gives the stage in a step

  const RanTask* at(size_t step) const { return trace->data() + step * perStep; }
};

std::string decimals(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

// "840 µs", "3.91 ms", "2.05 s".
std::string timeText(double micros) {
  if (micros < 1e3) return decimals(micros, 0) + " µs";
  return micros < 1e6 ? decimals(micros / 1e3, 2) + " ms" : decimals(micros / 1e6, 2) + " s";
}

double busyOf(const RanTask& task) {
  double busy = task.end - task.begin;
  for (const auto& [begin, end] : task.waits) busy -= end - begin;
  return std::max(busy, 0.0);
}

// One step of all stages.
class Step {
 public:
  Step(const std::vector<StageTrace>& stages, size_t number) : stages_(&stages), number_(number) {
    begin_ = stages.front().at(number)->begin;
    for (const StageTrace& stage : stages) {
      begin_ = std::min(begin_, stage.at(number)->begin);
      end_ = std::max(end_, stage.at(number)[stage.perStep - 1].end);
    }
  }

  size_t number() const { return number_; }
  double length() const { return end_ - begin_; }

  // Share of the step that a stage computes, in percent.
  double busy(const StageTrace& stage) const {
    double busy = 0;
    for (size_t i = 0; i < stage.perStep; ++i) busy += busyOf(stage.at(number_)[i]);
    return length() > 0 ? 100 * busy / length() : 0;
  }
  double idle() const {
    double busy = 0;
    for (const StageTrace& stage : *stages_) busy += this->busy(stage);
    return 100 - busy / static_cast<double>(stages_->size());
  }

  void draw(const RanPipeline& pipeline, Html& html) const {
    Svg svg(html, static_cast<int>(stages_->size()) * kRow + 12,
            "which task of which micro-batch every stage ran when");
    for (size_t stage = 0; stage < stages_->size(); ++stage) {
      const int y = 6 + static_cast<int>(stage) * kRow;
      svg.label(4, y + 18, kNames - 8, "strong",
                pipeline.axis.str() + " = " + std::to_string(stage));
      svg.rect(kNames, y, kSpace, kRow - 6, "idle", 3);
      for (size_t i = 0; i < (*stages_)[stage].perStep; ++i)
        drawTask(svg, y, (*stages_)[stage].at(number_)[i]);
      svg.label(kNames + kSpace + 8, y + 17, kTail - 8, "small",
                pipeline.role.str() + " " + std::to_string((*stages_)[stage].rank) + ": " +
                    decimals(busy((*stages_)[stage]), 0) + " %");
    }
  }

 private:
  static constexpr int kSpace = kWidth - kNames - kTail;

  int pixel(double time) const {
    return length() > 0 ? static_cast<int>(std::lround((time - begin_) / length() * kSpace)) : 0;
  }

  void drawTask(Svg& svg, int y, const RanTask& task) const {
    const int from = pixel(task.begin), width = std::max(pixel(task.end) - from, 1);
    const std::string text = schedule::textOf(task.entry);
    svg.enter(text + " from " + timeText(task.begin - begin_) + " for " +
              timeText(task.end - task.begin) + ", of which it computes " + timeText(busyOf(task)));
    svg.rect(kNames + from, y, width, kRow - 6, styleOf(task.entry.task));
    for (const auto& [begin, end] : task.waits)
      if (const int waits = pixel(end) - pixel(begin); waits > 0)
        svg.rect(kNames + pixel(begin), y, waits, kRow - 6, "waits");
    labelBox(svg, kNames + from, y, width, text);
    svg.leave();
  }

  const std::vector<StageTrace>* stages_;
  size_t number_;
  double begin_ = 0, end_ = 0;
};

// Where a trace does not have what the schedule says, or nothing.
std::string differenceOf(const StageTrace& stage, const std::vector<Entry>& planned) {
  for (size_t i = 0; i < stage.trace->size(); ++i)
    if (const Entry& entry = planned[i % planned.size()]; (*stage.trace)[i].entry != entry)
      return "rank " + std::to_string(stage.rank) + " ran " +
             schedule::textOf((*stage.trace)[i].entry) + " where the schedule has " +
             schedule::textOf(entry);
  return "";
}

}  // namespace

void writeRan(const RanPipeline& pipeline, const Traces& traces, Html& html) {
  std::vector<StageTrace> stages;
  const auto refuse = [&](const std::string& why) {
    html.element("p", {{"class", "cut"}}, "How it ran is not drawn: " + why + ".");
  };
  size_t steps = SIZE_MAX;
  for (size_t stage = 0; stage < pipeline.planned.size() && stage < kMostStages; ++stage) {
    const std::vector<Entry>& planned = pipeline.planned[stage];
    if (planned.empty()) return refuse("a stage has no task");
    StageTrace one{firstRankOf(pipeline.mesh, pipeline.axis, static_cast<int64_t>(stage)), nullptr,
                   planned.size()};
    const auto found = traces.find({pipeline.role.str(), one.rank});
    if (found == traces.end()) return;
    one.trace = &found->second;
    if (const std::string difference = differenceOf(one, planned); !difference.empty())
      return refuse("the traces are of another job: " + difference);
    steps = std::min(steps, one.trace->size() / one.perStep);
    stages.push_back(one);
  }
  if (stages.empty() || steps == 0) return refuse("no step is whole in the traces");
  std::vector<Step> all;
  for (size_t step = 0; step < steps; ++step) all.emplace_back(stages, step);
  std::sort(all.begin(), all.end(), [](const Step& a, const Step& b) {
    return std::pair(a.length(), a.number()) < std::pair(b.length(), b.number());
  });
  const Step& median = all[all.size() / 2];
  html.element("p", "As it ran, to scale: step " + std::to_string(median.number()) + " of " +
                        countText(static_cast<int64_t>(steps)) +
                        ", the one of median length; it took " + timeText(median.length()) +
                        ", of which stages were idle or waited " + decimals(median.idle(), 0) +
                        " % (planned: " + std::to_string(pipeline.idle) + " %).");
  html.open("figure");
  median.draw(pipeline, html);
  html.open("figcaption").open("ul", {{"class", "legend"}}).open("li");
  html.element("span", {{"class", "key waits"}}, "").text("waits for values of other stages");
  html.close().close();
  html.text(
      "Each row is the first rank of its stage, with the share of the step that it computes. Times "
      "are of one host's clock: rows of several hosts do not fit each other.");
  html.close().close();
}

}  // namespace dtranspile::page
