// Shapes of a drawing: whole pixels, colours by class (style.cc), so that the same drawing fits
// light, dark and paper.
#pragma once

#include "tools/dtranspile/page/html.h"

namespace dtranspile::page {

// Of every drawing; it is scaled to the page.
inline constexpr int kWidth = 1120;

class Svg {
 public:
  // `what` is said to those who cannot see it.
  Svg(Html& html, int height, llvm::StringRef what);
  ~Svg();
  Svg(const Svg&) = delete;
  Svg& operator=(const Svg&) = delete;

  // What is drawn until `leave` has this tip.
  void enter(llvm::StringRef tip);
  void leave() { html_.close(); }

  void rect(int x, int y, int width, int height, const char* style, int radius = 0);
  void line(int x1, int y1, int x2, int y2, const char* style);
  void dot(int x, int y, int radius, const char* style);
  // A line with corners, and a head at its end.
  void arrow(std::initializer_list<std::pair<int, int>> points, const char* style);
  // Cut to `width` pixels; then the whole of it is its tip.
  void label(int x, int y, int width, const char* style, llvm::StringRef text);

 private:
  Html& html_;
};

}  // namespace dtranspile::page
