// Library calls written as text, for tables of right and wrong ones:
//
//   dt_conv_shift X=f32[2,4] Y=f32[2,3]
//
// NAME=VALUE for each slot and attribute of the call's signature (runtime/kernels/signatures); what
// is not written is absent, 0 or empty. Several arguments of a slot are joined by `+`, `EMPTY` is
// one that the program lacks.
//
//   TYPE[DIMS]       f32, i64, bool, …; zeros, in a value with extents of its own
//   …{0,2,5}         a level of LoD, several of them outermost first
//   …@1,4/9          SelectedRows: rows 1 and 4 of 9
//   …:1,2.5          elements, the last one again up to the end
//   (…|…)            a list of such values, `(i64)` an empty one of that type
//   TYPE             of an output: a value that the call sizes; without it the type that the
//                    signature ties it to, or float32, or the first that the signature admits
//   !TYPE[DIMS]      a buffer of fixed extents
//   ?TYPE[DIMS]      the same, in the memory of a device
//   NAME=none        no argument; of an attribute: no value
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/thread_pool.h"
#include "runtime/exec/value.h"
#include "runtime/kernels/signature.h"

namespace dtranspile::kernels {

class CallText {
 public:
  // Throws std::runtime_error that says what is wrong with the text.
  explicit CallText(const std::string& text);

  // Gives `name` another value.
  void Set(const std::string& assignment);

  // Gives the arguments of slot `root`, which names a class of element types, and of all slots that
  // are tied to it another type.
  void SetType(size_t root, DType type);

  const Signature& signature() const { return *signature_; }

  absl::Status Run(exec::ThreadPool& pool) const;

 private:
  struct Arguments;
  std::string Value(const std::string& name) const;
  std::string OutputType(const SlotSpec& slot) const;

  std::string callee_;
  const Signature* signature_;
  std::map<std::string, std::string> values_;
};

}  // namespace dtranspile::kernels
