// Metadata: what a model file says about its tensors, key by key, in the file's order.
//
//   const std::int64_t layers = TRY(metadata.integer("llama.block_count"));
//   const double base = TRY(metadata.number_or("llama.rope.freq_base", 10000.0));
//   const TextList tokens = TRY(metadata.text_list("tokenizer.ggml.tokens"));
//
// What was read from a file is a view of that file, which must outlive it; what was set() is kept by the Metadata and
// its copies. A getter without a default fails where the key is absent; every getter fails where the kind is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace ingot {

// Numbered as GGUF numbers them; 9 is its mark of a list.
enum class ValueKind : std::uint8_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  text = 8,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};

std::string_view name_of(ValueKind kind);
bool is_integer(ValueKind kind);
// Bytes of one value; 0 for text.
std::size_t byte_size(ValueKind kind);

template <class Element>
constexpr ValueKind value_kind_of() {
  if constexpr (std::is_same_v<Element, bool>)
    return ValueKind::boolean;
  else if constexpr (std::is_same_v<Element, float>)
    return ValueKind::f32;
  else if constexpr (std::is_same_v<Element, double>)
    return ValueKind::f64;
  else {
    static_assert(std::is_integral_v<Element>, "no ValueKind for this type");
    constexpr ValueKind with_sign[] = {ValueKind::i8, ValueKind::i16, ValueKind::i32, ValueKind::i64};
    constexpr ValueKind without[] = {ValueKind::u8, ValueKind::u16, ValueKind::u32, ValueKind::u64};
    constexpr int width = sizeof(Element) == 1 ? 0 : sizeof(Element) == 2 ? 1 : sizeof(Element) == 4 ? 2 : 3;
    return std::is_signed_v<Element> ? with_sign[width] : without[width];
  }
}

using TextList = std::span<const std::string_view>;

// Numbers or booleans as they lie in a file: packed, little endian, at any address.
class ScalarList {
 public:
  ScalarList() = default;
  // Precondition: bytes.size() is a multiple of byte_size(kind), and kind is not text.
  ScalarList(ValueKind kind, std::span<const std::byte> bytes) : kind_(kind), bytes_(bytes) {}

  ValueKind kind() const { return kind_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size() / byte_size(kind_); }
  bool empty() const { return bytes_.empty(); }

  // Precondition of all: index < size(). An integer of kind u64 above the largest std::int64_t wraps (integer_list()
  // gives no such list), and one of a floating kind is 0.
  std::int64_t integer(std::size_t index) const;
  double number(std::size_t index) const;
  bool boolean(std::size_t index) const { return bytes_[index] != std::byte{0}; }

 private:
  template <class Element>
  Element load(std::size_t index) const {
    Element element;
    std::memcpy(&element, bytes_.data() + index * sizeof(Element), sizeof(Element));
    return element;
  }

  ValueKind kind_ = ValueKind::i64;
  std::span<const std::byte> bytes_;
};

struct MetadataValue {
  ValueKind kind = ValueKind::text;  // of the value, or of each element
  bool is_list = false;
  std::span<const std::byte> bytes;                            // the scalars, or a single text's characters
  std::shared_ptr<const std::vector<std::string_view>> texts;  // of a list of text

  std::size_t size() const;  // elements of a list; 1 otherwise
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

// Equal in kind and in every byte.
bool operator==(const MetadataValue& left, const MetadataValue& right);

class Metadata {
 public:
  struct Entry {
    std::string_view key;
    MetadataValue value;
    bool operator==(const Entry&) const = default;
  };

  std::span<const Entry> entries() const { return entries_; }
  bool has(std::string_view key) const { return find(key) != nullptr; }
  const MetadataValue* find(std::string_view key) const;

  Result<std::string_view> text(std::string_view key) const;
  Result<std::int64_t> integer(std::string_view key) const;  // any integer kind whose value fits
  Result<double> number(std::string_view key) const;         // any integer or floating kind
  Result<bool> boolean(std::string_view key) const;
  Result<TextList> text_list(std::string_view key) const;
  Result<ScalarList> integer_list(std::string_view key) const;  // every element fits std::int64_t
  Result<ScalarList> number_list(std::string_view key) const;   // of any integer or floating kind
  Result<ScalarList> boolean_list(std::string_view key) const;

  // The default where the key is absent; a wrong kind is an error all the same.
  Result<std::string_view> text_or(std::string_view key, std::string_view absent) const;
  Result<std::int64_t> integer_or(std::string_view key, std::int64_t absent) const;
  Result<double> number_or(std::string_view key, double absent) const;
  Result<bool> boolean_or(std::string_view key, bool absent) const;
  // Empty where the key is absent.
  Result<TextList> text_list_or_empty(std::string_view key) const;
  Result<ScalarList> integer_list_or_empty(std::string_view key) const;
  Result<ScalarList> number_list_or_empty(std::string_view key) const;

  // Setters copy what they are given. A key that is there keeps its place and gets the new value.
  void set_text(std::string_view key, std::string_view text);
  void set_text_list(std::string_view key, TextList texts);
  void set_integer(std::string_view key, std::int64_t value) { set_scalar(key, value); }
  void set_number(std::string_view key, double value) { set_scalar(key, value); }
  void set_boolean(std::string_view key, bool value) { set_scalar(key, value); }
  // The kind is the C++ type's: set_scalar(key, std::uint32_t{4}) is a u32.
  template <class Element>
  void set_scalar(std::string_view key, Element value) {
    set_scalars(key, value_kind_of<Element>(), false, std::as_bytes(std::span(&value, 1)));
  }
  // set_scalar_list<float>(key, scores)
  template <class Element>
  void set_scalar_list(std::string_view key, std::span<const std::type_identity_t<Element>> values) {
    set_scalars(key, value_kind_of<Element>(), true, std::as_bytes(values));
  }

  // Keys that a file has without a value, as JSON's null: absent like any other, for whoever does not ask.
  void set_null(std::string_view key) { nulls_.push_back(keep(key)); }
  std::span<const std::string_view> nulls() const { return nulls_; }
  bool is_null(std::string_view key) const;

  // For readers: an entry that views memory which outlives this Metadata. Fails where the key is there already.
  Result<void> add_view(std::string_view key, MetadataValue value);

  // The same keys in the same order with equal values.
  bool operator==(const Metadata& other) const { return entries_ == other.entries_; }

 private:
  void set_scalars(std::string_view key, ValueKind kind, bool is_list, std::span<const std::byte> bytes);
  void set(std::string_view key, MetadataValue value);
  std::string_view keep(std::string_view text);
  Result<const MetadataValue*> require(std::string_view key) const;

  std::vector<Entry> entries_;
  std::vector<std::string_view> nulls_;
  // Ordered, because a hash without a secret lets a file choose keys that all collide.
  std::map<std::string_view, std::size_t> positions_;
  // Copies share what was kept: it never changes.
  std::vector<std::shared_ptr<const char[]>> kept_;
};

}  // namespace ingot
