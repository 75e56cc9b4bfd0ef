// dtranspile strategy check|show|explain FILE
#include "compiler/pipelines/collective.h"
#include "runtime/io/json.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/strategy_flags.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Asked {
  StrategyFlags request;
  std::string format = "text";
};

Json jsonOf(Place place) {
  return place ? Json{{"line", place.line}, {"column", place.column}} : Json();
}

Json jsonOf(const Findings& findings) {
  Json list = Json::array();
  for (const Finding& each : findings) {
    Json related = Json::array();
    for (const auto& [place, text] : each.related)
      related.push_back({{"message", text}, {"place", jsonOf(place)}});
    list.push_back({{"level", each.level == Finding::Level::Error ? "error" : "note"},
                    {"message", each.message},
                    {"place", jsonOf(each.place)},
                    {"related", related}});
  }
  return list;
}

Json jsonOf(const Origin& origin) {
  if (origin.kind == Origin::Kind::Default) return {{"kind", "default"}};
  if (origin.kind == Origin::Kind::Flag) return {{"kind", "flag"}};
  return {{"kind", "file"}, {"entry", origin.entry}, {"place", jsonOf(origin.place)}};
}

std::string padded(std::string text, size_t width) {
  // Columns are bytes: names and values of fields are ASCII but for what users put into lists.
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + "  ";
}

// What the file says that is no field of the request: switches that are refused, hints, details.
std::vector<const Said*> beside(const StrategyFile* file) {
  std::vector<const Said*> list;
  for (size_t i = 0; file && i < file->said().size(); ++i)
    if (const Said& said = file->said()[i]; said.row->fate != Fate::Field && !said.values.empty())
      list.push_back(&said);
  return list;
}

constexpr const char* kSecret = "fs_client_param.passwd";
std::string shown(const Said& said) { return said.path == kSecret ? "(not shown)" : said.text(); }

std::string fieldsAsText(const Asked& asked, const Request& request) {
  std::string text;
  auto line = [&](const std::string& name, const std::string& value, const std::string& from) {
    text += padded(name, 36) + padded(value.empty() ? "none" : value, 16) + from + "\n";
  };
  for (const FieldRow& row : strategyFields())
    if (isRelevant(request.strategy, row))
      line(row.name.str(), valueOf(request.strategy, row),
           asked.request.textOf(request.originOf(row.name), row));
  const std::vector<const Said*> others = beside(asked.request.strategyFile());
  if (!others.empty()) text += "\nThe file also says\n";
  for (const Said* said : others)
    line(said->path, shown(*said),
         asked.request.file() + ":" + std::to_string(said->place.line) + ":" +
             std::to_string(said->place.column));
  return text;
}

Json fieldsAsJson(const Asked& asked, const Request& request) {
  Json fields = Json::object(), others = Json::array();
  for (const FieldRow& row : strategyFields())
    if (isRelevant(request.strategy, row))
      std::visit(
          [&](auto member) {
            fields[row.name.str()] = {{"value", request.strategy.*member},
                                      {"from", jsonOf(request.originOf(row.name))}};
          },
          row.member);
  for (const Said* said : beside(asked.request.strategyFile()))
    others.push_back(
        {{"entry", said->path}, {"value", shown(*said)}, {"place", jsonOf(said->place)}});
  return {{"fields", fields}, {"others", others}, {"findings", jsonOf(request.findings)}};
}

// The passes of the pipeline, each with its options, what it does, and the field that asked for it
// with its origin.
std::string planAsText(const Asked& asked, const Request& request) {
  const Strategy& strategy = request.strategy;
  std::string text = std::to_string(strategy.trainers) + " trainers";
  if (const int64_t servers = serverCount(strategy))
    text += ", " + std::to_string(servers) + " servers";
  text += ". Passes, in this order:\n";
  int number = 0;
  for (const PipelineStep& step : collectiveSteps(strategy)) {
    text += "  " + std::to_string(++number) + ". " + step.pass + step.options + "\n     " +
            step.summary;
    if (const FieldRow* row = fieldNamed(step.field))
      text += "\n     because " + step.field + " is " + valueOf(strategy, *row) + " (" +
              asked.request.textOf(request.originOf(step.field), *row) + ")";
    text += "\n";
  }
  return text;
}

