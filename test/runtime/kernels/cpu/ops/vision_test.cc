// Hostile arguments of convolutions, interpolation and detection are refused with the variable's
// name and the bounds.
#include <catch2/catch.hpp>
#include <limits>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

bool says(const std::string& message, const char* what) {
  INFO(message);
  const bool found = message.find(what) != std::string::npos;
  CHECK(found);
  return found;
}

}  // namespace

TEST_CASE("indices of unpooling outside of the plane are refused") {
  Tensor<float> x({1, 1, 2, 2}, 1);
  Tensor<int32_t> index({1, 1, 2, 2}, 3);
  const auto unpool = [&](int64_t size) {
    SlotCall call("dt_unpool");
    call.In(x)
        .In(index, "places")
        .Out(DType::kFloat32)
        .Ints({2, 2})
        .Ints({2, 2})
        .Ints({0, 0})
        .Ints({size, size});
    return call.Message();
  };
  CHECK(unpool(2) == "succeeded");
  index[3] = 4;
  says(unpool(2), "'places' has the index 4, out of range for a plane of 4");
  index[3] = -2;
  says(unpool(2), "index -2");
  index[3] = 3;
  CHECK(unpool(int64_t{1} << 40) != "succeeded");
}

TEST_CASE("extents of resized images are bounded") {
  Tensor<float> x({1, 1, 2, 2}, 1);
  const auto resize = [&](std::vector<int64_t> size, const char* method) {
    SlotCall call("dt_resize_image");
    call.In(x).Slot().Slot().Slot().Out(DType::kFloat32);
    call.Text("NCHW")
        .Ints({0})
        .Ints({size[0]})
        .Ints({size[1]})
        .Reals({})
        .Text(method)
        .Ints({0})
        .Ints({1})
        .Text("bilinear_interp_v2");
    return call.Message();
  };
  CHECK(resize({3, 5}, "bilinear") == "succeeded");
  says(resize({0, 5}, "bilinear"), "output extent is 0");
  says(resize({3, int64_t{1} << 33}, "bilinear"), "out_w is 8589934592, expected at most 16777216");
  says(resize({3, 5}, "cubic"), "unknown interp_method 'cubic'");
}

TEST_CASE("regions must belong to images that are there") {
  Tensor<float> x({1, 1, 4, 4}, 1), rois({2, 4}, 1);
  Tensor<int32_t> counts({1}, 2);
  const auto align = [&] {
    SlotCall call("dt_roi_align");
    call.In(x)
        .In(rois, "regions")
        .Slot()
        .In(counts, "counts")
        .Out(DType::kFloat32)
        .Reals({1})
        .Ints({2})
        .Ints({2})
        .Ints({-1})
        .Ints({0})
        .Ints({0});
    return call.Message();
  };
  CHECK(align() == "succeeded");
  counts[0] = 3;
  says(align(), "'counts' has the count 3, 'regions' has 2 rows");
  counts[0] = -1;
  says(align(), "count -1");
  counts[0] = 1;
  says(align(), "do not cover them");
  rois[0] = std::numeric_limits<float>::quiet_NaN(), rois[3] = 1e30F, counts[0] = 2;
  CHECK(align() == "succeeded");
}

TEST_CASE("matches must be rows of their image") {
  Tensor<float> x({2, 1, 4}, 1);
  Tensor<int32_t> match({1, 3}, 1);
  const auto assign = [&] {
    SlotCall call("dt_target_assign");
    call.In(x).In(match, "match").Slot().Out(DType::kFloat32).Out(DType::kFloat32).Ints({0});
    return call.Message();
  };
  CHECK(assign() == "succeeded");
  match[2] = 2;
  says(assign(), "'match' has the row 2, the image has 2");
}

TEST_CASE("labels and centres of true boxes are checked") {
  Tensor<float> x({1, 8, 2, 2}, 0.5F), box({1, 1, 4}, 0.5F);
  Tensor<int32_t> label({1, 1}, 2);
  const auto loss = [&] {
    SlotCall call("dt_yolo_loss");
    call.In(x)
        .In(box, "boxes")
        .In(label, "labels")
        .Slot()
        .Out(DType::kFloat32)
        .Out(DType::kFloat32)
        .Out(DType::kInt32);
    call.Ints({10, 20}).Ints({0}).Ints({3}).Reals({0.7}).Ints({32}).Ints({1}).Reals({1});
    return call.Message();
  };
  CHECK(loss() == "succeeded");
  label[0] = 3;
  says(loss(), "'labels' has the label 3 of 3 classes");
  label[0] = 0, box[0] = 1.5F;
  says(loss(), "outside of the image");
}

TEST_CASE("trees are joined by nodes that they have") {
  Tensor<float> nodes({1, 3, 2}, 1), filter({2, 3, 2, 1}, 1);
  Tensor<int32_t> edges({1, 2, 2}, 0);
  const auto convolve = [&](std::vector<int32_t> pairs) {
    std::copy(pairs.begin(), pairs.end(), edges.data.begin());
    SlotCall call("dt_tree_conv");
    call.In(nodes).In(edges, "edges").In(filter).Out(DType::kFloat32).Ints({2});
    return call.Message();
  };
  CHECK(convolve({1, 2, 1, 3}) == "succeeded");
  says(convolve({1, 2, 1, 9}), "'edges' has the edge (1, 9), its nodes are 1 to 3");
  says(convolve({-1, 2, 1, 3}), "edge (-1, 2)");
}

}  // namespace dtranspile::kernels
