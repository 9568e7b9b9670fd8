// What the parts of this layer share, and what they tell the whole of it.
#pragma once

#include <span>

#include "os/network/internet/counters.h"
#include "os/network/internet/routes.h"
#include "os/network/machine.h"

namespace ingot::os::network {

class InternetEvents {
 public:
  // For us; it begins with the header of the arrival's protocol. False: nobody here knows that.
  virtual bool packet_arrived(const Arrival& arrival, Received& packet, Nanoseconds now) = 0;
  // Neighbour discovery's: the message is whole, its checksum right.
  virtual void neighbour_message(const Arrival& arrival, std::span<const std::byte> message, Nanoseconds now) = 0;
  // A packet of ours was not delivered; the protocol sent it.
  virtual void refused(Protocol protocol, const Refusal& refusal) = 0;
  // A packet that waited for a neighbour who does not answer is lost. It begins with IP's header.
  virtual void unreachable(const Outgoing& packet) = 0;
  // The first piece of a packet has come, others have not. `header`: IP's of that; `rest`: how it goes on.
  virtual void reassembly_expired(const Arrival& arrival, std::span<const std::byte> header,
                                  std::span<const std::byte> rest) = 0;
  // Nobody else has an address of ours; or somebody has, and it is not ours any more.
  virtual void address_ready(Interface& interface, const OwnAddress& own) = 0;
  virtual void address_taken(Interface& interface, const OwnAddress& own) = 0;

 protected:
  ~InternetEvents() = default;
};

struct Surroundings {
  Machine& machine;
  NetworkTimers& timers;
  InternetEvents& events;
  Routes routes{timers};
  InternetCounters counters{};
};

}  // namespace ingot::os::network
