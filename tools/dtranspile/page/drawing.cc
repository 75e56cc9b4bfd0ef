// Roles as boxes, their classes of ranks in them; above the classes what goes from one to another,
// below them the groups that they share, between roles the requests to servers.
#include "dialects/dist/settings.h"
#include "llvm/ADT/STLExtras.h"
#include "tools/dtranspile/page/lanes.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"
#include "tools/dtranspile/page/svg.h"

namespace dtranspile::page {
namespace {

constexpr int kMargin = 14, kHead = 34, kBand = 48, kStrip = 84, kLevel = 42;
constexpr int kLeft = 2 * kMargin, kRight = kWidth - 2 * kMargin;  // of classes and bands

struct Box {
  int x, width;
  int middle() const { return x + width / 2; }
};

// Where everything of a role lies, from its upper edge down.
struct Layout {
  explicit Layout(const RoleFacts& role) : lanes(lanesOf(role)) {
    const bool transfers = !lanes.transfers.empty();
    const int gap = transfers ? 36 : 20, count = static_cast<int>(lanes.boxes);
    const int width = (kRight - kLeft - gap * (count - 1)) / count;
    for (int i = 0; i < count; ++i) boxes.push_back({kLeft + i * (width + gap), width});
    classes = kHead;
    for (const TransferLane& lane : lanes.transfers) classes += kLevel * lane.rows;
    box = count == 1 ? 66 : 108;
    bands = classes + box + 16;
    height = bands + kBand * static_cast<int>(lanes.groups.size()) + (lanes.cut ? 22 : 0) + 2;
  }

  Lanes lanes;
  std::vector<Box> boxes;
  int classes, bands, height;  // y of the class boxes, of the first band, of the lower edge
  int box;                     // height of a class; low where there is one, which is wide
};

class Drawing {
 public:
  Drawing(const JobFacts& job, Html& html) : job_(job) {
    int height = kMargin;
    for (const RoleFacts& role : job.roles) {
      layouts_.emplace_back(role);
      height += layouts_.back().height + kMargin + strips(layouts_.back());
    }
    Svg svg(html, height, "roles, classes of ranks and communicators of the job");
    svg_ = &svg;
    int y = kMargin;
    for (size_t i = 0; i < job.roles.size(); ++i) {
      drawRole(i, y);
      y += layouts_[i].height;
      drawRequests(i, y);
      y += kMargin + strips(layouts_[i]);
    }
  }

 private:
  static int strips(const Layout& layout) {
    return kStrip * static_cast<int>(layout.lanes.requests.size());
  }

  void drawRole(size_t index, int y) {
    const RoleFacts& role = job_.roles[index];
    const Layout& layout = layouts_[index];
    svg_->rect(kMargin, y, kWidth - 2 * kMargin, layout.height, "role", 10);
    svg_->label(kLeft, y + 22, 380, "name", "@" + role.name().str());
    dist::MeshOp mesh = role.mesh;
    svg_->label(kRight, y + 22, 640, "quiet end",
                "on @" + mesh.getSymName().str() + " " + meshText(mesh) + " · " +
                    countOf(mesh.ranks(), "rank") + settingsText(role.op) + ", " +
                    classesText(role));
    drawTransfers(layout, y + kHead);
    for (size_t box = 0; box < layout.boxes.size(); ++box)
      drawClass(role, layout, box, y + layout.classes);
    drawGroups(role, layout, y);
  }

  // What the job says of them.
  static std::string settingsText(dist::RoleOp role) {
    std::string text;
    if (llvm::StringRef device = dist::deviceOf(role); !device.empty())
      text += " on " + device.str();
    if (int64_t threads = dist::threadsOf(role)) text += " of " + countOf(threads, "thread");
    return text;
  }

  static std::string classesText(const RoleFacts& role) {
    if (role.tooManyClasses) return "classes too many to be told apart here";
    return countOf(role.classes.size(), "class", "es");
  }

  void drawClass(const RoleFacts& role, const Layout& layout, size_t index, int y) {
    const Box& box = layout.boxes[index];
    const ClassBox& content = layout.lanes.content[index];
    svg_->enter(content.tip);
    svg_->rect(box.x, y, box.width, layout.box, role.serve ? "class server" : "class", 7);
    // Lines below each other; in a wide box in three columns.
    const bool wide = layout.boxes.size() == 1;
    const int column = wide ? 260 : box.width;
    int line = y + 20, x = box.x + 10;
    svg_->label(x, line, column - 20, "name", content.title);
    for (size_t i = 0; i < content.lines.size(); ++i) {
      line += 18;
      if (wide && i % 2 == 1) {
        x += column;
        line = y + 20;
      }
      svg_->label(x, line, column - 20, "small", content.lines[i]);
    }
    drawRanks(content.ranks, box, y);
    svg_->leave();
  }

  // A dot per rank where there is room for it.
  void drawRanks(int64_t ranks, const Box& box, int y) {
    constexpr int kRoom = 280, kStep = 13;
    if (box.width < kRoom + 60 || ranks > 64) return;
    const int perLine = ranks > 32 ? 16 : 8;
    for (int i = 0; i < static_cast<int>(ranks); ++i)
      svg_->dot(box.x + box.width - 18 - kStep * (perLine - 1 - i % perLine),
                y + 20 + kStep * (i / perLine), 4, "rank");
  }

