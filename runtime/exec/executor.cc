#include "runtime/exec/executor.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/exec/narrow_arguments.h"
#include "runtime/exec/unknown_extents.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

struct Executor::Bound {
  const Node* node = nullptr;
  template <typename Kind>
  const Kind& as() const {
    return std::get<Kind>(node->what);
  }
  DtKernel kernel = nullptr;
  DtFunction function = nullptr;
  std::vector<void*> pointers;  // of kernels; kCopy: from, to
  std::vector<DtBuffer> buffers;
  std::vector<const char*> strings;
  std::vector<DtAttr> attributes;
  DtCall call = {};
  void* state = nullptr;
  int64_t bytes = 0;  // kCopy
  comm::Request request;
  comm::Communicator* comm = nullptr;
  size_t slot = 0;         // kStart, kWait: place in pending_
  bool completes = false;  // kStart: its wait follows at once, which then has nothing to do
  const bool* condition = nullptr;
  std::vector<ValueArgument> values;        // by argument
  BoundExtents extents;                     // of a kernel with unknown ones
  std::unique_ptr<NarrowArguments> narrow;  // kCall: null where there are none
  std::vector<size_t> ragged_outputs;       // kCall: arguments that may have to get a LoD
  std::vector<Bound> body, otherwise;
};

namespace {

// What a kernel node shares out over threads. Kernels take the end of their rows, dt_parallel gives
// the number.
struct Rows {
  DtKernel kernel;
  void* const* args;
};

void RunRows(void* arg, int64_t lo, int64_t n) {
  const Rows& rows = *static_cast<const Rows*>(arg);
  rows.kernel(rows.args, lo, lo + n);
}

// The buffers that a node is bound to, in order.
std::vector<int> ArgumentsOf(const Node& node) {
  if (const auto* kernel = node.as<KernelNode>()) return kernel->args;
  if (const auto* call = node.as<CallNode>()) return call->args;
  if (const auto* copy = node.as<CopyNode>()) return {copy->from, copy->to};
  return {};
}

// Whether `next` waits for what `node` starts.
bool IsCompletedBy(const Node& node, const Node& next) {
  const auto* start = node.as<StartNode>();
  const auto* wait = next.as<WaitNode>();
  return start && wait && wait->ticket == start->ticket;
}

}  // namespace

Executor::Executor(Plan plan, ExecutorOptions options)
    : plan_(std::move(plan)),
      options_(std::move(options)),
      pool_(options_.pool),
      context_(&pool_) {}

Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::Load(Plan plan, ExecutorOptions options) {
  if (options.comms.size() != plan.comms.size())
    return absl::InvalidArgumentError(absl::StrCat(
        "the plan has ", plan.comms.size(), " communicators, ", options.comms.size(), " given"));
  std::unique_ptr<Executor> executor(new Executor(std::move(plan), std::move(options)));
  DT_RETURN_IF_ERROR(executor->pool_.status());
  DT_RETURN_IF_ERROR(executor->Allocate());
  const Plan& p = executor->plan_;
  if (!p.library.empty()) {
    DT_RETURN_IF_ERROR(CheckTarget(p.target.cpu, p.target.features));
    const std::string folder = p.folder.empty() ? "." : p.folder;
    DT_ASSIGN_OR_RETURN(executor->library_,
                        KernelLibrary::Open(absl::StrCat(folder, "/", p.library)));
  }
  std::vector<std::string> missing;
  if (const Program* startup = p.startup())
    DT_RETURN_IF_ERROR(executor->BindBody(startup->body, executor->startup_, missing));
  DT_RETURN_IF_ERROR(executor->BindBody(p.step().body, executor->main_, missing));
  if (!missing.empty()) return absl::NotFoundError(absl::StrJoin(missing, "; "));
  return executor;
}

absl::Status Executor::Allocate() {
  // Gradients lie in step memory: ranks of this host sum them where they lie.
  const bool shares =
      std::any_of(options_.comms.begin(), options_.comms.end(), [](const comm::Communicator* one) {
        return one->size() > 1 && std::string_view(one->backend()) == "shm";
      });
  const auto allocate = shares ? Block::AllocateShared : Block::Allocate;
  DT_ASSIGN_OR_RETURN(arena_, allocate(plan_.arena_bytes, "step memory"));
  DT_ASSIGN_OR_RETURN(persistent_,
                      Block::Allocate(plan_.persistent_bytes, "persistable variables"));
  DT_ASSIGN_OR_RETURN(constants_, Block::Allocate(plan_.ConstantBytes(), "constants"));
  const Block* blocks[] = {&arena_, &persistent_, &constants_};
  for (const Buffer& buffer : plan_.buffers) {
    values_.push_back(buffer.space == Space::kValue
                          ? std::make_unique<Value>(buffer.kind, buffer.dtype)
                          : nullptr);
    if (buffer.space == Space::kValue) {
      addresses_.push_back(nullptr);
      continue;
    }
    std::byte* address = blocks[static_cast<int>(buffer.space)]->data() + buffer.offset;
    if (!buffer.data.empty()) std::memcpy(address, buffer.data.data(), buffer.data.size());
    addresses_.push_back(address);
  }
  return constants_.Seal();
}

