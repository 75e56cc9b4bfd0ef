#include "compiler/lower/plan_writer.h"

#include "compiler/lower/kernel/extents.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

namespace dtranspile::lower {
namespace {

using llvm::json::OStream;

// A loop that has not ended after so many turns is taken for one that never will.
constexpr int64_t kMostTurns = 100'000'000;

class PlanWriter {
 public:
  PlanWriter(const Plan& plan, const std::map<const Kernel*, std::string>& symbols, OStream& json)
      : plan_(plan), symbols_(symbols), json_(json) {
    std::vector<bool> used(plan.buffers.size());
    auto mark = [&](int buffer) { used[buffer] = true; };
    for (const Persistable& p : plan.persistables) mark(p.buffer);
    for (const PlanProgram* program : {plan.startup.get(), plan.main.get()}) {
      if (!program) continue;
      for (const Feed& feed : program->feeds) mark(feed.buffer);
      for (const Fetch& fetch : program->fetches) mark(fetch.buffer);
      for (const Node& node : program->body)
        std::for_each(node.args.begin(), node.args.end(), mark);
    }
    for (size_t i = 0; i < used.size(); ++i) {
      ids_.push_back(used[i] ? static_cast<int>(order_.size()) : -1);
      if (used[i]) order_.push_back(static_cast<int>(i));
    }
  }

  void write(const Target& target, bool hasLibrary) {
    json_.object([&] {
      json_.attribute("schema", 1);
      json_.attribute("class", plan_.className);
      json_.attributeObject("target", [&] {
        json_.attribute("cpu", target.cpu);
        json_.attribute("features", target.features);
      });
      if (hasLibrary) json_.attribute("library", "kernels.so");
      else json_.attribute("library", nullptr);
      json_.attribute("digest", plan_.digest);
      json_.attributeArray("comms", [&] {
        for (const Comm& comm : plan_.comms) {
          json_.object([&] {
            json_.attribute("name", comm.name);
            list("axes", comm.axes);
          });
        }
      });
      json_.attribute("arena_bytes", plan_.arenaBytes);
      json_.attribute("persistent_bytes", plan_.persistentBytes);
      json_.attributeArray("buffers", [&] {
        for (int id : order_) writeBuffer(plan_.buffers[id]);
      });
      json_.attributeArray("persistables", [&] {
        for (const Persistable& p : plan_.persistables) writePersistable(p);
      });
      json_.attributeObject("programs", [&] {
        writeProgram("startup", plan_.startup.get());
        writeProgram("main", plan_.main.get());
      });
    });
  }

 private:
  template <typename Values>
  void list(llvm::StringRef name, const Values& values) {
    json_.attributeArray(name, [&] {
      for (const auto& value : values) json_.value(value);
    });
  }
  void buffers(llvm::StringRef name, llvm::ArrayRef<int> args) {
    json_.attributeArray(name, [&] {
      for (int buffer : args) json_.value(ids_[buffer]);
    });
  }

  void writeBuffer(const Buffer& buffer) {
    static const char* const kSpaces[] = {"arena", "persistent", "constant", "value"};
    static const char* const kKinds[] = {"tensor", "rows", "list"};
    json_.object([&] {
      json_.attribute("name", buffer.name);
      json_.attribute("space", kSpaces[static_cast<int>(buffer.space)]);
      if (buffer.space == Space::Value) {
        json_.attribute("kind", kKinds[static_cast<int>(buffer.kind)]);
        json_.attribute("dtype", NameOf(buffer.dtype));
        list("dims", buffer.dims);
        json_.attribute("lod_level", buffer.lodLevel);
        return;
      }
      json_.attribute("offset", plan_.buffers[buffer.storage].offset);
      json_.attribute("bytes", buffer.bytes());
      json_.attribute("dtype", NameOf(buffer.dtype));
      list("dims", buffer.dims);
      json_.attribute("lod_level", buffer.lodLevel);
      if (buffer.space == Space::Constant) json_.attribute("data", llvm::toHex(buffer.data, true));
    });
  }

  void describe(const std::string& name, int id) {
    json_.attribute("name", name);
    json_.attribute("buffer", ids_[id]);
    json_.attribute("dtype", NameOf(plan_.buffers[id].dtype));
    list("dims", plan_.buffers[id].dims);
  }

  void writePersistable(const Persistable& p) {
    json_.object([&] {
      describe(p.name, p.buffer);
      json_.attribute("parameter", p.parameter);
      json_.attributeObject("relation", [&] {
        for (const auto& [axis, relation] : p.relation) json_.attribute(axis, relation);
      });
      json_.attribute("slice", nullptr);
    });
  }

  void writeProgram(llvm::StringRef name, const PlanProgram* program) {
    if (!program) return json_.attribute(name, nullptr);
    json_.attributeObject(name, [&] {
      json_.attributeArray("feeds", [&] {
        for (const Feed& feed : program->feeds) writeFeed(feed);
      });
      json_.attributeArray("fetches", [&] {
        for (const Fetch& fetch : program->fetches) {
          json_.object([&] {
            json_.attribute("name", fetch.name);
            json_.attribute("buffer", ids_[fetch.buffer]);
            json_.attribute("combine", fetch.combine);
          });
        }
      });
      nodes("body", program->body);
    });
  }

