// dtranspile ops: the operator table as people and scripts read it.
#include "compiler/lower/block_lowering.h"
#include "dialects/pd/op_table.h"
#include "nlohmann/json.hpp"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct OpsFlags {
  std::string format = "text";
};

struct EffectRow {
  unsigned bit;
  const char* name;
};
constexpr EffectRow kEffects[] = {{pd::kRandom, "random"}, {pd::kHost, "host"}, {pd::kCommunicates, "communicates"}};

std::vector<std::string> effectsOf(const pd::OpSpec& spec) {
  std::vector<std::string> names;
  for (const EffectRow& row : kEffects)
    if (spec.effects & row.bit) names.push_back(row.name);
  return names;
}

Json slots(const std::vector<pd::Slot>& list) {
  Json out = Json::array();
  for (const pd::Slot& slot : list) out.push_back({{"name", slot.name}, {"list", slot.duplicable}, {"optional", slot.dispensable}});
  return out;
}

Json describe(const pd::OpSpec& spec) {
  Json attributes = Json::array();
  for (const pd::AttrRow& row : spec.attributes) attributes.push_back({{"name", row.name}, {"required", row.required}, {"default", row.defaultText}});
  return {{"type", spec.type}, {"family", spec.family}, {"native", lower::isNative(spec.type)}, {"inputs", slots(spec.inputs)}, {"outputs", slots(spec.outputs)},
          {"attributes", attributes}, {"effects", effectsOf(spec)}};
}

int list(Tool& tool, const OpsFlags& flags) {
  std::string text;
  Json all = Json::array();
  int native = 0;
  for (const pd::OpSpec& spec : pd::builtinOps()) {
    native += lower::isNative(spec.type);
    if (flags.format == "json") all.push_back(describe(spec));
    else text += spec.type + std::string(spec.type.size() < 40 ? 40 - spec.type.size() : 1, ' ') + spec.family + (lower::isNative(spec.type) ? "  native" : "") + "\n";
  }
  if (flags.format == "json") text = all.dump(1) + "\n";
  else text += std::to_string(pd::builtinOps().size()) + " operators, " + std::to_string(native) + " run natively\n";
  return writeOutput(tool, "-", text) ? kDone : kNo;
}

}  // namespace

Action declareOps(CLI::App& app) {
  auto flags = std::make_shared<OpsFlags>();
  app.footer("Example: dtranspile ops --format json");
  app.add_option("--format", flags->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  return [flags](Tool& tool) { return list(tool, *flags); };
}

}  // namespace dtranspile::cli
