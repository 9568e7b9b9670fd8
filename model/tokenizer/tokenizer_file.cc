#include "model/tokenizer/tokenizer_file.h"

#include <filesystem>

#include "model/files/mapped_file.h"
#include "model/files/quoted.h"

namespace ingot {

Result<Tokenizer> open_tokenizer_json(const std::string& path) {
  const MappedFile file = TRY(MappedFile::open(path));
  const std::filesystem::path beside = std::filesystem::path(path).parent_path() / "tokenizer_config.json";
  std::error_code ignored;
  const bool has_configuration = std::filesystem::is_regular_file(beside, ignored);
  std::string configuration;
  if (has_configuration) configuration = TRY(MappedFile::open(beside.string())).text();
  Result<TokenizerDescription> read = describe_hugging_face_tokenizer(file.text(), configuration);
  if (!read.ok()) return read.error().within(Quoted{path});
  TokenizerDescription description = std::move(read).value();
  if (!has_configuration && !description.end_of_generation.empty()) {
    description.eos = description.end_of_generation[0];
    description.bos = description.eos;
  }
  return Tokenizer::create(std::move(description));
}

}  // namespace ingot
