// Quantisation, messages, signals and factors whose extents or attributes do not fit: the row's inference refuses them (P10 of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has bit_length 17, expected 1 to 16}}
%r:2 = pd.fake_quantize_abs_max X(%x) -> Out("out") OutScale("s") {bit_length = 17 : i32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1xf32>)

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has round_type 2, expected 0 (halves to even) or 1 (halves away from 0)}}
%r:2 = pd.fake_quantize_dequantize_abs_max X(%x) -> Out("out") OutScale("s") {round_type = 2 : i32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1xf32>)

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has quant_axis 2, expected 0 or 1}}
%r:2 = pd.fake_channel_wise_quantize_dequantize_abs_max X(%x) -> Out("out") OutScale("s") {quant_axis = 2 : i32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<1xf32>)

// -----

%x = pd.undef "x" : tensor<4x3xf32>
%y = pd.undef "y" : tensor<5x2xf32>
%i = pd.undef "i" : tensor<5xi64>
// expected-error @+1 {{[P10] has rows of [4, 3] and [5, 2], which do not broadcast}}
%r:2 = pd.graph_send_ue_recv X(%x) Y(%y) Src_index(%i) Dst_index(%i) -> Out("out") Dst_count("c") : (tensor<4x3xf32>, tensor<5x2xf32>, tensor<5xi64>, tensor<5xi64>) -> (tensor<4x3xf32>, tensor<i32>)

// -----

%x = pd.undef "x" : tensor<4x3xf32>
%i = pd.undef "i" : tensor<5xi64>
// expected-error @+1 {{[P10] has message_op 'DIV', expected ADD or MUL}}
%r = pd.graph_send_uv x(%x) y(%x) src_index(%i) dst_index(%i) -> out("out") {message_op = "DIV"} : (tensor<4x3xf32>, tensor<4x3xf32>, tensor<5xi64>, tensor<5xi64>) -> tensor<5x3xf32>

// -----

%x = pd.undef "x" : tensor<2x9xf32>
%w = pd.undef "w" : tensor<3xf32>
// expected-error @+1 {{[P10] has a Window [3] for frames of 4 places}}
%r = pd.stft X(%x) Window(%w) -> Out("out") {n_fft = 4 : i32, hop_length = 2 : i32, normalized = false, onesided = true} : (tensor<2x9xf32>, tensor<3xf32>) -> tensor<2x3x3xcomplex<f32>>

// -----

%x = pd.undef "x" : tensor<9xf32>
%w = pd.undef "w" : tensor<4xf32>
// expected-error @+1 {{[P10] needs a batch of signals in X [9]}}
%r = pd.stft X(%x) Window(%w) -> Out("out") {n_fft = 4 : i32, hop_length = 2 : i32, normalized = false, onesided = true} : (tensor<9xf32>, tensor<4xf32>) -> tensor<2x3x3xcomplex<f32>>

// -----

%x = pd.undef "x" : tensor<9xf32>
// expected-error @+1 {{[P10] needs matrices in X [9]}}
%r:3 = pd.lu X(%x) -> Out("out") Pivots("p") Infos("i") : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi32>, tensor<1xi32>)

// -----

%x = pd.undef "x" : tensor<2x3x4xf32>
%t = pd.undef "t" : tensor<3x4xf32>
%n = pd.undef "n" : tensor<2xi64>
// expected-error @+1 {{[P10] has an Input [2, 3, 4] and a Transition [3, 4], expected [batch, time, tags] and [tags, tags]}}
%r:2 = pd.viterbi_decode Input(%x) Transition(%t) Length(%n) -> Scores("s") Path("p") : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<?x?xi64>)

// -----

%x = pd.undef "x" : tensor<2x4xf32>
// expected-error @+1 {{[P10] takes 2 columns from 3 on of X [2, 4]}}
%r = pd.partial_concat X(%x) -> Out("out") {start_index = 3 : i32, length = 2 : i32} : (tensor<2x4xf32>) -> tensor<2x2xf32>

// -----

%x = pd.undef "x" : tensor<2x4xf32>
%y = pd.undef "y" : tensor<2x3xf32>
// expected-error @+1 {{[P10] needs matrices of equal extents, not X[1] [2, 3]}}
%r = pd.partial_sum X(%x, %y) -> Out("out") : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>

// -----

%q = pd.undef "q" : tensor<2x3x4x8xf32>
%k = pd.undef "k" : tensor<2x3x3x8xf32>
// expected-error @+1 {{[P10] has 4 heads of q for 3 of k}}
%r:4 = pd.flash_attn q(%q) k(%k) v(%k) -> out("out") softmax("s") softmax_lse("l") seed_offset("o") : (tensor<2x3x4x8xf32>, tensor<2x3x3x8xf32>, tensor<2x3x3x8xf32>) -> (tensor<2x3x4x8xf32>, tensor<2x4x128x128xf32>, tensor<2x4x128xf32>, tensor<2xi64>)

// -----

%x = pd.undef "x" : tensor<2x4xf32>
// expected-error @+1 {{[P10] pools over grad_x@GRAD [2, 4], which has no spatial axes}}
%r = pd.pool2d_double_grad "grad_x@GRAD"(%x) -> "grad_out@GRAD"("out") {pooling_type = "avg", ksize = array<i32: 2, 2>} : (tensor<2x4xf32>) -> tensor<2x4xf32>

// -----

%x = pd.undef "x" : tensor<2x4xf32>
%l = pd.undef "l" : tensor<2x1xi64>
// expected-error @+1 {{[P10] has classes of 2 ranks}}
%r:2 = pd.margin_cross_entropy Logits(%x) Label(%l) -> Softmax("s") Loss("loss") {nranks = 2 : i32} : (tensor<2x4xf32>, tensor<2x1xi64>) -> (tensor<2x4xf32>, tensor<2x1xf32>)
