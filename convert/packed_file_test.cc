// Files in an execution layout: made from an ordinary one, run without being packed again, and made ordinary again.
#include "convert/packed_file.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "convert/quantizer.h"
#include "engine/default_model.h"
#include "engine/golden_model.h"
#include "engine/measure.h"
#include "engine/session.h"
#include "model/files/test_files.h"

namespace ingot {
namespace {

class PackedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::span<const std::byte> bytes = default_model_file();
    folder_.write("plain.gguf", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }

  std::vector<float> scores(const std::string& name, WeightPacking packing) {
    const std::shared_ptr<const Model> model = Model::open(folder_.file(name)).value();
    const std::unique_ptr<Session> session = Session::create(model, {.context = 64, .packing = packing}).value();
    const std::vector<std::int32_t> tokens = arbitrary_tokens(12, model->facts().vocabulary);
    EXPECT_EQ(session->sequences().add().value(), 0);
    const Result<View<const float>> found = session->forward({0, tokens, Wanted::last});
    EXPECT_TRUE(found.ok()) << found.error().text();
    return found.ok() ? std::vector(found.value().data(), found.value().data() + found.value().count())
                      : std::vector<float>();
  }

  std::string path(const std::string& name) const { return folder_.file(name); }

  TemporaryFolder folder_;
};

TEST_F(PackedFileTest, RunsAsItsOriginalPackedAtTheStartDoes) {
  const Result<PackedFileReport> report = pack_model_file(path("plain.gguf"), path("packed.gguf"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_GT(report.value().moved, 0);
  EXPECT_LT(report.value().moved, report.value().tensors);
  const std::vector<float> expected = scores("plain.gguf", WeightPacking::always);
  EXPECT_EQ(scores("packed.gguf", WeightPacking::never), expected);
  EXPECT_EQ(scores("packed.gguf", WeightPacking::always), expected) << "what is packed already is no mistake";
}

// One matrix for the first step and the last, which is packed for the last.
TEST_F(PackedFileTest, RunsWhereTheEmbeddingsAreTheHeadToo) {
  const Result<Quantizer> quantizer = Quantizer::open(golden_folder("gemma2"), {find_type_mix("Q8_0").value()});
  ASSERT_TRUE(quantizer.ok()) << quantizer.error().text();
  ASSERT_TRUE(quantizer.value().write(path("tied.gguf"), {}).ok());
  const Result<PackedFileReport> report = pack_model_file(path("tied.gguf"), path("packed.gguf"));
  ASSERT_TRUE(report.ok()) << report.error().text();
  const ModelFile packed = ModelFile::open(path("packed.gguf")).value();
  const auto is_table = [](const StoredTensor& tensor) { return tensor.name == "token_embd.weight@interleaved8"; };
  ASSERT_TRUE(std::ranges::any_of(packed.tensors(), is_table));
  EXPECT_EQ(scores("packed.gguf", WeightPacking::never), scores("tied.gguf", WeightPacking::always));
}

TEST_F(PackedFileTest, UnpackingGivesTheOriginal) {
  ASSERT_TRUE(pack_model_file(path("plain.gguf"), path("packed.gguf")).ok());
  ASSERT_TRUE(unpack_model_file(path("packed.gguf"), path("again.gguf")).ok());
  const ModelFile first = ModelFile::open(path("plain.gguf")).value();
  const ModelFile second = ModelFile::open(path("again.gguf")).value();
  ASSERT_EQ(first.tensors().size(), second.tensors().size());
  for (std::size_t index = 0; index < first.tensors().size(); ++index) {
    const StoredTensor& a = first.tensors()[index];
    const StoredTensor& b = second.tensors()[index];
    EXPECT_EQ(a.name, b.name);
    ASSERT_EQ(a.view.shape(), b.view.shape());
    const auto bytes = static_cast<std::size_t>(row_bytes(a.view.dtype(), a.view.count()));
    EXPECT_EQ(std::memcmp(a.view.data(), b.view.data(), bytes), 0) << a.name;
  }
}

TEST_F(PackedFileTest, WhatCannotReadTheLayoutSaysSo) {
  ASSERT_TRUE(pack_model_file(path("plain.gguf"), path("packed.gguf")).ok());
  const Result<Quantizer> quantizer = Quantizer::open(path("packed.gguf"), {find_type_mix("F16").value()});
  ASSERT_FALSE(quantizer.ok());
  EXPECT_NE(quantizer.error().text().find("ingot pack --undo"), std::string_view::npos);
  for (const Result<PackedFileReport>& report : {pack_model_file(path("packed.gguf"), path("twice.gguf")),
                                                 unpack_model_file(path("plain.gguf"), path("twice.gguf")),
                                                 pack_model_file(path("plain.gguf"), path("plain.gguf"))}) {
    EXPECT_FALSE(report.ok());
  }
  EXPECT_FALSE(ModelFile::open(path("twice.gguf")).ok());
}

}  // namespace
}  // namespace ingot
