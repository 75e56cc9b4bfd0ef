// Every library call with every wrong element type, made from the signatures: the call refuses it
// by the argument's name before its kernel runs. What the signatures admit is run by refusals_test
// with memory that ends where the arguments end.
#include <array>
#include <catch2/catch.hpp>
#include <deque>

#include "runtime/exec/context.h"
#include "runtime/kernels/cpu/call_table.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::kernels {
namespace {

constexpr DType kTypes[] = {DType::kBool,    DType::kInt8,      DType::kUInt8,     DType::kInt16,
                            DType::kInt32,   DType::kInt64,     DType::kUInt32,    DType::kUInt64,
                            DType::kFloat16, DType::kBFloat16,  DType::kFloat32,   DType::kFloat64,
                            DType::kSizeT,   DType::kComplex64, DType::kComplex128};

DType FirstOf(TypeSet types) {
  for (const DType type : kTypes)
    if (Holds(types, type)) return type;
  return DType::kBool;
}

// A call with two arguments for a list, one for every other slot, all of the first types that their
// signature admits, of one element in as many dims as it asks for.
class TypedCall {
 public:
  explicit TypedCall(const Signature& signature) : signature_(signature) {
    for (size_t k = 0; k < signature.slots(); ++k) {
      const SlotSpec& slot = signature.slot(k);
      const TypeDemand& own = slot.demand;
      const TypeDemand& root = signature.slot(static_cast<size_t>(own.like)).demand;
      for (int i = 0; i < (slot.list ? 2 : 1); ++i) {
        names_.push_back(slot.list ? slot.name + std::to_string(i) : slot.name);
        buffers_.push_back({elements_.data(), kOnes.data(), own.least_dims,
                            static_cast<int32_t>(Related(own.relation, FirstOf(root.types))),
                            DT_HOST, names_.back().c_str(), nullptr});
      }
      slots_.push_back(static_cast<int32_t>(buffers_.size()));
    }
    for (const AttributeSpec& attribute : signature.attributes) {
      const bool whole = attribute.kind <= AttributeKind::kInts;
      const bool text = attribute.kind >= AttributeKind::kText;
      attributes_.push_back({whole ? &integer_ : nullptr, whole || text ? nullptr : &real_,
                             text ? &text_ : nullptr, 1});
    }
  }

  std::vector<DtBuffer>& buffers() { return buffers_; }
  int First(size_t slot) const { return slots_[slot]; }
  std::vector<DtAttr>& attributes() { return attributes_; }

  std::string Message() {
    void* state = nullptr;
    DtCall call = {};
    call.name = signature_.name.c_str(), call.op = "0:0 test", call.state = &state;
    call.args = buffers_.data(), call.num_args = static_cast<int32_t>(buffers_.size());
    call.slots = slots_.data(), call.num_slots = static_cast<int32_t>(slots_.size()) - 1;
    call.attrs = attributes_.data(), call.num_attrs = static_cast<int32_t>(attributes_.size());
    const absl::Status status = context_.Call(FindFunction(signature_.name), call);
    if (status.ok()) return "";
    const std::string message(status.message());
    return message.substr(message.find(": ") + 2);  // after the name of the call
  }

 private:
  static constexpr std::array<int64_t, 8> kOnes = {1, 1, 1, 1, 1, 1, 1, 1};
  const Signature& signature_;
  alignas(16) std::array<char, 16> elements_ = {};
  std::deque<std::string> names_;
  std::vector<DtBuffer> buffers_;
  std::vector<int32_t> slots_ = {0};
  int64_t integer_ = 0;
  double real_ = 0;
  const char* text_ = "";
  std::vector<DtAttr> attributes_;
  exec::ThreadPool pool_{{1, false}};
  DtContext context_{&pool_};
};

// The argument named first in a message: 'X' is …
bool Names(const std::string& message, const std::string& argument) {
  return message.find("'" + argument + "'") != std::string::npos &&
         message.find(" is ") != std::string::npos;
}

}  // namespace

