#include "runtime/io/feed.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/literal.h"
#include "runtime/io/output.h"
#include "runtime/tensor/lod.h"

namespace dtranspile::io {
namespace {

// Files of a ragged feed: name.step0.npy, name.step0.lod.json, name.step1.npy …
std::string StepStem(const std::string& stem, int64_t step) {
  return absl::StrCat(stem, ".step", step);
}

absl::StatusOr<std::vector<uint64_t>> ParseOffsets(LiteralCursor& text) {
  std::vector<uint64_t> offsets;
  DT_RETURN_IF_ERROR(text.Expect("["));
  if (text.Take("]")) return offsets;
  do {
    DT_ASSIGN_OR_RETURN(const int64_t offset, text.Integer());
    if (offset < 0) return text.Error("a negative offset");
    offsets.push_back(static_cast<uint64_t>(offset));
  } while (text.Take(","));
  DT_RETURN_IF_ERROR(text.Expect("]"));
  return offsets;
}

bool Exists(const std::string& path) {
  const absl::StatusOr<Entry> entry = Look(path);
  return !entry.ok() || *entry != Entry::kNone;  // what cannot be looked at is an error when opened
}

}  // namespace

// A list of lists of offsets, by a parser of its own: a general one would build a value per offset,
// of which there may be millions.
absl::StatusOr<Lod> ParseLodJson(const std::string& name, const std::string& content) {
  LiteralCursor text(name, content);
  Lod lod;
  DT_RETURN_IF_ERROR(text.Expect("["));
  if (!text.Take("]")) {
    do {
      DT_ASSIGN_OR_RETURN(std::vector<uint64_t> offsets, ParseOffsets(text));
      lod.push_back(std::move(offsets));
    } while (text.Take(","));
    DT_RETURN_IF_ERROR(text.Expect("]"));
  }
  if (!text.AtEnd()) return text.Error("text after the list");
  return lod;
}

absl::StatusOr<Lod> ReadLodJson(const std::string& path) {
  // 2^26 offsets of 10 characters; a batch has thousands.
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  DT_ASSIGN_OR_RETURN(const std::string text, ReadText(path, kMostBytes));
  return ParseLodJson(path, text);
}

absl::Status WriteStep(const std::string& stem, int64_t step, const TensorView& value,
                       const Lod& lod) {
  std::string text = "[";
  for (const auto& offsets : lod)
    absl::StrAppend(&text, text.size() > 1 ? ", [" : "[", absl::StrJoin(offsets, ", "), "]");
  text += "]\n";
  DT_RETURN_IF_ERROR(WriteNpy(StepStem(stem, step) + ".npy", value));
  return WriteFile(StepStem(stem, step) + ".lod.json", text.data(),
                   static_cast<int64_t>(text.size()));
}

// Takes away what another run has left that a reader would take for part of this one: the dense
// file, and the step after the last.
void ClearSteps(const std::string& stem, int64_t steps) {
  unlink((stem + ".npy").c_str());
  unlink((StepStem(stem, steps) + ".npy").c_str());
}

absl::StatusOr<Feed> Feed::OpenNpy(const std::string& path) {
  Feed feed;
  DT_ASSIGN_OR_RETURN(NpyFile file, NpyFile::Open(path));
  if (file.dims().empty()) {
    return absl::InvalidArgumentError(
        path + ": a feed has the step as its leading dimension; this has rank 0");
  }
  feed.stem_ = path;
  feed.dtype_ = file.dtype();
  feed.steps_ = file.dims()[0];
  feed.dims_.assign(file.dims().begin() + 1, file.dims().end());
  feed.dense_ = std::make_unique<NpyFile>(std::move(file));
  return feed;
}

// By name in a folder of feeds: the dense file, or the files of the steps.
absl::StatusOr<Feed> Feed::Open(const std::string& folder, const std::string& name) {
  DT_ASSIGN_OR_RETURN(const std::string stem, PathInside(folder, name));
  if (Exists(stem + ".npy")) return OpenNpy(stem + ".npy");
  if (!Exists(StepStem(stem, 0) + ".npy")) {
    return absl::NotFoundError(absl::StrCat("no values for feed '", name, "': neither ", stem,
                                            ".npy nor ", stem, ".step0.npy is there"));
  }
  return OpenSteps(stem);
}

absl::StatusOr<Feed> Feed::OpenFile(const std::string& path) {
  return !Exists(path) && Exists(StepStem(path, 0) + ".npy") ? OpenSteps(path) : OpenNpy(path);
}

// Step 0 says the type and the extents within a row; how many steps there are is counted by their
// files.
absl::StatusOr<Feed> Feed::OpenSteps(const std::string& stem) {
  Feed feed;
  feed.stem_ = stem;
  DT_ASSIGN_OR_RETURN(const NpyFile first, NpyFile::Open(StepStem(stem, 0) + ".npy"));
  feed.dtype_ = first.dtype();
  feed.dims_ = first.dims();
  while (Exists(StepStem(stem, feed.steps_) + ".npy")) ++feed.steps_;
  return feed;
}

// The LoD of a step, whose tensor must be like that of step 0 except for its rows.
absl::StatusOr<Lod> Feed::ReadLod(int64_t step, DType dtype,
                                  const std::vector<int64_t>& dims) const {
  const std::string stem = StepStem(stem_, step);
  const bool same = dtype == dtype_ && dims.size() == dims_.size() && !dims.empty() &&
                    std::equal(dims_.begin() + 1, dims_.end(), dims.begin() + 1);
  if (!same) {
    return absl::InvalidArgumentError(absl::StrCat(
        stem, ".npy: ", ShapeText(dtype, dims), " after ", ShapeText(dtype_, dims_), " in step 0"));
  }
  DT_ASSIGN_OR_RETURN(Lod lod, ReadLodJson(stem + ".lod.json"));
  const absl::Status legal = CheckLod(lod, dims[0]);
  if (legal.ok()) return lod;
  return absl::InvalidArgumentError(absl::StrCat(stem, ".lod.json: ", legal.message()));
}

absl::StatusOr<Tensor> Feed::ReadRagged(int64_t step) const {
  if (step < 0 || step >= steps_) {
    return absl::OutOfRangeError(absl::StrCat(stem_, ": step ", step, " of ", steps_));
  }
  DT_ASSIGN_OR_RETURN(Tensor value, ReadNpy(StepStem(stem_, step) + ".npy"));
  DT_ASSIGN_OR_RETURN(value.lod, ReadLod(step, value.dtype, value.dims));
  return value;
}

// Opens every step that will be run, without reading elements: sequences have to divide among the
// parts in each.
absl::Status Feed::CheckSteps(int64_t steps, int64_t parts) const {
  for (int64_t step = 0; ragged() && step < std::min(steps, steps_); ++step) {
    DT_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::Open(StepStem(stem_, step) + ".npy"));
    DT_ASSIGN_OR_RETURN(const Lod lod, ReadLod(step, file.dtype(), file.dims()));
    const int64_t sequences = lod.empty() ? 0 : static_cast<int64_t>(lod[0].size()) - 1;
    DT_RETURN_IF_ERROR(PartExtent("sequences", sequences, 0, parts).status());
  }
  return absl::OkStatus();
}

