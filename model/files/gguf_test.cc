#include "model/files/gguf.h"

#include <gtest/gtest.h>

#include "model/files/test_files.h"

namespace ingot {
namespace {

constexpr std::uint32_t u32_kind = 4, boolean_kind = 7, text_kind = 8, list_kind = 9;

FileBytes header(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
  FileBytes bytes;
  bytes.raw("GGUF").number(version).number(tensors).number(entries);
  return bytes;
}

struct TensorField {
  std::string name = "t";
  std::vector<std::int64_t> dimensions = {4};
  std::int32_t type = 0;
  std::uint64_t offset = 0;
};

void append(FileBytes& bytes, const TensorField& tensor) {
  bytes.text(tensor.name).number(static_cast<std::uint32_t>(tensor.dimensions.size()));
  for (std::int64_t size : tensor.dimensions) bytes.number(size);
  bytes.number(tensor.type).number(tensor.offset);
}

std::string file_with(const std::vector<TensorField>& tensors, std::size_t data_bytes) {
  FileBytes bytes = header(tensors.size(), 0);
  for (const TensorField& tensor : tensors) append(bytes, tensor);
  bytes.pad_to(32).raw(std::string(data_bytes, '\x3f'));
  return bytes.all();
}

void expect_error(std::string_view bytes, std::string_view part) {
  const Result<GgufFile> file = GgufFile::parse(as_bytes(bytes));
  ASSERT_FALSE(file.ok()) << "expected an error with: " << part;
  EXPECT_NE(file.error().text().find(part), std::string_view::npos) << file.error().text();
}

TEST(Gguf, ReadsMetadataAndTensorsOfBothVersions) {
  for (std::uint32_t version : {2u, 3u}) {
    FileBytes bytes = header(2, 4, version);
    bytes.text("name").number(text_kind).text("tiny");
    bytes.text("flag").number(boolean_kind).raw("\x07");
    bytes.text("list").number(list_kind).number(u32_kind).number(std::uint64_t{2}).number(7u).number(8u);
    bytes.text("texts").number(list_kind).number(text_kind).number(std::uint64_t{2}).text("a").text("");
    append(bytes, {"first", {3, 2}, 0, 0});
    append(bytes, {"second", {32}, 8, 32});
    bytes.pad_to(32).raw(std::string(24, '\1')).pad_to(32).raw(std::string(34, '\2')).pad_to(32);
    const std::string all = bytes.all();
    const Result<GgufFile> read = GgufFile::parse(as_bytes(all));
    ASSERT_TRUE(read.ok()) << read.error().text();
    const GgufFile& file = read.value();
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.metadata().text("name").value(), "tiny");
    EXPECT_TRUE(file.metadata().boolean("flag").value());
    EXPECT_EQ(file.metadata().integer_list("list").value().integer(1), 8);
    EXPECT_EQ(file.metadata().text_list("texts").value()[0], "a");
    const StoredTensors tensors = file.tensors().value();
    ASSERT_EQ(tensors.all().size(), 2u);
    EXPECT_EQ(tensors.all()[0].view.shape(), (Shape{2, 3}));
    EXPECT_EQ(tensors.find("second")->view.dtype(), DType::q8_0);
    EXPECT_EQ(tensors.find("second")->view.data()[33], std::byte{2});
    EXPECT_EQ(tensors.find("third"), nullptr);
  }
}

TEST(Gguf, EveryTruncationOfAFileIsAnErrorOrADirectoryWithoutData) {
  FileBytes bytes = header(1, 2);
  bytes.text("key").number(list_kind).number(text_kind).number(std::uint64_t{1}).text("abc");
  bytes.text("n").number(u32_kind).number(1u);
  append(bytes, {});
  const std::size_t data = bytes.pad_to(32).all().size();
  const std::string all = bytes.raw(std::string(32, '\0')).all();
  ASSERT_TRUE(GgufFile::parse(as_bytes(all)).ok());
  for (std::size_t length = 0; length < all.size(); ++length) {
    const std::vector<std::byte> cut(as_bytes(all).begin(),
                                     as_bytes(all).begin() + static_cast<std::ptrdiff_t>(length));
    const Result<GgufFile> file = GgufFile::parse(cut);
    EXPECT_EQ(file.ok(), length == data) << length;
  }
}

TEST(Gguf, HeaderFieldsAreChecked) {
  expect_error("GGU", "GGUF magic");
  expect_error("FUGG" + header(0, 0).all().substr(4), "magic: expected 'GGUF', found 'FUGG'");
  expect_error(header(0, 0, 0).all(), "version: expected 2 or 3, found 0");
  expect_error(header(0, 0, 1).all(), "version: expected 2 or 3, found 1");
  expect_error(header(0, 0, 4).all(), "version: expected 2 or 3, found 4");
  expect_error(header(0, 0, 0x03000000).all(), "big-endian");
  expect_error(header(~std::uint64_t{0}, 0).all(), "tensor count");
  expect_error(header(0, ~std::uint64_t{0}).all(), "metadata count");
  EXPECT_TRUE(GgufFile::parse(as_bytes(header(0, 0).all())).ok());
}

TEST(Gguf, MetadataFieldsAreChecked) {
  const std::string rest(64, '\0');
  expect_error(header(0, 1).number(~std::uint64_t{0}).raw(rest).all(), "metadata entry 0: key: expected a length");
  expect_error(header(0, 1).number(std::uint64_t{1000}).raw(rest).all(), "1000 bytes of key");
  expect_error(header(0, 1).text("").number(u32_kind).number(1u).raw(rest).all(), "found an empty text");
  expect_error(header(0, 1).text("k").number(13u).raw(rest).all(), "'k': expected a value kind from 0 to 12");
  expect_error(header(0, 1).text("k").number(~0u).raw(rest).all(), "found 4294967295");
  expect_error(header(0, 1).text("k").number(list_kind).number(list_kind).raw(rest).all(), "no list within a list");
  expect_error(header(0, 1).text("k").number(list_kind).number(u32_kind).number(~std::uint64_t{0}).raw(rest).all(),
               "list length: expected at most");
  expect_error(header(0, 1).text("k").number(list_kind).number(u32_kind).number(std::uint64_t{1} << 29).raw(rest).all(),
               "bytes of list elements");
  expect_error(header(0, 1).text("k").number(list_kind).number(text_kind).number(std::uint64_t{100}).raw(rest).all(),
               "list length: expected texts that fit");
  FileBytes twice = header(0, 2);
  for (int time = 0; time < 2; ++time) twice.text("same").number(u32_kind).number(1u);
  expect_error(twice.all(), "'same' again");
}

TEST(Gguf, AlignmentIsAPowerOfTwoAsU32) {
  const auto aligned = [](std::uint32_t kind, std::uint32_t alignment) {
    return header(0, 1).text("general.alignment").number(kind).number(alignment).all();
  };
  EXPECT_EQ(GgufFile::parse(as_bytes(aligned(u32_kind, 64))).value().alignment(), 64u);
  EXPECT_TRUE(GgufFile::parse(as_bytes(aligned(u32_kind, 1u << 31))).ok());
  expect_error(aligned(u32_kind, 0), "general.alignment: expected a power of two, found 0");
  expect_error(aligned(u32_kind, 13), "general.alignment: expected a power of two, found 13");
  expect_error(aligned(5, 32), "general.alignment: expected u32, found i32");
}

TEST(Gguf, TensorFieldsAreChecked) {
  const auto with = [](const TensorField& tensor) { return file_with({tensor}, 64); };
  EXPECT_TRUE(GgufFile::parse(as_bytes(with({}))).ok());
  expect_error(with({std::string(64, 'n'), {4}, 0, 0}), "tensor 0: expected a name of at most 63 bytes, found 64");
  expect_error(with({"t", {1, 1, 1, 1, 1}, 0, 0}), "tensor 't': expected at most 4 dimensions, found 5");
  expect_error(with({"t", {-1}, 0, 0}), "sizes of at least 0, found shape [-1]");
  expect_error(with({"t", {std::int64_t{1} << 40, std::int64_t{1} << 40}, 0, 0}), "elements, found shape");
  expect_error(with({"t", {std::int64_t{1} << 62, 0, std::int64_t{1} << 62}, 0, 0}), "elements, found shape");
  expect_error(with({"t", {33}, 8, 0}), "a multiple of 32 elements");
  expect_error(with({"t", {}, 8, 0}), "a multiple of 32 elements");
  expect_error(with({"t", {4}, 43, 0}), "expected a tensor type of GGUF, found number 43");
  expect_error(with({"t", {4}, -1, 0}), "found number -1");
  expect_error(with({"t", {4}, 4, 0}), "(q4_2), which was removed");
  expect_error(with({"t", {4}, 0, 32}), "offset: expected 0");
  expect_error(with({"t", {1000}, 0, 0}), "tensor data: expected 4000 bytes");
}

TEST(Gguf, TensorsNeitherOverlapNorLeaveHoles) {
  const auto second_at = [](std::uint64_t offset) { return file_with({{"a"}, {"b", {4}, 0, offset}}, 96); };
  EXPECT_TRUE(GgufFile::parse(as_bytes(second_at(32))).ok());
  expect_error(second_at(0), "tensor 'b': offset: expected 32");
  expect_error(second_at(16), "tensor 'b': offset: expected 32");
  expect_error(second_at(64), "tensor 'b': offset: expected 32");
  expect_error(file_with({{"a"}, {"a", {4}, 0, 32}}, 64), "'a' again");
}

TEST(Gguf, SumsOfSizesDoNotOverflow) {
  std::vector<TensorField> tensors;
  std::uint64_t offset = 0;
  for (int index = 0; index < 20000; ++index) {
    tensors.push_back({std::to_string(index), {std::int64_t{1} << 48}, 27, offset});
    offset += std::uint64_t{1} << 51;
    if (index == 8191) break;
  }
  expect_error(file_with(tensors, 32), "within 64 bits");
}

TEST(Gguf, ZeroSizesAreTensorsWithoutBytes) {
  const std::string bytes = file_with({{"a", {32, 0}, 8, 0}, {"b", {4}, 0, 0}}, 32);
  const GgufFile file = GgufFile::parse(as_bytes(bytes)).value();
  const StoredTensors tensors = file.tensors().value();
  EXPECT_TRUE(tensors.find("a")->view.empty());
  EXPECT_EQ(tensors.find("b")->view.count(), 4);
}

TEST(Gguf, UnsupportedTypesAreListedButNotUsable) {
  const std::string bytes = file_with({{"quantized", {128}, 41, 0}}, 32);
  const GgufFile file = GgufFile::parse(as_bytes(bytes)).value();
  EXPECT_EQ(file.records()[0].byte_count, 18u);
  const Result<StoredTensors> tensors = file.tensors();
  ASSERT_FALSE(tensors.ok());
  EXPECT_EQ(tensors.error().code(), ErrorCode::unsupported);
  EXPECT_NE(tensors.error().text().find("'quantized'"), std::string_view::npos);
  EXPECT_NE(tensors.error().text().find("type 41 (q1_0)"), std::string_view::npos);
}

// Elements and bytes of a block, as GGUF's numbers of these types have them.
TEST(Gguf, BlocksOfGridsTernaryAndSmallFloatsHaveTheirSizes) {
  struct Type {
    std::int32_t number;
    DType dtype;
    std::int64_t elements;
    std::uint64_t bytes;
  };
  using enum DType;
  constexpr Type types[] = {{16, iq2_xxs, 256, 66}, {17, iq2_xs, 256, 74}, {18, iq3_xxs, 256, 98}, {19, iq1_s, 256, 50},
                            {21, iq3_s, 256, 110},  {22, iq2_s, 256, 82},  {23, iq4_xs, 256, 136}, {29, iq1_m, 256, 56},
                            {34, tq1_0, 256, 54},   {35, tq2_0, 256, 66},  {40, nvfp4, 64, 36}};
  for (const Type& type : types) {
    const std::string bytes =
        file_with({{"t", {2 * type.elements, 3}, type.number, 0}}, (6 * type.bytes + 31) / 32 * 32);
    const Result<GgufFile> parsed = GgufFile::parse(as_bytes(bytes));
    ASSERT_TRUE(parsed.ok()) << name_of(type.dtype) << ": " << parsed.error().text();
    const GgufFile& file = parsed.value();
    EXPECT_EQ(file.records()[0].byte_count, 6 * type.bytes) << name_of(type.dtype);
    const StoredTensors tensors = file.tensors().value();
    EXPECT_EQ(tensors.find("t")->view.dtype(), type.dtype);
    EXPECT_FALSE(GgufFile::parse(as_bytes(file_with({{"t", {type.elements / 2, 3}, type.number, 0}}, 600))).ok())
        << name_of(type.dtype) << ": rows of half a block";
  }
}

TEST(Gguf, AFileWithoutAnyDataIsADirectory) {
  const std::string bytes = file_with({{"a"}}, 0);
  const GgufFile file = GgufFile::parse(as_bytes(bytes)).value();
  EXPECT_FALSE(file.has_data());
  EXPECT_NE(file.tensors().error().text().find("expected 16 bytes of data, found 0"), std::string_view::npos);
}

TEST(Gguf, DataOffItsBoundaryIsCopiedToOne) {
  FileBytes bytes = header(2, 1);
  bytes.text("general.alignment").number(u32_kind).number(1u);
  append(bytes, {"byte", {1}, 24, 0});
  append(bytes, {"float", {1}, 0, 1});
  bytes.raw("\x01").number(1.5f);
  // Whatever the allocation's address is, some shift puts the data off its boundary.
  for (std::size_t shift = 0; shift < 4; ++shift) {
    const std::string moved = std::string(shift, ' ') + bytes.all();
    const GgufFile file = GgufFile::parse(as_bytes(moved).subspan(shift)).value();
    const StoredTensors tensors = file.tensors().value();
    ASSERT_TRUE(check_well_formed(tensors.find("float")->view).ok());
    EXPECT_EQ(tensors.find("float")->view.as<const float>()(0), 1.5f);
  }
}

TEST(Gguf, OutsideVerdictsMatch) {
  const std::optional<std::string> folder = outside_data("gguf-malformed");
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no gguf-malformed";
  int passed = 0, total = 0;
  for (const auto& [name, verdict] : manifest_rows(*folder)) {
    const Result<GgufFile> file = GgufFile::open(*folder + "/" + name);
    ++total;
    passed += file.ok() == (verdict == "accept") ? 1 : 0;
    EXPECT_EQ(file.ok(), verdict == "accept") << name << ": " << (file.ok() ? "accepted" : file.error().text());
  }
  std::printf("gguf-malformed: %d of %d verdicts match\n", passed, total);
  EXPECT_GT(total, 0);
}

TEST(Gguf, OutsideVocabulariesOpen) {
  const std::optional<std::string> folder = outside_data("tokenizer-vectors");
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no tokenizer-vectors";
  int opened = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const Result<GgufFile> file = GgufFile::open(entry.path());
    ASSERT_TRUE(file.ok()) << file.error().text();
    EXPECT_GT(file.value().metadata().text_list("tokenizer.ggml.tokens").value().size(), 1000u);
    ++opened;
  }
  std::printf("tokenizer-vectors: %d vocabularies opened\n", opened);
}

}  // namespace
}  // namespace ingot
