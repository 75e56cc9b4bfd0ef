// Arrays, rank tables, masks and what loops carry: small batches worked out by hand, and what bad
// values are answered with.
#include <catch2/catch.hpp>

#include "runtime/exec/value.h"
#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {
namespace {

using exec::Value;
using Slots = std::vector<std::vector<Value*>>;

template <typename T>
Value Of(const std::vector<int64_t>& dims, const std::vector<T>& data, Lod lod = {}) {
  Value value(Value::Kind::kTensor, CodeOf<T>::value);
  REQUIRE(value.Resize(dims).ok());
  REQUIRE(value.count() == static_cast<int64_t>(data.size()));
  std::copy(data.begin(), data.end(), value.as<T>());
  value.lod = std::move(lod);
  return value;
}

Value Index(int64_t index) { return Of<int64_t>({1}, {index}); }

Value List(DType dtype = DType::kFloat32) { return Value(Value::Kind::kList, dtype); }

template <typename T = float>
std::vector<T> DataOf(const Value& value) {
  return {value.as<T>(), value.as<T>() + value.count()};
}

// Slots of inputs, then of outputs; integer attributes of one value each.
absl::Status Run(const std::string& name, const Slots& slots,
                 const std::vector<int64_t>& attributes = {}) {
  std::vector<DtBuffer> args;
  std::vector<int32_t> bounds = {0};
  for (const auto& slot : slots) {
    for (Value* value : slot) {
      args.push_back({value->data(), value->dims.data(), static_cast<int32_t>(value->dims.size()),
                      static_cast<int32_t>(value->dtype), DT_HOST, "v", value});
    }
    bounds.push_back(static_cast<int32_t>(args.size()));
  }
  std::vector<DtAttr> attrs;
  for (const int64_t& attribute : attributes) attrs.push_back({&attribute, nullptr, nullptr, 1});
  void* state = nullptr;
  DtCall call = {};
  call.name = name.c_str(), call.op = "0:0 test", call.state = &state;
  call.args = args.data(), call.num_args = static_cast<int32_t>(args.size());
  call.slots = bounds.data(), call.num_slots = static_cast<int32_t>(slots.size());
  call.attrs = attrs.data(), call.num_attrs = static_cast<int32_t>(attrs.size());
  exec::ThreadPool pool({2, false});
  DtContext context(&pool);
  const DtFunction function = FindFunction(name);
  return function == nullptr ? absl::NotFoundError(name) : context.Call(function, call);
}

void RunOk(const std::string& name, const Slots& slots,
           const std::vector<int64_t>& attributes = {}) {
  const absl::Status status = Run(name, slots, attributes);
  INFO(name << ": " << status.message());
  REQUIRE(status.ok());
}

std::string MessageOf(const std::string& name, const Slots& slots,
                      const std::vector<int64_t>& attributes = {}) {
  const absl::Status status = Run(name, slots, attributes);
  return status.ok() ? "succeeded" : std::string(status.message());
}

void Write(Value& list, int64_t at, Value item) {
  Value index = Index(at);
  RunOk("dt_write_to_array", {{&item}, {&index}, {&list}});
}

// Sequences of 2, 3 and 1 steps of two numbers.
Value Batch() { return Of<float>({6, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {{0, 2, 5, 6}}); }

Value TableOf(Value& x, int64_t level = 0) {
  Value table = List();
  RunOk("dt_lod_rank_table", {{&x}, {&table}}, {level});
  return table;
}

}  // namespace

TEST_CASE("arrays grow, are read, and say what they lack") {
  Value list = List(), out, length, one = Index(1), beyond = Index(5), negative = Index(-1),
        like = Of<float>({1, 3}, {7, 7, 7});
  Write(list, 0, Of<float>({2}, {1, 2}));
  Write(list, 3, Of<float>({1, 1}, {9}, {{0, 1}}));
  RunOk("dt_lod_array_length", {{&list}, {&length}});
  CHECK(DataOf<int64_t>(length) == std::vector<int64_t>{4});
  Value three = Index(3);
  RunOk("dt_read_from_array", {{&list}, {&three}, {}, {&out}});
  CHECK(out.dims == std::vector<int64_t>{1, 1});
  CHECK(out.lod == Lod{{0, 1}});
  CHECK_THAT(MessageOf("dt_read_from_array", {{&list}, {&one}, {}, {&out}}),
             Catch::Contains("item 1 of array 'v' of 4 items, which nobody has written"));
  CHECK_THAT(MessageOf("dt_read_from_array", {{&list}, {&beyond}, {}, {&out}}),
             Catch::Contains("item 5 of array 'v' of 4 items, out of range"));
  RunOk("dt_read_from_array", {{&list}, {&beyond}, {&like}, {&out}});
  CHECK(out.dims == like.dims);
  CHECK(DataOf(out) == std::vector<float>{0, 0, 0});
  CHECK_THAT(MessageOf("dt_read_from_array", {{&list}, {&negative}, {&like}, {&out}}),
             Catch::Contains("item -1"));
  CHECK_THAT(MessageOf("dt_write_to_array", {{&like}, {&negative}, {&list}}),
             Catch::Contains("item -1 of array 'v', out of range"));
  Value huge = Index(int64_t{1} << 40);
  CHECK_THAT(MessageOf("dt_write_to_array", {{&like}, {&huge}, {&list}}),
             Catch::Contains("out of range"));
  CHECK_THAT(MessageOf("dt_lod_array_length", {{&like}, {&length}}),
             Catch::Contains("'v' is no tensor array"));
}

TEST_CASE("items side by side and stacked, and their gradients") {
  Value list = List(), out, index(Value::Kind::kTensor, DType::kInt32), gradients = List();
  Write(list, 0, Of<float>({2, 1}, {1, 2}));
  Write(list, 1, Of<float>({2, 2}, {3, 4, 5, 6}));
  RunOk("dt_tensor_array_to_tensor", {{&list}, {&out}, {&index}}, {1, 0});
  CHECK(out.dims == std::vector<int64_t>{2, 3});
  CHECK(DataOf(out) == std::vector<float>{1, 3, 4, 2, 5, 6});
  CHECK(DataOf<int32_t>(index) == std::vector<int32_t>{1, 2});
  RunOk("dt_tensor_array_to_tensor_grad", {{&out}, {&list}, {&gradients}}, {1, 0});
  CHECK(DataOf(gradients.items[1]) == std::vector<float>{3, 4, 5, 6});
  CHECK_THAT(MessageOf("dt_tensor_array_to_tensor", {{&list}, {&out}, {}}, {0, 1}),
             Catch::Contains("items 0 and 1 of 'v' do not fit together"));
  CHECK_THAT(MessageOf("dt_tensor_array_to_tensor", {{&list}, {&out}, {}}, {2, 0}),
             Catch::Contains("axis 2"));
  Value equal = List();
  Write(equal, 0, Of<float>({2}, {1, 2}));
  Write(equal, 1, Of<float>({2}, {3, 4}));
  RunOk("dt_tensor_array_to_tensor", {{&equal}, {&out}, {}}, {1, 1});
  CHECK(out.dims == std::vector<int64_t>{2, 2});
  CHECK(DataOf(out) == std::vector<float>{1, 3, 2, 4});
  Value empty = List();
  CHECK_THAT(MessageOf("dt_tensor_array_to_tensor", {{&empty}, {&out}, {}}, {0, 0}),
             Catch::Contains("array 'v' is empty"));
}

TEST_CASE("a batch becomes steps and a batch again") {
  Value x = Batch(), steps = List(), back, longest;
  Value table = TableOf(x);
  CHECK(DataOf<int64_t>(table) == std::vector<int64_t>{1, 3, 0, 2, 2, 1});
  RunOk("dt_max_sequence_len", {{&table}, {&longest}});
  CHECK(DataOf<int64_t>(longest) == std::vector<int64_t>{3});
  RunOk("dt_lod_tensor_to_array", {{&x}, {&table}, {&steps}});
  REQUIRE(steps.items.size() == 3);
  CHECK(DataOf(steps.items[0]) == std::vector<float>{4, 5, 0, 1, 10, 11});
  CHECK(DataOf(steps.items[1]) == std::vector<float>{6, 7, 2, 3});
  CHECK(DataOf(steps.items[2]) == std::vector<float>{8, 9});
  RunOk("dt_array_to_lod_tensor", {{&steps}, {&table}, {&back}});
  CHECK(DataOf(back) == DataOf(x));
  CHECK(back.lod == x.lod);
  // A gradient without LoD is cut as the table's tensor.
  back.lod.clear();
  Value gradients = List();
  RunOk("dt_lod_tensor_to_array", {{&back}, {&table}, {&gradients}});
  CHECK(DataOf(gradients.items[2]) == std::vector<float>{8, 9});
  steps.items.pop_back();
  CHECK_THAT(MessageOf("dt_array_to_lod_tensor", {{&steps}, {&table}, {&back}}),
             Catch::Contains("has 2 items, the longest sequence 3 steps"));
  Value other = Of<float>({2, 1}, {1, 2}, {{0, 1, 2}});
  CHECK_THAT(MessageOf("dt_lod_tensor_to_array", {{&other}, {&table}, {&gradients}}),
             Catch::Contains("a sequence 1 of 3 steps, 'v' has none such"));
  CHECK_THAT(MessageOf("dt_max_sequence_len", {{&x}, {&longest}}),
             Catch::Contains("'v' is float32, expected int64"));
  Value dense = Of<float>({2}, {1, 2}), no = List();
  CHECK_THAT(MessageOf("dt_lod_rank_table", {{&dense}, {&no}}, {0}),
             Catch::Contains("has 0 levels"));
  CHECK_THAT(MessageOf("dt_lod_rank_table", {{&x}, {&no}}, {1}), Catch::Contains("level 1"));
}

TEST_CASE("steps of an outer level keep the inner ones") {
  // Two texts of two and one sentences, of 1, 2 and 1 words.
  Value x = Of<float>({4}, {0, 1, 2, 3}, {{0, 2, 3}, {0, 1, 3, 4}}), steps = List(), back;
  Value table = TableOf(x);
  RunOk("dt_lod_tensor_to_array", {{&x}, {&table}, {&steps}});
  REQUIRE(steps.items.size() == 2);
  CHECK(DataOf(steps.items[0]) == std::vector<float>{0, 3});
  CHECK(steps.items[0].lod == Lod{{0, 1, 2}});
  CHECK(DataOf(steps.items[1]) == std::vector<float>{1, 2});
  CHECK(steps.items[1].lod == Lod{{0, 2}});
  RunOk("dt_array_to_lod_tensor", {{&steps}, {&table}, {&back}});
  CHECK(back.lod == x.lod);
  CHECK(DataOf(back) == DataOf(x));
}

TEST_CASE("memories shrink with the sequences that are left") {
  Value x = Batch(), memory = Of<float>({3, 1}, {1, 2, 3}), step = Index(1), out, gradient;
  Value table = TableOf(x);
  RunOk("dt_shrink_rnn_memory", {{&memory}, {&table}, {&step}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{1, 2});
  RunOk("dt_shrink_rnn_memory_grad", {{&out}, {&memory}, {&gradient}});
  CHECK(DataOf(gradient) == std::vector<float>{1, 2, 0});
  Value small = Of<float>({1, 1}, {1});
  CHECK_THAT(MessageOf("dt_shrink_rnn_memory", {{&small}, {&table}, {&step}, {&out}}),
             Catch::Contains("items [0, 2) of 'v', which has 1"));
  CHECK_THAT(MessageOf("dt_shrink_rnn_memory_grad", {{&memory}, {&small}, {&gradient}}),
             Catch::Contains("is no part of"));
}

TEST_CASE("rows and sequences in the order of a rank table") {
  Value x = Batch(), rows = Of<float>({3, 1}, {1, 2, 3}), out, back;
  Value table = TableOf(x);
  RunOk("dt_reorder_lod_tensor_by_rank", {{&rows}, {&table}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{2, 1, 3});
  RunOk("dt_reorder_lod_tensor_by_rank_grad", {{&out}, {&table}, {&back}});
  CHECK(DataOf(back) == DataOf(rows));
  RunOk("dt_reorder_lod_tensor_by_rank", {{&x}, {&table}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 10, 11});
  CHECK(out.lod == Lod{{0, 3, 5, 6}});
  RunOk("dt_reorder_lod_tensor_by_rank_grad", {{&out}, {&table}, {&back}});
  CHECK(DataOf(back) == DataOf(x));
  Value two = Of<float>({2, 1}, {1, 2});
  CHECK_THAT(MessageOf("dt_reorder_lod_tensor_by_rank", {{&two}, {&table}, {&out}}),
             Catch::Contains("has 2 sequences, the rank table 3"));
}

TEST_CASE("a mask parts a batch, and joins it again") {
  Value x = Batch(), mask(Value::Kind::kTensor, DType::kBool), yes, no, back;
  REQUIRE(mask.Resize({3, 1}).ok());
  mask.as<bool>()[0] = mask.as<bool>()[2] = true;
  mask.as<bool>()[1] = false;
  RunOk("dt_split_lod_tensor", {{&x}, {&mask}, {&yes}, {&no}}, {0});
  CHECK(DataOf(yes) == std::vector<float>{0, 1, 2, 3, 10, 11});
  CHECK(yes.lod == Lod{{0, 2, 3}});
  CHECK(no.lod == Lod{{0, 3}});
  RunOk("dt_merge_lod_tensor", {{&x}, {&mask}, {&yes}, {&no}, {&back}}, {0});
  CHECK(DataOf(back) == DataOf(x));
  CHECK(back.lod == x.lod);
  CHECK_THAT(MessageOf("dt_merge_lod_tensor", {{&x}, {&mask}, {&yes}, {}, {&back}}, {0}),
             Catch::Contains("differ in extents"));
  CHECK_THAT(MessageOf("dt_split_lod_tensor", {{&x}, {&mask}, {&yes}, {&no}}, {1}),
             Catch::Contains("3 elements for 6 items"));
  mask.as<bool>()[1] = true;
  CHECK_THAT(MessageOf("dt_merge_lod_tensor", {{&x}, {&mask}, {&yes}, {&no}, {&back}}, {0}),
             Catch::Contains("items [2, 3) of 'v', which has 2"));
  CHECK_THAT(MessageOf("dt_split_lod_tensor", {{&x}, {&x}, {&yes}, {&no}}, {0}),
             Catch::Contains("expected bool"));
}

TEST_CASE("sums of what the turns of a loop leave") {
  Value sum, first = Of<float>({2}, {1, 2}), other = Of<float>({1}, {1}), lists = List(),
             more = List();
  RunOk("dt_accumulate", {{&first}, {&sum}});
  RunOk("dt_accumulate", {{&first}, {&sum}});
  CHECK(DataOf(sum) == std::vector<float>{2, 4});
  CHECK_THAT(MessageOf("dt_accumulate", {{&other}, {&sum}}), Catch::Contains("cannot be added"));
  Write(more, 1, Of<float>({1}, {5}));
  RunOk("dt_accumulate", {{&more}, {&lists}});
  RunOk("dt_accumulate", {{&more}, {&lists}});
  REQUIRE(lists.items.size() == 2);
  CHECK(lists.items[0].dims == std::vector<int64_t>{0});
  CHECK(DataOf(lists.items[1]) == std::vector<float>{10});
  Value rows(Value::Kind::kRows, DType::kFloat32), all;
  REQUIRE(rows.Resize({1, 2}).ok());
  rows.rows = {3}, rows.height = 4;
  rows.as<float>()[0] = rows.as<float>()[1] = 1;
  RunOk("dt_accumulate", {{&rows}, {&all}});
  rows.rows = {1};
  RunOk("dt_accumulate", {{&rows}, {&all}});
  CHECK(all.rows == std::vector<int64_t>{3, 1});
  CHECK(all.dims == std::vector<int64_t>{2, 2});
  CHECK_THAT(MessageOf("dt_accumulate", {{&first}, {&all}}), Catch::Contains("different kinds"));
  Value zeros;
  RunOk("dt_zeros_like", {{&first}, {&zeros}});
  CHECK(DataOf(zeros) == std::vector<float>{0, 0});
  RunOk("dt_zeros_like", {{&more}, {&lists}});
  CHECK(lists.items.empty());
  RunOk("dt_rnn_memory_helper_grad", {{}, {&first}, {&sum}});
  CHECK(DataOf(sum) == std::vector<float>{0, 0});
  RunOk("dt_rnn_memory_helper_grad", {{&other}, {&first}, {&sum}});
  CHECK(DataOf(sum) == std::vector<float>{1});
}

TEST_CASE("a list is pushed to and popped from") {
  Value list = List(), any(Value::Kind::kTensor, DType::kBool),
        x = Of<float>({2, 1}, {1, 2}, {{0, 1, 2}}), out;
  RunOk("dt_list_push", {{&x}, {&list}});
  x.as<float>()[0] = 5;
  RunOk("dt_list_push", {{&x}, {&list}});
  RunOk("dt_list_pop", {{&list}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{5, 2});
  CHECK(out.lod == x.lod);
  // Into a place of fixed extents.
  float place[2] = {};
  const std::vector<int64_t> dims = {2, 1};
  DtBuffer args[2] = {
      {nullptr, list.dims.data(), 1, static_cast<int32_t>(DType::kFloat32), DT_HOST, "list", &list},
      {place, dims.data(), 2, static_cast<int32_t>(DType::kFloat32), DT_HOST, "fixed", nullptr}};
  const int32_t slots[3] = {0, 1, 2};
  DtCall call = {};
  call.name = "dt_list_pop", call.args = args, call.num_args = 2, call.slots = slots,
  call.num_slots = 2;
  exec::ThreadPool pool({1, false});
  DtContext context(&pool);
  REQUIRE(context.Call(FindFunction("dt_list_pop"), call).ok());
  CHECK(place[0] == 1);
  RunOk("dt_list_any", {{&list}, {&any}});
  CHECK_FALSE(any.as<bool>()[0]);
  CHECK_THAT(MessageOf("dt_list_pop", {{&list}, {&out}}), Catch::Contains("list 'v' is empty"));
  RunOk("dt_list_push", {{&x}, {&list}});
  RunOk("dt_list_any", {{&list}, {&any}});
  CHECK(any.as<bool>()[0]);
  RunOk("dt_list_clear", {{&list}});
  CHECK(list.items.empty());
}

TEST_CASE("rows of what a StaticRNN walks") {
  Value x = Of<float>({3, 2}, {0, 1, 2, 3, 4, 5}), row, out, last = Index(2), beyond = Index(3);
  RunOk("dt_row", {{&x}, {&last}, {&row}});
  CHECK(row.dims == std::vector<int64_t>{2});
  CHECK(DataOf(row) == std::vector<float>{4, 5});
  RunOk("dt_set_row", {{&row}, {&last}, {&x}, {&out}});
  CHECK(out.dims == x.dims);
  CHECK(DataOf(out) == std::vector<float>{0, 0, 0, 0, 4, 5});
  Value zero = Index(0);
  RunOk("dt_set_row", {{&row}, {&zero}, {&x}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{4, 5, 0, 0, 4, 5});
  CHECK_THAT(MessageOf("dt_row", {{&x}, {&beyond}, {&row}}),
             Catch::Contains("row 3 of 'v', which has 3"));
  CHECK_THAT(MessageOf("dt_set_row", {{&row}, {&beyond}, {&x}, {&out}}),
             Catch::Contains("row 3 of 'v', which has 3"));
}

TEST_CASE("branches are chosen, and assertions tell what they saw") {
  Value a = Of<float>({1}, {1}), b = Of<float>({2}, {2, 3}), out, second = Of<int32_t>({1}, {1}),
        third = Of<int32_t>({1}, {2}), kept = Of<float>({1}, {8}), taken;
  RunOk("dt_select_input", {{&a, &b}, {&second}, {&out}});
  CHECK(DataOf(out) == std::vector<float>{2, 3});
  CHECK_THAT(MessageOf("dt_select_input", {{&a, &b}, {&third}, {&out}}),
             Catch::Contains("'v' chooses 2 of 2 branches"));
  RunOk("dt_select_output", {{&b}, {&second}, {&kept, &taken}});
  CHECK(DataOf(kept) == std::vector<float>{8});
  CHECK(DataOf(taken) == std::vector<float>{2, 3});
  Value condition(Value::Kind::kTensor, DType::kBool);
  REQUIRE(condition.Resize({1}).ok());
  condition.as<bool>()[0] = true;
  RunOk("dt_assert", {{&condition}, {&b}}, {1});
  condition.as<bool>()[0] = false;
  CHECK_THAT(MessageOf("dt_assert", {{&condition}, {&b}}, {1}),
             Catch::Contains("'v' is false; 'v' = [2, …]"));
  CHECK_THAT(MessageOf("dt_assert", {{&condition}, {&b}}, {-1}), Catch::Contains("'v' = [2, 3]"));
}

TEST_CASE("a fetched list is its items one after the other") {
  Value list = List(), out;
  Write(list, 0, Of<float>({2, 2}, {0, 1, 2, 3}));
  Write(list, 2, Of<float>({1, 2}, {4, 5}));  // nobody has written item 1
  RunOk("dt_list_rows", {{&list}, {&out}});
  CHECK(out.dims == std::vector<int64_t>{3, 2});
  CHECK(DataOf(out) == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(out.lod == Lod{{0, 2, 2, 3}});

  Value ragged = List();
  Write(ragged, 0, Batch());
  Write(ragged, 1, Of<float>({1, 2}, {7, 8}, {{0, 1}}));
  RunOk("dt_list_rows", {{&ragged}, {&out}});
  CHECK(out.dims == std::vector<int64_t>{7, 2});
  CHECK(out.lod == Lod{{0, 3, 4}, {0, 2, 5, 6, 7}});

  Value empty = List();
  RunOk("dt_list_rows", {{&empty}, {&out}});
  CHECK(out.count() == 0);
  CHECK(out.lod == Lod{{0}});

  Write(list, 3, Of<float>({1, 3}, {1, 2, 3}));
  CHECK_THAT(MessageOf("dt_list_rows", {{&list}, {&out}}),
             Catch::Contains("the items of 'v' cannot be shown one after the other"));
}

}  // namespace dtranspile::kernels
