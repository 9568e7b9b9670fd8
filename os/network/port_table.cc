#include "os/network/port_table.h"

namespace ingot::os::network {

int Binding::fit(const IpAddress& address) const {
  if (!local_.address.is_unspecified()) return local_.address == address ? 3 : 0;
  if (local_.address.version() == address.version()) return 2;
  return local_.address.is_v4() || v6_only ? 0 : 1;
}

bool Binding::may_reach(const IpAddress& remote) const {
  const IpAddress from = is_bound() ? local_.address : any_address();
  return from.version() == remote.version() || (from == IpAddress() && !v6_only);
}

bool Binding::overlaps(const Binding& other) const {
  if (!local_.address.is_unspecified()) return other.fit(local_.address) != 0;
  return fit(other.local_.address) != 0 || other.fit(local_.address) != 0;
}

bool Binding::conflicts_with(const Binding& other) const {
  const bool share_address = sharing.address && other.sharing.address && !other.listens_;
  const bool share_port = sharing.port && other.sharing.port;
  return !share_address && !share_port && overlaps(other);
}

PortTable::PortTable(Machine& machine, Internet& internet)
    : machine_(machine), internet_(internet), key_(draw_key(machine)), bindings_(machine.blocks().heap()) {
  machine.fill_random(std::as_writable_bytes(std::span(next_)));
}

Answer<void> PortTable::bind(Binding& binding, const Endpoint& local) {
  if (binding.is_bound()) return Errno::einval;
  if (!local.address.is_unspecified() && !internet_.is_ours(local.address)) return Errno::eaddrnotavail;
  binding.local_ = local;
  binding.listens_ = false;
  bool is_free = local.port != 0 && find_conflict(binding) == nullptr;
  if (local.port == 0) {
    std::uint32_t start = 0;
    machine_.fill_random(std::as_writable_bytes(std::span(&start, 1)));
    for (std::uint32_t i = 0; i < ephemeral_count && !is_free; ++i) {
      binding.local_.port = ephemeral(start + i);
      is_free = bindings_.find(binding.local_.port, [](const Binding&) { return true; }) == nullptr;
    }
  }
  if (is_free) {
    bindings_.insert(binding, binding.local_.port);
    return {};
  }
  binding.local_ = {};
  return Errno::eaddrinuse;
}

void PortTable::release(Binding& binding) {
  if (!binding.is_bound()) return;
  bindings_.remove(binding);
  binding.local_ = {};
  binding.listens_ = false;
}

void PortTable::hand_over(Binding& from, Binding& to) {
  to.local_ = from.local_;
  to.sharing = from.sharing;
  to.v6_only = from.v6_only;
  to.listens_ = from.listens_;
  release(from);
  bindings_.insert(to, to.local_.port);
}

Answer<void> PortTable::listen(Binding& binding) {
  if (find_conflict(binding) != nullptr) return Errno::eaddrinuse;
  binding.listens_ = true;
  return {};
}

Answer<void> PortTable::add_flow(const Endpoint& local, PortSharing sharing) {
  Binding* flows = find_flows(local, sharing);
  if (flows == nullptr) {
    flows = machine_.blocks().make<Binding>(local.address.version());
    if (flows == nullptr) return Errno::enomem;
    flows->local_ = local;
    flows->sharing = sharing;
    bindings_.insert(*flows, local.port);
  }
  ++flows->flows_;
  return {};
}

void PortTable::drop_flow(const Endpoint& local, PortSharing sharing) {
  Binding& flows = *find_flows(local, sharing);
  if (--flows.flows_ != 0) return;
  bindings_.remove(flows);
  machine_.blocks().destroy(flows);
}

bool PortTable::is_bound_to(std::uint16_t port) {
  return bindings_.find(port, [](const Binding& binding) { return binding.flows_ == 0; }) != nullptr;
}

Binding* PortTable::find_conflict(const Binding& binding) {
  return bindings_.find(binding.local_.port,
                        [&](const Binding& other) { return &other != &binding && binding.conflicts_with(other); });
}

Binding* PortTable::find_flows(const Endpoint& local, PortSharing sharing) {
  return bindings_.find(local.port, [&](const Binding& binding) {
    return binding.flows_ != 0 && binding.local_ == local && binding.sharing == sharing;
  });
}

}  // namespace ingot::os::network
