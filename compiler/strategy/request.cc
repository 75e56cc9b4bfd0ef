#include "compiler/strategy/request.h"

#include "compiler/strategy/composition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

bool saysDefault(const Said& said) {
  const EntryRow& row = *said.row;
  if (row.repeated || said.values.empty()) return false;  // a list that holds something, a message
  if (!row.initial.empty()) return said.values[0] == row.initial;
  return said.values[0].empty() || said.values[0] == "0" || said.values[0] == "false";
}

class Maker {
 public:
  Maker(const StrategyFile* file, const Strategy& flags, const std::set<std::string>& given)
      : file_(file), flags_(flags), given_(given) {}

  // The file first, then flags over it. Then what only both together decide, notes about entries
  // without effect, and conflicts, each reported where the field that causes it was set.
  Request make() && {
    if (file_)
      for (const Said& said : file_->said())
        if (said.row->fate == Fate::Field) take(said, *fieldNamed(said.row->is));
    if (file_) mode();
    if (file_) localSgd();
    if (file_) sharded();
    for (const FieldRow& row : strategyFields())
      if (given_.count(row.name.str())) {
        std::visit([&](auto member) { request_.strategy.*member = flags_.*member; }, row.member);
        request_.origins[row.name.str()] = {Origin::Kind::Flag, {}, ""};
      }
    if (file_) servers();
    if (file_)
      for (const Said& said : file_->said()) judge(said);
    for (const FieldRow& row : strategyFields()) irrelevant(row);
    for (const Problem& problem : problemsOf(request_.strategy, featuresOfFile())) report(problem);
    return std::move(request_);
  }

 private:
  void error(const Said& at, const std::string& message) {
    request_.findings.push_back({Finding::Level::Error, at.path + ": " + message, at.place, {}});
  }
  void note(const Said& at, const std::string& message) {
    request_.findings.push_back({Finding::Level::Note, at.path + ": " + message, at.place, {}});
  }

  // A field that a flag gives keeps the flag's value.
  template <typename T>
  void set(const Said& said, T Strategy::* member, llvm::StringRef name, T value) {
    if (given_.count(name.str())) return;
    request_.strategy.*member = std::move(value);
    request_.origins[name.str()] = {Origin::Kind::File, said.place, said.path};
  }

  void take(const Said& said, const FieldRow& row) {
    std::visit([&](auto member) { set(said, member, row.name, valueAs(member, said)); },
               row.member);
  }
  static bool valueAs(bool Strategy::*, const Said& said) { return said.values[0] == "true"; }
  static int64_t valueAs(int64_t Strategy::*, const Said& said) {
    int64_t value = 0;
    llvm::StringRef(said.values[0]).getAsInteger(10, value);
    return value;
  }
  static double valueAs(double Strategy::*, const Said& said) {
    double value = 0;
    llvm::StringRef(said.values[0]).getAsDouble(value);
    return value;
  }
  static std::string valueAs(std::string Strategy::*, const Said& said) { return said.values[0]; }
  static std::vector<std::string> valueAs(std::vector<std::string> Strategy::*, const Said& said) {
    return said.values;
  }

  // Entries that are no single field of a request; file.td says of each what it means.
  void mode() {
    const Said* said = file_->find("mode");
    if (!said) return;
    const std::string& value = said->values[0];
    if (value == "COLLECTIVE") set<std::string>(*said, &Strategy::mode, "mode", "collective");
    else if (value == "PS") set<std::string>(*said, &Strategy::mode, "mode", "pserver");
    else error(*said, value + " is not there yet; COLLECTIVE and PS are");
  }

  void localSgd() {
    const Said* said = file_->find("localsgd");
    if (!said || said->values[0] != "true") return;
    set<std::string>(*said, &Strategy::collective_mode, "collective_mode", "local_sgd");
  }

  // What the message of sharding says of other features: a number above 1 turns them on.
  void sharded() {
    if (!request_.strategy.sharding) return;
    degree("mp_degree", &Strategy::tensor_parallel, "tensor_parallel",
           &Strategy::tensor_parallel_degree, "tensor_parallel_degree");
    const Said* steps = file_->find("sharding_configs.gradient_merge_acc_step");
    const bool pipeline = given_.count("pipeline") ? flags_.pipeline : request_.strategy.pipeline;
    if (steps && pipeline && !saysDefault(*steps))
      return note(*steps, "has no effect: pipelines add up accumulate_steps micro-batches");
    degree("gradient_merge_acc_step", &Strategy::gradient_merge, "gradient_merge",
           &Strategy::gradient_merge_k_steps, "gradient_merge_k_steps");
  }
  // The framework also writes degrees of other features into sharding_configs; a degree above 1
  // turns the feature on.
  void degree(llvm::StringRef entry, bool Strategy::* feature, llvm::StringRef name,
              int64_t Strategy::* count, llvm::StringRef countName) {
    const Said* said = file_->find(("sharding_configs." + entry).str());
    if (!said) return;
    const int64_t value = valueAs(count, *said);
    if (value < 1) return error(*said, "is a number of at least 1");
    if (value == 1) return;
    // The feature's own message may say it as well.
    const Origin other = request_.originOf(countName);
    if (other.kind == Origin::Kind::File && request_.strategy.*feature &&
        request_.strategy.*count != value)
      return error(*said, "is " + std::to_string(value) + ", and " + other.entry + " is " +
                              std::to_string(request_.strategy.*count) + "; leave one out");
    set(*said, feature, name, true);
    set(*said, count, countName, value);
  }

