// INGOT_ON_DEVICE marks what runs on a device, in headers that rows on the host include as well.
#pragma once

#if defined(__CUDACC__)
#define INGOT_ON_DEVICE inline __device__
#else
#define INGOT_ON_DEVICE inline
#endif
