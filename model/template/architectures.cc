// The list of architectures: a new one is one file of this folder and one row here.
#include "model/template/companions.h"
#include "model/template/decoder_numbers.h"
#include "model/template/template.h"

namespace ingot {

extern const ModelArchitecture llama_architecture;
extern const ModelArchitecture qwen2_architecture;
extern const ModelArchitecture qwen3_architecture;
extern const ModelArchitecture phi3_architecture;
extern const ModelArchitecture gemma2_architecture;
extern const ModelArchitecture gemma3_architecture;
extern const ModelArchitecture gpt2_architecture;
extern const ModelArchitecture bert_architecture;
extern const ModelArchitecture qwen3moe_architecture;
extern const ModelArchitecture qwen3next_architecture;
extern const ModelArchitecture mamba_architecture;
extern const ModelArchitecture mamba2_architecture;
extern const ModelArchitecture olmo2_architecture;
extern const ModelArchitecture granite_architecture;
extern const ModelArchitecture smollm3_architecture;
extern const ModelArchitecture glm4_architecture;
extern const ModelArchitecture qwen3vl_architecture;
extern const ModelArchitecture gpt_oss_architecture;
extern const ModelArchitecture deepseek2_architecture;
extern const ModelArchitecture falcon_h1_architecture;
extern const ModelArchitecture lfm2_architecture;
extern const ModelArchitecture gemma3n_architecture;

std::span<const ModelArchitecture* const> all_architectures() {
  static const ModelArchitecture* const architectures[] = {
      &llama_architecture,    &qwen2_architecture,     &qwen3_architecture,     &phi3_architecture,
      &gemma2_architecture,   &gemma3_architecture,    &gpt2_architecture,      &bert_architecture,
      &qwen3moe_architecture, &qwen3next_architecture, &mamba_architecture,     &mamba2_architecture,
      &olmo2_architecture,    &granite_architecture,   &smollm3_architecture,   &glm4_architecture,
      &qwen3vl_architecture,  &gpt_oss_architecture,   &deepseek2_architecture, &falcon_h1_architecture,
      &lfm2_architecture,     &gemma3n_architecture,
  };
  return architectures;
}

namespace {

std::string known_names() {
  std::string names;
  for (const ModelArchitecture* architecture : all_architectures()) {
    names += (names.empty() ? "" : ", ") + std::string(architecture->name);
  }
  return names;
}

Result<ModelSource> translated_source(const ModelFile& file) {
  const std::string_view type = TRY(file.metadata().text("model_type"));
  for (const ModelArchitecture* architecture : all_architectures()) {
    for (const std::string_view known : architecture->model_types) {
      if (known != type) continue;
      ModelSource source;
      TRY(architecture->translate(file, source));
      TRY(translate_generation_config(file, source.metadata));
      return source;
    }
  }
  return Error::of(ErrorCode::unsupported, "model_type: expected an architecture of ", known_names(), ", found ", type);
}

// As config.json says it.
Result<void> make_magnitude_whole(Metadata& metadata) {
  const Keys keys(metadata, TRY(metadata.text_or("general.architecture", "")));
  constexpr std::string_view suffix = "rope.scaling.attn_factor";
  if (!keys.has(suffix)) return {};
  metadata.set_number(keys.key(suffix), TRY(keys.number_or(suffix, 0)) * TRY(gguf_magnitude_unit(keys)));
  return {};
}

}  // namespace

Result<const ModelArchitecture*> find_architecture(std::string_view name) {
  for (const ModelArchitecture* architecture : all_architectures()) {
    if (architecture->name == name) return architecture;
  }
  return Error::of(ErrorCode::unsupported, "general.architecture: expected one of ", known_names(), ", found ", name);
}

Result<ModelSource> read_source(const ModelFile& file) {
  if (file.format() == ModelFile::Format::hugging_face) return translated_source(file);
  if (file.format() == ModelFile::Format::safetensors) {
    return Error::of(ErrorCode::unsupported,
                     "expected a GGUF file or a folder with config.json, found a single safetensors file: its "
                     "architecture is not in it");
  }
  ModelSource source;
  source.metadata = file.metadata();
  TRY(make_magnitude_whole(source.metadata));
  for (const StoredTensor& tensor : file.tensors()) TRY(source.weights.add(tensor.name, tensor.view));
  return source;
}

Result<std::unique_ptr<Template>> create_template(const ModelSource& source) {
  const std::string_view name = TRY(source.metadata.text("general.architecture"));
  return TRY(find_architecture(name))->create(source);
}

}  // namespace ingot
