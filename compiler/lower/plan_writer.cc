#include "compiler/lower/plan_writer.h"

#include "compiler/lower/kernel/extents.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::lower {
namespace {

// A loop that has not ended after so many turns is taken for one that never will.
constexpr int64_t kMostTurns = 100'000'000;

// The compiler's enumerations and the runtime's are apart, so that neither includes the other's
// headers; a value added to one does not compile here until it has its counterpart.
exec::Space spaceOf(Space space) {
  switch (space) {
    case Space::Arena: return exec::Space::kArena;
    case Space::Persistent: return exec::Space::kPersistent;
    case Space::Constant: return exec::Space::kConstant;
    case Space::Value: return exec::Space::kValue;
  }
}

exec::Value::Kind kindOf(ValueKind kind) {
  switch (kind) {
    case ValueKind::Tensor: return exec::Value::Kind::kTensor;
    case ValueKind::Rows: return exec::Value::Kind::kRows;
    case ValueKind::List: return exec::Value::Kind::kList;
  }
}

// From the compiler's plan to the runtime's, of which only the runtime's has a file format. Buffers
// that nothing uses any more after fusion are left out, and the others numbered anew.
class PlanWriter {
 public:
  PlanWriter(const Plan& plan, const std::map<const Kernel*, std::string>& symbols)
      : plan_(plan), symbols_(symbols) {
    std::vector<bool> used(plan.buffers.size());
    auto mark = [&](int buffer) { used[buffer] = true; };
    for (const Persistable& p : plan.persistables) mark(p.buffer);
    for (const PlanProgram& program : plan.programs) {
      for (const Feed& feed : program.feeds) mark(feed.buffer);
      for (const Fetch& fetch : program.fetches) mark(fetch.buffer);
      llvm::for_each(program.arguments, mark);
      for (const Node& node : program.body) llvm::for_each(node.args, mark);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      ids_.push_back(used[i] ? static_cast<int>(order_.size()) : -1);
      if (used[i]) order_.push_back(static_cast<int>(i));
    }
  }

  // The compiler's plan in the words of the runtime's (runtime/exec/plan.h): the same tree. Buffers
  // that nothing uses any more are left out, and the others renumbered, so that what was created
  // and dropped on the way does not show.
  exec::Plan write(const Target& target, bool hasLibrary) const {
    exec::Plan result;
    result.role = plan_.role;
    result.class_name = plan_.className;
    result.digest = plan_.digest;
    result.target = {target.cpu, target.features};
    if (hasLibrary) result.library = "kernels.so";
    for (const Comm& comm : plan_.comms)
      result.comms.push_back(
          {comm.name, comm.axes, comm.kind, comm.subset, comm.server, comm.sending, comm.exchange});
    result.arena_bytes = plan_.arenaBytes;
    result.pinned_bytes = plan_.pinnedBytes;
    result.persistent_bytes = plan_.persistentBytes;
    for (int id : order_) result.buffers.push_back(buffer(plan_.buffers[id]));
    for (const Persistable& p : plan_.persistables)
      result.persistables.push_back({p.name,
                                     ids_[p.buffer],
                                     p.parameter,
                                     {p.relation.begin(), p.relation.end()},
                                     p.at,
                                     p.layout,
                                     p.beginsAs});
    for (const PlanProgram& one : plan_.programs) result.programs.push_back(program(one));
    return result;
  }

 private:
  // A buffer of the compiler may share the memory of another one (`storage`), as a view or a tensor
  // of the same bytes; in the plan both have the same offset (a view its own), and who shares what
  // no longer shows.
  exec::Buffer buffer(const Buffer& from) const {
    exec::Buffer to;
    to.name = from.name;
    to.space = spaceOf(from.space);
    to.kind = kindOf(from.kind);
    to.dtype = from.dtype;
    to.dims = from.dims;
    to.lod_level = from.lodLevel;
    if (from.space == Space::Value) return to;
    to.memory = plan_.buffers[from.storage].memory;
    to.offset = plan_.buffers[from.storage].offset + from.within;
    to.bytes = from.bytes();
    // A view within one instance has them where its memory has.
    const Buffer& instanced = from.stride > 0 ? from : plan_.buffers[from.storage];
    to.stride = instanced.stride;
    to.instances = instanced.instances;
    to.data = from.data;
    return to;
  }

