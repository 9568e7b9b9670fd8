// Any bytes are a safetensors file or an error, and any text is an index, a configuration or an error.
#include <cstdlib>

#include "model/files/json_metadata.h"
#include "model/files/safetensors.h"
#include "model/files/safetensors_index.h"
#include "tests/fuzz/read_all.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Metadata> configuration = metadata_from_json(text);
  if (configuration.ok()) read_all(configuration.value());
  (void)read_safetensors_index(text).ok();
  const Result<SafetensorsFile> parsed = SafetensorsFile::parse(std::as_bytes(std::span(data, size)));
  if (!parsed.ok()) return parsed.error().text().empty() ? std::abort(), 0 : 0;
  read_all(parsed.value().metadata());
  for (const TensorRecord& record : parsed.value().records()) read_all(record.bytes);
  const Result<StoredTensors> tensors = parsed.value().tensors();
  if (tensors.ok()) read_all(tensors.value());
  return 0;
}