absl::Status Executor::BindBody(const std::vector<Node>& nodes, std::vector<Bound>& body,
                                std::vector<std::string>& missing) {
  body.resize(nodes.size());
  const size_t outer = ticket_slots_.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    DT_RETURN_IF_ERROR(Bind(nodes[i], body[i], missing));
    body[i].completes = i + 1 < nodes.size() && IsCompletedBy(nodes[i], nodes[i + 1]);
  }
  // Numbers of tickets belong to a body: another one may use them for its own operations.
  ticket_slots_.resize(outer);
  return absl::OkStatus();
}

absl::Status Executor::Bind(const Node& node, Bound& bound, std::vector<std::string>& missing) {
  bound.node = &node;
  for (int id : ArgumentsOf(node)) {
    bound.pointers.push_back(data(id));
    bound.values.push_back({value(id), &plan_.buffers[static_cast<size_t>(id)].name});
  }
  const auto flag = [&](int id) { return reinterpret_cast<const bool*>(data(id)); };
  if (const auto* kernel = node.as<KernelNode>()) {
    bound.pointers.push_back(&fault_);
    const auto found = library_.Find(kernel->symbol);
    if (found.ok()) bound.kernel = *found;
    else missing.emplace_back(found.status().message());
  } else if (const auto* call = node.as<CallNode>()) {
    bound.function = options_.find_function ? options_.find_function(call->callee) : nullptr;
    if (bound.function == nullptr)
      missing.push_back(
          absl::StrCat("op ", node.op, ": this runtime has no call '", call->callee, "'"));
    BindCall(*call, bound);
  } else if (const auto* copy = node.as<CopyNode>()) {
    if (value(copy->from) == nullptr)
      bound.bytes = plan_.buffers[static_cast<size_t>(copy->from)].bytes;
  } else if (const auto* start = node.as<StartNode>()) {
    BindStart(*start, bound);
  } else if (const auto* wait = node.as<WaitNode>()) {
    // The reader has checked that the start stands before it in the same body, whose tickets are
    // the last ones.
    bound.slot = std::find_if(ticket_slots_.rbegin(), ticket_slots_.rend(), [&](const auto& s) {
                   return s.first == wait->ticket;
                 })->second;
  } else if (const auto* branch = node.as<IfNode>()) {
    bound.condition = flag(branch->condition);
    DT_RETURN_IF_ERROR(BindBody(branch->then, bound.body, missing));
    DT_RETURN_IF_ERROR(BindBody(branch->otherwise, bound.otherwise, missing));
  } else if (const auto* loop = node.as<WhileNode>()) {
    bound.condition = flag(loop->condition);
    DT_RETURN_IF_ERROR(BindBody(loop->body, bound.body, missing));
  }
  return absl::OkStatus();
}

void Executor::BindCall(const CallNode& node, Bound& bound) {
  for (int id : node.args) {
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
    bound.buffers.push_back({data(id), buffer.dims.data(), static_cast<int32_t>(buffer.dims.size()),
                             static_cast<int32_t>(buffer.dtype), DT_HOST, buffer.name.c_str(),
                             value(id)});
  }
  for (int at : node.written)
    if (plan_.buffers[static_cast<size_t>(node.args[static_cast<size_t>(at)])].lod_level > 0)
      bound.ragged_outputs.push_back(static_cast<size_t>(at));
  for (const std::string& text : node.strings) bound.strings.push_back(text.c_str());
  const auto count = [](const auto& list) { return static_cast<int32_t>(list.size()); };
  bound.call = {node.callee.c_str(),
                bound.node->op.c_str(),
                bound.buffers.data(),
                count(bound.buffers),
                node.ints.data(),
                count(node.ints),
                node.reals.data(),
                count(node.reals),
                bound.strings.data(),
                count(bound.strings),
                nullptr,
                node.slots.data(),
                std::max(count(node.slots) - 1, 0),
                nullptr,
                0};
  const int64_t* ints = node.ints.data();
  const double* reals = node.reals.data();
  const char* const* strings = bound.strings.data();
  for (const CallNode::Attribute& a : node.attributes()) {
    bound.attributes.push_back({a.kind == 'i' ? ints : nullptr, a.kind == 'r' ? reals : nullptr,
                                a.kind == 's' ? strings : nullptr, a.count});
    ints += a.kind == 'i' ? a.count : 0;
    reals += a.kind == 'r' ? a.count : 0;
    strings += a.kind == 's' ? a.count : 0;
  }
  bound.call.attrs = bound.attributes.data();
  bound.call.num_attrs = count(bound.attributes);
  if (!options_.element_types) return;
  auto narrow =
      std::make_unique<NarrowArguments>(options_.element_types(node.callee), bound.buffers,
                                        node.written, options_.find_function("dt_cast"));
  if (narrow->any()) bound.narrow = std::move(narrow);
}

