#include "model/files/model_file.h"

#include <gtest/gtest.h>

#include "model/files/gguf_writer.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

std::string safetensors_with(std::string_view name, float value) {
  std::string json = R"({")" + std::string(name) + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  while (json.size() % 8 != 0) json += ' ';
  return FileBytes().number(static_cast<std::uint64_t>(json.size())).raw(json).number(value).all();
}

float first_value(const ModelFile& model, std::string_view name) {
  const StoredTensor* tensor = model.find(name);
  return tensor == nullptr ? -1.0f : tensor->view.as<const float>()(0);
}

void expect_error(const std::string& path, std::string_view part) {
  const Result<ModelFile> model = ModelFile::open(path);
  ASSERT_FALSE(model.ok());
  EXPECT_NE(model.error().text().find(part), std::string_view::npos) << model.error().text();
}

TEST(ModelFile, OpensGgufUnderAnyName) {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.set_text("general.architecture", "llama");
  const float value = 2.5f;
  const TensorToWrite tensor = tensor_to_write("w", DType::f32, {1}, std::as_bytes(std::span(&value, 1)));
  for (std::string_view name : {"m.gguf", "blob"}) {
    ASSERT_TRUE(write_gguf(folder.file(name), metadata, std::span(&tensor, 1)).ok());
    const ModelFile model = ModelFile::open(folder.file(name)).value();
    EXPECT_EQ(model.format(), ModelFile::Format::gguf);
    EXPECT_EQ(model.metadata().text("general.architecture").value(), "llama");
    EXPECT_EQ(first_value(model, "w"), 2.5f);
    EXPECT_FALSE(model.companion(ModelFile::Companion::tokenizer).has_value());
  }
}

TEST(ModelFile, OpensASafetensorsFile) {
  const TemporaryFolder folder;
  folder.write("m.safetensors", safetensors_with("w", 1.5f));
  const ModelFile model = ModelFile::open(folder.file("m.safetensors")).value();
  EXPECT_EQ(model.format(), ModelFile::Format::safetensors);
  EXPECT_EQ(model.tensors().size(), 1u);
  EXPECT_EQ(first_value(model, "w"), 1.5f);
}

TEST(ModelFile, OpensAHuggingFaceFolder) {
  const TemporaryFolder folder;
  folder.write("model.safetensors", safetensors_with("w", 1.5f));
  expect_error(folder.path(), "expected config.json");
  folder.write("config.json", R"({"model_type":"llama","rope_scaling":{"factor":2.0}})");
  folder.write("tokenizer.json", "{}");
  const ModelFile model = ModelFile::open(folder.path()).value();
  EXPECT_EQ(model.format(), ModelFile::Format::hugging_face);
  EXPECT_EQ(model.metadata().number("rope_scaling.factor").value(), 2.0);
  EXPECT_EQ(model.companion(ModelFile::Companion::tokenizer), "{}");
  EXPECT_FALSE(model.companion(ModelFile::Companion::generation_config).has_value());
  EXPECT_EQ(first_value(model, "w"), 1.5f);
  folder.write("config.json", "{");
  expect_error(folder.path() + "/", "config.json': expected JSON");
}

TEST(ModelFile, OpensASafetensorsFileWithTheConfigurationBesideIt) {
  const TemporaryFolder folder;
  folder.write("weights.safetensors", safetensors_with("w", 1.5f));
  folder.write("config.json", R"({"model_type":"llama"})");
  folder.write("tokenizer.json", "{}");
  const ModelFile model = ModelFile::open(folder.file("weights.safetensors")).value();
  EXPECT_EQ(model.format(), ModelFile::Format::hugging_face);
  EXPECT_EQ(model.metadata().text("model_type").value(), "llama");
  EXPECT_EQ(model.companion(ModelFile::Companion::tokenizer), "{}");
  folder.write("model.safetensors.index.json", R"({"weight_map":{"w":"weights.safetensors"}})");
  EXPECT_TRUE(ModelFile::open(folder.file("weights.safetensors")).ok()) << "an index may list one file";
  folder.write("model.safetensors.index.json", R"({"weight_map":{"w":"weights.safetensors","v":"2.safetensors"}})");
  expect_error(folder.file("weights.safetensors"), "found one part of 2 (model.safetensors.index.json lists them)");
  expect_error(folder.file("weights.safetensors"), "give the folder");
}

