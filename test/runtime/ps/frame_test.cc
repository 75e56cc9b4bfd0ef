// Control messages and tensors in one gRPC message, and what is none.
#include "runtime/ps/frame.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "runtime/ps/messages.pb.h"

namespace dtranspile::ps {
namespace {

std::string Rest(Payload& payload) {
  std::string text(static_cast<size_t>(payload.left()), 0);
  payload.Read(text.data(), payload.left());
  return text;
}

grpc::ByteBuffer Buffer(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string Text(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  REQUIRE(buffer.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& s : slices)
    text.append(reinterpret_cast<const char*>(s.begin()), s.size());
  return text;
}

Request PullOf(const std::string& table) {
  Request request;
  request.set_session(7);
  request.set_round(-1);
  request.mutable_pull()->set_table(table);
  return request;
}

}  // namespace

TEST_CASE("a message is a control message and the bytes after it, however they are cut") {
  SliceBuilder builder(5);
  std::memcpy(builder.data(), "built", 5);
  static constexpr char kLent[] = "lent";
  std::vector<grpc::Slice> slices = {builder.Finish(), grpc::Slice(),
                                     Lent(reinterpret_cast<const std::byte*>(kLent), 4)};
  const grpc::ByteBuffer message = Pack(PullOf("w"), std::move(slices));
  // As one slice, and as a slice per byte.
  const std::string bytes = Text(message);
  std::vector<grpc::Slice> each;
  for (const char c : bytes) each.emplace_back(&c, 1);
  for (const grpc::ByteBuffer& form :
       {message, Buffer(bytes), grpc::ByteBuffer(each.data(), each.size())}) {
    Request request;
    auto payload = Unpack(form, request);
    REQUIRE(payload.ok());
    CHECK(request.session() == 7);
    CHECK(request.round() == -1);
    CHECK(request.pull().table() == "w");
    CHECK(payload->left() == 9);
    CHECK(Rest(*payload) == "builtlent");
  }
  Request none;
  auto empty = Unpack(Pack(Request()), none);
  REQUIRE(empty.ok());
  CHECK(empty->left() == 0);
}

TEST_CASE("bytes that are no message are refused") {
  const std::string good = Text(Pack(PullOf("w")));
  Request request;
  const auto message = [&](const std::string& bytes) {
    return std::string(Unpack(Buffer(bytes), request).status().message());
  };
  CHECK(message("") == "no message of this protocol: it is too short");
  CHECK(message(good.substr(0, 7)) == "no message of this protocol: it is too short");
  CHECK(message("GET / HTTP/1.1\r\n") ==
        "no message of this protocol: it begins with something else");
  CHECK(message(good.substr(0, good.size() - 1)) ==
        "no message of this protocol: its control message is too long");
  std::string large = good;
  std::memset(large.data() + 4, 0xff, 4);
  CHECK(message(large) == "no message of this protocol: its control message is too long");
  CHECK(message(good.substr(0, 8) + std::string(good.size() - 8, '\xff')) ==
        "no message of this protocol: its control message is damaged");
  CHECK(!Unpack(grpc::ByteBuffer(), request).ok());

  // Any byte may be wrong; nothing is read beyond the end.
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    bytes.resize(random() % (bytes.size() + 1));
    auto payload = Unpack(Buffer(bytes), request);
    if (payload.ok()) (void)Rest(*payload);
  }
}

}  // namespace dtranspile::ps
