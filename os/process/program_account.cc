#include "os/process/program_account.h"

namespace ingot::os {

namespace {

std::uint64_t promise_of(const RegionFields& region) { return region.promised ? region.bytes - region.guard_bytes : 0; }

bool is_charged_by_touch(const RegionFields& region) {
  return region.sharing == Sharing::private_copy && !region.promised;
}

// Only one changes them at a time.
void add_to(Atomic<std::uint64_t>& count, std::uint64_t more) {
  count.store(count.load(MemoryOrder::relaxed) + more, MemoryOrder::relaxed);
}
void take_from(Atomic<std::uint64_t>& count, std::uint64_t less) { add_to(count, -less); }
void add_to(ProgramAccount::Peaked& peaked, std::uint64_t more) { peaked.set(peaked.now() + more); }

}  // namespace

Result<void> ProgramAccount::refuse(std::uint64_t more) const {
  return Error::of(ErrorCode::out_of_memory, "expected at most ", limit(), " bytes of private memory, found ",
                   charged(), " and ", more, " more");
}

Result<void> ProgramAccount::allow(const RegionFields& region) {
  const std::uint64_t promise = promise_of(region);
  if (promise != 0 && !has_room(promise)) return refuse(promise);
  const std::uint64_t most = most_addresses_.load(MemoryOrder::relaxed), now = addresses_.now();
  if (now <= most && region.bytes <= most - now) return {};
  return Error::of(ErrorCode::out_of_memory, "expected at most ", most, " bytes of addresses, found ", now, " and ",
                   region.bytes, " more");
}

// To look at a file's own page costs nothing. What sockets hold does not count: a program that is refused a page ends,
// and that a stranger must not bring about by what he sends. Sockets have a bound of their own.
Result<void> ProgramAccount::allow_touch(const Region& region, Access access) {
  const bool needs_page = region.object->pages() == MemoryObject::Pages::fresh || allows(access, Access::write);
  if (needs_page && is_charged_by_touch(region) && !fits(own(), page_bytes)) return refuse(page_bytes);
  return {};
}

void ProgramAccount::add(const RegionFields& region) {
  add_to(promised_, promise_of(region));
  charges_.set(charged());
  add_to(addresses_, region.bytes);
}

void ProgramAccount::remove(const RegionFields& region) {
  take_from(promised_, promise_of(region));
  charges_.set(charged());
  add_to(addresses_, -region.bytes);
}

void ProgramAccount::show(const Region& region, const MappedPage& page) {
  const std::uint64_t bytes = bytes_of(page.size);
  const bool own = page.attributes.ownership == FrameOwnership::counted;
  if (own && is_charged_by_touch(region)) add_to(touched_, bytes);
  charges_.set(charged());
  if (own) {
    add_to(resident_, bytes);
  } else {
    add_to(in_place_, bytes);
  }
  add_to(shown_[place_of(page.size, page.attributes.ownership)], 1);
  const bool wanted_large =
      region.policy == PagePolicy::large_first && region.holds_page(page.address, PageSize::large);
  if (page.size == PageSize::small && wanted_large && region.object->pages() == MemoryObject::Pages::kept) {
    add_to(fall_backs_, 1);
  }
}

void ProgramAccount::hide(const Region& region, const MappedPage& page) {
  const std::uint64_t bytes = bytes_of(page.size);
  const bool own = page.attributes.ownership == FrameOwnership::counted;
  if (own && is_charged_by_touch(region)) take_from(touched_, bytes);
  charges_.set(charged());
  if (own) {
    add_to(resident_, -bytes);
  } else {
    take_from(in_place_, bytes);
  }
}

}  // namespace ingot::os
