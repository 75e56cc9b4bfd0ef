// The values of one feed variable over the steps of a run: a .npy whose leading dimension is the
// step, or for ragged ones a pair NAME.step<k>.npy, NAME.step<k>.lod.json per step. Callers: `run`
// (checks extents before it compiles), the worker (reads its part).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/npy.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::io {

// Writes one step of a ragged feed or fetch: STEM.step<k>.npy and STEM.step<k>.lod.json, which
// ReadLodJson reads.
absl::Status WriteStep(const std::string& stem, int64_t step, const TensorView& value,
                       const Lod& lod);
// Before them: what an older run has left at STEM.npy and after the last of `steps` steps goes, so
// that Feed::Open finds these.
void ClearSteps(const std::string& stem, int64_t steps);

// A list of offset lists, as in [[0, 12, 22]]; [] for none. kInvalidArgument names the file and the
// character.
absl::StatusOr<Lod> ReadLodJson(const std::string& path);
absl::StatusOr<Lod> ParseLodJson(const std::string& name, const std::string& text);

class Feed {
 public:
  // NAME.npy in `folder`, or, where there is none, NAME.step0.npy and its followers. kNotFound
  // names both. Names with `/` lie in sub-folders; names that leave the folder are
  // kInvalidArgument.
  static absl::StatusOr<Feed> Open(const std::string& folder, const std::string& name);

  // A single .npy, from wherever the user keeps it.
  static absl::StatusOr<Feed> OpenNpy(const std::string& path);

  // A .npy, or the stem of ragged steps: what `file` says of an open feed.
  static absl::StatusOr<Feed> OpenFile(const std::string& path);
  const std::string& file() const { return stem_; }

  bool ragged() const { return !dense_; }
  int64_t steps() const { return steps_; }
  DType dtype() const { return dtype_; }

  // Extents of one step. The leading one of a ragged feed is that of step 0: it differs from step
  // to step.
  const std::vector<int64_t>& dims() const { return dims_; }

  // The whole value of a step, with its LoD; kOutOfRange for a step that is not there.
  absl::StatusOr<Tensor> Read(int64_t step) const;

  // Whether the first `steps` steps can be read: headers and LoD of ragged ones, of which each has
  // its own, and whether their sequences divide into equal parts. (A dense feed was checked when it
  // was opened.)
  absl::Status CheckSteps(int64_t steps, int64_t parts = 1) const;

  // Part `part` of `parts` equal contiguous ones, cut in dimension `dim` (ragged: in sequences;
  // `dim` must be 0). kInvalidArgument when the extent does not divide.
  absl::StatusOr<Tensor> ReadPart(int64_t step, int dim, int64_t part, int64_t parts) const;

  // The same into memory that has the bytes of the part (dense feeds; kInvalidArgument for ragged
  // ones).
  absl::Status ReadPartInto(int64_t step, int dim, int64_t part, int64_t parts, void* out) const;

 private:
  static absl::StatusOr<Feed> OpenSteps(const std::string& stem);
  absl::StatusOr<Tensor> ReadRagged(int64_t step) const;
  absl::StatusOr<Lod> ReadLod(int64_t step, DType dtype, const std::vector<int64_t>& dims) const;
  absl::StatusOr<int64_t> PartExtent(const std::string& what, int64_t extent, int64_t part,
                                     int64_t parts) const;

  std::string stem_;  // of ragged steps folder/NAME, else the .npy
  std::unique_ptr<NpyFile> dense_;
  int64_t steps_ = 0;
  DType dtype_ = DType::kFloat32;
  std::vector<int64_t> dims_;
};

}  // namespace dtranspile::io
