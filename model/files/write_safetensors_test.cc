#include "model/files/write_safetensors.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/files/safetensors.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

std::vector<std::byte> counted_bytes(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t index = 0; index < size; ++index) bytes[index] = static_cast<std::byte>(index * 37 % 253);
  return bytes;
}

std::string file_text(const std::string& path) { return std::string(MappedFile::open(path).value().text()); }

TEST(WriteSafetensors, EveryTypeAndShapeReadsBackOnItsBoundary) {
  const TemporaryFolder folder;
  const std::vector<std::byte> bytes = counted_bytes(3 << 20);
  const auto first = [&](std::size_t size) { return std::span(bytes).first(size); };
  std::vector<TensorToWrite> tensors = {
      tensor_to_write("u8", DType::u8, {3}, first(3)),
      tensor_to_write("a/f32", DType::f32, {2, 3, 5}, first(120)),
      tensor_to_write("f16", DType::f16, {3}, first(6)),
      tensor_to_write("bf16", DType::bf16, {1, 1, 1, 1, 1, 5}, first(10)),
      tensor_to_write("i8", DType::i8, {3 << 20}, bytes),
      tensor_to_write("i32", DType::i32, {}, first(4)),
      tensor_to_write("i64", DType::i64, {7}, first(56)),
      tensor_to_write("nothing", DType::f32, {0, 4}, {}),
      tensor_to_write("quote \" slash \\ line \n \xc3\xa9", DType::u8, {1}, first(1)),
  };
  Metadata metadata;
  metadata.set_text("later", "tab\t\"quoted\" \xe2\x82\xac");
  metadata.set_text("earlier", "");
  const Result<void> written = write_safetensors(folder.file("a.safetensors"), metadata, tensors);
  ASSERT_TRUE(written.ok()) << written.error().text();
  EXPECT_EQ(folder.file_count(), 1u);

  const Result<SafetensorsFile> read = SafetensorsFile::open(folder.file("a.safetensors"));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const SafetensorsFile& file = read.value();
  EXPECT_EQ(file.metadata().text("later").value(), "tab\t\"quoted\" \xe2\x82\xac");
  EXPECT_EQ(file.metadata().text("earlier").value(), "");
  ASSERT_EQ(file.records().size(), tensors.size());
  for (const TensorToWrite& tensor : tensors) {
    const auto record = std::ranges::find(file.records(), tensor.name, &TensorRecord::name);
    ASSERT_NE(record, file.records().end()) << tensor.name;
    EXPECT_EQ(record->shape, tensor.shape);
    EXPECT_EQ(record->dtype, tensor.dtype);
    EXPECT_TRUE(std::ranges::equal(record->bytes, first(record->byte_count)));
    const auto address = reinterpret_cast<std::uintptr_t>(record->bytes.data());
    EXPECT_EQ(address % static_cast<std::uintptr_t>(block_bytes(tensor.dtype)), 0u) << tensor.name;
  }
  const std::string text = file_text(folder.file("a.safetensors"));
  EXPECT_EQ(static_cast<unsigned char>(text[0]) % 8, 0);
  EXPECT_LT(text.find("\"a/f32\""), text.find("\"bf16\""));
  EXPECT_LT(text.find("\"earlier\""), text.find("\"later\""));

  std::ranges::reverse(tensors);
  ASSERT_TRUE(write_safetensors(folder.file("b.safetensors"), metadata, tensors).ok());
  EXPECT_TRUE(text == file_text(folder.file("b.safetensors"))) << "the tensors' order changed the file";
}

TEST(WriteSafetensors, AFileWithoutAnythingIsAFile) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_safetensors(folder.file("a.safetensors"), {}, {}).ok());
  EXPECT_EQ(SafetensorsFile::open(folder.file("a.safetensors")).value().records().size(), 0u);
}

void expect_refused_tensor(const TensorToWrite& tensor, std::string_view part, const Metadata& metadata = {}) {
  const TemporaryFolder folder;
  const Result<void> written = write_safetensors(folder.file("a.safetensors"), metadata, std::span(&tensor, 1));
  ASSERT_FALSE(written.ok()) << part;
  EXPECT_NE(written.error().text().find(part), std::string_view::npos) << written.error().text();
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(WriteSafetensors, RefusesWhatTheFormatCannotHoldAndLeavesNoFile) {
  const std::vector<std::byte> bytes = counted_bytes(34);
  const auto eight = std::span(bytes).first(8);
  expect_refused_tensor(tensor_to_write("t", DType::q8_0, {32}, bytes),
                        "tensor 't': expected a type that safetensors can store, found q8_0");
  expect_refused_tensor(tensor_to_write("__metadata__", DType::f32, {2}, eight), "found the metadata's");
  expect_refused_tensor(tensor_to_write("t\xff", DType::f32, {2}, eight), "expected text in UTF-8, found 't\\xff'");
  expect_refused_tensor(tensor_to_write("t", DType::f32, {3}, eight), "tensor 't': expected 12 bytes of data, found 8");
  expect_refused_tensor(tensor_to_write("t", DType::f32, {-1}, eight), "expected sizes of at least 0");
  const TensorToWrite good = tensor_to_write("t", DType::f32, {2}, eight);
  Metadata metadata;
  metadata.set_integer("steps", 3);
  expect_refused_tensor(good, "metadata 'steps': expected text, found i64", metadata);
  Metadata bad_text;
  bad_text.set_text("note", "\xc3");
  expect_refused_tensor(good, "metadata 'note': expected text in UTF-8", bad_text);
  const TemporaryFolder folder;
  const TensorToWrite twice[] = {good, good};
  EXPECT_FALSE(write_safetensors(folder.file("a.safetensors"), {}, twice).ok());
  EXPECT_FALSE(write_safetensors(folder.file("absent/a.safetensors"), {}, {}).ok());
  EXPECT_EQ(folder.file_count(), 0u);
}

TEST(WriteSafetensors, AFullDiskLeavesTheOldFileAndNoOther) {
  const TemporaryFolder folder;
  folder.write("a.safetensors", "old");
  const std::vector<std::byte> bytes = counted_bytes(4 << 20);
  const TensorToWrite tensor = tensor_to_write("t", DType::u8, {4 << 20}, bytes);
  {
    const FileSizeLimit limit(1 << 20);
    const Result<void> written = write_safetensors(folder.file("a.safetensors"), {}, std::span(&tensor, 1));
    ASSERT_FALSE(written.ok());
    EXPECT_EQ(written.error().code(), ErrorCode::input_output);
  }
  EXPECT_EQ(file_text(folder.file("a.safetensors")), "old");
  EXPECT_EQ(folder.file_count(), 1u);
}

}  // namespace
}  // namespace ingot
