// SPDX-License-Identifier: Apache-2.0
#ifndef WEFT_BENCH_REPORT_SERVICE_CPU_H_
#define WEFT_BENCH_REPORT_SERVICE_CPU_H_

#include <cstdint>

namespace weft::bench {

// What weft's two threads have used so far, as the kernel accounts it.
struct ServiceUse {
  std::uint64_t drainer_cpu_ns = 0;
  std::uint64_t drainer_delay_ns = 0;  // it could run but got no CPU
  std::uint64_t helper_cpu_ns = 0;
  std::uint64_t wake_ups = 0;  // of both: times they gave up the CPU
};

ServiceUse service_use();
// The calling thread's CPU time, as the kernel accounts it.
std::uint64_t own_cpu_ns();
ServiceUse operator-(const ServiceUse& a, const ServiceUse& b);

}  // namespace weft::bench

#endif  // WEFT_BENCH_REPORT_SERVICE_CPU_H_
