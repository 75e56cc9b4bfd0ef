// The text by which a row of rules hands an op to a library call. The call's signature
// (runtime/kernels/signature.h) says which slots and attributes it takes and in which order; the
// row says only where the op calls them otherwise, and `-` for what the op lacks:
//
//   "dt_gather"                                                    everything by the same name
//   "dt_take_along_axis(Input=X, Axis=-, Result=Out)"              index_sample
//
// `$Out` names the old value of an output that the op may leave as it is.
#pragma once

#include <optional>
#include <string>

#include "dialects/pd/op_table.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "runtime/kernels/signature.h"

namespace dtranspile::lower {

class CallRow {
 public:
  // Nothing, with what is wrong in `error`: a call or a name that does not exist, or text that is
  // no row.
  static std::optional<CallRow> parse(llvm::StringRef text, std::string& error);

  const kernels::Signature& signature() const { return *signature_; }
  // What the op calls a slot or attribute of the signature; empty where it has none.
  llvm::StringRef nameInOp(llvm::StringRef name) const;

  // Whether the row fits an op: every slot and attribute is the op's (an attribute of its kind), a
  // list where the op has one, and all that the op lacks stands as `-`. Empty if so.
  std::string misfit(const pd::OpSpec& op) const;

 private:
  const kernels::Signature* signature_ = nullptr;
  llvm::StringMap<std::string> renamed_;
};

}  // namespace dtranspile::lower
