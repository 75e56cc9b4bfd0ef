// beam_search, one step of decoding, and beam_search_decode, which walks the chosen tokens of all
// steps back to sentences. LoD of ids and scores has two levels: sources to prefixes, prefixes to
// candidates (beam_search_op.cc, beam_search_decode_op.cc of the framework).
#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

constexpr int kLargestBeam = 1 << 16;

// A continuation of a prefix by one token; `score` is the logarithm of the probability of the whole
// path. Of equal scores the later prefix is the better one, as in the framework's Item.
struct Candidate {
  int64_t prefix, id;
  double score;

  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && prefix < other.prefix);
  }
};

// Keeps the best `most` candidates in descending order; a later one goes before an earlier one only
// when it is better.
void Insert(std::vector<Candidate>& best, const Candidate& candidate, size_t most) {
  if (best.size() == most && candidate < best.back()) return;
  if (best.size() == most) best.pop_back();
  size_t at = best.size();
  while (at > 0 && best[at - 1] < candidate) --at;
  best.insert(best.begin() + static_cast<std::ptrdiff_t>(at), candidate);
}

// What a step reads: prefixes by source (rows, whatever the number of levels), their last tokens,
// and `width` scores for each; without `ids` the column is the token.
struct Search {
  int64_t beam_size, end_id, width;
  bool accumulated;
  Offsets sources;  // of prefixes
  const int64_t *pre_ids, *ids;
};

// Attributes 0..3: level, beam_size, end_id, is_accumulated.
bool SearchOf(OpCall& call, Search& s) {
  using A = args::dt_beam_search;
  const DtBuffer &scores = call.Arg(A::scores), &pre_ids = call.Arg(A::pre_ids);
  if (!CheckTypes(call, DType::kInt64, {A::pre_ids, A::ids, A::selected_ids}) ||
      !CheckTypes(call, scores, {A::pre_scores, A::selected_scores}) ||
      !CheckTypes(call, DType::kInt32, {A::parent_idx}) ||
      !LevelOf(call, scores, call.Int(A::level), s.sources))
    return false;
  // Rows instead of items of the level below.
  const Lod& lod = OpCall::LodOf(scores);
  for (auto level =
           static_cast<size_t>(call.Int(A::level) < 0 ? static_cast<int64_t>(lod.size()) - 1
                                                      : call.Int(A::level)) +
           1;
       level < lod.size(); ++level)
    for (int64_t& offset : s.sources)
      offset = static_cast<int64_t>(lod[level][static_cast<size_t>(offset)]);
  const int64_t prefixes = s.sources.back();
  s.beam_size = call.Int(A::beam_size), s.end_id = call.Int(A::end_id),
  s.accumulated = call.Bool(A::is_accumulated), s.width = RowSize(scores);
  if (s.beam_size <= 0)
    return call.Fail("beam_size is %lld, expected a positive number",
                     static_cast<long long>(s.beam_size)),
           false;
  if (!CheckRows(call, scores, prefixes)) return false;
  if (Elements(pre_ids) != prefixes || Elements(call.Arg(A::pre_scores)) != prefixes)
    return call.Fail("'%s' and '%s' must have one element for each of %lld prefixes", pre_ids.name,
                     call.Arg(A::pre_scores).name, static_cast<long long>(prefixes)),
           false;
  if (call.Has(A::ids) && Elements(call.Arg(A::ids)) != Elements(scores))
    return call.Fail("'%s' must have one id for each score", call.Arg(A::ids).name), false;
  s.pre_ids = Data<int64_t>(pre_ids);
  s.ids = call.Has(A::ids) ? Data<int64_t>(call.Arg(A::ids)) : nullptr;
  return true;
}

