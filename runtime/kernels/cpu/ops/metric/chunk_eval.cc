// chunk_eval (the framework's chunk_eval op): chunks of tagged sequences, found and labelled, by
// the scheme of the tags (Ramshaw, Marcus 1995; Tjong Kim Sang, Veenstra 1999). A number is type *
// (tags of the scheme) + tag; the type after the last one means no chunk. Row:
// runtime/kernels/signatures/metric.calls.
#include <algorithm>
#include <string>
#include <string_view>

#include "runtime/kernels/cpu/ops/metric/calls.h"

namespace dtranspile::kernels {
namespace {

// Numbers of the tags; -1 for those that a scheme lacks.
struct Scheme {
  std::string_view name;
  int64_t tags, begin, inside, end, single;
};
constexpr Scheme kSchemes[] = {{"IOB", 2, 0, 1, -1, -1},
                               {"IOE", 2, -1, 0, 1, -1},
                               {"IOBES", 4, 0, 1, 2, 3},
                               {"plain", 1, -1, -1, -1, -1}};

// First and last position, and what the chunk is; equal where all three are.
struct Chunk {
  int64_t begin, end, type;
  bool operator==(const Chunk&) const = default;
};

struct Tag {
  int64_t tag, type;
};

// Finds the chunks of a sequence from pairs of neighbours alone: whether one ends between them, and
// whether one begins at the second. The rules hold for all schemes, since a tag that a scheme lacks
// is -1, which no tag of a number is. "plain" has no tags that matter: each run of a type is a
// chunk.
class Reader {
 public:
  Reader(const Scheme& scheme, int64_t types) : scheme_(scheme), none_(types) {}

  // One walk: a chunk ends where the scheme says so between two tags, and begins likewise.
  std::vector<Chunk> Chunks(const int64_t* numbers, int64_t length) const {
    std::vector<Chunk> chunks;
    int64_t start = -1;
    Tag last{-1, none_};
    for (int64_t i = 0; i < length; ++i) {
      const Tag next{numbers[i] % scheme_.tags, numbers[i] / scheme_.tags};
      if (start >= 0 && Ends(last, next)) {
        chunks.push_back({start, i - 1, last.type});
        start = -1;
      }
      if (Begins(last, next)) start = i;
      last = next;
    }
    if (start >= 0) chunks.push_back({start, length - 1, last.type});
    return chunks;
  }

 private:
  bool Opens(int64_t tag) const { return tag == scheme_.begin || tag == scheme_.single; }
  bool Closes(int64_t tag) const { return tag == scheme_.end || tag == scheme_.single; }

  // A change of type ends a chunk; so does a tag that closes, or one that opens after one that does
  // not close.
  bool Ends(Tag last, Tag next) const {
    if (last.type == none_) return false;
    if (next.type != last.type) return true;
    if (last.tag < 0) return false;
    return Closes(last.tag) ||
           ((last.tag == scheme_.begin || last.tag == scheme_.inside) && Opens(next.tag));
  }
  // The same from the other side: a tag that opens, or one from within a chunk right after a closed
  // one (badly tagged sequences are read too, as the framework reads them).
  bool Begins(Tag last, Tag next) const {
    if (next.type == none_) return false;
    if (last.type != next.type) return true;
    return Opens(next.tag) ||
           ((next.tag == scheme_.inside || next.tag == scheme_.end) && Closes(last.tag));
  }

  const Scheme& scheme_;
  int64_t none_;
};

// Chunks of the inferred tags, of the labels and of both, over all sequences of a batch.
struct ChunkCounts {
  int64_t found = 0, labelled = 0, correct = 0;

