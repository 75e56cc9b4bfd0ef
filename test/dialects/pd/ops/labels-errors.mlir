// Scores, labels, classes and rows of tables that do not fit each other: the row's inference and its constraints refuse them (P10 and C* of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%ins = pd.undef "ins" : tensor<f32>
%ins_tag = pd.undef "ins_tag" : tensor<1xi64>
%filter_tag = pd.undef "filter_tag" : tensor<1xi64>
// expected-error @+1 {{[P10] needs rows in Ins}}
%r:3 = pd.filter_by_instag Ins(%ins) Ins_tag(%ins_tag) Filter_tag(%filter_tag) -> Out("out") LossWeight("lossweight") IndexMap("indexmap") {is_lod = true} : (tensor<f32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xf32>, tensor<1x1xf32>, tensor<1x2xi64>)

// -----

%logits = pd.undef "logits" : tensor<4xf32>
%labels = pd.undef "labels" : tensor<4x1xi64>
// expected-error @+1 {{[P10] needs matrices in Logits [4] and Labels [4, 1]}}
%r:6 = pd.sample_logits Logits(%logits) Labels(%labels) -> Samples("samples") Probabilities("probabilities") LogitsDim("logitsdim") LabelsDim("labelsdim") SampledLogits("sampledlogits") SampledLabels("sampledlabels") {num_samples = 2 : i32} : (tensor<4xf32>, tensor<4x1xi64>) -> (tensor<4x3xi64>, tensor<4x3xf32>, tensor<4x5x0xf32>, tensor<4x1x0xi64>, tensor<4x3xf32>, tensor<4x1xi64>)

// -----

%x = pd.undef "x" : tensor<f32>
%label = pd.undef "label" : tensor<1xi64>
// expected-error @+1 {{[C1] X must have at least one axis; found X []}}
%r:3 = pd.cross_entropy2 X(%x) Label(%label) -> Y("y") XShape("xshape") MatchX("matchx") : (tensor<f32>, tensor<1xi64>) -> (tensor<1xf32>, tensor<0xf32>, tensor<1xf32>)

// -----

%label = pd.undef "label" : tensor<1xi64>
%matchx = pd.undef "matchx" : tensor<1xf32>
%xshape = pd.undef "xshape" : tensor<f32>
%y_grad = pd.undef "y_grad" : tensor<1xf32>
// expected-error @+1 {{[P10] needs XShape of the forward op, [extents of X, 0]}}
%r = pd.cross_entropy_grad2 Label(%label) MatchX(%matchx) XShape(%xshape) "Y@GRAD"(%y_grad) -> "X@GRAD"("x_grad") : (tensor<1xi64>, tensor<1xf32>, tensor<f32>, tensor<1xf32>) -> tensor<1xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
%label = pd.undef "label" : tensor<4xi64>
// expected-error @+1 {{[P10] has no classes in X [4]}}
%r:2 = pd.nll_loss X(%x) Label(%label) -> Out("out") Total_weight("total_weight") : (tensor<4xf32>, tensor<4xi64>) -> (tensor<f32>, tensor<f32>)

// -----

%w = pd.undef "w" : tensor<4xf32>
%ids = pd.undef "ids" : tensor<2xi64>
// expected-error @+1 {{[C1] W must be a matrix; found W [4]}}
%r = pd.lookup_table_v2 W(%w) Ids(%ids) -> Out("out") : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x4xf32>

// -----

%w = pd.undef "w" : tensor<4x3xf32>
%ids = pd.undef "ids" : tensor<2x2xi64>
// expected-error @+1 {{[C2] Ids must end in an extent of 1; found Ids [2, 2]}}
%r = pd.lookup_table W(%w) Ids(%ids) -> Out("out") : (tensor<4x3xf32>, tensor<2x2xi64>) -> tensor<2x3xf32>

// -----

%input = pd.undef "input" : tensor<f32>
%label = pd.undef "label" : tensor<2x1xi64>
%weight = pd.undef "weight" : tensor<5x3xf32>
// expected-error @+1 {{[P10] needs a batch in Input and Label}}
%r:3 = pd.nce Input(%input) Label(%label) Weight(%weight) -> Cost("cost") SampleLogits("samplelogits") SampleLabels("samplelabels") {num_total_classes = 5 : i32} : (tensor<f32>, tensor<2x1xi64>, tensor<5x3xf32>) -> (tensor<2x1xf32>, tensor<2x3xf32>, tensor<2x3xi64>)

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] takes the first 4 of extent 3}}
%r:2 = pd.top_k X(%x) -> Out("out") Indices("indices") {k = 4 : i32} : (tensor<2x3xf32>) -> (tensor<2x4xf32>, tensor<2x4xi64>)

// -----

%x = pd.undef "x" : tensor<2x2xi64>
// expected-error @+1 {{[P10] needs an extent of 1 at the end of X [2, 2]}}
%r = pd.one_hot X(%x) -> Out("out") {depth = 5 : i32} : (tensor<2x2xi64>) -> tensor<2x5xf32>

// -----