TEST(ModelFile, OpensTheOneSafetensorsFileOfAFolderUnderAnyName) {
  const TemporaryFolder folder;
  folder.write("config.json", "{}");
  folder.write("adapter_model.safetensors", safetensors_with("w", 9.0f));
  expect_error(folder.path(), "expected config.json and model.safetensors");
  folder.write("weights.safetensors", safetensors_with("w", 1.5f));
  EXPECT_EQ(first_value(ModelFile::open(folder.path()).value(), "w"), 1.5f);
  folder.write("other.safetensors", safetensors_with("w", 2.5f));
  expect_error(folder.path(), "found other.safetensors, weights.safetensors: name the one that you mean");
  EXPECT_EQ(first_value(ModelFile::open(folder.file("other.safetensors")).value(), "w"), 2.5f);
  folder.write("model.safetensors", safetensors_with("w", 3.5f));
  EXPECT_EQ(first_value(ModelFile::open(folder.path()).value(), "w"), 3.5f);
}

TEST(ModelFile, ChoosesAmongSeveralIndexesWhereOneCanBeMeant) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type":"llama"})");
  folder.write("half.safetensors", safetensors_with("w", 0.5f));
  const auto index_of = [](std::string_view file) { return R"({"weight_map":{"w":")" + std::string(file) + R"("}})"; };
  const std::string half = "model.safetensors.index.fp16.json", full = "consolidated.safetensors.index.json";
  folder.write(half, index_of("half.safetensors"));
  EXPECT_EQ(first_value(ModelFile::open(folder.path()).value(), "w"), 0.5f) << "the only one";
  folder.write(full, index_of("full.safetensors"));
  EXPECT_EQ(first_value(ModelFile::open(folder.path()).value(), "w"), 0.5f) << "the only one whose files are there";
  folder.write("full.safetensors", safetensors_with("w", 1.5f));
  expect_error(folder.path(), "found consolidated.safetensors.index.json, model.safetensors.index.fp16.json: name the");
  EXPECT_EQ(first_value(ModelFile::open(folder.file(half)).value(), "w"), 0.5f);
  const ModelFile named = ModelFile::open(folder.file(full)).value();
  EXPECT_EQ(first_value(named, "w"), 1.5f);
  EXPECT_EQ(named.format(), ModelFile::Format::hugging_face);
  EXPECT_EQ(named.metadata().text("model_type").value(), "llama");
  folder.write("model.safetensors.index.json", index_of("full.safetensors"));
  EXPECT_EQ(first_value(ModelFile::open(folder.path()).value(), "w"), 1.5f) << "the usual one";
  folder.write(half, "{");
  expect_error(folder.file(half), half);
}

TEST(ModelFile, OpensTheOneGgufFileOfAFolder) {
  const TemporaryFolder folder;
  Metadata metadata;
  metadata.set_text("general.architecture", "llama");
  ASSERT_TRUE(write_gguf(folder.file("b.gguf"), metadata, {}).ok());
  folder.write("config.json", "{}");
  EXPECT_EQ(ModelFile::open(folder.path()).value().format(), ModelFile::Format::gguf);
  ASSERT_TRUE(write_gguf(folder.file("a.gguf"), metadata, {}).ok());
  expect_error(folder.path(), "found 2");
  expect_error(folder.path(), "a.gguf'");
}

TEST(ModelFile, OpensShards) {
  const TemporaryFolder folder;
  folder.write("config.json", "{}");
  expect_error(folder.path(), "model.safetensors.index.json");
  folder.write("1.safetensors", safetensors_with("a", 1.0f));
  folder.write("2.safetensors", safetensors_with("b", 2.0f));
  const std::string index = "model.safetensors.index.json";
  folder.write(index, R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  Result<ModelFile> opened = ModelFile::open(folder.path());
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  const ModelFile model = std::move(opened).value();
  EXPECT_EQ(model.tensors().size(), 2u);
  EXPECT_EQ(first_value(model, "a"), 1.0f);
  EXPECT_EQ(first_value(model, "b"), 2.0f);
  folder.write(index, R"({"weight_map":{"b":"1.safetensors"}})");
  expect_error(folder.path(), "expected tensor 'b' in '1.safetensors'");
  folder.write(index, R"({"weight_map":{"a":"3.safetensors"}})");
  expect_error(folder.path(), "3.safetensors");
  folder.write(index, R"({"weight_map":{"a":"1.safetensors","a":"1.safetensors"}})");
  expect_error(folder.path(), "'a' again");
}

TEST(ModelFile, SaysWhatItExpected) {
  const TemporaryFolder folder;
  folder.write("x", "what is this");
  expect_error(folder.file("x"), "expected a .gguf file, a .safetensors file or a folder");
  expect_error(folder.file("absent.gguf"), "absent.gguf");
}

}  // namespace
}  // namespace ingot
