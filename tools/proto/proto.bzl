"""C++ classes of a .proto file, by the system's protoc."""

def cc_proto(name, src, **kwargs):
    stem = src[:-len(".proto")]
    native.genrule(
        name = name + "_gen",
        srcs = [src],
        outs = [stem + ".pb.cc", stem + ".pb.h"],
        cmd = "/usr/bin/protoc --cpp_out=$(GENDIR) -I . $(location %s)" % src,
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-w"],
        deps = ["@protobuf"],
        **kwargs
    )
