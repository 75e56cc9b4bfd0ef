// Who holds how much of what: a bar per set of ranks with the same variables.
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"
#include "tools/dtranspile/page/svg.h"

namespace dtranspile::page {
namespace {

constexpr int kNames = 250, kBar = 560, kRow = 26;

int64_t longest(const RoleFacts& role) {
  int64_t most = 1;
  for (const Place& place : role.places)
    most = std::max(most, place.parameters.atLeast() + place.state.atLeast());
  return most;
}

void draw(const RoleFacts& role, Html& html) {
  Svg svg(html, static_cast<int>(role.places.size()) * kRow + 8, "bytes of variables per rank");
  const auto scale = static_cast<double>(kBar) / static_cast<double>(longest(role));
  auto pixels = [&](const Bytes& bytes) {
    const int width = static_cast<int>(static_cast<double>(bytes.atLeast()) * scale);
    return bytes.atLeast() ? std::max(width, 2) : 0;
  };
  int y = 4;
  for (const Place& place : role.places) {
    svg.label(4, y + 15, kNames - 12, "strong",
              selectorText(place.where) + ", " + countOf(place.ranks, "rank"));
    const int parameters = pixels(place.parameters), state = pixels(place.state);
    svg.rect(kNames, y, kBar, kRow - 8, "idle", 3);
    svg.rect(kNames, y, parameters, kRow - 8, "m-parameter", 3);
    svg.rect(kNames + parameters, y, state, kRow - 8, "m-state", 3);
    svg.label(kNames + kBar + 12, y + 14, kWidth - kNames - kBar - 16, "small",
              place.parameters.text() + " + " + place.state.text());
    y += kRow;
  }
}

void writeOwners(const RoleFacts& role, Html& html) {
  html.open("table").open("thead").open("tr");
  for (const char* title : {"ranks", "number", "parameters", "state", "lies here only"})
    html.element("th", title);
  html.close().close().open("tbody");
  for (const Place& place : role.places) {
    html.open("tr").open("td").name(selectorText(place.where)).close();
    html.element("td", {{"class", "number"}}, countText(place.ranks));
    html.element("td", {{"class", "number"}}, place.parameters.text());
    html.element("td", {{"class", "number"}}, place.state.text());
    html.open("td");
    for (size_t i = 0; i < place.owned.size(); ++i) {
      if (i) html.text(", ");
      html.name(pd::VarOp(place.owned[i]).getSymName());
    }
    if (place.count > place.owned.size())
      html.text(" and " + countText(place.count - place.owned.size()) + " more");
    html.close().close();
  }
  html.close().close();
}

}  // namespace

void writeMemory(const JobFacts& job, Html& html) {
  for (const RoleFacts& role : job.roles) {
    html.open("h3").text("Role ").name(role.name()).close();
    html.open("figure");
    draw(role, html);
    html.open("figcaption").open("ul", {{"class", "legend"}});
    html.open("li").element("span", {{"class", "key m-parameter"}}, "").text("parameters").close();
    html.open("li").element("span", {{"class", "key m-state"}}, "").text("state").close();
    html.close().close().close();
    const auto shown = static_cast<int64_t>(role.places.size());
    if (role.allPlaces > shown)
      html.element("p", {{"class", "cut"}},
                   countText(role.allPlaces - shown) + " more sets of ranks are not drawn.");
    if (role.allPlaces > 1) writeOwners(role, html);
  }
  html.element(
      "p", {{"class", "quiet"}},
      "Variables alone: what a step computes in between is laid out when a class is compiled "
      "(dtranspile compile).");
}

}  // namespace dtranspile::page