  // Correct are chunks with the same begin, end and type; the two lists are merged by their ends.
  void Add(const std::vector<Chunk>& inferred, const std::vector<Chunk>& labels,
           absl::Span<const int64_t> excluded) {
    auto counts = [&](const Chunk& chunk) {
      return std::find(excluded.begin(), excluded.end(), chunk.type) == excluded.end();
    };
    found += std::count_if(inferred.begin(), inferred.end(), counts);
    labelled += std::count_if(labels.begin(), labels.end(), counts);
    // Both are in the order of their ends.
    for (size_t i = 0, j = 0; i < inferred.size() && j < labels.size();) {
      correct += inferred[i] == labels[j] && counts(inferred[i]);
      const int64_t a = inferred[i].end, b = labels[j].end;
      i += a <= b;
      j += b <= a;
    }
  }
};

// Ranges of the sequences, by LoD or, padded, by SeqLength; false with a message where they do not
// fit.
bool Sequences(OpCall& call, std::vector<std::pair<int64_t, int64_t>>& ranges) {
  using A = args::dt_chunk_eval;
  const DtBuffer &inference = call.Arg(A::Inference), &label = call.Arg(A::Label);
  const Lod& lod = OpCall::LodOf(label);
  if (!lod.empty()) {
    if (lod.size() != 1 || OpCall::LodOf(inference) != lod)
      return call.Fail("'%s' and '%s' need one level of LoD, the same", inference.name, label.name),
             false;
    for (size_t i = 0; i + 1 < lod[0].size(); ++i)
      ranges.emplace_back(lod[0][i], lod[0][i + 1] - lod[0][i]);
  } else {
    std::vector<int64_t> lengths;
    if (!call.Has(A::SeqLength))
      return call.Fail("'%s' has neither LoD nor lengths", label.name), false;
    if (!IntegersOf(call, call.Arg(A::SeqLength), lengths)) return false;
    const int64_t width = inference.rank > 1 ? inference.dims[1] : 1;
    for (size_t i = 0; i < lengths.size(); ++i) {
      if (lengths[i] > width)
        return call.Fail("'%s' has the length %lld of sequence %zu, padded to %lld",
                         call.Arg(A::SeqLength).name, static_cast<long long>(lengths[i]), i,
                         static_cast<long long>(width)),
               false;
      ranges.emplace_back(static_cast<int64_t>(i) * width, lengths[i]);
    }
  }
  for (const auto& [begin, length] : ranges) {
    if (begin < 0 || length < 0 || begin + length > Elements(label))
      return call.Fail("'%s' has a sequence outside of its %lld elements", label.name,
                       static_cast<long long>(Elements(label))),
             false;
  }
  return true;
}

}  // namespace

// Precision: correct / inferred, recall: correct / labelled, F1: their harmonic mean; 0 where a
// denominator is.
int32_t ChunkEval(OpCall& call) {
  using A = args::dt_chunk_eval;
  const Scheme* scheme = nullptr;
  for (const Scheme& row : kSchemes) {
    if (row.name == call.Text(A::chunk_scheme)) scheme = &row;
  }
  if (scheme == nullptr)
    return call.Fail("no chunk_scheme '%s'", std::string(call.Text(A::chunk_scheme)).c_str());
  const int64_t types = call.Int(A::num_chunk_types);
  if (types < 0 || types > INT32_MAX)
    return call.Fail("num_chunk_types %lld", static_cast<long long>(types));
  std::vector<int64_t> numbers[2];
  std::vector<std::pair<int64_t, int64_t>> ranges;
  for (int k = 0; k < 2; ++k) {
    const DtBuffer& argument = call.Arg(k);
    if (!IntegersOf(call, argument, numbers[k])) return 1;
    for (const int64_t number : numbers[k]) {
      if (number < 0 || number > types * scheme->tags)
        return call.Fail("'%s' has the number %lld, expected 0 to %lld", argument.name,
                         static_cast<long long>(number),
                         static_cast<long long>(types * scheme->tags));
    }
  }
  if (numbers[0].size() != numbers[1].size())
    return call.Fail("'%s' and '%s' differ in elements", call.Arg(A::Inference).name,
                     call.Arg(A::Label).name);
  if (!Sequences(call, ranges)) return 1;
  const Reader reader(*scheme, types);
  ChunkCounts counts;
  for (const auto& [begin, length] : ranges)
    counts.Add(reader.Chunks(numbers[0].data() + begin, length),
               reader.Chunks(numbers[1].data() + begin, length),
               call.Ints(A::excluded_chunk_types));
  auto ratio = [](int64_t part, int64_t whole) {
    return whole == 0 ? 0.0f : static_cast<float>(part) / static_cast<float>(whole);
  };
  const float precision = ratio(counts.correct, counts.found),
              recall = ratio(counts.correct, counts.labelled);
  const float f1 = counts.correct == 0 ? 0.0f : 2 * precision * recall / (precision + recall);
  const bool put = PutNumber(call, A::Precision, DType::kFloat32, precision) &&
                   PutNumber(call, A::Recall, DType::kFloat32, recall) &&
                   PutNumber(call, A::F1, DType::kFloat32, f1) &&
                   PutNumber(call, A::NumInferChunks, DType::kInt64, counts.found) &&
                   PutNumber(call, A::NumLabelChunks, DType::kInt64, counts.labelled) &&
                   PutNumber(call, A::NumCorrectChunks, DType::kInt64, counts.correct);
  return put ? 0 : 1;
}

}  // namespace dtranspile::kernels
