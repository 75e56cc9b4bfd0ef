// Constraints of communication and local ops; the labels are those of docs/dialects/dist.md.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %p = pd.input "p" : !dist.pending<tensor<2xf32>>
    // expected-error @+1 {{D21: an operand has not arrived; wait for it first}}
    %q = dist.all_reduce sum (%p) on @c : (!dist.pending<tensor<2xf32>>) -> !dist.pending<tensor<2xf32>>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D22: a pending result has exactly one use, a dist.wait}}
    %p = dist.all_reduce sum (%x) on @c : (tensor<2xf32>) -> !dist.pending<tensor<2xf32>>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D22: a pending result is waited for by a dist.wait in its own block}}
    %p = dist.all_reduce sum (%x) on @c : (tensor<2xf32>) -> !dist.pending<tensor<2xf32>>
    dist.on <dp = 0> {
      // expected-note @+1 {{its use}}
      %r = dist.wait %p : (!dist.pending<tensor<2xf32>>) -> tensor<2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %p = dist.all_reduce sum (%x) on @c : (tensor<2xf32>) -> !dist.pending<tensor<2xf32>>
    // expected-error @+1 {{D22: yields what was started}}
    %r:2 = dist.wait %p : (!dist.pending<tensor<2xf32>>) -> (tensor<2xf32>, tensor<2xf32>)
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D23: there is no dist.comm @c}}
    dist.barrier on @c
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] pairs
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D23: needs a comm of kind group, and @c is of kind pairs}}
    dist.barrier on @c
  }
}
// -----
dist.mesh @w [dp = 2, mp = 2]
dist.comm @c on @w over [dp, mp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D23: the root names one coordinate of each axis of the comm}}
    %r = dist.broadcast (%x) on @c from <dp = 0> : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D23: the root is no member of the comm: axis 'dp'}}
    %r = dist.broadcast (%x) on @c from <dp = 2> : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D23: the result is located at the root}}
    %r = dist.reduce sum (%x) on @c to <dp = 1> : (tensor<2xf32>) -> !dist.at<tensor<2xf32>, dp = 0>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %r = dist.reduce sum (%x) on @c to <dp = 1> : (tensor<2xf32>) -> !dist.at<tensor<2xf32>, dp = 1>
    // expected-error @+1 {{D23: the root does not hold '!dist.at<tensor<2xf32>, dp = 1>'}}
    %b = dist.broadcast (%r) on @c from <dp = 0> : (!dist.at<tensor<2xf32>, dp = 1>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2, pp = 2]
dist.comm @p on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %l = dist.on <pp = 0> -> (!dist.at<tensor<2xf32>, pp = 0>) { dist.yield %x : tensor<2xf32> }
    // expected-error @+1 {{D23: moves from one coordinate of axis 'pp' to another one}}
    %t = dist.transfer %l on @p : !dist.at<tensor<2xf32>, pp = 0> -> !dist.at<tensor<2xf32>, dp = 1>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %y = pd.input "y" : tensor<2xf64>
    // expected-error @+1 {{D24: operands of one op have one element type, not 'f32' and 'f64'}}
    %r:2 = dist.all_reduce sum (%x, %y) on @c : (tensor<2xf32>, tensor<2xf64>) -> (tensor<2xf32>, tensor<2xf64>)
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D24: cannot form 'or' of 'f32'}}
    %r = dist.all_reduce or (%x) on @c : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D24: operand of type 'tensor<2xf32>' gives a result of that type, not 'tensor<3xf32>'}}
    %r = dist.all_reduce sum (%x) on @c : (tensor<2xf32>) -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : !pd.rows<tensor<2x2xf32>>
    // expected-error @+1 {{D24: cannot communicate a value of type '!pd.rows<tensor<2x2xf32>>'}}
    %r = dist.all_reduce max (%x) on @c : (!pd.rows<tensor<2x2xf32>>) -> !pd.rows<tensor<2x2xf32>>
  }
}
// -----
dist.mesh @w [dp = 4]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<5x2xf32>
    // expected-error @+1 {{D25: the part of 'tensor<5x2xf32>' on an axis of 4 has type 'tensor<3xf32>', not 'tensor<2xf32>'}}
    %r = dist.reduce_scatter sum (%x) on @c dim flat : (tensor<5x2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 4]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2x2xf32>
    // expected-error @+1 {{D25: the part of 'tensor<16x2xf32>' on an axis of 4 has type 'tensor<4x2xf32>', not 'tensor<2x2xf32>'}}
    %r = dist.all_gather (%x) on @c dim 0 : (tensor<2x2xf32>) -> tensor<16x2xf32>
  }
}
// -----
dist.mesh @w [dp = 4]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<6x2xf32>
    // expected-error @+1 {{D25: 4 members do not divide dim 0}}
    %r = dist.all_to_all (%x) on @c split 0 concat 1 : (tensor<6x2xf32>) -> tensor<1x8xf32>
  }
}
// -----
dist.mesh @w [dp = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<6x2xf32>
    // expected-error @+1 {{D9: axis 'dp' is out of the mesh's order or named twice}}
    %r = dist.slice %x dim 0 layout <even(6)> over [dp, dp] : tensor<6x2xf32> -> tensor<2x2xf32>
  }
}
// -----
dist.mesh @w [dp = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<6x2xf32>
    // expected-error @+1 {{D25: the layout is of an extent of 8, the operand is 'tensor<6x2xf32>'}}
    %r = dist.slice %x dim 0 layout <even(8)> over [dp] : tensor<6x2xf32> -> tensor<2x2xf32>
  }
}