Json planAsJson(const Request& request) {
  Json steps = Json::array();
  for (const PipelineStep& step : collectiveSteps(request.strategy)) {
    Json because = step.field.empty() ? Json()
                                      : Json{{"field", step.field},
                                             {"from", jsonOf(request.originOf(step.field))}};
    steps.push_back({{"pass", step.pass},
                     {"options", step.options},
                     {"does", step.summary},
                     {"because", because}});
  }
  return {{"trainers", request.strategy.trainers},
          {"servers", serverCount(request.strategy)},
          {"steps", steps},
          {"findings", jsonOf(request.findings)}};
}

// Findings go to standard error, or into the JSON.
int answer(Tool& tool, const Asked& asked, std::string (*asText)(const Asked&, const Request&),
           Json (*asJson)(const Asked&, const Request&), bool evenIfWrong) {
  const std::optional<Request> request = asked.request.request(tool);
  if (!request) return kNo;
  const bool wrong = hasError(request->findings);
  if (asked.format == "json") {
    const Json json = wrong && !evenIfWrong ? Json{{"findings", jsonOf(request->findings)}}
                                            : asJson(asked, *request);
    return writeOutput(tool, "-", json.dump(2) + "\n") && !wrong ? kDone : kNo;
  }
  report(tool, asked.request.file(), request->findings);
  if (asked.format == "prototxt") {
    const StrategyFile* file = asked.request.strategyFile();
    return file && writeOutput(tool, "-", file->write()) && !wrong ? kDone : kNo;
  }
  if (wrong && !evenIfWrong) return kNo;
  return writeOutput(tool, "-", asText(asked, *request)) && !wrong ? kDone : kNo;
}

int check(Tool& tool, const Asked& asked) {
  return answer(
      tool, asked, [](const Asked&, const Request&) { return std::string("in order\n"); },
      [](const Asked&, const Request& request) {
        return Json{{"findings", jsonOf(request.findings)}};
      },
      false);
}

int show(Tool& tool, const Asked& asked) {
  return answer(tool, asked, fieldsAsText, fieldsAsJson, true);
}

int explain(Tool& tool, const Asked& asked) {
  return answer(
      tool, asked, planAsText,
      [](const Asked&, const Request& request) { return planAsJson(request); }, false);
}

struct Word {
  const char* name;
  const char* summary;
  int (*act)(Tool&, const Asked&);
  std::vector<std::string> formats;
};

const std::vector<Word>& wordList() {
  static const std::vector<Word> words = {
      {"check", "say what is wrong with a strategy, without a program", check, {"text", "json"}},
      {"show",
       "print the effective values and where each came from",
       show,
       {"text", "json", "prototxt"}},
      {"explain", "say what will be done, and in which order", explain, {"text", "json"}},
  };
  return words;
}

}  // namespace

Action declareStrategy(CLI::App& app) {
  app.require_subcommand(1);
  app.footer("Example: dtranspile strategy explain strategy.prototxt --trainers 4");
  auto actions = std::make_shared<std::vector<std::pair<CLI::App*, Action>>>();
  for (const Word& word : wordList()) {
    CLI::App* sub = app.add_subcommand(word.name, word.summary);
    auto asked = std::make_shared<Asked>();
    sub->footer(std::string("Example: dtranspile strategy ") + word.name +
                " strategy.prototxt --trainers 4\n\nExit status: 0 in order, 1 not.");
    sub->add_option("FILE", asked->request.file(),
                    "a DistributedStrategy in protobuf text format; flags override it")
        ->required();
    sub->add_option("--format", asked->format,
                    word.formats.size() > 2 ? "text, json, or prototxt: the file as the framework "
                                              "would write it"
                                            : "text or json")
        ->check(CLI::IsMember(word.formats));
    asked->request.declareFields(*sub);
    actions->emplace_back(sub, [asked, act = word.act](Tool& tool) { return act(tool, *asked); });
  }
  return [actions](Tool& tool) {
    for (auto& [sub, action] : *actions)
      if (sub->parsed()) return action(tool);
    return static_cast<int>(kUsage);
  };
}

}  // namespace dtranspile::cli
