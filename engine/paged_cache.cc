#include "engine/paged_cache.h"

#include <algorithm>

namespace ingot {

Result<void> PagedCache::add_layer(const CircuitTensor& tensor) {
  const std::int64_t page_elements = element_count(tensor.shape) / std::max<std::int64_t>(tensor.shape[0], 1);
  const auto page_bytes = static_cast<std::size_t>(row_bytes(tensor.dtype, page_elements));
  const MemoryHome home = tensor.is_on_host ? MemoryHome() : home_;
  HomeMemory memory = TRY(home.reserve(Bytes(page_bytes * static_cast<std::size_t>(tensor.shape[0]))));
  layers_.insert_or_assign(tensor.name, Layer{home, std::move(memory), page_bytes});
  return {};
}

std::byte* PagedCache::find(std::string_view layer) const {
  const auto found = layers_.find(layer);
  return found == layers_.end() ? nullptr : found->second.memory.data();
}

void PagedCache::share(int from, int to) {
  const Holding& shared = holdings_[static_cast<std::size_t>(from)];
  for (const std::int32_t page : shared.pages) pool_.share(page);
  holdings_[static_cast<std::size_t>(to)] = shared;
}

std::int64_t PagedCache::count_in_use(std::span<const std::int32_t> pages) const {
  return std::ranges::count_if(pages, [this](std::int32_t page) { return pool_.is_in_use(page); });
}

void PagedCache::adopt(int sequence, std::span<const std::int32_t> known_pages) {
  Holding& holding = holdings_[static_cast<std::size_t>(sequence)];
  holding.pages.assign(known_pages.begin(), known_pages.end());
  holding.published = holding.pages.size();
  for (const std::int32_t page : holding.pages) pool_.share(page);
}

void PagedCache::publish(int sequence, std::uint64_t salt, std::span<const std::int32_t> tokens) {
  Holding& holding = holdings_[static_cast<std::size_t>(sequence)];
  const auto length = static_cast<std::size_t>(page_length_);
  for (std::size_t& at = holding.published; (at + 1) * length <= tokens.size(); ++at) {
    const std::optional<std::int32_t> before = at == 0 ? std::nullopt : std::optional(holding.pages[at - 1]);
    const std::int32_t own = holding.pages[at];
    const std::int32_t known = pool_.texts().add(salt, before, tokens.subspan(at * length, length), own);
    if (known == own) continue;
    pool_.share(known);
    pool_.release(own);
    holding.pages[at] = known;
  }
}

std::int64_t PagedCache::own_pages(int sequence) const {
  return std::ranges::count_if(holdings_[static_cast<std::size_t>(sequence)].pages,
                               [this](std::int32_t page) { return pool_.has_one_user(page); });
}

std::int64_t PagedCache::earliest_length(int sequence) const {
  const std::int64_t oldest = holdings_[static_cast<std::size_t>(sequence)].oldest;
  return oldest == 0 ? 0 : oldest + ring_.window - 1;
}

void PagedCache::truncate(int sequence, std::int64_t length) {
  Holding& holding = holdings_[static_cast<std::size_t>(sequence)];
  if (length == 0) holding.oldest = 0;
  // In a ring too: positions before `length` lie in its first pages, or in all where there are no more.
  const auto kept = static_cast<std::size_t>(divide_rounding_up(length, page_length_));
  while (holding.pages.size() > kept) {
    pool_.release(holding.pages.back());
    holding.pages.pop_back();
  }
  holding.published = std::min(holding.published, static_cast<std::size_t>(length / page_length_));
}

PagedCache::Entries PagedCache::entries_of(std::int64_t begin, std::int64_t end) const {
  const std::int64_t first = begin / page_length_;
  const std::int64_t count = divide_rounding_up(end, page_length_) - first;
  return {first, ring_.pages > 0 ? std::min(count, ring_.pages) : count};
}

Result<void> PagedCache::check_room(int sequence, std::int64_t begin, std::int64_t end) const {
  const std::int64_t most = ring_.pages * page_length_ - ring_.window + 1;
  if (ring_.pages > 0 && end - begin > most) {
    return Error::of(ErrorCode::out_of_range, "expected at most ", most, " tokens at once beside a window of ",
                     ring_.window, ", found ", end - begin);
  }
  const std::vector<std::int32_t>& pages = holdings_[static_cast<std::size_t>(sequence)].pages;
  const Entries entries = entries_of(begin, end);
  std::int64_t needed = 0;
  for (std::int64_t entry = entries.first; entry < entries.first + entries.count; ++entry) {
    const std::size_t place = place_of(entry);
    if (place >= pages.size() || pool_.is_shared(pages[place])) ++needed;
  }
  if (needed <= pool_.free_count()) return {};
  return Error::of(ErrorCode::out_of_memory, "expected ", needed, " free cache pages, found ", pool_.free_count());
}

Result<std::int32_t> PagedCache::take_page() {
  const std::int32_t page = *pool_.take();
  const Result<void> touched = touch_page(page);
  if (touched.ok()) return page;
  pool_.release(page);
  return touched.error();
}

Result<void> PagedCache::reserve(int sequence, std::int64_t begin, std::int64_t end) {
  Holding& holding = holdings_[static_cast<std::size_t>(sequence)];
  const Entries entries = entries_of(begin, end);
  for (std::int64_t entry = entries.first; entry < entries.first + entries.count; ++entry) {
    const std::size_t place = place_of(entry);
    if (place >= holding.pages.size()) {
      holding.pages.push_back(TRY(take_page()));
    } else if (const std::int32_t shared = holding.pages[place]; pool_.is_shared(shared)) {
      holding.pages[place] = TRY(take_page());
      copy_page(shared, holding.pages[place]);
      pool_.release(shared);
    }
  }
  // Counted from now on and not from when the pass has ended: one that fails halfway has overwritten them too.
  if (ring_.pages > 0) holding.oldest = std::max(holding.oldest, end - ring_.pages * page_length_);
  return {};
}

// What the page held before is nobody's any more.
Result<void> PagedCache::touch_page(std::int32_t page) {
  constexpr std::size_t step = 4096;  // the least that an operating system gives at once
  for (auto& [name, layer] : layers_) {
    TRY(layer.memory.grow_to((static_cast<std::size_t>(page) + 1) * layer.page_bytes));
    if (!layer.home.is_host()) continue;
    std::byte* const begin = layer.memory.data() + static_cast<std::size_t>(page) * layer.page_bytes;
    for (std::size_t at = 0; at < layer.page_bytes; at += step) begin[at] = std::byte{0};
    if (layer.page_bytes > 0) begin[layer.page_bytes - 1] = std::byte{0};
  }
  return {};
}

void PagedCache::copy_page(std::int32_t from, std::int32_t to) {
  for (auto& [name, layer] : layers_) {
    layer.home.copy(layer.memory.data() + static_cast<std::size_t>(to) * layer.page_bytes,
                    layer.memory.data() + static_cast<std::size_t>(from) * layer.page_bytes, layer.page_bytes);
  }
}

std::size_t PagedCache::window_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, layer] : layers_) bytes += layer.page_bytes;
  return bytes * static_cast<std::size_t>(ring_.window_pages(page_length_));
}

