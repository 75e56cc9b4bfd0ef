// dtranspile ops: the tables of operators as people and scripts read them.
#include "nlohmann/json.hpp"
#include "runtime/io/json.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/ops_facts.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct EffectRow {
  unsigned bit;
  const char* name;
};
constexpr EffectRow kEffects[] = {
    {pd::kRandom, "random"}, {pd::kHost, "host"}, {pd::kCommunicates, "communicates"}};

std::vector<std::string> effectsOf(const pd::OpSpec& spec) {
  std::vector<std::string> names;
  for (const EffectRow& row : kEffects)
    if (spec.effects & row.bit) names.push_back(row.name);
  return names;
}

Json slots(const std::vector<pd::Slot>& list) {
  Json out = Json::array();
  for (const pd::Slot& slot : list)
    out.push_back({{"name", slot.name}, {"list", slot.duplicable}, {"optional", slot.dispensable}});
  return out;
}

// `since`: the version of the op from which on it has the attribute; absent: always.
Json attributes(const pd::OpSpec& spec) {
  Json out = Json::array();
  for (const pd::AttrRow& row : spec.attributes) {
    Json& attribute = out.emplace_back(
        Json{{"name", row.name}, {"required", row.required}, {"default", row.defaultText}});
    if (row.sinceVersion > 0) attribute["since"] = row.sinceVersion;
  }
  return out;
}

Json runsAs(const lower::NativeForm& form) {
  Json out = {{"formula", form.formula},
              {"view", form.view},
              {"blocks", form.blocks},
              {"calls", form.calls},
              {"differs_by_version", form.byVersion}};
  return out;
}

Json tests(const OpFacts& facts) {
  Json operators = Json::array(), models = Json::array();
  for (const coverage::Case* c : facts.programs)
    (isModel(*c) ? models : operators).push_back(c->name);
  return {{"types", typeNames(facts.tested)}, {"operators", operators}, {"models", models}};
}

// `kind`, `clauses` and `needs` as rows of compiler/analysis/relations/rules write them; or `none`,
// the reason why there can be no rule; null where nobody has written one.
Json rule(const OpFacts& facts) {
  if (facts.rule)
    return {{"kind", kindOfRule(facts)},
            {"clauses", facts.rule->row->clauses},
            {"needs", facts.rule->row->needs}};
  return facts.noRule.empty() ? Json() : Json{{"none", facts.noRule}};
}

// One operator as scripts read it: what its rows in all the tables say.
Json describe(const OpFacts& facts) {
  const pd::OpSpec& spec = *facts.spec;
  Json out = {{"type", spec.type}, {"family", spec.family}, {"native", facts.native.has_value()}};
  if (facts.native) {
    out["runs_as"] = runsAs(*facts.native);
    out["types"] = typeNames(facts.types);
  }
  out["relation"] = rule(facts);
  out.update({{"releases", releases(facts)},
              {"inputs", slots(spec.inputs)},
              {"outputs", slots(spec.outputs)},
              {"attributes", attributes(spec)},
              {"effects", effectsOf(spec)},
              {"tests", tests(facts)}});
  return out;
}

std::string jsonText() {
  Json all = Json::array();
  for (const pd::OpSpec& spec : pd::builtinOps()) all.push_back(describe(factsOf(spec)));
  return io::JsonText(all, 1) + "\n";
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(width, text.size() + 1), ' ');
  return text;
}

std::string plainText() {
  std::string text;
  size_t native = 0;
  for (const pd::OpSpec& spec : pd::builtinOps()) {
    const bool runs = lower::nativeForm(spec.type).has_value();
    native += runs;
    const OpFacts facts = factsOf(spec);
    std::string line =
        padded(spec.type, 40) + padded(spec.family, 16) + padded(runs ? "native" : "", 8);
    if (facts.rule) line += "rule: " + kindOfRule(facts);
    else if (!facts.noRule.empty()) line += "no rule: " + facts.noRule;
    text += llvm::StringRef(line).rtrim().str() + "\n";
  }
  return text + std::to_string(pd::builtinOps().size()) + " operators, " + std::to_string(native) +
         " run natively\n";
}

struct Format {
  const char* name;
  std::string (*text)();
};
constexpr Format kFormats[] = {{"text", plainText}, {"json", jsonText}, {"markdown", opsPage}};

int list(Tool& tool, const std::string& format) {
  for (const Format& row : kFormats) {
    if (format == row.name) return writeOutput(tool, "-", row.text()) ? kDone : kNo;
  }
  return kUsage;
}

}  // namespace

Action declareOps(CLI::App& app) {
  auto format = std::make_shared<std::string>("text");
  app.footer("Example: dtranspile ops --format json");
  app.add_option("--format", *format, "text, json, or markdown (docs/operators/index.md)")
      ->check(CLI::IsMember({"text", "json", "markdown"}));
  return [format](Tool& tool) { return list(tool, *format); };
}

}  // namespace dtranspile::cli
