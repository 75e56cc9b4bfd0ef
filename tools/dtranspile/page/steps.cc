// The ops of a step in the order of the text, as a ribbon, and below it what is under way between
// its start and its wait: how much of the computing hides communication.
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseMap.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"
#include "tools/dtranspile/page/svg.h"

namespace dtranspile::page {
namespace {

constexpr int kLeft = 14, kRibbon = kWidth - 2 * kLeft, kBins = kRibbon / 2;
constexpr int kHigh = 26, kRow = 9, kMostRows = 8;

// An operation between two places of the ribbon: after `from` ops it starts, after `to` it is over.
struct Span {
  size_t from, to;
  int row;
  const Exchange* exchange;
};

struct Ribbon {
  std::vector<const Phase*> ops;
  std::vector<Span> spans;
  int rows = 0;
  size_t cut = 0;  // spans that found no room

  int height() const { return 24 + kHigh + 6 + kRow * rows + 14; }
};

// Ops of the class in their order, and a span for every exchange, from where it starts to where its
// value is waited for. Spans get rows as arrows of transfers do.
Ribbon ribbonOf(const ProgramFacts& program, const RankClass& rankClass) {
  Ribbon ribbon;
  llvm::DenseMap<mlir::Operation*, const Exchange*> exchanges;
  for (const Exchange& one : program.exchanges) exchanges[one.op] = &one;
  std::vector<Span> spans;
  llvm::DenseMap<mlir::Value, size_t> started;  // pending value -> its span
  visitOps(program.op, rankClass.where, [&](mlir::Operation* op) {
    if (pd::OpView::isFrameworkOp(op)) ribbon.ops.push_back(&phaseOf(op));
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op))
      if (auto found = started.find(wait.getPending()); found != started.end())
        spans[found->second].to = ribbon.ops.size();
    auto exchange = exchanges.find(op);
    if (exchange == exchanges.end() || !meet(exchange->second->where, rankClass.where)) return;
    if (exchange->second->started) started[op->getResult(0)] = spans.size();
    spans.push_back({ribbon.ops.size(), ribbon.ops.size(), 0, exchange->second});
  });
  // Rows from above: the first whose last span is over.
  std::vector<size_t> ends;
  const size_t width = ribbon.ops.size() / 240 + 1;  // of a span that is over at once
  for (Span& span : spans) {
    size_t row = 0;
    while (row < ends.size() && ends[row] > span.from) ++row;
    if (row == kMostRows || ribbon.spans.size() == kMostSpans) {
      ++ribbon.cut;
      continue;
    }
    if (row == ends.size()) ends.push_back(0);
    ends[row] = std::max(span.to, span.from + width);
    span.row = static_cast<int>(row);
    ribbon.spans.push_back(span);
  }
  ribbon.rows = static_cast<int>(ends.size());
  return ribbon;
}

class StepDrawing {
 public:
  StepDrawing(Svg& svg, const Ribbon& ribbon) : svg_(svg), ribbon_(ribbon) {}

  void draw(const std::string& title, int y) {
    svg_.label(kLeft, y + 15, kRibbon, "strong", title);
    y += 24;
    drawOps(y);
    for (const Span& span : ribbon_.spans) drawSpan(span, y + kHigh + 6);
  }

 private:
  int at(size_t position) const {
    const size_t count = std::max<size_t>(ribbon_.ops.size(), 1);
    return kLeft + static_cast<int>(position * kRibbon / count);
  }

  // What most ops of a bin are for; bins of one phase in a row are one piece.
  void drawOps(int y) {
    const size_t count = ribbon_.ops.size(), bins = std::min<size_t>(count, kBins);
    const Phase* last = nullptr;
    size_t begin = 0;
    for (size_t bin = 0; bin <= bins; ++bin) {
      const size_t from = bins ? bin * count / bins : 0;
      const Phase* phase =
          bin < bins ? mostOf(from, std::max(from + 1, (bin + 1) * count / bins)) : nullptr;
      if (phase == last) continue;
      if (last) {
        svg_.enter(std::string(last->name) + ", ops " + countText(begin) + " to " +
                   countText(from - 1));
        svg_.rect(at(begin), y, std::max(at(from) - at(begin), 1), kHigh, last->style);
        svg_.leave();
      }
      last = phase;
      begin = from;
    }
  }

  const Phase* mostOf(size_t from, size_t to) const {
    llvm::SmallDenseMap<const Phase*, size_t> counts;
    const Phase* most = ribbon_.ops[from];
    for (size_t i = from; i < to; ++i) {
      const size_t count = ++counts[ribbon_.ops[i]];
      if (count > counts[most]) most = ribbon_.ops[i];
    }
    return most;
  }

  void drawSpan(const Span& span, int y) {
    const Exchange& one = *span.exchange;
    const int x = std::min(at(span.from), kLeft + kRibbon - 4);
    std::string tip = one.what;
    if (one.comm) tip += " on @" + dist::CommOp(one.comm).getSymName().str();
    tip += ": " + countOf(one.tensors, "tensor") + ", " + one.bytes.text();
    tip += one.started ? ", under way during " + countOf(span.to - span.from, "op")
                       : ", waited for at once";
    svg_.enter(tip);
    svg_.rect(x, y + kRow * span.row, std::max(at(span.to) - x, 4), kRow - 2,
              one.started ? "span" : "span blocking", 2);
    svg_.leave();
  }

  Svg& svg_;
  const Ribbon& ribbon_;
};

void writeLegend(Html& html) {
  html.open("figcaption").open("ul", {{"class", "legend"}});
  for (const Phase& phase : llvm::reverse(phases())) {
    html.open("li").element("span", {{"class", std::string("key ") + phase.style}}, "");
    html.text(phase.name).close();
  }
  html.open("li")
      .element("span", {{"class", "key span"}}, "")
      .text("communication under way")
      .close();
  html.open("li").element("span", {{"class", "key span blocking"}}, "");
  html.text("waited for at once").close().close();
  html.text("Every op has the same width: this is the order of the text, not time.").close();
}

}  // namespace

void writeSteps(const JobFacts& job, Html& html) {
  struct Row {
    std::string title;
    Ribbon ribbon;
  };
  std::vector<Row> rows;
  size_t cut = 0;
  for (const RoleFacts& role : job.roles)
    for (const ProgramFacts& program : role.programs) {
      if (pd::ProgramOp(program.op).getSymName() != "main") continue;
      for (size_t i = 0; i < role.classes.size(); ++i) {
        if (i == kMostClasses) {
          cut += role.classes.size() - i;
          break;
        }
        Ribbon ribbon = ribbonOf(program, role.classes[i]);
        if (ribbon.ops.empty()) continue;
        std::string title = role.classes[i].name + ": " + countOf(ribbon.ops.size(), "op");
        if (ribbon.cut)
          title += " (" + countOf(ribbon.cut, "operation") + " more under way are not drawn)";
        rows.push_back({std::move(title), std::move(ribbon)});
      }
    }
  if (rows.empty()) return;
  int height = 4;
  for (const Row& row : rows) height += row.ribbon.height();
  html.open("figure");
  {
    Svg svg(html, height, "the ops of a step in their order, and the communication under way");
    int y = 0;
    for (const Row& row : rows) {
      StepDrawing(svg, row.ribbon).draw(row.title, y);
      y += row.ribbon.height();
    }
  }
  writeLegend(html);
  html.close();
  if (cut)
    html.element("p", {{"class", "cut"}}, countOf(cut, "class", "es") + " more are not drawn.");
}

}  // namespace dtranspile::page
