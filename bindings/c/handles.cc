#include "bindings/c/handles.h"

#include <bit>
#include <mutex>
#include <unordered_map>

namespace ingot::c::table {
namespace {

static_assert(sizeof(void*) == sizeof(std::uint64_t), "handles are numbers of 64 bits");

// No processor has memory at addresses that begin like this, so no pointer is ever a handle, and whoever reads through
// one anyway is stopped there.
constexpr std::uint64_t mark = std::uint64_t{0x1960} << 48;

struct Entry {
  Kind kind;
  std::shared_ptr<void> object;
};

struct Table {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, Entry> entries;
  std::uint64_t given_out = 0;
};

// Never destroyed: threads may still be inside a call when the program ends.
Table& the_table() {
  static Table& table = *new Table;
  return table;
}

std::uint64_t number_of(const void* handle) { return reinterpret_cast<std::uintptr_t>(handle); }

}  // namespace

void* add(Kind kind, std::shared_ptr<void> object) {
  Table& table = the_table();
  const std::lock_guard lock(table.mutex);
  const std::uint64_t number = mark | (++table.given_out << 4) | static_cast<std::uint64_t>(kind);
  table.entries.emplace(number, Entry{kind, std::move(object)});
  return std::bit_cast<void*>(static_cast<std::uintptr_t>(number));  // which nobody may follow
}

std::shared_ptr<void> find(Kind kind, const void* handle) {
  Table& table = the_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.entries.find(number_of(handle));
  return found == table.entries.end() || found->second.kind != kind ? nullptr : found->second.object;
}

std::shared_ptr<void> remove(Kind kind, const void* handle) {
  Table& table = the_table();
  const std::lock_guard lock(table.mutex);
  const auto found = table.entries.find(number_of(handle));
  if (found == table.entries.end() || found->second.kind != kind) return nullptr;
  std::shared_ptr<void> object = std::move(found->second.object);
  table.entries.erase(found);
  return object;  // destroyed by the caller, without the lock
}

}  // namespace ingot::c::table
