// Records what llama.cpp computes with a model: greedy continuations of fixed prompts with the distance between the
// two best logits at each step, and the perplexity of a text. It links against a llama.cpp built outside the tree, so
// neither the build nor its checks know it: hence the suffix.
//
//   g++ -std=c++20 -O2 -I $LLAMA/include -I $LLAMA/ggml/include llama_cpp_reference.cpp -L $LLAMA/build/bin
//       -Wl,-rpath,$LLAMA/build/bin -lllama -lggml -lggml-base -o llama_cpp_reference
//   ./llama_cpp_reference SmolLM2-135M-Instruct.Q4_1.gguf essay.txt COMMIT > greedy.json
//   llama-quantize --allow-requantize SmolLM2-135M-Instruct.Q4_1.gguf SmolLM2-135M-Instruct.dequantized.F32.gguf F32
//   ./llama_cpp_reference SmolLM2-135M-Instruct.dequantized.F32.gguf essay.txt COMMIT f32 > exact.json
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "llama.h"

namespace {

constexpr int new_tokens = 64;
constexpr int context_length = 2048;
constexpr int chunk = 512;

const std::string_view prompts[] = {
    "The capital of France is",
    "Once upon a time, in a village by the sea,",
    "Water boils at a temperature of",
    "def fibonacci(n):\n",
    "#include <stdio.h>\n\nint main(void) {\n",
    "The three primary colors are",
    "Dear Sir or Madam,\n\nI am writing to",
    "1, 1, 2, 3, 5, 8, 13,",
    "SELECT name, COUNT(*) FROM orders",
    "Photosynthesis is the process by which",
    "Q: What is the largest planet in the solar system?\nA:",
    "Ingredients:\n- 2 cups of flour\n- 1 cup of sugar\n",
    "Der schnelle braune Fuchs",
    "caf\u00e9, na\u00efve, \u4f60\u597d, \u2603:",
    "{\"name\": \"Alice\", \"age\": 30, \"city\":",
    " ",
    "<|im_start|>user\nWhat is gravity?<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
    "<|im_start|>user\nName three fruits.<|im_end|>\n<|im_start|>assistant\n",
    "<|im_start|>system\nAnswer in one short sentence.<|im_end|>\n<|im_start|>user\nWhy is the sky blue?<|im_end|>\n"
    "<|im_start|>assistant\n",
    "<|im_start|>user\nWrite a haiku about winter.<|im_end|>\n<|im_start|>assistant\n",
};

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(1);
}

struct Model {
  llama_context* context;
  const llama_vocab* vocabulary;
  int vocabulary_size;

  std::vector<llama_token> tokenize(std::string_view text) const {
    std::vector<llama_token> ids(text.size() + 8);
    const int count = llama_tokenize(vocabulary, text.data(), static_cast<int>(text.size()), ids.data(),
                                     static_cast<int>(ids.size()), /*add_special=*/true, /*parse_special=*/true);
    if (count < 0) fail("a text has more tokens than bytes");
    ids.resize(static_cast<size_t>(count));
    return ids;
  }

  void forget() const { llama_memory_clear(llama_get_memory(context), true); }

  // The logits of the last token only.
  const float* decode(std::vector<llama_token>& ids) const {
    if (llama_decode(context, llama_batch_get_one(ids.data(), static_cast<int>(ids.size()))) != 0) fail("decode");
    return llama_get_logits_ith(context, -1);
  }
};

void print_ids(const char* name, const std::vector<llama_token>& ids) {
  std::printf("\"%s\": [", name);
  for (size_t i = 0; i < ids.size(); ++i) std::printf("%s%d", i ? "," : "", ids[i]);
  std::printf("]");
}

void print_text(std::string_view text) {
  std::putchar('"');
  for (const char c : text) {
    if (c == '\n') {
      std::fputs("\\n", stdout);
    } else {
      if (c == '"' || c == '\\') std::putchar('\\');
      std::putchar(c);
    }
  }
  std::putchar('"');
}

