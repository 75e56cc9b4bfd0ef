#include "compiler/verify/report/render.h"

#include <algorithm>
#include <map>

#include "nlohmann/json.hpp"
#include "runtime/base/printable.h"

namespace dtranspile::verify {
namespace {

using Json = nlohmann::ordered_json;

// The words of JSON; SARIF has its own.
const char* levelName(Message::Level level) {
  switch (level) {
    case Message::Level::Note: return "note";
    case Message::Level::Unknown: return "unknown";
    case Message::Level::Refuted: return "refuted";
  }
  return "refuted";
}

// "ops 120, collectives 3".
std::string statsText(const Rung& rung) {
  std::string text;
  for (const auto& [name, value] : rung.stats)
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(value);
  return text;
}

// What the verdict leans on: a line per contract, and one for the variables of each.
std::string conditionsText(const Rung& rung) {
  std::string text;
  std::map<std::string, std::string> variables, solved;
  for (const Condition& condition : rung.conditions) {
    if (condition.kind == "solver") {
      std::string& names = solved[condition.statement];
      names += (names.empty() ? "" : ", ") + condition.name;
      continue;
    }
    if (condition.kind == "change") {
      text += "  as changed by `" + condition.name + "`: " + condition.statement + "\n";
      continue;
    }
    if (condition.kind == "contract") {
      text += "  under contract `" + condition.name + "`: " + condition.statement + "\n";
      continue;
    }
    std::string& names = variables[condition.statement];
    names += (names.empty() ? "`" : ", `") + condition.name + "`";
  }
  for (const auto& [statement, names] : solved) text += "  " + statement + ": " + names + "\n";
  for (const auto& [contract, names] : variables)
    text += "  each rank keeps its own (" + contract + "): " + names + "\n";
  return text;
}

// For people: a line for each rung, its conditions, its messages with what to do, and the verdict
// over the rungs that were asked for.
std::string renderText(const VerifyReport& report, std::string_view subject) {
  std::string text;
  for (const Rung& rung : report.rungs) {
    text += rung.name + ": " + rung.word();
    if (!rung.notRun.empty()) text += ": " + Printable(rung.notRun);
    text += rung.stats.empty() && !rung.notRun.empty() ? "\n" : " (" + statsText(rung) + ")\n";
    text += conditionsText(rung);
    for (const Message& message : rung.messages) {
      text += "  " + std::string(levelName(message.level)) + " [" + message.rule + "] " +
              Printable(message.position) + "\n    " + Printable(message.text) + "\n";
      for (const std::string& note : message.notes) text += "    - " + Printable(note) + "\n";
      if (!message.remedy.empty()) text += "    to do: " + message.remedy + "\n";
    }
    if (rung.dropped) text += "  and " + std::to_string(rung.dropped) + " messages more\n";
  }
  std::string rungs;
  for (const std::string& name : report.required) rungs += (rungs.empty() ? "" : ", ") + name;
  return text + std::string(subject) + ": " + verdictName(report.overall()) + " (rungs " + rungs +
         ")\n";
}

// Contracts and assumptions, in the order in which they were met.
Json conditionsJson(const Rung& rung) {
  Json list = Json::array();
  for (const Condition& condition : rung.conditions)
    list.push_back(
        {{"kind", condition.kind}, {"name", condition.name}, {"statement", condition.statement}});
  return list;
}

// Every field, also an empty one, so that readers need not ask which are there.
Json messageJson(const Message& message) {
  return {{"level", levelName(message.level)},
          {"rule", message.rule},
          {"op", message.op},
          {"position", message.position},
          {"file", message.file},
          {"block", message.block},
          {"index", message.index},
          {"class", message.rankClass},
          {"text", message.text},
          {"remedy", message.remedy},
          {"notes", message.notes}};
}

// All that the report has, in one object. Text that is no UTF-8 (names from a file) is replaced, so
// that there is always an answer.
std::string renderJson(const VerifyReport& report, std::string_view subject) {
  Json rungs = Json::array();
  for (const Rung& rung : report.rungs) {
    Json messages = Json::array(), stats = Json::object();
    for (const Message& message : rung.messages) messages.push_back(messageJson(message));
    for (const auto& [name, value] : rung.stats) stats[name] = value;
    rungs.push_back({{"name", rung.name},
                     {"verdict", rung.word()},
                     {"reason", rung.notRun},
                     {"stats", stats},
                     {"conditions", conditionsJson(rung)},
                     {"messages", messages},
                     {"messages_dropped", rung.dropped}});
  }
  Json all = {{"subject", std::string(subject)},
              {"verdict", verdictName(report.overall())},
              {"required", report.required},
              {"rungs", rungs}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// https://docs.oasis-open.org/sarif/sarif/v2.1.0: one result per message; an op is a logical
// location, its file a physical one.
std::string renderSarif(const VerifyReport& report, std::string_view subject) {
  Json results = Json::array(), rules = Json::array(), conditions = Json::array();
  std::vector<std::string> known;
  for (const Rung& rung : report.rungs)
    for (Json& condition : conditionsJson(rung)) conditions.push_back(std::move(condition));
  for (const Rung& rung : report.rungs)
    for (const Message& message : rung.messages) {
      std::string id = rung.name + "/" + message.rule;
      if (std::find(known.begin(), known.end(), id) == known.end()) {
        known.push_back(id);
        rules.push_back({{"id", id}});
      }
      std::string body = message.text;
      for (const std::string& note : message.notes) body += "\n- " + note;
      if (!message.remedy.empty()) body += "\nTo do: " + message.remedy;
      Json location = {
          {"logicalLocations", Json::array({{{"fullyQualifiedName", message.position}}})}};
      location["physicalLocation"] = {
          {"artifactLocation",
           {{"uri", message.file.empty() ? std::string(subject) : message.file}}}};
      const char* level = message.level == Message::Level::Note      ? "note"
                          : message.level == Message::Level::Unknown ? "warning"
                                                                     : "error";
      results.push_back({{"ruleId", id},
                         {"level", level},
                         {"message", {{"text", body}}},
                         {"locations", Json::array({location})}});
    }
  Json driver = {{"name", "dtranspile verify"}, {"rules", rules}};
  Json run = {{"tool", {{"driver", driver}}},
              {"results", results},
              {"properties", {{"conditions", conditions}}}};
  Json all = {{"version", "2.1.0"},
              {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
              {"runs", Json::array({run})}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// XML 1.0 has no control characters but these three.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

// A test case per rung: refuted is a failure, unknown an error.
std::string renderJunit(const VerifyReport& report, std::string_view subject) {
  int failures = 0, errors = 0;
  std::string cases;
  for (const Rung& rung : report.rungs) {
    cases +=
        "    <testcase classname=\"" + escaped(subject) + "\" name=\"" + escaped(rung.name) + "\">";
    if (!rung.notRun.empty()) {
      cases += "<skipped message=\"" + escaped(rung.notRun) + "\"/>";
    } else if (rung.verdict != Verdict::Holds) {
      bool refuted = rung.verdict == Verdict::Refuted;
      (refuted ? failures : errors) += 1;
      std::string body;
      for (const Message& message : rung.messages)
        body += message.position + ": " + message.text + "\nto do: " + message.remedy + "\n";
      const char* element = refuted ? "failure" : "error";
      cases += std::string("<") + element + " message=\"" + verdictName(rung.verdict) + "\">" +
               escaped(body) + "</" + element + ">";
    }
    if (std::string conditions = conditionsText(rung); !conditions.empty())
      cases += "<system-out>" + escaped(conditions) + "</system-out>";
    cases += "</testcase>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"dtranspile "
         "verify\" tests=\"" +
         std::to_string(report.rungs.size()) + "\" failures=\"" + std::to_string(failures) +
         "\" errors=\"" + std::to_string(errors) + "\">\n" + cases +
         "  </testsuite>\n</testsuites>\n";
}

}  // namespace

// The words of --format; nothing for any other.
std::optional<Format> formatNamed(std::string_view word) {
  if (word == "text") return Format::Text;
  if (word == "json") return Format::Json;
  if (word == "sarif") return Format::Sarif;
  if (word == "junit") return Format::Junit;
  return std::nullopt;
}

std::string render(const VerifyReport& report, Format format, std::string_view subject) {
  switch (format) {
    case Format::Text: return renderText(report, subject);
    case Format::Json: return renderJson(report, subject);
    case Format::Sarif: return renderSarif(report, subject);
    case Format::Junit: return renderJunit(report, subject);
  }
  return {};
}

}  // namespace dtranspile::verify
