#include "convert/import.h"

#include <vector>

#include "convert/output_path.h"
#include "convert/type_mix.h"
#include "model/files/gguf_writer.h"
#include "model/files/llama2c.h"

namespace ingot {

Result<void> import_llama2c(const std::string& model_path, const std::string& vocabulary_path,
                            const std::string& output_path) {
  TRY(require_other_file(model_path, output_path));
  TRY(require_other_file(vocabulary_path, output_path));
  const Llama2cFile file = TRY(Llama2cFile::open(model_path, vocabulary_path));
  Metadata metadata = file.metadata();
  metadata.set_scalar("general.file_type", TRY(find_type_mix("F32"))->file_type);
  // These models were trained on texts with the token that begins one between
  // them, and end a text by beginning the next.
  metadata.set_scalar("tokenizer.ggml.eot_token_id",
                      static_cast<std::uint32_t>(TRY(metadata.integer("tokenizer.ggml.bos_token_id"))));
  std::vector<TensorToWrite> tensors;
  for (const StoredTensor& tensor : file.tensors()) tensors.push_back(tensor_to_write(tensor));
  return write_gguf(output_path, metadata, tensors);
}

}  // namespace ingot
