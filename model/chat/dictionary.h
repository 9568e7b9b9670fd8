// A dictionary that keeps the order of insertion. Keys are what Python can hash: 1, 1.0 and True are one key.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Dictionary {
 public:
  struct Entry {
    Value key;
    Value value;
  };

  const std::vector<Entry>& entries() const { return entries_; }
  std::size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }
  bool is_marked() const { return is_marked_; }  // see Value::is_marked

  // Null where there is none (a list, which is no key, is never there).
  const Value* find(std::string_view key) const;
  const Value* find(const Value& key) const;

  // A key that is there keeps its place and gets the new value. False: the value cannot be a key.
  bool insert(Value key, Value value);
  void insert(std::string key, Value value) { insert(Value::text(std::move(key)), std::move(value)); }

  std::vector<Value> keys() const;
  std::vector<Value> values() const;
  std::vector<Value> pairs() const;  // tuples (key, value)

 private:
  std::size_t place_of(std::string_view key) const;

  std::vector<Entry> entries_;
  // The text keys by their bytes, which the entries own; kept once there are too many entries to look through.
  std::map<std::string_view, std::size_t> text_places_;
  std::map<std::string, std::size_t> other_places_;
  int depth_ = 1;
  bool is_marked_ = false;
};

// An error for a value that cannot be a key.
Result<void> expect_key(const Value& key);

// Equal for equal keys and different for different ones; empty for a value that cannot be a key.
std::string key_code(const Value& key);

}  // namespace ingot::chat
