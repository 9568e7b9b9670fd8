// Looking into values: elements, slices, items and attributes, as Jinja's sandbox allows it.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/chat/value.h"

namespace ingot::chat {

class Runtime;

// What a loop over the value visits. An iterator is used up by it.
Result<std::vector<Value>> items_of(const Value& value, Runtime& runtime);
bool is_iterable(const Value& value);
// len(value).
Result<std::int64_t> length_of(const Value& value);

// value[start:stop:step]; a none is an absent bound.
Result<Value> slice(const Value& value, const Value& start, const Value& stop, const Value& step, Runtime& runtime);

// value.name: an attribute or method first, then an item.
Result<Value> get_attribute(const Value& value, std::string_view name, Runtime& runtime);
// value[index]: an item first, then an attribute.
Result<Value> get_item(const Value& value, const Value& index, Runtime& runtime);
// An attribute or method alone; undefined where there is none.
Result<Value> get_attribute_only(const Value& value, std::string_view name, Runtime& runtime);

}  // namespace ingot::chat