void Executor::BindStart(const StartNode& node, Bound& bound) {
  bound.comm = options_.comms[static_cast<size_t>(node.comm)];
  comm::Request& request = bound.request;
  request.kind = node.collective;
  request.reduce = node.reduce;
  request.peer = node.root;
  request.label = bound.node->op;
  const auto add = [&](const std::vector<int>& ids, std::vector<comm::Segment>& segments) {
    for (int id : ids) {
      const Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
      request.dtype = buffer.dtype;
      segments.push_back({data(id), buffer.count()});
    }
  };
  add(node.inputs, request.inputs);
  add(node.outputs, request.outputs);
  bound.slot = pending_.size();
  ticket_slots_.emplace_back(node.ticket, bound.slot);
  pending_.push_back({bound.comm, 0, Trace::kComm + node.comm, 0, bound.node->op.c_str(), nullptr});
  Value* first = node.inputs.empty() ? nullptr : value(node.inputs[0]);
  if (first == nullptr) return;
  const std::string& name = plan_.buffers[static_cast<size_t>(node.inputs[0])].name;
  pending_.back().of_value = std::make_unique<ValueCollective>(
      *bound.comm, node.reduce, name, bound.node->op, *first, *value(node.outputs[0]));
}

absl::Status Executor::RunStartup() { return RunProgram(startup_); }
absl::Status Executor::RunMain() { return RunProgram(main_); }

absl::Status Executor::RunProgram(std::vector<Bound>& body) {
  NumericScope numerics;
  failed_op_.clear();
  failed_waiting_ = false;
  return Run(body);
}

absl::Status Executor::Run(std::vector<Bound>& body) {
  for (Bound& bound : body) {
    const absl::Status status = options_.trace ? RunTraced(bound) : RunOne(bound);
    if (status.ok()) continue;
    if (!failed_op_.empty()) return status;  // of a node inside this one
    failed_op_ = bound.node->op;
    failed_waiting_ =
        bound.node->as<StartNode>() != nullptr || bound.node->as<WaitNode>() != nullptr;
    return absl::Status(status.code(), absl::StrCat("op ", failed_op_, ": ", status.message()));
  }
  return absl::OkStatus();
}

absl::Status Executor::RunTraced(Bound& bound) {
  const int64_t begin = NowNs();
  const absl::Status status = RunOne(bound);
  options_.trace->Add(bound.node->op.c_str(), Trace::kWork, begin, NowNs());
  return status;
}

// Runs a node of any kind.
struct Executor::Runner {
  Executor& executor;
  Bound& bound;
  absl::Status operator()(const KernelNode&) { return executor.RunKernel(bound); }
  absl::Status operator()(const CallNode&) { return executor.RunCall(bound); }
  absl::Status operator()(const CopyNode&) { return executor.RunCopy(bound); }
  absl::Status operator()(const StartNode&) { return executor.RunStart(bound); }
  absl::Status operator()(const WaitNode&) { return executor.RunWait(bound); }
  absl::Status operator()(const IfNode&) {
    return executor.Run(*bound.condition ? bound.body : bound.otherwise);
  }
  absl::Status operator()(const WhileNode&) { return executor.RunWhile(bound); }
  template <typename Other>
  absl::Status operator()(const Other&) {
    return absl::UnimplementedError("nodes of this kind are not run yet");
  }
};

// Values that are copied or resized between calls allocate too.
absl::Status Executor::RunOne(Bound& bound) try {
  return std::visit(Runner{*this, bound}, bound.node->what);
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory is left");
}

absl::Status Executor::RunCall(Bound& bound) {
  bound.call.state = &bound.state;
  for (size_t i = 0; i < bound.values.size(); ++i)
    if (const Value* v = bound.values[i].value) {
      DtBuffer& buffer = bound.buffers[i];
      buffer.data = v->data();
      buffer.dims = v->dims.data();
      buffer.rank = static_cast<int32_t>(v->dims.size());
      buffer.dtype = static_cast<int32_t>(v->dtype);
    }
  if (bound.narrow) DT_RETURN_IF_ERROR(bound.narrow->Widen(context_, bound.buffers));
  DT_RETURN_IF_ERROR(context_.Call(bound.function, bound.call));
  if (bound.narrow) DT_RETURN_IF_ERROR(bound.narrow->Narrow(context_, bound.buffers));
  if (!bound.ragged_outputs.empty()) ShareLod(bound);
  return absl::OkStatus();
}

