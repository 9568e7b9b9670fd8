// Files that are wrong, each with one clear error: adapters, models in pieces, sequences.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "engine/adapter_fixture.h"
#include "engine/random_adapter.h"
#include "engine/random_model.h"
#include "engine/sequence_file.h"
#include "model/files/test_files.h"
#include "model/files/write_safetensors.h"

namespace ingot {
namespace {

std::string error_of(const std::string& path, const Model& model) {
  const Result<std::shared_ptr<const Adapter>> adapter = Adapter::open(path, model);
  return adapter.ok() ? "" : std::string(adapter.error().text());
}

TEST(Adapter, AFileThatDoesNotFitIsRefusedByName) {
  const TemporaryFolder folder;
  const auto model = opened((RandomModel(folder.file("base.gguf")), folder.file("base.gguf")));
  const std::string path = folder.file("a.gguf");
  const auto refused = [&](const std::function<void(RandomAdapter&)>& change) {
    RandomAdapter adapter(*model, {"blk.1.attn_q.weight", "ffn_down.weight"}, 3, 1);
    change(adapter);
    EXPECT_TRUE(adapter.write(path).ok());
    return error_of(path, *model);
  };
  const auto renamed = [&](const std::string& name) {
    return refused([&](RandomAdapter& adapter) {
      auto node = adapter.matrices().extract("blk.1.attn_q.weight");
      node.key() = name;
      adapter.matrices().insert(std::move(node));
    });
  };
  EXPECT_EQ(refused([](RandomAdapter&) {}), "");
  EXPECT_NE(renamed("blk.7.attn_q.weight").find("'blk.7.attn_q.weight': expected a weight of the model"),
            std::string::npos);
  EXPECT_NE(renamed("token_embd.weight").find("'token_embd.weight': expected a matrix that products read"),
            std::string::npos);
  EXPECT_NE(renamed("blk.1.attn_norm.weight").find("products read"), std::string::npos);
  EXPECT_NE(
      renamed("blk.1.attn_k.weight").find("expected an adapter of the model's [64, 256], found one of [256, 256]"),
      std::string::npos);
  const auto with_key = [&](const std::string& key, const std::string& value) {
    return refused([&](RandomAdapter& adapter) { adapter.metadata.set_text(key, value); });
  };
  EXPECT_NE(with_key("general.architecture", "qwen2").find("expected an adapter of llama"), std::string::npos);
  EXPECT_NE(with_key("general.type", "model").find("general.type: expected adapter"), std::string::npos);
  EXPECT_NE(with_key("adapter.type", "control_vector").find("adapter.type: expected lora"), std::string::npos);
  EXPECT_NE(with_key("adapter.alora.invocation_tokens", "x").find("alora"), std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) {
              adapter.metadata.set_number("adapter.lora.alpha", std::nan(""));
            }).find("times the rank, found nan"),
            std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) { adapter.metadata.set_integer("split.count", 2); }).find("split.count"),
            std::string::npos);
  EXPECT_NE(refused([](RandomAdapter& adapter) {
              adapter.matrices().begin()->second.second_shape = {256, 3, 1};
            }).find("of one rank"),
            std::string::npos);
  EXPECT_NE(error_of(folder.file("base.gguf"), *model).find("general.type: expected adapter, found 'model'"),
            std::string::npos);
  EXPECT_NE(error_of(folder.path(), *model).find("adapter_config.json"), std::string::npos);
}