  // From class to class, a row per communicator; arrows that overlap take further rows.
  void drawTransfers(const Layout& layout, int y) {
    const int boxes = y - kHead + layout.classes;
    int port = 0;
    for (const TransferLane& lane : layout.lanes.transfers) {
      for (const TransferArrow& arrow : lane.arrows) {
        const Box &from = layout.boxes[arrow.from], &to = layout.boxes[arrow.to];
        const int level = y + 16 + kLevel * arrow.row;
        // Ports of lanes lie side by side; those of values that leave, beside those that come.
        const int right = arrow.from < arrow.to ? 1 : -1;
        const int shift = 14 + 11 * (port % 5);
        const int x1 = from.middle() + right * shift, x2 = to.middle() - right * shift;
        svg_->enter(arrow.tip);
        svg_->arrow({{x1, boxes}, {x1, level}, {x2, level}, {x2, boxes}}, "pairs");
        const int left = std::min(x1, x2) + 8, width = std::abs(x2 - x1) - 12;
        svg_->label(left, level - 5, width, "strong", lane.title);
        svg_->label(left, level + 15, width, "small", arrow.text);
        svg_->leave();
      }
      y += kLevel * lane.rows;
      ++port;
    }
  }

  // A band per communicator, with a foot to every class that uses it.
  void drawGroups(const RoleFacts& role, const Layout& layout, int top) {
    const std::vector<GroupBand>& bands = layout.lanes.groups;
    const int foot = top + layout.classes + layout.box;
    int y = top + layout.bands;
    for (size_t i = 0; i < bands.size(); ++i, y += kBand)
      for (size_t box : bands[i].boxes) {
        const int x = layout.boxes[box].x + layout.boxes[box].width * static_cast<int>(i + 1) /
                                                static_cast<int>(bands.size() + 1);
        svg_->line(x, foot, x, y, bands[i].step ? "group" : "group faint");
      }
    y = top + layout.bands;
    for (size_t i = 0; i < bands.size(); ++i, y += kBand) {
      svg_->enter(bands[i].tip);
      svg_->rect(kLeft, y, kRight - kLeft, kBand - 8, bands[i].step ? "band" : "band faint", 6);
      svg_->label(kLeft + 12, y + 17, kRight - kLeft - 24, "strong", bands[i].title);
      svg_->label(kLeft + 12, y + 33, kRight - kLeft - 24, "small", bands[i].text);
      svg_->leave();
      for (size_t box : bands[i].boxes)
        svg_->dot(layout.boxes[box].x + layout.boxes[box].width * static_cast<int>(i + 1) /
                                            static_cast<int>(bands.size() + 1),
                  y, 4, bands[i].step ? "group" : "group faint");
    }
    if (layout.lanes.cut)
      svg_->label(kLeft, y + 12, kRight - kLeft, "small",
                  countOf(layout.lanes.cut, "communicator") + " more of @" + role.name().str() +
                      " stand in the table below");
  }

  // Arrows to the server's box, which stands below, or to its name where it stands elsewhere.
  void drawRequests(size_t index, int y) {
    for (const RequestStrip& strip : layouts_[index].lanes.requests) {
      const bool below =
          index + 1 < job_.roles.size() && job_.roles[index + 1].name() == strip.server;
      const int end =
          y + kStrip + (below && &strip == &layouts_[index].lanes.requests.back() ? kMargin : -26);
      if (!below)
        svg_->label(kLeft + 300, y + kStrip - 8, 500, "strong",
                    "@" + strip.server + " (elsewhere)");
      svg_->label(kLeft, y + 26, 290, "strong", strip.title);
      svg_->label(kLeft, y + 44, 290, "small", strip.phases);
      svg_->enter(strip.tip);
      int x = kLeft + 320;
      for (const RequestArrow& arrow : strip.arrows) {
        if (arrow.up) svg_->arrow({{x, end}, {x, y}}, "rpc");
        else svg_->arrow({{x, y}, {x, end}}, "rpc");
        svg_->label(x + 10, y + 30, 240, "strong", arrow.what);
        svg_->label(x + 10, y + 48, 240, "small", arrow.text);
        x += 265;
      }
      svg_->leave();
      y += kStrip;
    }
  }

  const JobFacts& job_;
  std::vector<Layout> layouts_;
  Svg* svg_ = nullptr;
};

}  // namespace

void writeDrawing(const JobFacts& job, Html& html) {
  html.open("figure");
  Drawing(job, html);
  html.open("figcaption").open("ul", {{"class", "legend"}});
  struct Key {
    const char *style, *text;
  };
  constexpr Key kKeys[] = {{"k-group", "group: collectives among ranks"},
                           {"k-pairs", "pairs: from one coordinate to another"},
                           {"k-rpc", "requests to servers"}};
  for (const Key& key : kKeys) {
    html.open("li").element("span", {{"class", std::string("key ") + key.style}}, "");
    html.text(key.text).close();
  }
  html.close();
  html.text(
      "A class is a set of ranks with equal text; a job has as many for 8 as for 100,000 ranks. "
      "Bytes are those that a rank hands over in a step (what it gets, of pulls and lookups); ? is "
      "the local batch, of a micro-batch inside a pipeline.");
  html.close().close();
}

}  // namespace dtranspile::page
