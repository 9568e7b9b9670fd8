// Any bytes are a GGUF file or an error; what a file shows lies inside it and can be read to the last byte.
#include <cstdlib>

#include "model/files/gguf.h"
#include "tests/fuzz/read_all.h"

using namespace ingot;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<GgufFile> parsed = GgufFile::parse(std::as_bytes(std::span(data, size)));
  if (!parsed.ok()) return parsed.error().text().empty() ? std::abort(), 0 : 0;
  read_all(parsed.value().metadata());
  for (const TensorRecord& record : parsed.value().records()) read_all(record.bytes);
  const Result<StoredTensors> tensors = parsed.value().tensors();
  if (tensors.ok()) read_all(tensors.value());
  return 0;
}