TEST(Adapter, SettingsThatAreNotComputedAreRefusedByName) {
  const TemporaryFolder folder;
  const auto model = opened(golden_folder("llama"));
  const auto refused = [&](const std::string& field) {
    folder.write("adapter_config.json", R"({"peft_type":"LORA","r":4,"lora_alpha":6,"bias":"none")" + field + "}");
    return error_of(folder.path(), *model);
  };
  std::filesystem::copy(golden_folder("adapters") / "first" / "adapter_model.safetensors", folder.path());
  for (const std::string harmless :
       {R"()", R"(,"fan_in_fan_out":true)", R"(,"use_dora":false,"modules_to_save":null,"layer_replication":[])",
        R"(,"init_lora_weights":"gaussian","target_modules":["q_proj"],"peft_version":"9")"}) {
    EXPECT_EQ(refused(harmless), "") << harmless;
  }
  for (const auto& [field, named] : std::vector<std::pair<std::string, std::string>>{
           {R"("use_dora":true)", "use_dora"},
           {R"("modules_to_save":["lm_head"])", "modules_to_save"},
           {R"("lora_bias":true)", "lora_bias"},
           {R"("bias":"all")", "bias"},
           {R"("peft_type":"IA3")", "peft_type"},
           {R"("layer_replication":[[0,1],[0,2]])", "layer_replication"},
           {R"("init_lora_weights":"pissa_niter_4")", "init_lora_weights"},
           {R"("target_parameters":["experts"])", "target_parameters"},
           {R"("trainable_token_indices":[1])", "trainable_token_indices"},
           {R"("alora_invocation_tokens":[1,2])", "alora_invocation_tokens"},
           {R"("something_new":{"a":1})", "something_new"},
           {R"("rank_pattern":{"q_.*":4})", "rank_pattern"},
           {R"("rank_pattern":{"q_proj":8})", "q_proj"},
           {R"("rank_pattern":5)", "rank_pattern"}}) {
    std::string text = refused("," + field);
    EXPECT_NE(text.find(named), std::string::npos) << field << ": " << text;
  }
}

TEST(Adapter, FactorsAndNamesOfNoUseAreRefused) {
  const TemporaryFolder folder;
  const auto model = opened(golden_folder("llama"));
  for (const double alpha : {HUGE_VAL, -1e300, 1e300, 4e6}) {
    RandomAdapter adapter(*model, {"ffn_down.weight"}, 3, 1);
    adapter.metadata.set_number("adapter.lora.alpha", alpha);
    ASSERT_TRUE(adapter.write(folder.file("a.gguf")).ok());
    EXPECT_NE(error_of(folder.file("a.gguf"), *model).find("times the rank"), std::string::npos) << alpha;
  }
  // A prefix and a suffix that share a point, and nothing between them.
  folder.write("adapter_config.json", R"({"peft_type":"LORA","r":1,"lora_alpha":1})");
  const float one = 1;
  for (const std::string name :
       {"base_model.model.lora_A.weight", "base_model.model..lora_A.weight", ".lora_A.weight"}) {
    const std::vector<TensorToWrite> tensors = {
        tensor_to_write(name, DType::f32, {1, 1}, std::as_bytes(std::span(&one, 1)))};
    ASSERT_TRUE(write_safetensors(folder.file("adapter_model.safetensors"), Metadata(), tensors).ok());
    EXPECT_NE(error_of(folder.path(), *model).find(name + "': expected only tensors named"), std::string::npos) << name;
  }
}