  void nodes(llvm::StringRef name, const std::vector<Node>& list) {
    json_.attributeArray(name, [&] {
      for (const Node& node : list) json_.object([&] { writeNode(node); });
    });
  }

  void writeFeed(const Feed& feed) {
    json_.object([&] {
      describe(feed.name, feed.buffer);
      if (!feed.split) return json_.attribute("split", nullptr);
      json_.attributeObject("split", [&] {
        json_.attribute("dim", feed.split->dim);
        list("axes", feed.split->axes);
      });
    });
  }

  // Factor, then unknowns by the numbers that this kernel gives them.
  void product(int64_t number, bool dynamic, const std::map<int, int>& numbers) {
    json_.array([&] {
      const Monomial m = dynamic ? monomialOf(number) : Monomial{number};
      json_.value(m.factor);
      for (int token : m.tokens) json_.value(numbers.at(token));
    });
  }

  // Tokens in the shapes of the node's arguments, numbered from 0.
  std::map<int, int> unknownsOf(const Node& node) const {
    std::map<int, int> numbers;
    for (const auto& shape : node.shapes) {
      for (int64_t extent : shape) {
        if (node.kernel->unknown(extent))
          numbers.try_emplace(monomialOf(extent).tokens[0], static_cast<int>(numbers.size()));
      }
    }
    return numbers;
  }

  // Positions of the arguments that the node writes, where the runtime has to know: of values, and
  // of narrow floats, which it may have to convert.
  void writeWritten(const Node& node) {
    const auto matters = [&](int id) {
      const Buffer& buffer = plan_.buffers[id];
      return buffer.space == Space::Value || buffer.dtype == DType::kFloat16 ||
             buffer.dtype == DType::kBFloat16;
    };
    if (llvm::none_of(node.args, matters)) return;
    json_.attributeArray("written", [&] {
      for (size_t i = 0; i < node.args.size(); ++i) {
        if (node.writes[i]) json_.value(static_cast<int64_t>(i));
      }
    });
  }

  void writeUnknown(const Node& node) {
    const Kernel& kernel = *node.kernel;
    const std::map<int, int> numbers = unknownsOf(node);
    json_.attributeArray("shapes", [&] {
      for (size_t i = 0; i < node.args.size(); ++i) {
        json_.array([&] {
          if (plan_.buffers[node.args[i]].space != Space::Value) return;
          for (int64_t extent : node.shapes[i])
            json_.value(kernel.unknown(extent) ? -1 - numbers.at(monomialOf(extent).tokens[0])
                                               : extent);
        });
      }
    });
    json_.attributeArray("written", [&] {
      for (size_t i = 0; i < node.args.size(); ++i) {
        if (node.writes[i]) json_.value(static_cast<int64_t>(i));
      }
    });
    json_.attributeArray("table", [&] {
      for (int64_t number : kernel.unknownNumbers()) product(number, true, numbers);
    });
    json_.attributeBegin("rows");
    product(kernel.rows(), kernel.dynamic, numbers);
    json_.attributeEnd();
    if (!kernel.unknown(kernel.needs)) return;
    json_.attributeBegin("needs");
    product(kernel.needs, true, numbers);
    json_.attributeEnd();
  }

  void writeNode(const Node& node) {
    switch (node.kind) {
      case Node::Kind::Kernel:
        json_.attribute("kernel", symbols_.at(node.kernel.get()));
        buffers("args", node.args);
        json_.attribute("n", node.kernel->rows());
        json_.attribute("grain", grainOf(*node.kernel));
        if (!node.shapes.empty()) json_.attributeObject("unknown", [&] { writeUnknown(node); });
        break;
      case Node::Kind::Call:
        json_.attribute("call", node.callee);
        buffers("args", node.args);
        list("ints", node.ints);
        list("reals", node.reals);
        list("strings", node.strings);
        if (!node.slots.empty()) {
          list("slots", node.slots);
          list("attrs", node.attrs);
        }
        writeWritten(node);
        break;
      case Node::Kind::Copy: buffers("copy", node.args); break;
      case Node::Kind::Start:
        json_.attribute("start", node.callee);
        json_.attribute("comm", node.comm);
        json_.attribute("reduce", node.reduce);
        json_.attribute("root", node.root);
        buffers("inputs", llvm::ArrayRef(node.args).take_front(node.inputs));
        buffers("outputs", llvm::ArrayRef(node.args).drop_front(node.inputs));
        json_.attribute("ticket", node.ticket);
        break;
      case Node::Kind::Wait: json_.attribute("wait", node.ticket); break;
      case Node::Kind::If:
        json_.attribute("if", ids_[node.condition]);
        nodes("then", node.body);
        nodes("else", node.otherwise);
        break;
      case Node::Kind::While:
        json_.attribute("while", ids_[node.condition]);
        json_.attribute("limit", kMostTurns);
        nodes("body", node.body);
        break;
    }
    json_.attribute("op", node.op);
  }

  const Plan& plan_;
  const std::map<const Kernel*, std::string>& symbols_;
  OStream& json_;
  std::vector<int> ids_, order_;
};

}  // namespace

std::string writePlan(const Plan& plan, const Target& target, bool hasLibrary,
                      const std::map<const Kernel*, std::string>& symbols) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OStream json(stream);
  PlanWriter(plan, symbols, json).write(target, hasLibrary);
  return text;
}

}  // namespace dtranspile::lower
