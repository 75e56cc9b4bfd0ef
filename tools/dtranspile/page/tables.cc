// Communication and variables, a row each.
#include "llvm/ADT/MapVector.h"
#include "tools/dtranspile/page/limits.h"
#include "tools/dtranspile/page/sections.h"

namespace dtranspile::page {
namespace {

void writeHeadings(std::initializer_list<const char*> titles, Html& html) {
  html.open("thead").open("tr");
  for (const char* title : titles) html.element("th", title);
  html.close().close();
}

// Operations that differ in what they carry only.
struct Group {
  const RoleFacts* role;
  const ProgramFacts* program;
  std::vector<const Exchange*> all;
};

std::string keyOf(const RoleFacts& role, const ProgramFacts& program, const Exchange& one) {
  std::string key = role.name().str() + '\0' + pd::ProgramOp(program.op).getSymName().str() + '\0';
  key += one.comm ? dist::CommOp(one.comm).getSymName().str() : "";
  return key + '\0' + one.what + '\0' + selectorText(one.where) + '\0' + std::to_string(one.times) +
         (one.branch ? "b" : "") + (one.started ? "s" : "");
}

llvm::StringRef carriedName(const Exchange& one, size_t index) {
  mlir::Operation* op = one.op;
  if (auto pull = llvm::dyn_cast<dist::PullOp>(op)) return pull.getVar().getLeafReference();
  if (auto lookup = llvm::dyn_cast<dist::LookupOp>(op)) return lookup.getVar().getLeafReference();
  return index < op->getNumOperands() ? dist::nameOf(op->getOperand(index)) : llvm::StringRef();
}

void writeCarried(const Group& group, int64_t tensors, Html& html) {
  size_t listed = 0;
  for (const Exchange* one : group.all)
    for (size_t i = 0; i < one->tensors && listed < kMostListed; ++i) {
      llvm::StringRef name = carriedName(*one, i);
      if (name.empty()) continue;
      if (listed++) html.text(", ");
      html.name(name);
    }
  if (listed && tensors > static_cast<int64_t>(listed))
    html.text(" and " + countText(tensors - static_cast<int64_t>(listed)) + " more");
}

std::string howText(const Exchange& one) {
  std::string text = one.started ? "started, waited for later" : "waited for";
  if (one.times > 1) text += ", for each of " + countOf(one.times, "micro-batch", "es");
  if (one.branch) text += ", in a branch or loop";
  return text;
}

void writeGroup(const Group& group, Html& html) {
  const Exchange& first = *group.all.front();
  int64_t tensors = 0;
  Bytes bytes;
  for (const Exchange* one : group.all) {
    tensors += static_cast<int64_t>(one->tensors);
    bytes += one->bytes;
  }
  html.open("tr").open("td").name(group.role->name()).text(" ");
  html.name(pd::ProgramOp(group.program->op).getSymName()).close();
  html.open("td");
  if (first.comm) html.name(dist::CommOp(first.comm).getSymName());
  html.close().open("td").element("span", {{"class", "comm"}}, shortened(first.what, kLongestName));
  if (group.all.size() > 1) html.text(" ×" + countText(group.all.size()));
  html.close().element("td", shortened(selectorText(first.where), kLongestName));
  html.element("td", {{"class", "number"}}, countText(tensors));
  html.element("td", {{"class", "number"}}, tensors ? bytes.text() : "");
  html.element("td", howText(first)).open("td");
  writeCarried(group, tensors, html);
  html.close().close();
}

void writeVariable(const RoleFacts& role, pd::VarOp var, Html& html) {
  std::string type;
  llvm::raw_string_ostream(type) << var.getType();
  html.open("tr").open("td").name(var.getSymName()).close();
  html.element("td", var.getParameter() ? "parameter" : "state");
  html.open("td").name(type).close().open("td").name(role.name()).close();
  html.open("td").name(ownerText(var)).close().open("td");
  const std::string relation = relationText(var);
  if (relation.empty()) html.element("span", {{"class", "quiet"}}, "none declared");
  else html.name(relation);
  html.close();
  html.element("td", {{"class", "number"}}, bytesOf(var, role.mesh).text()).close();
}

}  // namespace

void writeExchanges(const JobFacts& job, Html& html) {
  llvm::MapVector<std::string, Group, std::map<std::string, unsigned>> groups;
  for (const RoleFacts& role : job.roles)
    for (const ProgramFacts& program : role.programs)
      for (const Exchange& one : program.exchanges) {
        Group& group = groups[keyOf(role, program, one)];
        group.role = &role;
        group.program = &program;
        group.all.push_back(&one);
      }
  if (groups.empty()) {
    html.element("p", {{"class", "quiet"}}, "No rank talks to another.");
    return;
  }
  html.open("table");
  writeHeadings({"program", "communicator", "operation", "run by", "tensors",
                 "bytes per step and rank", "how", "carries"},
                html);
  html.open("tbody");
  size_t shown = 0;
  for (const auto& [key, group] : groups)
    if (shown++ < kMostExchanges) writeGroup(group, html);
  html.close().close();
  if (shown > kMostExchanges)
    html.element("p", {{"class", "cut"}},
                 countText(shown - kMostExchanges) + " more kinds are not listed.");
}

void writeVariables(const JobFacts& job, Html& html) {
  size_t all = 0, shown = 0;
  for (const RoleFacts& role : job.roles)
    all += static_cast<size_t>(
        llvm::range_size(dist::RoleOp(role.op).getBody().front().getOps<pd::VarOp>()));
  html.open("p", {{"id", "search"}, {"hidden", "hidden"}}).open("label").text("Search ");
  html.leaf("input", {{"type", "search"}, {"size", "32"}}).close().text(" ");
  html.element("output", "").close();
  html.open("div", {{"class", "scroll"}}).open("table");
  writeHeadings({"name", "kind", "type on a rank", "role", "lies on", "relation", "bytes per rank"},
                html);
  html.open("tbody");
  // Parameters of all roles, then the rest: what is cut are states.
  for (bool parameters : {true, false})
    for (const RoleFacts& role : job.roles)
      for (auto var : dist::RoleOp(role.op).getBody().front().getOps<pd::VarOp>())
        if (var.getParameter() == parameters && shown < kMostVariables) {
          writeVariable(role, var, html);
          ++shown;
        }
  html.close().close().close();
  if (all > shown)
    html.element("p", {{"class", "cut"}},
                 "Listed are " + countText(shown) + " of " + countOf(all, "variable") +
                     ", parameters first; `dtranspile show JOB --format mlir` has all of them.");
  html.element(
      "p", {{"class", "quiet"}},
      "Relations to the single-device program's value: R the same on every rank; S a part of it, "
      "along a dim; P values that add up to it; Q its value on a share of the batch; X different "
      "by "
      "a contract (docs/verification.md).");
}

}  // namespace dtranspile::page