// Bytes flipped, numbers overwritten, files cut: an error or an adapter, never a crash or a flood of memory.
TEST(Adapter, SurvivesHostileFiles) {
  const TemporaryFolder folder;
  const auto model = opened(golden_folder("llama"));
  RandomAdapter adapter(*model, {"attn_q.weight", "ffn_down.weight"}, 3, 1);
  ASSERT_TRUE(adapter.write(folder.file("good.gguf")).ok());
  const auto text_of = [](const std::string& path) { return std::string(MappedFile::open(path).value().text()); };
  const std::string gguf = text_of(folder.file("good.gguf"));
  const std::string tensors = text_of(golden_folder("adapters") / "second" / "adapter_model.safetensors");
  const std::string settings = text_of(golden_folder("adapters") / "second" / "adapter_config.json");
  int errors = 0, results = 0;
  const auto open = [&](const std::string& path) {
    const Result<std::shared_ptr<const Adapter>> found = Adapter::open(path, *model);
    ++(found.ok() ? results : errors);
    EXPECT_TRUE(found.ok() || !found.error().text().empty());
    if (found.ok()) session_with(model, {found.value()}, {1})->plan_for({.runs = {1}, .outputs = 1}).value();
  };
  std::mt19937_64 random(5);
  const auto mutated = [&](std::string bytes, int round, std::size_t head) {
    if (round % 4 == 0) return bytes.substr(0, random() % bytes.size());
    const std::size_t at = random() % std::min(head, bytes.size() - 8);
    const std::uint64_t number = round % 4 == 1 ? random() : round % 4 == 2 ? ~std::uint64_t{0} >> random() % 64 : 0;
    std::memcpy(bytes.data() + at, &number, round % 4 == 1 ? 1 : 8);
    return bytes;
  };
  for (int round = 0; round < 100; ++round) {
    folder.write("bad.gguf", mutated(gguf, round, 600));
    open(folder.file("bad.gguf"));
  }
  for (int round = 0; round < 100; ++round) {
    folder.write("adapter_model.safetensors", round % 2 == 0 ? mutated(tensors, round / 2, 1200) : tensors);
    folder.write("adapter_config.json", round % 2 == 1 ? mutated(settings, round / 2, settings.size()) : settings);
    open(folder.path());
  }
  EXPECT_EQ(errors + results, 200);
  EXPECT_GT(errors, 80);
}

// --- two hundred of all kinds, each with one error: a line that names the file, what was expected and what was found
// ---

class HostileFiles : public testing::Test {
 protected:
  static std::string text_of(const std::string& path) { return std::string(MappedFile::open(path).value().text()); }

  template <class Value>
  void expect_one_clear_error(const Result<Value>& opened, std::string_view file, const std::string& what) {
    ++count_;
    ASSERT_FALSE(opened.ok()) << what;
    const std::string_view text = opened.error().text();
    for (const std::string_view part : {file, std::string_view("expected"), std::string_view("found")}) {
      EXPECT_NE(text.find(part), std::string_view::npos) << what << ": " << text;
    }
    EXPECT_EQ(text.find('\n'), std::string_view::npos) << what << ": " << text;
    const std::string path = folder_.path() + "/";
    EXPECT_EQ(text.find(path), text.rfind(path)) << what << ", one file: " << text;
  }

  // The first bytes of a file, of `many` lengths.
  template <class Expect>
  static void for_beginnings(const std::string& whole, std::size_t many, Expect&& expect) {
    for (std::size_t index = 0; index < many; ++index) expect(whole.substr(0, index * (whole.size() - 1) / (many - 1)));
  }

  TemporaryFolder folder_;
  int count_ = 0;
};

