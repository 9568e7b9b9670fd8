#include "kernels/contract/case_list.h"

#include <cstring>

namespace ingot {

void AnyCaseList::exclude(Regime regime, std::string_view reason) { excluded_.push_back({regime, reason}); }

void AnyCaseList::add(std::string_view name, CasePurpose purpose, Make maker, std::shared_ptr<const void> build) {
  cases_.push_back({std::string(name), purpose});
  made_.push_back({maker, std::move(build)});
}

void AnyCaseList::add(std::string_view name, CasePurpose purpose, Make maker, const void* build, std::size_t bytes) {
  std::shared_ptr<std::byte[]> copy(new std::byte[bytes]);
  std::memcpy(copy.get(), build, bytes);
  add(name, purpose, maker, std::move(copy));
}

void AnyCaseList::make(int index, CaseBuilder& builder, void* arguments) const {
  const Made& made = made_[static_cast<std::size_t>(index)];
  made.maker(made.build.get(), builder, arguments);
}

}  // namespace ingot