// The best continuations of the prefixes of one source, prefix by prefix. A finished prefix goes on
// with the end token alone.
template <typename T>
void Select(const Search& s, int64_t source, const T* pre_scores, const T* scores,
            std::vector<std::vector<Candidate>>& chosen) {
  const int64_t lo = s.sources[static_cast<size_t>(source)], end = lo + LengthAt(s.sources, source);
  std::vector<Candidate> best;
  for (int64_t prefix = lo; prefix < end; ++prefix) {
    if (s.pre_ids[prefix] == s.end_id) {
      Insert(best, {prefix, s.end_id, static_cast<double>(pre_scores[prefix])},
             static_cast<size_t>(s.beam_size));
      continue;
    }
    for (int64_t k = prefix * s.width; k < (prefix + 1) * s.width; ++k) {
      const T score = s.accumulated ? scores[k] : pre_scores[prefix] + std::log(scores[k]);
      Insert(
          best,
          {prefix, s.ids != nullptr ? s.ids[k] : k - prefix * s.width, static_cast<double>(score)},
          static_cast<size_t>(s.beam_size));
    }
  }
  // A source of which every branch has ended, one step ago at the latest, is done.
  const bool done = std::all_of(best.begin(), best.end(), [&](const Candidate& c) {
    return c.id == s.end_id && s.pre_ids[c.prefix] == s.end_id;
  });
  for (const Candidate& c : best) {
    if (!done) chosen[static_cast<size_t>(c.prefix)].push_back(c);
  }
}

// All chosen candidates, ordered by prefix: level 0 of the LoD gives each source its prefixes,
// level 1 each prefix its continuations, possibly none. parent_idx says which row of the state goes
// on with each.
template <typename T>
int32_t RunSearch(OpCall& call, const Search& s) {
  using A = args::dt_beam_search;
  std::vector<std::vector<Candidate>> chosen(static_cast<size_t>(s.sources.back()));
  for (int64_t i = 0; i < CountOf(s.sources); ++i)
    Select(s, i, Data<T>(call.Arg(A::pre_scores)), Data<T>(call.Arg(A::scores)), chosen);
  Offsets candidates = {0};
  for (const auto& of_prefix : chosen)
    candidates.push_back(candidates.back() + static_cast<int64_t>(of_prefix.size()));
  const int64_t count = candidates.back();
  Lod lod = LodFrom(s.sources);
  lod.push_back(LodFrom(candidates)[0]);
  for (int slot : {A::selected_ids, A::selected_scores, A::parent_idx}) {
    if (!call.Has(slot)) continue;
    DtBuffer& out = call.Arg(slot);
    if (!call.Resize(out, slot == A::parent_idx ? std::vector<int64_t>{count}
                                                : std::vector<int64_t>{count, 1}))
      return 1;
    if (slot != A::parent_idx) OpCall::SetLod(out, lod);
    int64_t at = 0;
    for (const auto& of_prefix : chosen)
      for (const Candidate& c : of_prefix) {
        if (slot == A::selected_ids) Data<int64_t>(out)[at++] = c.id;
        else if (slot == A::selected_scores) Data<T>(out)[at++] = static_cast<T>(c.score);
        else Data<int32_t>(out)[at++] = static_cast<int32_t>(c.prefix);
      }
  }
  return 0;
}

// The steps of a decoding: element t of both lists, checked.
// What was chosen at step t, with the LoD that beam_search gave it.
struct History {
  std::vector<exec::Value>* ids;
  std::vector<exec::Value>* scores;
  size_t sources = 0;

  size_t steps() const { return ids->size(); }
  const std::vector<uint64_t>& prefixes(size_t step) const { return (*ids)[step].lod[0]; }
  const std::vector<uint64_t>& candidates(size_t step) const { return (*ids)[step].lod[1]; }
};

// Whether a level of LoD is one: offsets from 0 to `end` that do not fall.
bool Rises(const std::vector<uint64_t>& level, uint64_t end) {
  return !level.empty() && level.front() == 0 && level.back() == end &&
         std::is_sorted(level.begin(), level.end());
}