TEST_F(HostileFiles, Adapters) {
  const auto model = opened(golden_folder("llama"));
  RandomAdapter adapter(*model, {"attn_q.weight", "ffn_down.weight"}, 3, 1);
  ASSERT_TRUE(adapter.write(folder_.file("a.gguf")).ok());
  const std::string gguf = text_of(folder_.file("a.gguf"));
  const auto expect_gguf = [&](const std::string& bytes, const std::string& what) {
    folder_.write("a.gguf", bytes);
    expect_one_clear_error(Adapter::open(folder_.file("a.gguf"), *model), "a.gguf", what);
  };
  for_beginnings(gguf, 20,
                 [&](const std::string& bytes) { expect_gguf(bytes, "cut at " + std::to_string(bytes.size())); });
  // Numbers of the header: magic, version, how many tensors, how many keys.
  for (const std::size_t at : {0u, 4u, 8u, 16u}) {
    for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
      std::string bytes = gguf;
      std::memcpy(bytes.data() + at, &number, at < 8 ? 4 : 8);
      expect_gguf(bytes, std::to_string(at) + " is " + std::to_string(number));
    }
  }
  // Sizes, types and offsets of each tensor, behind its name: two sizes, a type, an offset.
  const std::size_t names = gguf.find("lora_a");
  for (std::size_t end = names; end != std::string::npos && end < names + 400; end = gguf.find("lora_", end)) {
    end += std::string_view("lora_a").size();
    for (const std::size_t field : {0u, 4u, 12u, 20u, 24u}) {
      std::string bytes = gguf;
      std::memset(bytes.data() + end + field, 0x7f, field == 0 || field == 20 ? 4 : 8);
      expect_gguf(bytes, "tensor at " + std::to_string(end) + ", field " + std::to_string(field));
    }
  }
  const std::filesystem::path good = golden_folder("adapters") / "second";
  const std::string tensors = text_of(good / "adapter_model.safetensors");
  const std::string settings = text_of(good / "adapter_config.json");
  const auto expect_peft = [&](const std::string& changed_tensors, const std::string& changed_settings) {
    folder_.write("adapter_model.safetensors", changed_tensors);
    folder_.write("adapter_config.json", changed_settings);
    expect_one_clear_error(Adapter::open(folder_.path(), *model), folder_.path(),
                           std::to_string(changed_tensors.size()) + " " + changed_settings);
  };
  for_beginnings(tensors, 15, [&](const std::string& bytes) { expect_peft(bytes, settings); });
  const std::string object = settings.substr(0, settings.rfind('}') + 1);
  for_beginnings(object, 15, [&](const std::string& bytes) { expect_peft(tensors, bytes); });
  EXPECT_GE(count_, 80);
}

TEST_F(HostileFiles, Pieces) {
  const auto name_of = [](int piece) { return "m-0000" + std::to_string(piece + 1) + "-of-00003.gguf"; };
  const std::vector<float> ones(8, 1);
  const auto piece_of = [&](int number, const std::function<void(Metadata&)>& change,
                            const std::vector<std::string>& names) {
    Metadata metadata;
    if (number == 0) metadata.set_text("general.architecture", "llama");
    metadata.set_text("general.name", "tiny");
    metadata.set_scalar("split.no", static_cast<std::uint16_t>(number));
    metadata.set_scalar("split.count", std::uint16_t{3});
    metadata.set_scalar("split.tensors.count", std::int32_t{3});
    change(metadata);
    std::vector<TensorToWrite> tensors;
    for (const std::string& name : names) {
      tensors.push_back(tensor_to_write(name, DType::f32, {8}, std::as_bytes(std::span<const float>(ones))));
    }
    EXPECT_TRUE(write_gguf(folder_.file("piece"), metadata, tensors).ok());
    return text_of(folder_.file("piece"));
  };
  const std::function<void(Metadata&)> as_it_is = [](Metadata&) {};
  const auto set = [](std::string_view key, std::int64_t value) {
    return [key, value](Metadata& metadata) { metadata.set_integer(key, value); };
  };
  std::vector<std::string> good;
  for (int piece = 0; piece < 3; ++piece) good.push_back(piece_of(piece, as_it_is, {"t" + std::to_string(piece)}));
  for (int piece = 0; piece < 3; ++piece) {
    for (int other = 0; other < 3; ++other) folder_.write(name_of(other), good[static_cast<std::size_t>(other)]);
    ASSERT_TRUE(ModelFile::open(folder_.file(name_of(piece))).ok());
    // Another piece is given than the one that is wrong.
    const auto expect = [&](const std::string& what) {
      expect_one_clear_error(ModelFile::open(folder_.file(name_of((piece + 1) % 3))), "m-0000",
                             std::to_string(piece) + " " + what);
    };
    const auto expect_bytes = [&](const std::string& bytes, const std::string& what) {
      folder_.write(name_of(piece), bytes);
      expect(what);
    };
    const std::string own = "t" + std::to_string(piece);
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{piece + 1}, std::int64_t{65535}, INT64_MAX}) {
      expect_bytes(piece_of(piece, set("split.no", wrong), {own}), "is number " + std::to_string(wrong));
    }
    for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}, std::int64_t{4}, INT64_MAX}) {
      expect_bytes(piece_of(piece, set("split.count", wrong), {own}), "of " + std::to_string(wrong));
      if (wrong != 1) {
        expect_bytes(piece_of(piece, set("split.tensors.count", wrong), {own}), "with " + std::to_string(wrong));
      }
    }
    expect_bytes(piece_of(piece, [](Metadata& all) { all.set_text("split.no", "1"); }, {own}), "number as text");
    expect_bytes(piece_of(piece, [](Metadata& all) { all.set_text("general.name", "other"); }, {own}), "another's");
    expect_bytes(piece_of(piece, as_it_is, {}), "without its tensor");
    expect_bytes(piece_of(piece, as_it_is, {own, "more"}), "with one more");
    expect_bytes(piece_of(piece, as_it_is, {"t" + std::to_string((piece + 1) % 3)}), "with another's tensor");
    expect_bytes(good[static_cast<std::size_t>((piece + 2) % 3)], "a copy of another");
    expect_bytes("no GGUF", "text");
    for_beginnings(good[static_cast<std::size_t>(piece)], 8,
                   [&](const std::string& bytes) { expect_bytes(bytes, "cut at " + std::to_string(bytes.size())); });
    std::filesystem::remove(folder_.file(name_of(piece)));
    expect("missing");
    std::filesystem::create_directory(folder_.file(name_of(piece)));
    expect("a folder");
    std::filesystem::remove(folder_.file(name_of(piece)));
  }
  EXPECT_GE(count_, 75);
}

