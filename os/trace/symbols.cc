#include "os/trace/symbols.h"

namespace ingot::os {

namespace {
constexpr std::size_t header_bytes = sizeof(std::uint32_t);
}  // namespace

SymbolTable::Entry SymbolTable::entry(std::size_t index) const {
  Entry found;
  __builtin_memcpy(&found, table_.data() + header_bytes + index * sizeof(Entry), sizeof found);
  return found;
}

Result<SymbolTable> SymbolTable::create(std::span<const std::byte> table, VirtualAddress base) {
  std::uint32_t count = 0;
  if (table.size() < header_bytes) {
    return Error::of(ErrorCode::corrupt, "expected a symbol table, found ", table.size(), " bytes");
  }
  __builtin_memcpy(&count, table.data(), sizeof count);
  // One entry more than functions: where the last one ends.
  const std::uint64_t names = header_bytes + (std::uint64_t{count} + 1) * sizeof(Entry);
  if (table.size() < names) {
    return Error::of(ErrorCode::corrupt, "expected ", names, " bytes for ", count, " symbols, found ", table.size());
  }
  SymbolTable symbols;
  symbols.table_ = table;
  symbols.base_ = base;
  symbols.count_ = count;
  Entry previous{};
  for (std::size_t index = 0; index <= count; ++index) {
    const Entry next = symbols.entry(index);
    if (next.offset < previous.offset || next.name_begin() + next.name_bytes() > table.size() - names) {
      return Error::of(ErrorCode::corrupt, "expected symbols in ascending order, found symbol ", index, " at ",
                       VirtualAddress(next.offset), " after ", VirtualAddress(previous.offset),
                       ", or without its name");
    }
    previous = next;
  }
  return symbols;
}

std::optional<Symbol> SymbolTable::find(VirtualAddress address) const {
  if (count_ == 0 || address < base_) return {};
  const std::uint64_t offset = address - base_;
  if (offset < entry(0).offset || offset >= entry(count_).offset) return {};
  // Always: entry(low).offset <= offset < entry(high).offset.
  std::size_t low = 0, high = count_;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (entry(middle).offset <= offset ? low : high) = middle;
  }
  const Entry function = entry(low);
  const char* names = reinterpret_cast<const char*>(table_.data()) + header_bytes + (count_ + 1) * sizeof(Entry);
  return Symbol{{names + function.name_begin(), function.name_bytes()}, offset - function.offset};
}

}  // namespace ingot::os
