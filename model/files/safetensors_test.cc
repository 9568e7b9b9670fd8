#include "model/files/safetensors.h"

#include <gtest/gtest.h>

#include "model/files/safetensors_index.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

std::string file_with(std::string_view json, std::size_t data_bytes) {
  FileBytes bytes;
  bytes.number(static_cast<std::uint64_t>(json.size())).raw(json).raw(std::string(data_bytes, '\1'));
  return bytes.all();
}

void expect_error(std::string_view json, std::size_t data_bytes, std::string_view part) {
  const std::string bytes = file_with(json, data_bytes);
  const Result<SafetensorsFile> file = SafetensorsFile::parse(as_bytes(bytes));
  ASSERT_FALSE(file.ok()) << json;
  EXPECT_NE(file.error().text().find(part), std::string_view::npos) << file.error().text();
}

void expect_accepted(std::string_view json, std::size_t data_bytes, std::size_t tensors) {
  const std::string bytes = file_with(json, data_bytes);
  const Result<SafetensorsFile> file = SafetensorsFile::parse(as_bytes(bytes));
  ASSERT_TRUE(file.ok()) << json << ": " << file.error().text();
  EXPECT_EQ(file.value().records().size(), tensors);
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirData) {
  const std::string bytes =
      file_with(R"({"b":{"dtype":"F16","shape":[2,3],"data_offsets":[8,20]},"__metadata__":{"format":"pt"},)"
                R"("a\u00e9":{"data_offsets":[0,8],"shape":[1],"dtype":"I64"}}   )",
                20);
  const Result<SafetensorsFile> read = SafetensorsFile::parse(as_bytes(bytes));
  ASSERT_TRUE(read.ok()) << read.error().text();
  const SafetensorsFile& file = read.value();
  EXPECT_EQ(file.metadata().text("format").value(), "pt");
  ASSERT_EQ(file.records().size(), 2u);
  EXPECT_EQ(file.records()[0].name, "a\u00e9");
  const StoredTensors tensors = file.tensors().value();
  EXPECT_EQ(tensors.find("b")->view.shape(), (Shape{2, 3}));
  EXPECT_EQ(tensors.find("b")->view.dtype(), DType::f16);
  EXPECT_TRUE(check_well_formed(tensors.find("a\u00e9")->view).ok());
}

TEST(Safetensors, AcceptsWhatTheFormatAllows) {
  expect_accepted("{}", 0, 0);
  expect_accepted("\t\n{}\r ", 0, 0);
  expect_accepted(R"({"t":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", 4, 1);
  expect_accepted(R"({"t":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]}})", 0, 1);
  expect_accepted(R"({"__metadata__":null,"t":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1, 1);
  expect_accepted(R"({"t":{"dtype":"F4","shape":[2,3],"data_offsets":[0,3]}})", 3, 1);
  expect_accepted(
      R"({"t":{"note":{"a":[1,{"b":null}]},"dtype":"U8","shape":[1],"x":-1.5,"data_offsets":[0,1],"y":[]}})", 1, 1);
}

TEST(Safetensors, LengthsAreChecked) {
  for (std::string_view bytes : {std::string_view(), std::string_view("1234567")}) {
    EXPECT_NE(SafetensorsFile::parse(as_bytes(bytes)).error().text().find("header length"), std::string_view::npos);
  }
  FileBytes beyond;
  beyond.number(std::uint64_t{60});
  EXPECT_NE(SafetensorsFile::parse(as_bytes(beyond.all())).error().text().find("60 bytes of header"),
            std::string_view::npos);
  FileBytes large;
  large.number(std::uint64_t{100'000'001});
  EXPECT_NE(SafetensorsFile::parse(as_bytes(large.all())).error().text().find("at most 100000000, found 100000001"),
            std::string_view::npos);
}

TEST(Safetensors, OnlyJsonIsAHeader) {
  expect_error("", 0, "expected JSON");
  expect_error("{", 0, "syntax error");
  expect_error("\xff", 0, "syntax error");
  expect_error("{\"\xff\":1}", 0, "syntax error");
  expect_error("\xef\xbb\xbf{}", 0, "byte order mark");
  expect_error(std::string_view("{}\0", 3), 0, "zero byte");
  expect_error("{}{}", 0, "syntax error");
  expect_error("[]", 0, "header, expected an object, found a list");
  expect_error("3", 0, "header, expected an object");
}

TEST(Safetensors, HostileNestingIsAnError) {
  const std::string deep = R"({"t":{"note":)" + std::string(10'000'000, '[');
  expect_error(deep, 0, "nested at most 128 deep");
}

TEST(Safetensors, FieldsAreChecked) {
  expect_error(R"({"t":3})", 0, "expected an object for every name");
  expect_error(R"({"t":null})", 0, "found null");
  expect_error(R"({"t":{}})", 0, "tensor 't', expected dtype, found no such field");
  expect_error(R"({"t":{"dtype":"F32","shape":[]}})", 0, "expected data_offsets");
  expect_error(R"({"t":{"dtype":"F31"}})", 0, "dtype: expected a type of the format, found 'F31'");
  expect_error(R"({"t":{"dtype":32}})", 0, "dtype: text, found a number");
  expect_error(R"({"t":{"dtype":"F32","dtype":"F32"}})", 0, "expected dtype once");
  expect_error(R"({"t":{"shape":4}})", 0, "shape: a list of sizes, found a number");
  expect_error(R"({"t":{"shape":[-1]}})", 0, "found a negative number");
  expect_error(R"({"t":{"shape":[-0]}})", 0, "found a negative number");
  expect_error(R"({"t":{"shape":[1.0]}})", 0, "with a fraction");
  expect_error(R"({"t":{"shape":[[1]]}})", 0, "found a list");
  expect_error(R"({"t":{"shape":[18446744073709551615]}})", 0, "within 63 bits");
  expect_error(R"({"t":{"shape":[1,1,1,1,1,1,1]}})", 0, "at most 6 sizes");
  expect_error(R"({"t":{"data_offsets":[0]}})", 0, "expected 2 offsets, found 1");
  expect_error(R"({"t":{"data_offsets":[0,1,2]}})", 0, "expected 2 offsets, found 3");
  expect_error(R"({"__metadata__":{"a":1}})", 0, "__metadata__, expected text for every key, found a number");
  expect_error(R"({"__metadata__":{"a":{}}})", 0, "__metadata__, expected text for every key, found an object");
  expect_error(R"({"__metadata__":{},"__metadata__":{}})", 0, "__metadata__ once");
}

TEST(Safetensors, OffsetsCoverTheDataWithoutHoles) {
  const auto two = [](std::string_view second) {
    return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":)" +
           std::string(second) + "}}";
  };
  expect_accepted(two("[4,8]"), 8, 2);
  expect_error(two("[5,9]"), 9, "tensor 'b': data_offsets: expected them to begin at 4");
  expect_error(two("[0,4]"), 4, "expected them to begin at 4");
  expect_error(two("[2,6]"), 8, "expected them to begin at 4");
  expect_error(two("[4,3]"), 8, "found [4, 3]");
  expect_error(two("[4,9]"), 9, "expected 4 bytes for shape [1] of F32, found 5");
  expect_error(two("[4,8]"), 7, "an end within the 7 bytes");
  expect_error(two("[4,8]"), 9, "cover all 9 bytes");
  expect_error(
      R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})", 0,
      "'a' again");
}