TEST_F(HostileFiles, Sequences) {
  const auto model = opened(golden_folder("llama"));
  const auto session = session_with(model, {});
  const std::int32_t tokens[] = {1, 2, 3, 4, 5};
  const int sequence = session->sequences().add().value();
  ASSERT_TRUE(session->forward({sequence, tokens, Wanted::none}).ok());
  const std::string path = folder_.file("kept.session");
  ASSERT_TRUE(write_sequence(*session, sequence, tokens, path).ok());
  session->sequences().remove(sequence);
  const std::string good = text_of(path);
  const auto expect_in = [&](Session& other, const std::string& what) {
    const int empty = other.sequences().add().value();
    expect_one_clear_error(read_sequence(other, empty, path), "kept.session", what);
    other.sequences().remove(empty);
  };
  const auto expect = [&](const std::string& bytes, const std::string& what) {
    folder_.write("kept.session", bytes);
    expect_in(*session, what);
  };
  for_beginnings(good, 20, [&](const std::string& bytes) { expect(bytes, "cut at " + std::to_string(bytes.size())); });
  std::uint64_t header = 0;
  std::memcpy(&header, good.data(), sizeof(header));
  for (const std::uint64_t length :
       {std::uint64_t{0}, header - 1, header + 1, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::string bytes = good;
    std::memcpy(bytes.data(), &length, sizeof(length));
    expect(bytes, "a header of " + std::to_string(length));
  }
  // Any byte behind the header is held by the checksum.
  for (std::size_t index = 0; index < 25; ++index) {
    std::string bytes = good;
    char& byte = bytes[8 + header + index * (good.size() - 9 - header) / 24];
    byte = static_cast<char>(byte ^ (1 << index % 8));
    expect(bytes, "flipped " + std::to_string(index));
  }
  expect(good + "x", "longer");
  folder_.write("kept.session", good);
  EXPECT_TRUE(read_sequence(*session, session->sequences().add().value(), path).ok())
      << "nothing was left behind by those that were refused";
  expect_in(*session_with(opened(golden_folder("qwen3")), {}), "another model's");
  const auto with_adapter = session_with(model, {adapter_at(golden_folder("adapters") / "first", *model)}, {1});
  expect_in(*with_adapter, "without the adapter");
  EXPECT_GE(count_, 50);
}

}  // namespace
}  // namespace ingot