// Layer by layer, the pages of the window in the order of positions.
void PagedCache::copy_window(int sequence, std::int64_t length, std::byte* to) const {
  const std::int64_t end = length / page_length_;
  const std::int64_t begin = std::max<std::int64_t>(0, end - ring_.window_pages(page_length_));
  for (const auto& [name, layer] : layers_) {
    for (std::int64_t entry = begin; entry < end; ++entry, to += layer.page_bytes) {
      const auto from = static_cast<std::size_t>(page(sequence, entry));
      home_.copy(to, layer.memory.data() + from * layer.page_bytes, layer.page_bytes);
    }
  }
}

Result<void> PagedCache::restore_window(int sequence, std::int64_t length, const std::byte* from) {
  if (layers_.empty()) return {};
  TRY(reserve(sequence, 0, std::min(length, ring_.pages * page_length_)));
  const std::int64_t end = length / page_length_;
  const std::int64_t begin = std::max<std::int64_t>(0, end - ring_.window_pages(page_length_));
  for (auto& [name, layer] : layers_) {
    for (std::int64_t entry = begin; entry < end; ++entry, from += layer.page_bytes) {
      const auto to = static_cast<std::size_t>(page(sequence, entry));
      home_.copy(layer.memory.data() + to * layer.page_bytes, from, layer.page_bytes);
    }
  }
  holdings_[static_cast<std::size_t>(sequence)].oldest = begin * page_length_;
  return {};
}

std::vector<std::string> PagedCache::layer_names() const {
  std::vector<std::string> names;
  for (const auto& [name, layer] : layers_) names.push_back(name);
  return names;
}

std::vector<std::span<std::byte>> PagedCache::pieces(std::string_view name, int sequence, std::int64_t length) const {
  const Layer& layer = layers_.find(name)->second;
  const std::vector<std::int32_t>& pages = holdings_[static_cast<std::size_t>(sequence)].pages;
  const auto used = static_cast<std::size_t>(divide_rounding_up(length, page_length_));
  std::vector<std::span<std::byte>> pieces;
  for (std::size_t place = 0; place < std::min(used, pages.size()); ++place) {
    const std::size_t at = static_cast<std::size_t>(pages[place]) * layer.page_bytes;
    pieces.emplace_back(layer.memory.data() + at, layer.page_bytes);
  }
  return pieces;
}

void PagedCache::write_table(int sequence, std::span<std::int32_t> row) const {
  const std::vector<std::int32_t>& pages = holdings_[static_cast<std::size_t>(sequence)].pages;
  for (std::size_t entry = 0; entry < row.size(); ++entry) {
    const std::size_t place = place_of(static_cast<std::int64_t>(entry));
    row[entry] = place < pages.size() ? pages[place] : 0;
  }
}

std::size_t PagedCache::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, layer] : layers_) bytes += layer.memory.size();
  return bytes;
}

std::size_t PagedCache::host_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, layer] : layers_) bytes += layer.home.is_host() && !home_.is_host() ? layer.memory.size() : 0;
  return bytes;
}

std::size_t PagedCache::most_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [name, layer] : layers_) bytes += layer.memory.capacity();
  return bytes;
}

}  // namespace ingot
