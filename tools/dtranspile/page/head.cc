// The head of a page: which job this is, what was asked for, what it promises.
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"

namespace dtranspile::page {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The member `name` of an object, whatever it is; an empty list where there is none.
const Json& member(const Json& object, const char* name) {
  static const Json kNone = Json::array();
  auto found = object.find(name);
  return found == object.end() ? kNone : *found;
}

void saysCut(size_t shown, size_t all, const char* what, Html& html) {
  if (all > shown) html.element("p", {{"class", "cut"}}, countText(all - shown) + " more " + what);
}

void chip(int64_t count, const char* noun, const char* ending, Html& html) {
  html.open("li").element("b", countText(count));
  html.text(std::string(" ") + noun + (count == 1 ? "" : ending)).close();
}

void writeChips(const JobFacts& job, Html& html) {
  int64_t classes = 0;
  for (const RoleFacts& role : job.roles) classes += static_cast<int64_t>(role.classes.size());
  html.open("ul", {{"class", "chips"}});
  chip(job.job.ranks(), "rank", "s", html);
  chip(job.allRoles, "role", "s", html);
  if (job.allRoles == job.roles.size()) chip(classes, "class", "es", html);
  chip(member(job.job.manifest, "comms").size(), "communicator", "s", html);
  const std::string loss = job.job.manifest.value("loss", "");
  if (!loss.empty()) html.open("li").text("loss ").name(loss).close();
  html.close();
}

// What was asked for, as the strategy in the manifest says it.
void writeRequest(const Json& strategy, Html& html) {
  html.open("div", {{"class", "panel"}}).element("h3", "Request");
  size_t shown = 0, all = 0;
  html.open("dl");
  for (const auto& [key, value] : strategy.items()) {
    if (key == "mode" && textOf(value).empty()) continue;
    if (++all > kMostFields) continue;
    ++shown;
    html.open("dt").name(key).close().open("dd").name(textOf(value)).close();
  }
  html.close();
  if (all == 0)
    html.element("p", {{"class", "quiet"}}, "A module alone: no request is kept with it.");
  saysCut(shown, all, "fields", html);
  html.close();
}

void writeContract(mlir::DictionaryAttr contract, Html& html) {
  auto text = [&](const char* key) {
    auto value = contract.getAs<mlir::StringAttr>(key);
    return value ? value.getValue() : llvm::StringRef();
  };
  html.open("p").name(text("tag")).text(" " + shortened(text("statement"), 400));
  auto sites = contract.getAs<mlir::ArrayAttr>("sites");
  if (sites && !sites.empty()) {
    html.open("small").text(" at ");
    size_t number = 0;
    for (mlir::Attribute site : sites.getValue().take_front(kMostListed)) {
      if (number++) html.text(", ");
      auto name = llvm::dyn_cast<mlir::StringAttr>(site);
      html.name(name ? name.getValue() : "");
    }
    if (sites.size() > kMostListed)
      html.text(" and " + countText(sites.size() - kMostListed) + " more");
    html.close();
  }
  html.close();
}

void writeContracts(mlir::ModuleOp module, Html& html) {
  html.open("div", {{"class", "panel"}}).element("h3", "Contracts");
  auto contracts = module->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  if (!contracts || contracts.empty()) {
    html.element("p", {{"class", "quiet"}},
                 "None is declared: a step is to be one of the single-device program.");
  } else {
    for (mlir::Attribute contract : contracts.getValue().take_front(kMostFields))
      if (auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(contract)) writeContract(fields, html);
    saysCut(std::min(contracts.size(), kMostFields), contracts.size(), "contracts", html);
  }
  html.close();
}

std::string extents(const Json& feed) {
  std::string text = textOf(member(feed, "dtype"));
  const Json& dims = member(feed, "dims");
  text += " [";
  for (size_t i = 0; i < dims.size(); ++i)
    text += (i ? ", " : "") + (dims[i] == -1 ? std::string("?") : textOf(dims[i]));
  return text + "]";
}

std::string batchText(const Json& feed) {
  const Json& batch = member(feed, "batch");
  if (!batch.is_object()) return "whole on every rank";
  std::string text = "dim " + textOf(member(batch, "dim")) + " is cut over";
  for (const Json& axis : member(batch, "axes")) text += " " + textOf(axis);
  return text;
}

void writeFeeds(const Json& manifest, Html& html) {
  html.open("div", {{"class", "panel"}}).element("h3", "Feeds and fetches").open("dl");
  const Json &feeds = member(manifest, "feeds"), &fetches = member(manifest, "fetches");
  for (size_t i = 0; i < std::min(feeds.size(), kMostFields); ++i) {
    html.open("dt").name(textOf(member(feeds[i], "name"))).close();
    html.element("dd", shortened(extents(feeds[i]) + ", " + batchText(feeds[i]), 160));
  }
  for (size_t i = 0; i < std::min(fetches.size(), kMostFields); ++i) {
    html.open("dt").name(textOf(member(fetches[i], "name"))).close();
    html.element("dd",
                 shortened("fetched: " + textOf(member(fetches[i], "combine")) +
                               " of all ranks, relation " + textOf(member(fetches[i], "relation")),
                           160));
  }
  html.close();
  saysCut(std::min(feeds.size(), kMostFields), feeds.size(), "feeds", html);
  html.close();
}

}  // namespace

void writeHead(const JobFacts& job, Html& html) {
  const std::string mode = job.job.manifest.value("mode", "");
  html.open("header").open("h1").text("Job");
  if (!mode.empty()) html.text(" ").element("span", {{"class", "mode"}}, shortened(mode, 40));
  html.close().open("p", {{"class", "digest"}}).element("code", job.job.digest()).close();
  writeChips(job, html);
  html.open("div", {{"class", "panels"}});
  writeRequest(member(job.job.manifest, "strategy"), html);
  writeFeeds(job.job.manifest, html);
  writeContracts(job.job.module.get(), html);
  html.close();
  if (job.allRoles > job.roles.size())
    html.element("p", {{"class", "cut"}},
                 "The page shows the first " + countOf(job.roles.size(), "role") + " of " +
                     countText(job.allRoles) + ".");
  html.close();
}

}  // namespace dtranspile::page
