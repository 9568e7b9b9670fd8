// DrivenLink: a link of a device that a driver found at boot, before there was a network to tell of it. Kernel::links
// is the first.
#pragma once

#include "os/network/link.h"

namespace ingot::os {

class DrivenLink : public network::Link {
 public:
  // From now on the user is told; what came before is lost. Once.
  virtual void attach(network::LinkUser& user) = 0;
  // The user is told nothing any more, and sends nothing. What is on its way is given back as the device reads it, when
  // this is called again; or at once, and the device stops.
  enum class Detaching : std::uint8_t { waits, stops };
  virtual void detach(Detaching detaching) = 0;

  DrivenLink* next = nullptr;  // the one found after it

 protected:
  ~DrivenLink() = default;
};

}  // namespace ingot::os