TEST(Safetensors, SizesDoNotOverflow) {
  expect_error(R"({"t":{"dtype":"I32","shape":[2,9223372036854775807],"data_offsets":[0,16]}})", 16, "elements, found");
  expect_error(R"({"t":{"dtype":"I32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "elements, found");
  expect_error(R"({"t":{"dtype":"F4","shape":[3],"data_offsets":[0,2]}})", 2, "expected whole bytes, found 12 bits");
}

TEST(Safetensors, UnsupportedTypesAreListedButNotUsable) {
  const std::string bytes = file_with(R"({"t":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}})", 8);
  const SafetensorsFile file = SafetensorsFile::parse(as_bytes(bytes)).value();
  EXPECT_NE(file.tensors().error().text().find("tensor 't': expected a supported type, found F64"),
            std::string_view::npos);
}

TEST(SafetensorsIndex, ReadsOnlyTheWeightMap) {
  const auto read = read_safetensors_index(
      R"({"metadata":{"total_size":12,"weight_map":{"no":"x.safetensors"},"l":[{}]},"weight_map":{"a":"1.safetensors","b":"2.safetensors"},"z":null})");
  ASSERT_TRUE(read.ok()) << read.error().text();
  ASSERT_EQ(read.value().size(), 2u);
  EXPECT_EQ(read.value()[1].name, "b");
  EXPECT_EQ(read.value()[1].file, "2.safetensors");
}

TEST(SafetensorsIndex, FileNamesStayInTheFolder) {
  for (std::string_view name : {"../secret.safetensors", "/etc/x.safetensors", "a/b.safetensors", "", "x.bin"}) {
    const auto read = read_safetensors_index(R"({"weight_map":{"a":")" + std::string(name) + "\"}}");
    ASSERT_FALSE(read.ok()) << name;
    EXPECT_NE(read.error().text().find("in the same folder"), std::string_view::npos);
  }
  for (std::string_view json :
       {"{}", "[]", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})", R"({"weight_map":{"a":{}}})",
        R"({"weight_map":{"a":["x"]}})", R"({"weight_map":{},"weight_map":{}})"}) {
    EXPECT_FALSE(read_safetensors_index(json).ok()) << json;
  }
}

TEST(Safetensors, OutsideVerdictsMatch) {
  const std::optional<std::string> folder = outside_data("safetensors");
  if (!folder) GTEST_SKIP() << "SKIPPED: INGOT_OUTSIDE_DATA has no safetensors";
  int passed = 0, total = 0;
  for (const auto& [name, verdict] : manifest_rows(*folder)) {
    const Result<SafetensorsFile> file = SafetensorsFile::open(*folder + "/" + name);
    ++total;
    passed += file.ok() == (verdict == "ok") ? 1 : 0;
    EXPECT_EQ(file.ok(), verdict == "ok") << name << ": " << (file.ok() ? "accepted" : file.error().text());
  }
  std::printf("safetensors: %d of %d verdicts match\n", passed, total);
  EXPECT_GT(total, 0);
}

}  // namespace
}  // namespace ingot