%scores = pd.undef "scores" : tensor<3x4x4xf32>
%bboxdeltas = pd.undef "bboxdeltas" : tensor<1x12x4x4xf32>
%iminfo = pd.undef "iminfo" : tensor<1x3xf32>
%anchors = pd.undef "anchors" : tensor<4x4x3x4xf32>
%variances = pd.undef "variances" : tensor<4x4x3x4xf32>
// expected-error @+1 {{[P10] needs 4 dims of Scores, not [3, 4, 4]}}
%r:2 = pd.generate_proposals Scores(%scores) BboxDeltas(%bboxdeltas) ImInfo(%iminfo) Anchors(%anchors) Variances(%variances) -> RpnRois("rpnrois") RpnRoiProbs("rpnroiprobs") {pre_nms_topN = 6 : i32, post_nms_topN = 6 : i32, nms_thresh = 0.5 : f32, min_size = 0.1 : f32, eta = 1.0 : f32} : (tensor<3x4x4xf32>, tensor<1x12x4x4xf32>, tensor<1x3xf32>, tensor<4x4x3x4xf32>, tensor<4x4x3x4xf32>) -> (tensor<?x4xf32>, tensor<?x1xf32>)

// -----

%x = pd.undef "x" : tensor<i64>
// expected-error @+1 {{[P10] needs rows in X}}
%r = pd.hash X(%x) -> Out("out") {num_hash = 1 : i32, mod_by = 10 : i64} : (tensor<i64>) -> tensor<1x1x1xi64>

// -----

%logitsdim = pd.undef "logitsdim" : tensor<4x5xf32>
%labelsdim = pd.undef "labelsdim" : tensor<4x1x0xi64>
%samples = pd.undef "samples" : tensor<4x3xi64>
%sampledlogits_grad = pd.undef "sampledlogits_grad" : tensor<4x3xf32>
// expected-error @+1 {{[P10] needs what sample_logits left in LogitsDim [4, 5]}}
%r = pd.sample_logits_grad LogitsDim(%logitsdim) LabelsDim(%labelsdim) Samples(%samples) "SampledLogits@GRAD"(%sampledlogits_grad) -> "Logits@GRAD"("logits_grad") {num_samples = 2 : i32} : (tensor<4x5xf32>, tensor<4x1x0xi64>, tensor<4x3xi64>, tensor<4x3xf32>) -> tensor<4x5xf32>

// -----

%x = pd.undef "x" : tensor<f32>
%label = pd.undef "label" : tensor<4xi64>
%centers = pd.undef "centers" : tensor<4x3xf32>
%centerupdaterate = pd.undef "centerupdaterate" : tensor<1xf32>
// expected-error @+1 {{[P10] needs a batch in X}}
%r:3 = pd.center_loss X(%x) Label(%label) Centers(%centers) CenterUpdateRate(%centerupdaterate) -> CentersOut("centersout") SampleCenterDiff("samplecenterdiff") Loss("loss") {cluster_num = 4 : i32, need_update = true} : (tensor<f32>, tensor<4xi64>, tensor<4x3xf32>, tensor<1xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>)

// -----

%x = pd.undef "x" : tensor<f32>
%w = pd.undef "w" : tensor<3x4xf32>
%label = pd.undef "label" : tensor<2x1xi64>
// expected-error @+1 {{[P10] needs a batch in X}}
%r:3 = pd.hierarchical_sigmoid X(%x) W(%w) Label(%label) -> Out("out") PreOut("preout") W_Out("w_out") {num_classes = 4 : i32} : (tensor<f32>, tensor<3x4xf32>, tensor<2x1xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<3x4xf32>)

// -----

%x = pd.undef "x" : tensor<2x4xf32>
%w = pd.undef "w" : tensor<3x4xf32>
%label = pd.undef "label" : tensor<2x1xi64>
// expected-error @+1 {{[P10] needs at least 2 classes, found 1}}
%r:3 = pd.hierarchical_sigmoid X(%x) W(%w) Label(%label) -> Out("out") PreOut("preout") W_Out("w_out") {num_classes = 1 : i32} : (tensor<2x4xf32>, tensor<3x4xf32>, tensor<2x1xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<3x4xf32>)

// -----

%logits = pd.undef "logits" : tensor<f32>
%label = pd.undef "label" : tensor<f32>
// expected-error @+1 {{[C1] axis must be an axis of Logits; found axis -1, Logits []}}
%r:2 = pd.softmax_with_cross_entropy Logits(%logits) Label(%label) -> Softmax("softmax") Loss("loss") : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)

// -----

%x = pd.undef "x" : tensor<f32>
%label = pd.undef "label" : tensor<i64>
// expected-error @+1 {{[C1] X must have at least one axis; found X []}}
%r = pd.cross_entropy X(%x) Label(%label) -> Y("y") : (tensor<f32>, tensor<i64>) -> tensor<f32>

// -----

%w = pd.undef "w" : tensor<4xf32>
%ids = pd.undef "ids" : tensor<2xi64>
// expected-error @+1 {{[C1] W must be a matrix; found W [4]}}
%r = pd.c_embedding W(%w) Ids(%ids) -> Out("out") : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