  exec::Program program(const PlanProgram& from) const {
    exec::Program to;
    to.name = from.name;
    to.when = from.when;
    to.table = from.table;
    to.arguments = buffers(from.arguments);
    to.body = nodes(from.body);
    for (const Feed& feed : from.feeds) {
      to.feeds.push_back({feed.name, ids_[feed.buffer], std::nullopt});
      if (feed.split) to.feeds.back().split = exec::Split{feed.split->dim, feed.split->axes};
    }
    for (const Fetch& fetch : from.fetches)
      to.fetches.push_back({fetch.name, ids_[fetch.buffer], fetch.combine, fetch.at});
    return to;
  }

  std::vector<int> buffers(llvm::ArrayRef<int> args) const {
    std::vector<int> ids;
    for (int buffer : args) ids.push_back(ids_[buffer]);
    return ids;
  }

  std::vector<exec::Node> nodes(const std::vector<Node>& body) const {
    std::vector<exec::Node> result;
    for (const Node& node : body) result.push_back(this->node(node));
    return result;
  }

  // Factor, then unknowns by the numbers that this kernel gives them.
  static exec::UnknownExtents::Product product(int64_t number, bool dynamic,
                                               const std::map<int, int>& numbers) {
    const Monomial m = dynamic ? monomialOf(number) : Monomial{number};
    exec::UnknownExtents::Product result{m.factor};
    for (int token : m.tokens) result.unknowns.push_back(numbers.at(token));
    return result;
  }

  // Tokens in the shapes of the node's arguments, numbered from 0.
  static std::map<int, int> unknownsOf(const KernelNode& what) {
    std::map<int, int> numbers;
    for (const auto& shape : what.shapes) {
      for (int64_t extent : shape) {
        if (what.kernel->unknown(extent))
          numbers.try_emplace(monomialOf(extent).tokens[0], static_cast<int>(numbers.size()));
      }
    }
    return numbers;
  }

  // How a kernel with extents that only the run knows gets them: which argument shows which, and
  // the products of them that the kernel's table wants.
  exec::UnknownExtents unknown(const Node& node, const KernelNode& what) const {
    const Kernel& kernel = *what.kernel;
    const std::map<int, int> numbers = unknownsOf(what);
    exec::UnknownExtents result;
    for (size_t i = 0; i < node.args.size(); ++i) {
      auto& shape = result.shapes.emplace_back();
      if (plan_.buffers[node.args[i]].space != Space::Value) continue;
      for (int64_t extent : what.shapes[i])
        shape.push_back(kernel.unknown(extent) ? -1 - numbers.at(monomialOf(extent).tokens[0])
                                               : extent);
    }
    for (int64_t number : kernel.unknownNumbers())
      result.table.push_back(product(number, true, numbers));
    result.rows = product(kernel.rows(), kernel.dynamic, numbers);
    if (kernel.unknown(kernel.needs)) result.needs = product(kernel.needs, true, numbers);
    return result;
  }

  // Positions of the arguments that the node writes; those of them that it reads, too.
  static std::vector<int> written(const Node& node, bool updated) {
    std::vector<int> positions;
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (node.writes[i] && (!updated || node.reads[i])) positions.push_back(static_cast<int>(i));
    }
    return positions;
  }

