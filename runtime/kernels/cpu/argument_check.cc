// A slot either names a class of types, or is tied to a slot that does (signature_types.h). Tied
// slots agree with each other, whichever of them are there: the first argument that is met of such
// a group says the type, all later ones must have it (or its real or complex partner). Lists of
// `each` are compared place by place instead. One walk over the arguments, nothing is allocated for
// calls of the usual size: this runs before every call of every step.
#include "runtime/kernels/cpu/argument_check.h"

#include <algorithm>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "runtime/kernels/cpu/support.h"
#include "runtime/kernels/signatures.h"

namespace dtranspile::kernels {
namespace {

using Relation = TypeDemand::Relation;

// A place in a list that stands for no argument.
bool IsEmpty(const DtBuffer& buffer) { return std::string_view(buffer.name) == "@EMPTY@"; }

// The relation the other way round.
Relation Inverse(Relation relation) {
  return relation == Relation::kRealOf      ? Relation::kComplexOf
         : relation == Relation::kComplexOf ? Relation::kRealOf
                                            : Relation::kSame;
}

class Checker {
 public:
  Checker(DtContext* context, const DtCall* call, const Signature& signature)
      : context_(context), call_(call), signature_(signature), groups_(signature.slots()) {}

  bool Slots() {
    const auto slots = std::min(signature_.slots(), static_cast<size_t>(call_->num_slots));
    for (size_t k = 0; k < slots; ++k)
      for (int32_t i = call_->slots[k]; i < call_->slots[k + 1]; ++i)
        if (!IsEmpty(call_->args[i]) && !Argument(k, i - call_->slots[k], call_->args[i]))
          return false;
    return true;
  }

  // Attributes that the signature bounds from above, since a hostile number would take all memory
  // or time.
  bool Limits() {
    const auto count =
        std::min(signature_.attributes.size(), static_cast<size_t>(call_->num_attrs));
    for (size_t a = 0; a < count; ++a) {
      const DtAttr& given = call_->attrs[a];
      const AttributeSpec& spec = signature_.attributes[a];
      for (int32_t i = 0; given.ints != nullptr && i < given.count; ++i) {
        if (given.ints[i] <= spec.most) continue;
        return dt_fail(context_, "%s is %lld, expected at most %lld", spec.name.c_str(),
                       static_cast<long long>(given.ints[i]), static_cast<long long>(spec.most)),
               false;
      }
    }
    return true;
  }

 private:
  // What is known of a group of tied slots.
  struct Group {
    const DtBuffer* first = nullptr;
    Relation relation = Relation::kSame;
  };

  // `relation` says how a slot's type follows from the group's (the same, its real or its complex
  // partner): the first argument that is met is inverted to the group's type, and that related to
  // the slot's.
  bool Argument(size_t k, int32_t place, const DtBuffer& buffer) {
    const TypeDemand& demand = signature_.slot(k).demand;
    const DType type = TypeOf(buffer);
    if (!Holds(demand.types, type))
      return dt_fail(context_, "'%s' is %s, expected %s", buffer.name, NameOf(type),
                     TextOf(demand.types).c_str()),
             false;
    if (buffer.rank < demand.least_dims || buffer.rank > demand.most_dims)
      return WrongDims(demand, buffer);
    const auto group = static_cast<size_t>(demand.like);
    const Group known = signature_.slot(group).demand.each
                            ? PlaceOf(group, place)
                            : Group{groups_[group].first, groups_[group].relation};
    if (known.first == nullptr) {
      groups_[group] = {&buffer, demand.relation};
      return true;
    }
    const DType expected =
        Related(demand.relation, Related(Inverse(known.relation), TypeOf(*known.first)));
    if (type == expected) return true;
    if (demand.relation == known.relation)
      return dt_fail(context_, "'%s' is %s, '%s' is %s", buffer.name, NameOf(type),
                     known.first->name, TypeName(*known.first)),
             false;
    return dt_fail(context_, "'%s' is %s, expected %s for the %s of '%s'", buffer.name,
                   NameOf(type), NameOf(expected), TypeName(*known.first), known.first->name),
           false;
  }

  // The argument of a list of `each` at that place; nothing where it has none.
  Group PlaceOf(size_t list, int32_t place) const {
    if (list >= static_cast<size_t>(call_->num_slots)) return {};
    const int32_t at = call_->slots[list] + place;
    if (at >= call_->slots[list + 1] || IsEmpty(call_->args[at])) return {};
    return {&call_->args[at], Relation::kSame};
  }

  bool WrongDims(const TypeDemand& demand, const DtBuffer& buffer) {
    if (demand.least_dims == demand.most_dims)
      dt_fail(context_, "'%s' has %d dims, expected %d", buffer.name, buffer.rank,
              demand.least_dims);
    else if (demand.most_dims == TypeDemand().most_dims)
      dt_fail(context_, "'%s' has %d dims, expected at least %d", buffer.name, buffer.rank,
              demand.least_dims);
    else
      dt_fail(context_, "'%s' has %d dims, expected %d to %d", buffer.name, buffer.rank,
              demand.least_dims, demand.most_dims);
    return false;
  }

  DtContext* context_;
  const DtCall* call_;
  const Signature& signature_;
  absl::InlinedVector<Group, 24> groups_;  // by the slot that names the class
};

}  // namespace

bool CheckArguments(DtContext* context, const DtCall* call) {
  const Signature* signature = FindSignature(call->name);
  if (signature == nullptr) return true;
  Checker checker(context, call, *signature);
  return checker.Slots() && checker.Limits();
}

}  // namespace dtranspile::kernels