// The lists are data of the program: everything that Backtrace indexes with is checked here.
bool HistoryOf(OpCall& call, History& h) {
  using A = args::dt_beam_search_decode;
  exec::Value *ids = OpCall::ValueOf(call.Arg(A::Ids)),
              *scores = OpCall::ValueOf(call.Arg(A::Scores));
  if (ids == nullptr || scores == nullptr || ids->kind != exec::Value::Kind::kList ||
      scores->kind != exec::Value::Kind::kList)
    return call.Fail("'%s' and '%s' must be lists of tensors", call.Arg(A::Ids).name,
                     call.Arg(A::Scores).name),
           false;
  h.ids = &ids->items, h.scores = &scores->items;
  if (h.ids->empty() || h.ids->size() != h.scores->size())
    return call.Fail("'%s' has %zu steps, '%s' %zu", call.Arg(A::Ids).name, h.ids->size(),
                     call.Arg(A::Scores).name, h.scores->size()),
           false;
  for (size_t t = 0; t < h.steps(); ++t) {
    const exec::Value &i = (*h.ids)[t], &s = (*h.scores)[t];
    const bool whole = i.lod.size() == 2 && !i.lod[1].empty() &&
                       Rises(i.lod[0], i.lod[1].size() - 1) &&
                       Rises(i.lod[1], static_cast<uint64_t>(i.count()));
    const bool same = whole && i.dtype == DType::kInt64 && s.count() == i.count() &&
                      s.dtype == (*h.scores)[0].dtype &&
                      i.lod[0].size() == (*h.ids)[0].lod[0].size();
    if (!same)
      return call.Fail(
                 "step %zu of '%s' and '%s' has not two levels of LoD, as many sources as the "
                 "first, and a score for each id",
                 t, call.Arg(A::Ids).name, call.Arg(A::Scores).name),
             false;
  }
  h.sources = h.prefixes(0).size() - 1;
  return true;
}

// A sentence backwards, and the candidate of the step at hand that it goes through.
template <typename T>
struct Sentence {
  std::vector<int64_t> ids;
  std::vector<T> scores;
  size_t prefix = 0;
};

// Sentences of one source: those that end at a step start there, the others go on with the
// candidate that is their prefix.
template <typename T>
bool Backtrace(OpCall& call, const History& h, size_t source, size_t beam_size, int64_t end_id,
               std::vector<Sentence<T>>& sentences) {
  using A = args::dt_beam_search_decode;
  for (size_t t = h.steps(); t-- > 0;) {
    const auto &prefixes = h.prefixes(t), &candidates = h.candidates(t);
    const int64_t* ids = (*h.ids)[t].as<int64_t>();
    const T* scores = (*h.scores)[t].as<T>();
    const size_t first = candidates[prefixes[source]], end = candidates[prefixes[source + 1]];
    const auto prefix_of = [&](size_t candidate) {
      return static_cast<size_t>(std::upper_bound(candidates.begin(), candidates.end(), candidate) -
                                 candidates.begin()) -
             1;
    };
    if (sentences.empty()) {
      for (size_t c = first; c < end; ++c)
        sentences.push_back({{ids[c]}, {scores[c]}, prefix_of(c)});
      if (sentences.size() > beam_size)
        return call.Fail("source %zu has %zu candidates at step %zu, more than the beam of %zu",
                         source, sentences.size(), t, beam_size),
               false;
      continue;
    }
    for (Sentence<T>& s : sentences) {
      if (s.prefix < first || s.prefix >= end)
        return call.Fail("step %zu of '%s' has no candidate %zu for source %zu", t,
                         call.Arg(A::Ids).name, s.prefix, source),
               false;
      // Only the last end token counts.
      if (ids[s.prefix] != end_id || s.ids.empty())
        s.ids.push_back(ids[s.prefix]), s.scores.push_back(scores[s.prefix]);
      s.prefix = prefix_of(s.prefix);
    }
  }
  return true;
}

