#include "server/protocol/sampler_order.h"

#include <algorithm>
#include <array>
#include <functional>

namespace ingot::protocol {

namespace {

using chat::Value;

// The most likely token is left by every filter.
bool is_greedy(const SamplerOptions& sampling) { return sampling.temperature == 0; }

struct Link {
  std::string_view name;
  bool (*is_off)(const SamplerOptions& sampling);
  void (*switch_off)(SamplerOptions& sampling);
};

// In the sampler's order.
constexpr std::array links = {
    Link{"penalties",
         [](const SamplerOptions& sampling) {
           return sampling.repetition == 1 && sampling.presence == 0 && sampling.frequency == 0;
         },
         [](SamplerOptions& sampling) {
           sampling.repetition = 1;
           sampling.presence = sampling.frequency = 0;
         }},
    Link{"top_k", [](const SamplerOptions& sampling) { return sampling.top_k == 0 || is_greedy(sampling); },
         [](SamplerOptions& sampling) { sampling.top_k = 0; }},
    Link{"temperature", [](const SamplerOptions& sampling) { return sampling.temperature == 1; },
         [](SamplerOptions& sampling) { sampling.temperature = 1; }},
    Link{"top_p", [](const SamplerOptions& sampling) { return sampling.top_p == 1 || is_greedy(sampling); },
         [](SamplerOptions& sampling) { sampling.top_p = 1; }},
    Link{"min_p", [](const SamplerOptions& sampling) { return sampling.min_p == 0 || is_greedy(sampling); },
         [](SamplerOptions& sampling) { sampling.min_p = 0; }},
};

// Of others, which are off (server/protocol/neutral_fields.h).
constexpr std::array<std::string_view, 5> links_of_others = {"dry", "top_n_sigma", "typ_p", "xtc", "adaptive_p"};

constexpr std::string_view expected =
    "a list of penalties, top_k, temperature, top_p and min_p, those that change anything in this order";

}  // namespace

void read_sampler_order(FieldReader& reader, SamplerOptions& sampling) {
  const Value* list = reader.value("samplers", chat::Kind::sequence);
  if (list == nullptr) return;
  std::vector<const Link*> listed;
  for (const Value& item : list->items()) {
    const std::string_view name = item.is_text() ? std::string_view(item.bytes()) : std::string_view();
    const auto link = std::ranges::find(links, name, &Link::name);
    if (link != links.end()) {
      listed.push_back(&*link);
    } else if (std::ranges::find(links_of_others, name) == links_of_others.end()) {
      return reader.fail("samplers", expected, item);
    }
  }
  for (const Link& link : links) {
    if (std::ranges::find(listed, &link) == listed.end()) link.switch_off(sampling);
  }
  std::erase_if(listed, [&](const Link* link) { return link->is_off(sampling); });
  const auto unordered = std::ranges::adjacent_find(listed, std::ranges::greater_equal());
  if (unordered == listed.end()) return;
  const std::string found = std::string((*unordered)->name) + " before " + std::string((*std::next(unordered))->name);
  reader.fail(wrong_field("samplers", "samplers: expected " + std::string(expected) + ", found " + found));
}

}  // namespace ingot::protocol
