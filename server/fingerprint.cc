#include "server/fingerprint.h"

#include <algorithm>

#include "base/random.h"
#include "machine/machine.h"

namespace ingot {
namespace {

constexpr std::size_t beginning_bytes = 4096;  // of a tensor: a page of the file

class Sum {
 public:
  void add(std::uint64_t number) { sum_ = RandomNumbers(sum_ ^ number).next(); }
  // Its length too: "a", "bc" are not "ab", "c".
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    for (const std::byte byte : bytes) add(std::to_integer<std::uint64_t>(byte));
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

void add_model(const Model& model, Sum& sum) {
  for (const Metadata::Entry& entry : model.metadata().entries()) {
    sum.add(entry.key);
    sum.add(entry.value.bytes);
    if (entry.value.texts == nullptr) continue;
    for (const std::string_view text : *entry.value.texts) sum.add(text);
  }
  for (const StoredTensor& tensor : model.file().tensors()) {
    sum.add(tensor.name);
    sum.add(static_cast<std::uint64_t>(tensor.view.dtype()));
    for (const std::int64_t size : tensor.view.shape()) sum.add(static_cast<std::uint64_t>(size));
    const auto bytes = static_cast<std::size_t>(row_bytes(tensor.view.dtype(), tensor.view.count()));
    sum.add(std::span(tensor.view.data(), std::min(bytes, beginning_bytes)));
  }
}

}  // namespace

std::string fingerprint_of(const Model& model, const SessionOptions& session, std::string_view chat_template,
                           std::string_view program) {
  Sum sum;
  sum.add(program);
  const FeatureSet features = Machine::detect().features;
  for (int index = 0; index < feature_count; ++index) sum.add(features.contains(static_cast<Feature>(index)));
  add_model(model, sum);
  sum.add(chat_template);
  sum.add(static_cast<std::uint64_t>(session.cache));
  sum.add(session.deterministic);
  std::string text = "ingot-";
  for (int shift = 60; shift >= 32; shift -= 4) text += "0123456789abcdef"[sum.value() >> shift & 15];
  return text;
}

}  // namespace ingot
