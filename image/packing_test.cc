#include <gtest/gtest.h>

#include "base/random.h"
#include "image/content.h"
#include "image/fake_packing.h"
#include "image/sha256.h"
#include "image/unpack.h"

namespace ingot::image {
namespace {

std::string digest_of(std::string_view text, std::size_t step) {
  Sha256 sum;
  for (std::size_t at = 0; at < text.size(); at += step) sum.add(text.substr(at, step));
  return sum.finish();
}

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(Sha256().finish(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest_of("abc", 1), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  const std::string million(1000000, 'a');
  for (const std::size_t step : {1ul, 63ul, 64ul, 1000ul, 1000000ul}) {
    EXPECT_EQ(digest_of(million, step), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0") << step;
  }
}

using Unpack = std::unique_ptr<ByteStream> (*)(ByteStream&);

// Everything, in pieces of `step` bytes.
Result<std::string> unpacked(Unpack unpack, const std::string& packed, std::size_t step = 1000) {
  const Content content = Content::of_bytes(packed);
  const std::unique_ptr<ByteStream> source = TRY(content.open());
  const std::unique_ptr<ByteStream> stream = unpack(*source);
  std::string all, piece(step, '\0');
  while (const std::size_t count = TRY(stream->read(piece))) all += piece.substr(0, count);
  return all;
}

// Longer than every buffer on the way, and neither all alike nor all different.
std::string long_text() {
  std::string text;
  RandomNumbers numbers(3);
  while (text.size() < (std::size_t{1} << 20)) text += std::to_string(numbers.below(1000)) + " of many, ";
  return text;
}

// One member of each kind of block, as gzip makes them.
const std::string stored(
    "\037\213\010\000\000\000\000\000\004\003\001\013\000\364\377\163\164\157\162\145\144\040\164\145\170"
    "\164\265\001\257\017\013\000\000\000",
    34);
const std::string fixed(
    "\037\213\010\000\000\000\000\000\002\003\113\313\254\110\115\121\110\103\220\000\201\346\211\210\021"
    "\000\000\000",
    28);
const std::string dynamic(
    "\037\213\010\000\000\000\000\000\002\003\045\220\121\026\000\121\004\102\327\032\242\354\177\001\343"
    "\235\371\164\122\156\162\203\041\151\052\204\231\205\130\033\015\300\230\032\270\044\127\127\211\030"
    "\107\062\332\343\042\127\176\333\065\223\355\016\235\346\151\101\340\356\116\246\013\145\327\270\267"
    "\105\357\331\363\315\120\257\313\243\236\206\275\247\056\052\275\031\046\042\136\102\061\066\233\221"
    "\111\047\251\226\002\234\236\023\350\332\101\141\022\251\307\142\325\261\156\017\230\005\106\220\071"
    "\313\274\006\133\253\334\327\244\343\134\133\212\241\205\336\041\262\372\216\274\310\143\364\265\014"
    "\334\301\343\346\001\262\273\203\277\375\336\061\161\215\076\243\327\302\073\054\001\000\000",
    173);

TEST(Gzip, EachKindOfBlock) {
  EXPECT_EQ(unpacked(unpack_gzip, stored).value(), "stored text");
  EXPECT_EQ(unpacked(unpack_gzip, fixed).value(), "fixed fixed fixed");
  const std::string letters = unpacked(unpack_gzip, dynamic).value();
  EXPECT_EQ(letters.size(), 300u);
  EXPECT_EQ(digest_of(letters, 300), "b5948bf667a85efb5f0533b647258666eb3203556633c73e16ca5fc72e2f69be");
}

TEST(Unpack, PiecesOfAnySizeSayTheSame) {
  const std::string text = long_text();
  for (const std::size_t step : {7ul, 4096ul, 3000000ul}) {
    EXPECT_TRUE(unpacked(unpack_gzip, gzip_of(text), step).value() == text) << step;
    EXPECT_TRUE(unpacked(unpack_zstd, zstd_of(text), step).value() == text) << step;
  }
}

TEST(Unpack, MembersFollowEachOther) {
  EXPECT_EQ(unpacked(unpack_gzip, fixed + gzip_of("") + stored).value(), "fixed fixed fixedstored text");
  const std::string skipped("\x50\x2a\x4d\x18\3\0\0\0abc", 11);  // a frame that readers pass over
  EXPECT_EQ(unpacked(unpack_zstd, zstd_of("one") + skipped + zstd_of("") + zstd_of(" two")).value(), "one two");
}

TEST(Unpack, NothingAndBytesBehindTheEndAreErrors) {
  for (const Unpack unpack : {unpack_gzip, unpack_zstd}) {
    EXPECT_EQ(unpacked(unpack, "").error().code(), ErrorCode::corrupt);
    EXPECT_EQ(unpacked(unpack, "neither of both").error().code(), ErrorCode::corrupt);
  }
  EXPECT_FALSE(unpacked(unpack_gzip, stored + "x").ok());
  EXPECT_FALSE(unpacked(unpack_zstd, zstd_of("text") + "x").ok());
}

TEST(Unpack, AWindowOfZstdIsBounded) {
  EXPECT_EQ(unpacked(unpack_zstd, zstd_with_a_huge_window()).error().text(),
            "zstd: expected a window of at most 128 MiB, found a larger one");
}

void expect_damage_is_seen(Unpack unpack, const std::string& whole) {
  const std::string content = unpacked(unpack, whole).value();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(unpacked(unpack, whole.substr(0, length)).ok()) << length;
  }
  RandomNumbers numbers(5);
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    damaged[10 + numbers.below(damaged.size() - 10)] ^= static_cast<char>(1 + numbers.below(255));
    const Result<std::string> found = unpacked(unpack, damaged);
    EXPECT_TRUE(!found.ok() || found.value() == content);
  }
}

TEST(Unpack, DamageOfGzipIsSeen) {
  for (const std::string& whole : {stored, fixed, dynamic}) expect_damage_is_seen(unpack_gzip, whole);
}

TEST(Unpack, TruncationOfZstdIsSeen) {
  const std::string text = long_text().substr(0, 5000);
  const std::string whole = zstd_of(text);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(unpacked(unpack_zstd, whole.substr(0, length)).ok()) << length;
  }
}

}  // namespace
}  // namespace ingot::image
