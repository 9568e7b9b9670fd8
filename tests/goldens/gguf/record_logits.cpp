// Records the logits that llama.cpp computes for a fixed sequence with a model of this folder, as safetensors. It links
// against a llama.cpp built outside the tree, so neither the build nor its checks know it: hence the suffix.
//
//   g++ -std=c++20 -O2 -I $LLAMA/include -I $LLAMA/ggml/include record_logits.cpp -L $LLAMA/build/bin
//       -Wl,-rpath,$LLAMA/build/bin -lllama -lggml -lggml-base -o record_logits
//   for model in *.gguf; do ./record_logits $model ${model%.gguf}.safetensors; done
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "llama.h"

namespace {

const std::vector<llama_token> sequence = {5, 17, 39, 3, 3, 31, 26, 9, 22, 0, 38};

[[noreturn]] void fail(const char* text) {
  std::fprintf(stderr, "%s\n", text);
  std::exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) fail("expected a model and a file to write");
  llama_backend_init();
  llama_model* model = llama_model_load_from_file(words[1], llama_model_default_params());
  if (model == nullptr) fail("the model did not open");
  llama_context_params options = llama_context_default_params();
  options.n_ctx = 64;
  options.n_batch = 64;
  options.type_k = GGML_TYPE_F32;
  options.type_v = GGML_TYPE_F32;
  options.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  llama_context* context = llama_init_from_model(model, options);
  if (context == nullptr) fail("no context");
  llama_batch batch = llama_batch_init(static_cast<int32_t>(sequence.size()), 0, 1);
  batch.n_tokens = static_cast<int32_t>(sequence.size());
  for (int32_t index = 0; index < batch.n_tokens; ++index) {
    batch.token[index] = sequence[static_cast<std::size_t>(index)];
    batch.pos[index] = index;
    batch.n_seq_id[index] = 1;
    batch.seq_id[index][0] = 0;
    batch.logits[index] = 1;
  }
  if (llama_decode(context, batch) != 0) fail("the pass failed");

  const std::vector<std::int64_t> tokens(sequence.begin(), sequence.end());
  const int width = llama_vocab_n_tokens(llama_model_get_vocab(model));
  const std::size_t token_bytes = tokens.size() * sizeof(std::int64_t);
  const std::size_t logit_bytes = tokens.size() * static_cast<std::size_t>(width) * sizeof(float);
  std::string header = "{\"tokens.0\":{\"dtype\":\"I64\",\"shape\":[" + std::to_string(tokens.size()) +
                       "],\"data_offsets\":[0," + std::to_string(token_bytes) +
                       "]},\"logits.0\":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(tokens.size()) + "," +
                       std::to_string(width) + "],\"data_offsets\":[" + std::to_string(token_bytes) + "," +
                       std::to_string(token_bytes + logit_bytes) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::uint64_t header_bytes = header.size();
  std::ofstream file(words[2], std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header_bytes), sizeof(header_bytes));
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(tokens.data()), static_cast<std::streamsize>(token_bytes));
  for (int32_t index = 0; index < batch.n_tokens; ++index) {
    file.write(reinterpret_cast<const char*>(llama_get_logits_ith(context, index)),
               static_cast<std::streamsize>(logit_bytes / tokens.size()));
  }
  return file.good() ? 0 : 1;
}
