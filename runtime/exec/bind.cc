#include "runtime/exec/bind.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {

// Binding turns a node of the plan into an object that holds addresses, functions and
// communicators, once, before the first step: steps then only run them. Neighbouring lookups that
// do not depend on each other become one request. Errors get the op's name from the innermost node,
// once (`failed_`).
absl::StatusOr<BoundBody> Binder::Body(const std::vector<Node>& nodes) {
  BoundBody body;
  const size_t outer = tickets.size();
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    const size_t together = LookupsAt(nodes, i, *this), first = i;
    if (together > 1) i += together - 1;
    this->body = &nodes;
    next = i + 1 < nodes.size() ? &nodes[i + 1] : nullptr;
    // Nodes inside of this one have their own.
    std::vector<FirstTouch*> around = std::exchange(touched_, {});
    BindResult bound =
        together > 1
            ? BindLookups(nodes, first, together, *this)
            : std::visit([&](const auto& what) { return Bind(what, node, *this); }, node.what);
    const std::vector<FirstTouch*> mine = std::exchange(touched_, std::move(around));
    if (bound.ok() && !mine.empty()) bound = TouchFirst(node, *std::move(bound), mine, *this);
    if (!bound.ok() && failed_) return bound.status();  // of a node inside this one
    failed_ = !bound.ok();
    if (failed_)
      return absl::Status(bound.status().code(),
                          absl::StrCat("op ", node.op, ": ", bound.status().message()));
    body.Add(*std::move(bound));
  }
  tickets.resize(outer);
  return body;
}

// The address of a buffer for the instance (micro-batch, block) that is being bound.
absl::StatusOr<std::byte*> Binder::Address(int id) const {
  const int64_t instance = buffer(id).stride > 0 ? scope.instance : 0;
  if (instance >= buffer(id).instances)
    return absl::FailedPreconditionError(absl::StrCat("'", buffer(id).name, "' has ",
                                                      buffer(id).instances, " instances, instance ",
                                                      instance, " is used"));
  if (storage.value(id) == nullptr && !storage.whole(id, instance))
    return absl::FailedPreconditionError(absl::StrCat(
        "'", buffer(id).name, "' is ", storage.data(id) == nullptr ? "not" : "not as a whole",
        " on this rank, and the op stands under no guard that says so"));
  Touches(storage.data(id, instance));
  return storage.data(id, instance);
}

void Binder::Touches(const std::byte* address) const {
  FirstTouch* const rows = untouched.Of(address);
  if (rows != nullptr && std::find(touched_.begin(), touched_.end(), rows) == touched_.end())
    touched_.push_back(rows);
}

flight::Point Binder::PointOf(const Node& node, int comm, flight::Channel::Kind kind,
                              int peer) const {
  if (links.flight == nullptr) return {};
  return links.flight->AddPoint(node.op, plan.comms[static_cast<size_t>(comm)].name, kind, peer);
}

// The coordinate of this rank along several axes as one number, the last axis fastest. A time axis
// contributes the micro-batch that runs, which is only known then (`weight`, `micro`).
absl::StatusOr<RunningPlace> Binder::PlaceAlong(const std::vector<std::string>& axes) const {
  RunningPlace place;
  place.micro = scope.micro_at;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    if (scope.micro != nullptr && *axis == scope.micro->axis) {
      place.weight = place.of;
      place.of *= scope.micro->micros;
      continue;
    }
    DT_ASSIGN_OR_RETURN(const Place one, PlaceOf({*axis}, links.position));
    place.fixed += place.of * one.at;
    place.of *= one.of;
  }
  return place;
}

}  // namespace dtranspile::exec