  // a_sync and k_steps together choose the mode of servers, as the framework's table has it: false
  // and 0 synchronous, true and 0 asynchronous, true and k geo-SGD.
  void servers() {
    const Said *async = file_->find("a_sync"), *steps = file_->find("a_sync_configs.k_steps");
    if (request_.strategy.mode != "pserver") {
      if (async) note(*async, "has no effect: the mode is not pserver");
      return;
    }
    if (!async && !steps) return;
    const bool asynchronous = !async || async->values[0] == "true";
    int64_t every = 0;
    if (steps) llvm::StringRef(steps->values[0]).getAsInteger(10, every);
    if (every < 0)
      return error(*steps,
                   "servers are off with a number below 0; 0 is synchronous with "
                   "a_sync: false and asynchronous with true");
    if (!asynchronous && every > 0)
      return error(*steps,
                   "trainers that update by themselves for several steps do not wait for "
                   "rounds; say a_sync: true, or 0 steps");
    set(async ? *async : *steps, &Strategy::sync_mode, "sync_mode", !asynchronous);
    if (every == 0) return;
    set(*steps, &Strategy::geo_sgd_mode, "geo_sgd_mode", true);
    set(*steps, &Strategy::geo_sgd_need_push_nums, "geo_sgd_need_push_nums", every);
  }

  void judge(const Said& said) {
    const EntryRow& row = *said.row;
    if (!row.on.empty()) {
      const Said* on = file_->find(row.on);
      if (!on || on->values[0] != "true")
        note(said, "has no effect: " + row.on.str() + " is not on");
    }
    if (row.fate == Fate::Hint && !saysDefault(said))
      note(said, "accepted, has no effect: " + row.why.str());
    if (row.fate == Fate::Refused && !saysDefault(said))
      error(said, "asks for " + row.why.str() + ", which is not there yet; leave it out");
  }

  // What the file or a flag says of a field that another one makes meaningless.
  void irrelevant(const FieldRow& row) {
    const Origin origin = request_.originOf(row.name);
    if (origin.kind == Origin::Kind::Default || isRelevant(request_.strategy, row)) return;
    request_.findings.push_back(
        {Finding::Level::Note,
         (origin.kind == Origin::Kind::File ? origin.entry : "--" + row.flag.str()) +
             ": has no effect: it counts where " + row.relevant.str(),
         origin.place,
         {}});
  }

  // Features that the file asks for and that there is no pass for yet.
  std::vector<std::string> featuresOfFile() const {
    std::vector<std::string> names;
    for (const FeatureRow& row : featureRows()) {
      const Said* said = file_ && row.on.empty() ? file_->find(row.name) : nullptr;
      if (said && said->values[0] == "true") names.push_back(row.name.str());
    }
    return names;
  }

  // Of a field or a feature.
  Origin originOf(llvm::StringRef name) const {
    for (const FeatureRow& row : featureRows())
      if (row.name == name && !row.on.empty()) return request_.originOf(row.on.split('=').first);
    if (fieldNamed(name)) return request_.originOf(name);
    const Said* said = file_ ? file_->find(name) : nullptr;
    return said ? Origin{Origin::Kind::File, said->place, said->path} : Origin();
  }

  // At the last of its entries in the file, with a note at the others.
  void report(const Problem& problem) {
    const auto before = [](const Origin& a, const Origin& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    };
    std::vector<Origin> places;
    Finding finding = {Finding::Level::Error, problem.message, {}, {}};
    for (const std::string& name : problem.names) {
      const Origin origin = originOf(name);
      if (origin.kind == Origin::Kind::File) places.push_back(origin);
      else if (origin.kind == Origin::Kind::Flag)
        finding.related.push_back({{}, name + " was given as a flag"});
    }
    llvm::sort(places, before);
    // In the words of who wrote it: the file may call the field otherwise.
    for (const std::string& name : problem.names)
      if (llvm::StringRef text = problem.message;
          originOf(name).kind == Origin::Kind::File && text.consume_front(name + ":"))
        finding.message = originOf(name).entry + ":" + text.str();
    if (!places.empty()) finding.place = places.back().place;
    for (const Origin& origin : places)
      if (!(origin.place == finding.place))
        finding.related.insert(finding.related.begin(), {origin.place, origin.entry + " is here"});
    request_.findings.push_back(std::move(finding));
  }

  const StrategyFile* file_;
  const Strategy& flags_;
  const std::set<std::string>& given_;
  Request request_;
};

}  // namespace

Request makeRequest(const StrategyFile* file, const Strategy& flags,
                    const std::set<std::string>& given) {
  return Maker(file, flags, given).make();
}

}  // namespace dtranspile