// Outputs that are ragged by the op's inference and that the call gave no LoD have that of the
// first argument with as many rows.
void Executor::ShareLod(Bound& bound) {
  for (size_t at : bound.ragged_outputs) {
    Value& out = *bound.values[at].value;
    if (!out.lod.empty() || out.dims.empty()) continue;
    for (const ValueArgument& argument : bound.values) {
      if (argument.value == nullptr || argument.value == &out || argument.value->lod.empty() ||
          argument.value->dims[0] != out.dims[0])
        continue;
      out.lod = argument.value->lod;
      break;
    }
  }
}

// Between values and fixed places; extents that differ are an error.
absl::Status Executor::RunCopy(Bound& bound) {
  Value *from = bound.values[0].value, *to = bound.values[1].value;
  if (from == nullptr && to == nullptr) {
    if (bound.bytes > 0)
      std::memmove(bound.pointers[1], bound.pointers[0], static_cast<size_t>(bound.bytes));
    return absl::OkStatus();
  }
  if (from != nullptr && to != nullptr) return to->Assign(*from);
  const Buffer& source = plan_.buffers[static_cast<size_t>(bound.as<CopyNode>().from)];
  if (to != nullptr)
    return to->Assign(TensorView{source.dtype, source.dims, data(bound.as<CopyNode>().from)});
  const Buffer& target = plan_.buffers[static_cast<size_t>(bound.as<CopyNode>().to)];
  if (from->bytes() != target.bytes)
    return absl::InvalidArgumentError(
        absl::StrCat("'", *bound.values[0].name, "' is ", ShapeText(from->dtype, from->dims),
                     ", but '", target.name, "' is ", ShapeText(target.dtype, target.dims)));
  if (target.bytes > 0)
    std::memmove(bound.pointers[1], from->data(), static_cast<size_t>(target.bytes));
  return absl::OkStatus();
}

absl::Status Executor::RunUnknown(Bound& bound) {
  DT_RETURN_IF_ERROR(BindExtents(*bound.as<KernelNode>().unknown, bound.values, bound.extents));
  const size_t count = bound.values.size();
  bound.pointers.resize(count + 2);
  for (size_t i = 0; i < count; ++i)
    if (bound.values[i].value != nullptr) bound.pointers[i] = bound.values[i].value->data();
  bound.pointers[count] = bound.extents.table.data();
  bound.pointers[count + 1] = &fault_;
  Rows rows{bound.kernel, bound.pointers.data()};
  dt_parallel(&context_, bound.extents.rows, bound.as<KernelNode>().grain, RunRows, &rows);
  return TakeFault();
}

absl::Status Executor::TakeFault() {
  const uint64_t element = std::exchange(fault_, DT_NO_FAULT);
  if (element == DT_NO_FAULT) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("element ", element, ": an integer is divided by zero"));
}

absl::Status Executor::RunKernel(Bound& bound) {
  if (bound.as<KernelNode>().unknown) return RunUnknown(bound);
  Rows rows{bound.kernel, bound.pointers.data()};
  dt_parallel(&context_, bound.as<KernelNode>().rows, bound.as<KernelNode>().grain, RunRows, &rows);
  return TakeFault();
}

absl::Status Executor::RunStart(Bound& bound) {
  Pending& pending = pending_[bound.slot];
  pending.ticket = 0;
  if (bound.completes && !pending.of_value) return bound.comm->Run(bound.request);
  if (options_.trace) pending.begin_ns = NowNs();
  DT_ASSIGN_OR_RETURN(pending.ticket, pending.of_value ? pending.of_value->Start()
                                                       : bound.comm->Start(bound.request));
  return absl::OkStatus();
}

absl::Status Executor::RunWait(Bound& bound) {
  Pending& pending = pending_[bound.slot];
  if (pending.ticket == 0) return absl::OkStatus();
  const absl::Status status = pending.of_value ? pending.of_value->Finish(pending.ticket)
                                               : pending.comm->Wait(pending.ticket);
  pending.ticket = 0;
  if (options_.trace) options_.trace->Add(pending.name, pending.row, pending.begin_ns, NowNs());
  return status;
}

absl::Status Executor::RunWhile(Bound& bound) {
  for (int64_t turn = 0; *bound.condition; ++turn) {
    if (turn == bound.as<WhileNode>().limit)
      return absl::OutOfRangeError(absl::StrCat("the loop has not ended after ", turn, " turns"));
    const absl::Status status = Run(bound.body);
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat(status.message(), "; in turn ", turn + 1,
                                                      " of op ", bound.node->op));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