TEST_CASE("every call refuses every element type that its signature does not admit") {
  int refused = 0;
  for (const Signature& signature : AllSignatures()) {
    REQUIRE(FindFunction(signature.name) != nullptr);
    for (size_t k = 0; k < signature.slots(); ++k)
      for (const DType type : kTypes) {
        if (Holds(signature.slot(k).demand.types, type)) continue;
        TypedCall call(signature);
        DtBuffer& wrong = call.buffers()[static_cast<size_t>(call.First(k))];
        wrong.dtype = static_cast<int32_t>(type);
        INFO(signature.name << " '" << wrong.name << "' of " << NameOf(type));
        CHECK(call.Message() == "'" + std::string(wrong.name) + "' is " + NameOf(type) +
                                    ", expected " + TextOf(signature.slot(k).demand.types));
        ++refused;
      }
  }
  CHECK(refused > 5000);
}

TEST_CASE("arguments whose types are tied do not differ") {
  int refused = 0;
  for (const Signature& signature : AllSignatures())
    for (size_t k = 0; k < signature.slots(); ++k) {
      const TypeDemand& own = signature.slot(k).demand;
      const SlotSpec& root = signature.slot(static_cast<size_t>(own.like));
      if (own.like == static_cast<int>(k)) continue;
      for (const DType type : kTypes) {
        TypedCall call(signature);
        DtBuffer& wrong = call.buffers()[static_cast<size_t>(call.First(k))];
        if (!Holds(own.types, type) || wrong.dtype == static_cast<int32_t>(type)) continue;
        wrong.dtype = static_cast<int32_t>(type);
        const std::string message = call.Message();
        INFO(signature.name << " '" << wrong.name << "' of " << NameOf(type) << " beside "
                            << root.name << ": " << message);
        CHECK(Names(message, wrong.name));
        ++refused;
      }
    }
  CHECK(refused > 1000);
}

TEST_CASE("lists of one type do not differ, those of each may") {
  for (const Signature& signature : AllSignatures())
    for (size_t k = 0; k < signature.slots(); ++k) {
      const SlotSpec& slot = signature.slot(k);
      if (!slot.list || slot.demand.like != static_cast<int>(k) || slot.demand.each) continue;
      TypedCall call(signature);
      auto& second = call.buffers()[static_cast<size_t>(call.First(k)) + 1];
      for (const DType type : kTypes)
        if (Holds(slot.demand.types, type) && second.dtype != static_cast<int32_t>(type)) {
          second.dtype = static_cast<int32_t>(type);
          break;
        }
      INFO(signature.name << " '" << second.name << "'");
      CHECK(Names(call.Message(), second.name));
    }
}

TEST_CASE("counts above their limit and wrong numbers of dims are refused by name") {
  int limits = 0, dims = 0;
  for (const Signature& signature : AllSignatures()) {
    for (size_t a = 0; a < signature.attributes.size(); ++a) {
      const AttributeSpec& attribute = signature.attributes[a];
      if (attribute.most == std::numeric_limits<int64_t>::max()) continue;
      const int64_t above = attribute.most + 1;
      TypedCall call(signature);
      call.attributes()[a].ints = &above;
      INFO(signature.name);
      CHECK(call.Message() == attribute.name + " is " + std::to_string(above) +
                                  ", expected at most " + std::to_string(attribute.most));
      ++limits;
    }
    for (size_t k = 0; k < signature.slots(); ++k) {
      const TypeDemand& demand = signature.slot(k).demand;
      // In 64 bits: the largest number of dims stands for any.
      for (const int64_t wrong : {int64_t{demand.least_dims} - 1, int64_t{demand.most_dims} + 1}) {
        if (wrong < 0 || wrong > 8) continue;
        TypedCall call(signature);
        DtBuffer& buffer = call.buffers()[static_cast<size_t>(call.First(k))];
        buffer.rank = static_cast<int32_t>(wrong);
        INFO(signature.name << " '" << buffer.name << "' of " << wrong << " dims");
        CHECK(call.Message().starts_with("'" + std::string(buffer.name) + "' has " +
                                         std::to_string(wrong) + " dims, expected "));
        ++dims;
      }
    }
  }
  CHECK(limits > 30);
  CHECK(dims > 0);
}

}  // namespace dtranspile::kernels