// The best sentence first, equal ones as they come; without a score last.
template <typename T>
std::vector<const Sentence<T>*> ByScore(const std::vector<Sentence<T>>& sentences) {
  std::vector<const Sentence<T>*> order;
  for (const Sentence<T>& s : sentences) order.push_back(&s);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const T x = a->scores.front(), y = b->scores.front();
    return std::isnan(x) || std::isnan(y)
               ? std::isnan(x) < std::isnan(y) || (std::isnan(x) == std::isnan(y) && a < b)
               : x > y || (x == y && a < b);
  });
  return order;
}

// Sentences of all sources as one ragged result: level 0 gives each source its beam, level 1 each
// sentence its tokens.
template <typename T>
int32_t Decode(OpCall& call, const History& h) {
  using A = args::dt_beam_search_decode;
  if (call.Int(A::beam_size) <= 0 || call.Int(A::beam_size) > kLargestBeam)
    return call.Fail("beam_size is %lld, expected 1 to %d",
                     static_cast<long long>(call.Int(A::beam_size)), kLargestBeam);
  const auto beam_size = static_cast<size_t>(call.Int(A::beam_size));
  std::vector<int64_t> ids;
  std::vector<T> scores;
  Offsets of_source = {0}, of_sentence = {0};
  for (size_t source = 0; source < h.sources; ++source) {
    std::vector<Sentence<T>> sentences;
    if (!Backtrace(call, h, source, beam_size, call.Int(A::end_id), sentences)) return 1;
    for (const Sentence<T>* sentence : ByScore(sentences)) {
      const Sentence<T>& s = *sentence;
      ids.insert(ids.end(), s.ids.rbegin(), s.ids.rend());
      scores.insert(scores.end(), s.scores.rbegin(), s.scores.rend());
      of_sentence.push_back(static_cast<int64_t>(ids.size()));
    }
    // A beam has its full size always: places without a sentence are empty ones.
    of_sentence.resize(of_sentence.size() + beam_size - sentences.size(), of_sentence.back());
    of_source.push_back(of_source.back() + call.Int(A::beam_size));
  }
  Lod lod = LodFrom(of_source);
  lod.push_back(LodFrom(of_sentence)[0]);
  const auto put = [&](int slot, const auto& values) {
    if (!call.Has(slot)) return true;
    DtBuffer& out = call.Arg(slot);
    if (!call.Resize(out, std::vector<int64_t>{static_cast<int64_t>(values.size())})) return false;
    std::copy(values.begin(), values.end(), Data<std::remove_cvref_t<decltype(values[0])>>(out));
    OpCall::SetLod(out, lod);
    return true;
  };
  return put(2, ids) && put(3, scores) ? 0 : 1;
}

}  // namespace

int32_t BeamSearch(OpCall& call) {
  using A = args::dt_beam_search;
  Search s;
  if (!SearchOf(call, s)) return 1;
  return VisitFloat(call.context(), call.Arg(A::scores),
                    [&](auto tag) { return RunSearch<typename decltype(tag)::type>(call, s); });
}

// The element type of a list is known at run time only, so it is the first step's that decides.
int32_t BeamSearchDecode(OpCall& call) {
  using A = args::dt_beam_search_decode;
  History h;
  if (!HistoryOf(call, h) || !CheckTypes(call, DType::kInt64, {A::SentenceIds}) ||
      !CheckTypes(call, (*h.scores)[0].dtype, {A::SentenceScores}))
    return 1;
  switch ((*h.scores)[0].dtype) {
    case DType::kFloat32: return Decode<float>(call, h);
    case DType::kFloat64: return Decode<double>(call, h);
    default:
      return call.Fail("'%s' has scores of type %s, expected float32 or float64",
                       call.Arg(A::Scores).name, NameOf((*h.scores)[0].dtype));
  }
}

}  // namespace dtranspile::kernels
