#include "runtime/ps/asked.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/exec/layout.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

// The number in the whole table of every row of a part. Rows are cut along the leading dimension;
// of tables that are cut otherwise they have the numbers of the part.
std::vector<int64_t> NumbersOf(const exec::Table& table) {
  std::vector<int64_t> numbers(static_cast<size_t>(RowsOf(table)));
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int64_t>(i);
  if (!table.layout || table.layout->dim != 0) return numbers;
  exec::Parts(*table.layout, table.place.of)
      .ForRuns(table.place.at, [&](int64_t begin, int64_t extent, int64_t local) {
        for (int64_t i = 0; i < extent; ++i) numbers[static_cast<size_t>(local + i)] = begin + i;
      });
  return numbers;
}

}  // namespace

// Which tables need a program run before they are asked for, and in which way.
Asked::Asked(const std::vector<exec::Table>& tables, int trainers,
             const std::vector<exec::Rounds::Handler>& handlers)
    : tables_(tables),
      uses_(tables.size()),
      pulling_(static_cast<size_t>(trainers), std::vector<Pulling>(tables.size())) {
  for (const exec::Rounds::Handler& one : handlers)
    for (size_t t = 0; t < tables.size(); ++t) {
      if (tables[t].name != one.table) continue;
      uses_[t].pull |= one.when == exec::When::kPull;
      uses_[t].lookup |= one.when == exec::When::kLookup;
      if (one.when == exec::When::kLookup) uses_[t].numbers = NumbersOf(tables[t]);
    }
}

// A chunk of the copy that was made for this pull. With the last chunk the copy is let go; what is
// under way shares it.
Served Asked::Take(Pulling& pulling, size_t table, int64_t chunk) {
  pulling.taken[static_cast<size_t>(chunk)] = true;
  const int64_t begin = chunk * kChunkBytes;
  Served served{pulling.copy, begin, std::min(kChunkBytes, BytesOf(tables_[table]) - begin)};
  if (std::find(pulling.taken.begin(), pulling.taken.end(), false) == pulling.taken.end())
    pulling.copy = nullptr;
  return served;
}

// A trainer begins a pull when it has all of the one before, so a message that comes a second time
// is of the next pull.
void Asked::Add(int trainer, size_t table, exec::When when, int64_t chunk,
                std::vector<int64_t> rows, Reply reply, Answers& answers) {
  if (when == exec::When::kPull) {
    Pulling& pulling = PullingOf(trainer, table);
    if (pulling.copy != nullptr && !pulling.taken[static_cast<size_t>(chunk)]) {
      answers.push_back([r = std::move(reply), s = Take(pulling, table, chunk)] { r(s); });
      return;
    }
    const auto same = [&](const std::unique_ptr<Ask>& one) {
      return one != nullptr && one->trainer == trainer && one->table == table && one->when == when;
    };
    const auto queued = std::find_if(queue_.begin(), queue_.end(), same);
    Ask* ask = same(running_) ? running_.get() : queued != queue_.end() ? queued->get() : nullptr;
    if (ask != nullptr) return ask->messages.emplace_back(chunk, std::move(reply)), void();
  }
  auto ask = std::make_unique<Ask>();
  ask->trainer = trainer;
  ask->table = table;
  ask->when = when;
  ask->rows = std::move(rows);
  if (uses_[table].lookup)
    for (int64_t row : ask->rows)
      ask->numbers.push_back(uses_[table].numbers[static_cast<size_t>(row)]);
  ask->messages.emplace_back(chunk, std::move(reply));
  queue_.push_back(std::move(ask));
}

// Requests for tables that no program asks about are answered here, without a turn; the first one
// with a program becomes the turn.
bool Asked::Begin(exec::Turn& turn, Answers& answers) {
  while (!queue_.empty()) {
    running_ = std::move(queue_.front());
    queue_.pop_front();
    const bool pull = running_->when == exec::When::kPull;
    if (pull ? uses_[running_->table].pull : uses_[running_->table].lookup) {
      from_ = running_->trainer;
      turn.kind = exec::Turn::Kind::kProgram;
      turn.when = running_->when;
      turn.table = tables_[running_->table].name;
      const auto& numbers = running_->numbers;
      if (pull) turn.arguments = {{DType::kInt64, {1}, reinterpret_cast<const std::byte*>(&from_)}};
      else
        turn.arguments = {{DType::kInt64,
                           {static_cast<int64_t>(numbers.size()), 1},
                           reinterpret_cast<const std::byte*>(numbers.data())}};
      return true;
    }
    Finish(answers);
  }
  return false;
}

// "trainer 2's pull of table 'w'".
std::string Asked::Text(const std::string& role) const {
  return absl::StrCat(role, " ", running_->trainer, "'s ",
                      running_->when == exec::When::kPull ? "pull" : "lookup", " of table '",
                      tables_[running_->table].name, "'");
}

// A copy, since the table goes on changing while chunks of it are asked for: a trainer has to get
// one state of it.
void Asked::AnswerPull(Ask& ask, Answers& answers) {
  const exec::Table& table = tables_[ask.table];
  const auto bytes = static_cast<size_t>(BytesOf(table));
  auto copy = std::make_shared<std::vector<std::byte>>(bytes);
  if (bytes > 0) std::memcpy(copy->data(), table.data, bytes);
  Pulling& pulling = PullingOf(ask.trainer, ask.table);
  pulling = {{copy, copy->data()},
             std::vector<bool>(static_cast<size_t>(ChunksOf(BytesOf(table))))};
  if (on_pull) on_pull(ask.trainer, ask.table, pulling.copy);
  for (auto& [chunk, reply] : ask.messages)
    answers.push_back([r = std::move(reply), s = Take(pulling, ask.table, chunk)] { r(s); });
}

// Rows in the order asked for, repeated ones as often.
void Asked::AnswerLookup(Ask& ask, Answers& answers) {
  const exec::Table& table = tables_[ask.table];
  const auto bytes = static_cast<size_t>(RowBytesOf(table));
  auto rows = std::make_shared<std::vector<std::byte>>(ask.rows.size() * bytes);
  for (size_t i = 0; i < ask.rows.size() && bytes > 0; ++i)
    std::memcpy(rows->data() + i * bytes, table.data + static_cast<size_t>(ask.rows[i]) * bytes,
                bytes);
  const Served served{{rows, rows->data()}, 0, static_cast<int64_t>(rows->size())};
  for (auto& [chunk, reply] : ask.messages)
    answers.push_back([r = std::move(reply), served] { r(served); });
}

void Asked::Finish(Answers& answers) {
  const std::unique_ptr<Ask> ask = std::move(running_);
  ask->when == exec::When::kPull ? AnswerPull(*ask, answers) : AnswerLookup(*ask, answers);
}

// Everybody who waits is told.
void Asked::Fail(const absl::Status& status, Answers& answers) {
  const auto tell = [&](Ask& ask) {
    for (auto& [chunk, reply] : std::exchange(ask.messages, {}))
      answers.push_back([r = std::move(reply), status] { r(status); });
  };
  if (running_ != nullptr) tell(*running_);
  for (auto& ask : std::exchange(queue_, {})) tell(*ask);
}

}  // namespace dtranspile::ps
