#include "tools/dtranspile/page/svg.h"

#include "tools/dtranspile/page/limits.h"

namespace dtranspile::page {
namespace {

// Of a character of a label: fonts differ, wide ones have to fit.
constexpr int kCharacter = 7;

std::string number(int value) { return std::to_string(value); }

}  // namespace

Svg::Svg(Html& html, int height, llvm::StringRef what) : html_(html) {
  html_.open("svg", {{"viewBox", "0 0 " + number(kWidth) + " " + number(height)},
                     {"width", number(kWidth)},
                     {"height", number(height)},
                     {"role", "img"},
                     {"aria-label", what.str()}});
}

Svg::~Svg() { html_.close().own("\n"); }

void Svg::enter(llvm::StringRef tip) {
  html_.open("g").element("title", shortened(tip, kLongestTip));
}

void Svg::rect(int x, int y, int width, int height, const char* style, int radius) {
  const Html::Attribute round = {"rx", number(radius)};
  if (radius)
    html_.leaf("rect", {{"x", number(x)},
                        {"y", number(y)},
                        {"width", number(width)},
                        {"height", number(height)},
                        round,
                        {"class", style}});
  else
    html_.leaf("rect", {{"x", number(x)},
                        {"y", number(y)},
                        {"width", number(width)},
                        {"height", number(height)},
                        {"class", style}});
}

void Svg::line(int x1, int y1, int x2, int y2, const char* style) {
  html_.leaf("path",
             {{"d", "M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " + number(y2)},
              {"class", style}});
}

void Svg::dot(int x, int y, int radius, const char* style) {
  html_.leaf("circle",
             {{"cx", number(x)}, {"cy", number(y)}, {"r", number(radius)}, {"class", style}});
}

void Svg::arrow(std::initializer_list<std::pair<int, int>> points, const char* style) {
  std::string shaft;
  for (const auto& [x, y] : points)
    shaft += (shaft.empty() ? "M" : "L") + number(x) + " " + number(y);
  html_.leaf("path", {{"d", shaft}, {"class", style}});
  const auto [x, y] = *(points.end() - 1);
  const auto [fromX, fromY] = *(points.end() - 2);
  const int dx = x == fromX ? 0 : x > fromX ? 1 : -1, dy = y == fromY ? 0 : y > fromY ? 1 : -1;
  // Base of the head: 7 back, 4 to either side.
  auto corner = [&](int side) {
    return "L" + number(x - 7 * dx + 4 * side * dy) + " " + number(y - 7 * dy + 4 * side * dx);
  };
  html_.leaf("path", {{"d", "M" + number(x) + " " + number(y) + corner(1) + corner(-1) + "Z"},
                      {"class", std::string(style) + " tip"}});
}

void Svg::label(int x, int y, int width, const char* style, llvm::StringRef text) {
  const size_t most = static_cast<size_t>(std::max(width / kCharacter, 2));
  const std::string cut = shortened(text, most);
  html_.open("text", {{"x", number(x)}, {"y", number(y)}, {"class", style}});
  html_.text(cut);
  const std::string whole = shortened(text, kLongestTip);
  if (cut != whole) html_.element("title", whole);
  html_.close();
}

}  // namespace dtranspile::page
