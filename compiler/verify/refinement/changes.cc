#include "compiler/verify/refinement/changes.h"

#include "compiler/verify/refinement/pruning.h"
#include "dialects/dist/dist.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::verify {
namespace {

constexpr int64_t kVersion2 = 2000000;

double number(mlir::DictionaryAttr change, llvm::StringRef name, double otherwise) {
  auto value = change.getAs<mlir::FloatAttr>(name);
  return value ? value.getValueAsDouble() : otherwise;
}

std::vector<std::string> words(mlir::DictionaryAttr change, llvm::StringRef name) {
  std::vector<std::string> list;
  if (auto value = change.getAs<mlir::ArrayAttr>(name))
    for (mlir::Attribute entry : value)
      if (auto text = llvm::dyn_cast<mlir::StringAttr>(entry)) list.push_back(text.str());
  return list;
}

std::string listText(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "`" : ", `") + one + "`";
  return text;
}

std::string decimal(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

std::string single(double value) { return attributeText({value}, /*single=*/true); }

// An op with further inputs (a master weight, a tensor of a rate) is not one that the pass
// rewrites.
bool onlyHas(const Description& op, const std::vector<std::string>& slots) {
  return llvm::all_of(op.inputs,
                      [&](const auto& entry) { return llvm::is_contained(slots, entry.first); });
}

// Those of the op's attributes that the other rule has too go over to it.
void handOver(const Description& op, llvm::StringRef type, llvm::ArrayRef<const char*> names,
              std::map<std::string, std::string>& attributes) {
  const pd::OpSpec* spec = pd::findOp(type);
  for (const char* name : names)
    if (auto found = op.attributes.find(name);
        found != op.attributes.end() && spec->attribute(name))
      attributes[name] = found->second;
}

// lamb reads adam's state: passes/lamb/pass.td has the formulas.
void readAsLamb(Description& op, double decay, const std::vector<std::string>& excluded,
                bool version2, mlir::MLIRContext* context) {
  if (op.type != "adam" || !onlyHas(op, {"Param", "Grad", "LearningRate", "Moment1", "Moment2",
                                         "Beta1Pow", "Beta2Pow", "MasterParam", "SkipUpdate"}))
    return;
  const llvm::StringRef parameter = pd::nameOf(op.input("Param"));
  const bool decays =
      llvm::none_of(excluded, [&](const std::string& entry) { return parameter.ends_with(entry); });
  std::map<std::string, std::string> attributes = defaultAttributes(context, "lamb");
  handOver(op, "lamb", {"beta1", "beta2", "epsilon", "multi_precision"}, attributes);
  attributes["weight_decay"] = single(decays ? decay : 0);
  op.type = "lamb";
  op.attributes = std::move(attributes);
  if (version2) return;
  // Ops of 1.x hand on no powers: these stay as they are.
  for (auto [i, output] : llvm::enumerate(op.outputs)) {
    if (output == "Beta1PowOut#0") op.handedOn[i] = op.input("Beta1Pow");
    if (output == "Beta2PowOut#0") op.handedOn[i] = op.input("Beta2Pow");
  }
}

// lars_momentum takes momentum's slots: passes/lars/pass.td.
void readAsLars(Description& op, const std::map<std::string, std::string>& own,
                const std::vector<std::string>& excluded, mlir::MLIRContext* context) {
  if (op.type != "momentum" ||
      !onlyHas(op, {"Param", "Grad", "Velocity", "LearningRate", "MasterParam"}))
    return;
  const std::map<std::string, std::string> plain = defaultAttributes(context, "momentum");
  for (const char* attribute : {"use_nesterov", "regularization_method"})
    if (op.attributes[attribute] != plain.at(attribute)) return;
  const llvm::StringRef parameter = pd::nameOf(op.input("Param"));
  if (llvm::any_of(excluded, [&](const std::string& entry) { return parameter.contains(entry); }))
    return;
  std::map<std::string, std::string> attributes = defaultAttributes(context, "lars_momentum");
  handOver(op, "lars_momentum", {"mu", "multi_precision", "rescale_grad"}, attributes);
  for (const auto& [name, value] : own) attributes[name] = value;
  op.type = "lars_momentum";
  op.attributes = std::move(attributes);
}

struct Context {
  Changes& changes;
  mlir::MLIRContext* context;
  bool version2;
};

// Each of these functions reads one entry of `dist.changes`, adds what the proof may assume by it,
// and returns the sentence that the report says of it: the condition under which the verdict holds.
std::string lamb(mlir::DictionaryAttr change, const Context& at) {
  const double decay = number(change, "lamb_weight_decay", 0);
  const std::vector<std::string> excluded = words(change, "lamb_exclude_from_weight_decay");
  at.changes.readAs.push_back([=, context = at.context, version2 = at.version2](Description& op) {
    readAsLamb(op, decay, excluded, version2, context);
  });
  return "every adam update is lamb with weight decay " + decimal(decay) +
         (excluded.empty() ? "" : ", 0 for parameters that end with " + listText(excluded));
}

// Declared by pass lars: the reference may have lars_momentum where the source has momentum.
// Returns the statement that the report prints as a condition of the verdict, and registers how an
// op of the source is to be read.
std::string lars(mlir::DictionaryAttr change, const Context& at) {
  const std::vector<std::string> excluded = words(change, "lars_exclude_from_weight_decay");
  const double decay = number(change, "lars_weight_decay", 0),
               epsilon = number(change, "lars_epsilon", 0),
               coefficient = number(change, "lars_coeff", 0);
  const std::map<std::string, std::string> own = {{"lars_coeff", single(coefficient)},
                                                  {"lars_weight_decay", single(decay)},
                                                  {"epsilon", single(epsilon)}};
  at.changes.readAs.push_back(
      [=, context = at.context](Description& op) { readAsLars(op, own, excluded, context); });
  return "every momentum update is lars_momentum with coefficient " + decimal(coefficient) +
         ", weight decay " + decimal(decay) + " and epsilon " + decimal(epsilon) +
         (excluded.empty() ? "" : ", but those of parameters that contain " + listText(excluded));
}

// Declared by pass gradient-merge; what it means is shown in merged_steps.cc.
std::string gradientMerge(mlir::DictionaryAttr change, const Context& at) {
  MergedSteps merged;
  if (auto steps = change.getAs<mlir::IntegerAttr>("gradient_merge_k_steps"))
    merged.steps = steps.getInt();
  if (auto average = change.getAs<mlir::BoolAttr>("gradient_merge_avg"))
    merged.average = average.getValue();
  at.changes.merged = merged;
  return "every " + std::to_string(merged.steps) + " steps update once, with the " +
         (merged.average ? "mean" : "sum") +
         " of their gradients; nothing else of the source changes in between";
}

std::string scalingText(const LossScaling& scaling) {
  std::string text = "; the loss is scaled by " + decimal(scaling.initial);
  if (scaling.dynamic)
    text += " first, times " + decimal(scaling.increase) + " after every " +
            std::to_string(scaling.increaseEvery) + " finite steps and " +
            decimal(scaling.decrease) + " after " + std::to_string(scaling.decreaseEvery) +
            " that are not";
  return text + ", and a step whose gradients are not all finite changes nothing but the scale";
}

// Declared by pass amp. Float types are no longer compared (`anyFloat`), since the proof is over
// the reals; which ops may be rounded, and that updates are not, precision.cc checks apart from it.
std::string amp(mlir::DictionaryAttr change, const Context& at) {
  const auto whole = [&](llvm::StringRef name) {
    auto value = change.getAs<mlir::IntegerAttr>(name);
    return value ? value.getInt() : int64_t{0};
  };
  const auto flag = [&](llvm::StringRef name) {
    auto value = change.getAs<mlir::BoolAttr>(name);
    return value && value.getValue();
  };
  at.changes.anyFloat = true;
  const std::vector<std::string> dtype = words(change, "amp_dtype");
  at.changes.half = dtype.empty() ? "" : dtype.front();
  at.changes.kept = words(change, "custom_black_list");
  at.changes.white = words(change, "custom_white_list");
  at.changes.keptNames = words(change, "custom_black_varnames");
  if (flag("scaled"))
    at.changes.scaling = LossScaling{number(change, "init_loss_scaling", 0),
                                     flag("use_dynamic_loss_scaling"),
                                     whole("incr_every_n_steps"),
                                     whole("decr_every_n_nan_or_inf"),
                                     number(change, "incr_ratio", 0),
                                     number(change, "decr_ratio", 0)};
  at.changes.copies = flag("pure");
  at.changes.guarded = flag("use_fp16_guard");
  return std::string(at.changes.copies
                         ? "parameters lie in half precision beside float32 copies that are "
                           "updated; "
                         : "") +
         "floats are rounded to " + (at.changes.half.empty() ? "no type" : at.changes.half) +
         " where casts say so, but for variables and their updates" +
         (at.changes.scaling ? scalingText(*at.changes.scaling) : "");
}

// Nothing is claimed but that values that are computed again are the same.
std::string recompute(mlir::DictionaryAttr change, const Context& at) {
  at.changes.sharedDraws = true;
  auto onHost = change.getAs<mlir::BoolAttr>("recompute_offload");
  return std::string(
             "activations are computed again in the backward part, from the same random numbers") +
         (onHost && onHost.getValue() ? ", and what they are computed of waits on the host" : "");
}

// Declared by pass asp: which weights are pruned and by which masks (pruning.cc).
std::string asp(mlir::DictionaryAttr change, const Context& at) {
  at.changes.pruned = words(change, "asp_excluded_layers");
  const std::vector<std::string> algorithm = words(change, "asp_mask_algo");
  at.changes.masks = algorithm.empty() ? "mask_1d" : algorithm[0];
  const MaskRow* row = findMask(at.changes.masks);
  return std::string("weights of layers fc, linear and conv2d keep ") +
         (row ? row->kept : "nobody knows which elements") +
         " that start-up gives them, the others are zero after start-up and after every update" +
         (at.changes.pruned->empty()
              ? ""
              : "; but those of parameters that contain " + listText(*at.changes.pruned));
}

// Declared by pass lookahead: slow_weights.cc.
std::string lookahead(mlir::DictionaryAttr change, const Context& at) {
  SlowWeights slow;
  if (auto steps = change.getAs<mlir::IntegerAttr>("lookahead_k")) slow.steps = steps.getInt();
  slow.alpha = number(change, "lookahead_alpha", 1);
  at.changes.slow = slow;
  return "slow weights are the parameters of the first step, and in every " +
         std::to_string(slow.steps) + "th step both become " + decimal(slow.alpha) +
         " times the parameter and " + decimal(1 - slow.alpha) + " times the slow weight";
}

// What the ops become is a definition (compiler/analysis/norms.h), by which the source is read.
std::string writeOutNorms(mlir::DictionaryAttr change, const Context& at) {
  at.changes.writtenOut = words(change, "values");
  return "ops that take a norm inside of themselves are read as the ops that define them, where "
         "they give " +
         listText(at.changes.writtenOut);
}

struct ChangeRow {
  const char* pass;
  std::string (*read)(mlir::DictionaryAttr, const Context&);
};
// A pass without a row here is unknown: its job is left open, not believed.
constexpr ChangeRow kChanges[] = {
    {"amp", amp},
    {"asp", asp},
    {"gradient-merge", gradientMerge},
    {"lamb", lamb},
    {"lars", lars},
    {"lookahead", lookahead},
    {"recompute", recompute},
    {"write-out-norms", writeOutNorms},
};

}  // namespace

// What semantic passes say they have changed, entry by entry of attribute `dist.changes`, by the
// table of passes. A pass that is not in the table makes the verdict unknown, since nothing is
// known of what it does.
Changes changesOf(mlir::ModuleOp job, int64_t version) {
  Changes changes;
  auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kChangesAttr);
  if (!list) return changes;
  const Context at{changes, job.getContext(), version >= kVersion2};
  for (mlir::Attribute entry : list) {
    auto change = llvm::cast<mlir::DictionaryAttr>(entry);
    const llvm::StringRef pass = change.getAs<mlir::StringAttr>("pass").getValue();
    const ChangeRow* row =
        llvm::find_if(kChanges, [&](const ChangeRow& one) { return pass == one.pass; });
    if (row == std::end(kChanges)) changes.unknown.push_back(pass.str());
    else changes.statements.emplace_back(pass.str(), row->read(change, at));
  }
  return changes;
}

}  // namespace dtranspile::verify
