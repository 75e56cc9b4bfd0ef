// Family detection: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: generate_proposal_labels: input MaxOverlap is not supported natively
pd.program @cascade attributes {version = 2006002 : i64} {
  %r = pd.input "r" : !pd.lod<tensor<?x4xf32>, 1>
  %c = pd.input "c" : !pd.lod<tensor<?x1xi32>, 1>
  %k = pd.input "k" : !pd.lod<tensor<?x1xi32>, 1>
  %b = pd.input "b" : !pd.lod<tensor<?x4xf32>, 1>
  %i = pd.input "i" : tensor<1x3xf32>
  %m = pd.input "m" : tensor<8xf32>
  %o:5 = pd.generate_proposal_labels RpnRois(%r) GtClasses(%c) IsCrowd(%k) GtBoxes(%b) ImInfo(%i) MaxOverlap(%m) -> Rois("o0") LabelsInt32("o1") BboxTargets("o2") BboxInsideWeights("o3") BboxOutsideWeights("o4") {batch_size_per_im = 4 : i32, bbox_reg_weights = array<f32: 0.1, 0.1, 0.2, 0.2>, bg_thresh_hi = 0.5 : f32, bg_thresh_lo = 0.0 : f32, class_nums = 3 : i32, fg_fraction = 0.25 : f32, fg_thresh = 0.5 : f32, is_cascade_rcnn = true} : (!pd.lod<tensor<?x4xf32>, 1>, !pd.lod<tensor<?x1xi32>, 1>, !pd.lod<tensor<?x1xi32>, 1>, !pd.lod<tensor<?x4xf32>, 1>, tensor<1x3xf32>, tensor<8xf32>) -> (!pd.lod<tensor<?x4xf32>, 1>, !pd.lod<tensor<?x1xi32>, 1>, !pd.lod<tensor<?x12xf32>, 1>, !pd.lod<tensor<?x12xf32>, 1>, !pd.lod<tensor<?x12xf32>, 1>)
}

// CHECK: error: roi_align: needs 4 dims of X and rows of regions in ROIs, not X [1, 8, 8] and ROIs [3, 4]
pd.program @plane attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x8x8xf32>
  %r = pd.input "r" : tensor<3x4xf32>
  %n = pd.input "n" : tensor<1xi32>
  %y = pd.roi_align X(%x) ROIs(%r) RoisNum(%n) -> Out("y") {pooled_height = 2 : i32, pooled_width = 2 : i32} : (tensor<1x8x8xf32>, tensor<3x4xf32>, tensor<1xi32>) -> tensor<3x1x2x2xf32>
}

// CHECK: error: yolov3_loss: needs 4 dims of X and 3 of GTBox, not X [2, 21, 4, 4] and GTBox [2, 4]
pd.program @boxes attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x21x4x4xf32>
  %b = pd.input "b" : tensor<2x4xf32>
  %l = pd.input "l" : tensor<2x3xi32>
  %y, %o, %m = pd.yolov3_loss X(%x) GTBox(%b) GTLabel(%l) -> Loss("y") ObjectnessMask("o") GTMatchMask("m") {anchor_mask = array<i32: 0, 1, 2>, anchors = array<i32: 10, 13, 16, 30, 33, 23>, class_num = 2 : i32} : (tensor<2x21x4x4xf32>, tensor<2x4xf32>, tensor<2x3xi32>) -> (tensor<2xf32>, tensor<2x3x4x4xf32>, tensor<2x3xi32>)
}

// CHECK: error: multiclass_nms: needs 3 dims of BBoxes, not [5, 4]
pd.program @rows attributes {version = 2006002 : i64} {
  %b = pd.input "b" : tensor<5x4xf32>
  %s = pd.input "s" : tensor<1x2x5xf32>
  %y = pd.multiclass_nms BBoxes(%b) Scores(%s) -> Out("y") {keep_top_k = 3 : i32, nms_top_k = 4 : i32, score_threshold = 0.1 : f32} : (tensor<5x4xf32>, tensor<1x2x5xf32>) -> !pd.lod<tensor<?x6xf32>, 1>
}
