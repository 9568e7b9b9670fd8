// For tests: the golden model that makes embeddings, with a tokenizer that knows letters.
#pragma once

#include <unistd.h>

#include <fstream>

#include "engine/golden_model.h"

namespace ingot {

inline std::string tokenizer_of_letters() {
  std::string words = R"("[UNK]":0)";
  for (char letter = 'a'; letter <= 'z'; ++letter) {
    words += std::string(",\"") + letter + "\":" + std::to_string(letter - 'a' + 1);
  }
  return R"({"version":"1.0","added_tokens":[{"id":0,"content":"[UNK]","special":true,"single_word":false,)"
         R"("lstrip":false,"rstrip":false,"normalized":false}],"normalizer":null,"post_processor":null,"decoder":null,)"
         R"("pre_tokenizer":{"type":"BertPreTokenizer"},"model":{"type":"WordPiece","unk_token":"[UNK]",)"
         R"("continuing_subword_prefix":"##","max_input_chars_per_word":100,"vocab":{)" +
         words + "}}}";
}

inline std::shared_ptr<const Model> open_embedder() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / ("embedder" + std::to_string(::getpid()));
  fs::create_directories(folder);
  for (const char* name : {"config.json", "model.safetensors"}) {
    fs::copy_file(golden_folder("bert") / name, folder / name, fs::copy_options::overwrite_existing);
  }
  std::ofstream(folder / "tokenizer.json") << tokenizer_of_letters();
  Result<std::shared_ptr<const Model>> model = Model::open(folder);
  fs::remove_all(folder);  // what is mapped stays
  if (model.ok()) return std::move(model).value();
  ADD_FAILURE() << model.error().text();
  return nullptr;
}

}  // namespace ingot
