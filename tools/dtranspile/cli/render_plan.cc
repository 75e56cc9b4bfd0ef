// A compiled class of ranks for people: the nodes of its programs, with buffers by their names.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/dtranspile/cli/render.h"

namespace dtranspile::cli {
namespace {

class PlanPrinter {
 public:
  // Buffers of one name are told apart by number: y, y#1, y#2.
  explicit PlanPrinter(const exec::Plan& plan) : plan_(plan) {
    std::map<std::string, int> seen;
    for (const exec::Buffer& buffer : plan.buffers) {
      const int number = seen[buffer.name]++;
      names_.push_back(number == 0 ? buffer.name : absl::StrCat(buffer.name, "#", number));
    }
  }

  std::string print() {
    absl::StrAppend(&text_, "plan of ", plan_.class_name, ": ", plan_.arena_bytes,
                    " bytes of a step, ", plan_.persistent_bytes, " bytes of persistables\n");
    for (const exec::Program& program : plan_.programs) printProgram(program);
    return std::move(text_);
  }

 private:
  const std::string& name(int id) const { return names_[static_cast<size_t>(id)]; }
  std::string names(const std::vector<int>& ids) const {
    return absl::StrJoin(ids, ", ", [&](std::string* out, int id) { out->append(name(id)); });
  }

  std::string typeOf(int id) const {
    const exec::Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
    const char* kind = buffer.kind == exec::Value::Kind::kList   ? "list of "
                       : buffer.kind == exec::Value::Kind::kRows ? "rows of "
                                                                 : "";
    return absl::StrCat(kind, ShapeText(buffer.dtype, buffer.dims),
                        buffer.lod_level > 0 ? absl::StrCat(" lod ", buffer.lod_level) : "");
  }

  void line(const std::string& what, const std::string& op) {
    text_.append(static_cast<size_t>(2 * depth_), ' ');
    absl::StrAppend(&text_, what, op.empty() ? "" : absl::StrCat("  # ", op), "\n");
  }

  void printProgram(const exec::Program& program) {
    line(absl::StrCat("program ", program.name), "");
    ++depth_;
    for (const exec::FeedSlot& feed : program.feeds)
      line(absl::StrCat("feed ", feed.name, ": ", typeOf(feed.buffer)), "");
    for (const exec::Node& node : program.body) printNode(node);
    for (const exec::FetchSlot& fetch : program.fetches)
      line(absl::StrCat("fetch ", fetch.name, ": ", typeOf(fetch.buffer)), "");
    --depth_;
  }

  void printBody(const std::vector<exec::Node>& body) {
    ++depth_;
    for (const exec::Node& node : body) printNode(node);
    --depth_;
  }

  void printNode(const exec::Node& node) {
    std::visit([&](const auto& what) { print(what, node.op); }, node.what);
  }

  void print(const exec::KernelNode& node, const std::string& op) {
    line(absl::StrCat("kernel(", names(node.args), ")"), op);
  }

  // What a call takes, then what it writes: values alone are known to be written
  // (docs/file-formats.md).
  void print(const exec::CallNode& node, const std::string& op) {
    std::vector<int> taken, written;
    for (int i = 0; i < static_cast<int>(node.args.size()); ++i) {
      const bool writes =
          std::find(node.written.begin(), node.written.end(), i) != node.written.end();
      (writes ? written : taken).push_back(node.args[static_cast<size_t>(i)]);
    }
    line(absl::StrCat(node.callee, "(", names(taken), ")", written.empty() ? "" : " -> ",
                      names(written)),
         op);
  }

  void print(const exec::CopyNode& node, const std::string& op) {
    line(absl::StrCat("copy ", name(node.from), " -> ", name(node.to)), op);
  }

  void print(const exec::StartNode& node, const std::string& op) {
    line(absl::StrCat("start ", node.ticket, " ", comm::NameOf(node.collective), ": ",
                      names(node.inputs), " -> ", names(node.outputs)),
         op);
  }

  void print(const exec::WaitNode& node, const std::string& op) {
    line(absl::StrCat("wait ", node.ticket), op);
  }

  void print(const exec::IfNode& node, const std::string& op) {
    line(absl::StrCat("if ", name(node.condition), " {"), op);
    printBody(node.then);
    if (!node.otherwise.empty()) line("} else {", "");
    printBody(node.otherwise);
    line("}", "");
  }

  void print(const exec::WhileNode& node, const std::string& op) {
    line(absl::StrCat("while ", name(node.condition), " {"), op);
    printBody(node.body);
    line("}", "");
  }

  static std::string textOf(const exec::Selector& selector) {
    std::string text;
    for (const auto& [axis, bounds] : selector.sets)
      absl::StrAppend(&text, text.empty() ? "" : " and ", axis, " in [",
                      absl::StrJoin(bounds, ", "), ")");
    return text;
  }

  void print(const exec::AtNode& node, const std::string& op) {
    line(absl::StrCat("at ", textOf(node.at), " {"), op);
    printBody(node.body);
    if (!node.otherwise.empty()) line("} else {", "");
    printBody(node.otherwise);
    line("}", "");
  }

  void print(const exec::CoordNode& node, const std::string& op) {
    line(absl::StrCat("coordinate ", node.axis, " -> ", name(node.to)), op);
  }

  void print(const exec::SliceNode& node, const std::string& op) {
    line(absl::StrCat("part ", name(node.from), " -> ", name(node.to), " over ",
                      absl::StrJoin(node.layout.axes, ", ")),
         op);
  }

  void print(const exec::MicroNode& node, const std::string& op) {
    std::string order;
    for (const std::vector<int64_t>& entry : node.order)
      absl::StrAppend(&order, " ", node.tasks[static_cast<size_t>(entry[0])].name, ":", entry[1]);
    line(absl::StrCat("micro ", node.axis, " of ", node.micros, ":", order, " {"), op);
    for (const exec::MicroNode::Task& task : node.tasks) {
      line(absl::StrCat("task ", task.name, ":"), "");
      printBody(task.body);
    }
    line("}", "");
  }

  void print(const exec::BlocksNode& node, const std::string& op) {
    line(absl::StrCat("blocks of ", node.layout.per, " of ", node.layout.extent, " over ",
                      absl::StrJoin(node.layout.axes, ", "), " {"),
         op);
    for (const exec::BlocksNode::Body& body : node.bodies) {
      line(absl::StrCat("extent ", body.extent, ":"), "");
      printBody(body.body);
    }
    line("}", "");
  }

  void print(const exec::PushNode& node, const std::string& op) {
    line(absl::StrCat("push ", name(node.from), " -> ", node.table), op);
  }
  void print(const exec::PullNode& node, const std::string& op) {
    line(absl::StrCat("pull ", node.table, " -> ", name(node.to)), op);
  }
  void print(const exec::LookupNode& node, const std::string& op) {
    line(absl::StrCat("lookup ", name(node.ids), " in ", node.table, " -> ", name(node.to)), op);
  }
  void print(const exec::PhaseNode& node, const std::string& op) {
    line(node.phase == exec::Phase::kPush ? "end of pushes" : "end of pulls", op);
  }
  void print(const exec::MergedNode& node, const std::string& op) {
    line(absl::StrCat("merged ", node.table, " -> ", name(node.to)), op);
  }

  const exec::Plan& plan_;
  std::vector<std::string> names_;  // of buffers
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string describePlan(const exec::Plan& plan) { return PlanPrinter(plan).print(); }

}  // namespace dtranspile::cli