  // A kind of node here is the kind of the same name there, by overloads of convert(); a kind that
  // lacks one does not compile.
  exec::Node node(const Node& from) const {
    if (const auto* request = from.as<RequestNode>()) return requestOf(from, *request);
    exec::Node to;
    to.op = from.op;
    std::visit(
        [&](const auto& what) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(what)>, RequestNode>)
            to.what = convert(from, what);
        },
        from.what);
    return to;
  }

  exec::KernelNode convert(const Node& node, const KernelNode& what) const {
    exec::KernelNode kernel{symbols_.at(what.kernel.get()),
                            buffers(node.args),
                            written(node, false),
                            written(node, true),
                            what.kernel->rows(),
                            grainOf(*what.kernel),
                            std::nullopt};
    if (!what.shapes.empty()) kernel.unknown = unknown(node, what);
    return kernel;
  }
  exec::CallNode convert(const Node& node, const CallNode& what) const {
    return {what.callee, buffers(node.args), written(node, false), written(node, true), what.slots,
            what.attrs,  what.ints,          what.reals,           what.strings};
  }
  exec::CopyNode convert(const Node& node, const CopyNode&) const {
    return {ids_[node.args[0]], ids_[node.args[1]]};
  }
  exec::StartNode convert(const Node& node, const StartNode& what) const {
    const llvm::ArrayRef<int> args(node.args);
    return {what.collective,
            what.reduce,
            what.comm,
            what.root,
            buffers(args.take_front(what.inputs)),
            buffers(args.drop_front(what.inputs)),
            what.ticket};
  }
  exec::WaitNode convert(const Node&, const WaitNode& what) const { return {what.ticket}; }
  exec::IfNode convert(const Node&, const IfNode& what) const {
    return {ids_[what.condition], nodes(what.then), nodes(what.otherwise)};
  }
  exec::WhileNode convert(const Node&, const WhileNode& what) const {
    return {ids_[what.condition], kMostTurns, nodes(what.body)};
  }
  exec::AtNode convert(const Node&, const AtNode& what) const {
    return {what.at, nodes(what.body), nodes(what.otherwise)};
  }
  exec::CoordNode convert(const Node& node, const CoordNode& what) const {
    return {what.axis, ids_[node.args[0]]};
  }
  exec::SliceNode convert(const Node& node, const SliceNode& what) const {
    return {ids_[node.args[0]], ids_[node.args[1]], what.layout};
  }
  exec::DrawNode convert(const Node& node, const DrawNode& what) const {
    const CallNode& call = what.call;
    return {call.callee, ids_[node.args[0]], what.layout, call.slots,
            call.attrs,  call.ints,          call.reals};
  }
  exec::MicroNode convert(const Node&, const MicroNode& what) const {
    exec::MicroNode micro{what.axis, what.micros, what.instances, {}, what.order};
    for (const MicroNode::Task& task : what.tasks)
      micro.tasks.push_back({task.name, nodes(task.body)});
    return micro;
  }
  exec::BlocksNode convert(const Node&, const BlocksNode& what) const {
    exec::BlocksNode blocks{what.layout, {}};
    for (const BlocksNode::Body& one : what.bodies)
      blocks.bodies.push_back({one.extent, nodes(one.body)});
    return blocks;
  }
  exec::PhaseNode convert(const Node&, const PhaseNode& what) const {
    return {what.phase, what.comm};
  }
  exec::MergedNode convert(const Node& node, const MergedNode& what) const {
    return {what.table, ids_[node.args[0]], what.pulled};
  }

  // One kind here is three of the runtime's.
  exec::Node requestOf(const Node& node, const RequestNode& what) const {
    const int last = ids_[node.args.back()];
    switch (what.kind) {
      case RequestNode::Kind::Push:
        return {node.op, exec::PushNode{what.comm, last, what.table, what.merge, what.layout,
                                        what.changed, what.atOnce}};
      case RequestNode::Kind::Pull:
        return {node.op, exec::PullNode{what.comm, last, what.table, what.layout, what.changed}};
      case RequestNode::Kind::Lookup:
        return {node.op, exec::LookupNode{what.comm, ids_[node.args[0]], last, what.table,
                                          what.layout, what.padding}};
    }
  }

  const Plan& plan_;
  const std::map<const Kernel*, std::string>& symbols_;
  std::vector<int> ids_, order_;
};

}  // namespace

exec::Plan toRuntime(const Plan& plan, const Target& target, bool hasLibrary,
                     const std::map<const Kernel*, std::string>& symbols) {
  return PlanWriter(plan, symbols).write(target, hasLibrary);
}

}  // namespace dtranspile::lower