// Parts are equal: a mean over unequal ones would weigh samples differently from the reference.
absl::StatusOr<int64_t> Feed::PartExtent(const std::string& what, int64_t extent, int64_t part,
                                         int64_t parts) const {
  if (parts < 1 || part < 0 || part >= parts) {
    return absl::InvalidArgumentError(absl::StrCat(stem_, ": part ", part, " of ", parts));
  }
  if (extent % parts != 0) {
    return absl::InvalidArgumentError(absl::StrCat(stem_, ": ", extent, " ", what,
                                                   " do not divide into ", parts, " equal parts"));
  }
  return extent / parts;
}

absl::StatusOr<Tensor> Feed::Read(int64_t step) const {
  if (!dense_) return ReadRagged(step);
  DT_ASSIGN_OR_RETURN(Tensor value, Tensor::Zeros(dtype_, dims_));
  std::vector<int64_t> starts(dims_.size() + 1, 0);
  std::vector<int64_t> counts = dense_->dims();
  starts[0] = step;
  counts[0] = 1;
  DT_RETURN_IF_ERROR(dense_->ReadBox(starts, counts, value.bytes.data()));
  return value;
}

// Part `part` of a step along `dim`; a ragged feed is cut between sequences.
absl::StatusOr<Tensor> Feed::ReadPart(int64_t step, int dim, int64_t part, int64_t parts) const {
  if (ragged()) {
    if (dim != 0)
      return absl::InvalidArgumentError(stem_ + ": a ragged feed is cut in sequences only");
    DT_ASSIGN_OR_RETURN(const Tensor whole, ReadRagged(step));
    DT_ASSIGN_OR_RETURN(const int64_t count,
                        PartExtent("sequences", SequenceCount(whole), part, parts));
    return SliceSequences(whole, part * count, count);
  }
  if (dim < 0 || static_cast<size_t>(dim) >= dims_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(stem_, ": no dimension ", dim, " in ", ShapeText(dtype_, dims_)));
  }
  std::vector<int64_t> dims = dims_;
  DT_ASSIGN_OR_RETURN(dims[static_cast<size_t>(dim)],
                      PartExtent("entries", dims_[static_cast<size_t>(dim)], part, parts));
  DT_ASSIGN_OR_RETURN(Tensor value, Tensor::Zeros(dtype_, std::move(dims)));
  DT_RETURN_IF_ERROR(ReadPartInto(step, dim, part, parts, value.bytes.data()));
  return value;
}

absl::Status Feed::ReadPartInto(int64_t step, int dim, int64_t part, int64_t parts,
                                void* out) const {
  if (ragged())
    return absl::InvalidArgumentError(stem_ +
                                      ": the size of a ragged feed is not known beforehand");
  if (dim < 0 || static_cast<size_t>(dim) >= dims_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(stem_, ": no dimension ", dim, " in ", ShapeText(dtype_, dims_)));
  }
  DT_ASSIGN_OR_RETURN(const int64_t count,
                      PartExtent("entries", dims_[static_cast<size_t>(dim)], part, parts));
  return dense_->ReadStep(step, dim, part * count, count, out);
}

}  // namespace dtranspile::io