void print_greedy(const Model& model, std::string_view prompt) {
  model.forget();
  const std::vector<llama_token> prompt_ids = model.tokenize(prompt);
  std::vector<llama_token> input = prompt_ids;
  std::vector<llama_token> ids;
  std::vector<float> gaps;
  while (ids.size() < new_tokens && (ids.empty() || !llama_vocab_is_eog(model.vocabulary, ids.back()))) {
    const float* logits = model.decode(input);
    const float* best = std::max_element(logits, logits + model.vocabulary_size);
    float second = -INFINITY;
    for (const float* logit = logits; logit != logits + model.vocabulary_size; ++logit) {
      if (logit != best) second = std::max(second, *logit);
    }
    ids.push_back(static_cast<llama_token>(best - logits));
    gaps.push_back(*best - second);
    input = {ids.back()};
  }
  std::printf("  {\"text\": ");
  print_text(prompt);
  std::printf(",\n   ");
  print_ids("prompt_ids", prompt_ids);
  std::printf(",\n   ");
  print_ids("ids", ids);
  std::printf(",\n   \"gaps\": [");
  for (size_t i = 0; i < gaps.size(); ++i) std::printf("%s%.4g", i ? "," : "", static_cast<double>(gaps[i]));
  std::printf("]}");
}

double negative_log_likelihood(const float* logits, int size, llama_token id) {
  const double peak = *std::max_element(logits, logits + size);
  double sum = 0.0;
  for (int i = 0; i < size; ++i) sum += std::exp(static_cast<double>(logits[i]) - peak);
  return peak + std::log(sum) - static_cast<double>(logits[id]);
}

double perplexity(const Model& model, const std::vector<llama_token>& ids) {
  model.forget();
  const int count = static_cast<int>(ids.size());
  if (count > context_length) fail("the text is longer than the context");
  double total = 0.0;
  for (int start = 0; start < count; start += chunk) {
    llama_batch batch = llama_batch_init(chunk, 0, 1);
    batch.n_tokens = std::min(chunk, count - start);
    for (int i = 0; i < batch.n_tokens; ++i) {
      batch.token[i] = ids[static_cast<size_t>(start + i)];
      batch.pos[i] = start + i;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = true;
    }
    if (llama_decode(model.context, batch) != 0) fail("decode");
    for (int i = 0; i < batch.n_tokens && start + i + 1 < count; ++i) {
      total += negative_log_likelihood(llama_get_logits_ith(model.context, i), model.vocabulary_size,
                                       ids[static_cast<size_t>(start + i + 1)]);
    }
    llama_batch_free(batch);
  }
  return std::exp(total / (count - 1));
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) fail("usage: llama_cpp_reference model.gguf text.txt commit [f16|f32]");
  const std::string cache = argc > 4 ? argv[4] : "f16";
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  llama_model_params loading = llama_model_default_params();
  loading.use_extra_bufts = false;  // weights repacked for one machine's units would make the values that machine's
  llama_model* file = llama_model_load_from_file(argv[1], loading);
  if (file == nullptr) fail("the model could not be loaded");
  llama_context_params parameters = llama_context_default_params();
  parameters.n_ctx = context_length;
  parameters.n_batch = chunk;
  parameters.n_threads = parameters.n_threads_batch = 1;
  if (cache == "f32") {
    parameters.type_k = parameters.type_v = GGML_TYPE_F32;
    parameters.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;  // flash attention would round the cache to f16 again
  }
  llama_context* context = llama_init_from_model(file, parameters);
  if (context == nullptr) fail("the context could not be made");
  const llama_vocab* vocabulary = llama_model_get_vocab(file);
  const Model model{context, vocabulary, llama_vocab_n_tokens(vocabulary)};

  std::ifstream stream(argv[2], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::vector<llama_token> ids = model.tokenize(text);
  std::printf("{\"model\": \"%s\", \"llama_cpp_commit\": \"%s\", \"cache\": \"%s\", \"adds_bos\": %s,\n",
              base_name(argv[1]).c_str(), argv[3], cache.c_str(),
              llama_vocab_get_add_bos(vocabulary) ? "true" : "false");
  std::printf(" \"prompts\": [\n");
  for (const std::string_view& prompt : prompts) {
    print_greedy(model, prompt);
    std::printf(&prompt == std::end(prompts) - 1 ? "],\n" : ",\n");
  }
  std::printf(" \"perplexity\": {\"text_file\": \"%s\", \"value\": %.6f,\n  ", base_name(argv[2]).c_str(),
              perplexity(model, ids));
  print_ids("token_ids", ids);
  std::printf("}}\n");
  llama_free(context);
  llama_model_free(file);
}
