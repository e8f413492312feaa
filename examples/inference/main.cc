// SPDX-License-Identifier: Apache-2.0

// A small convolutional network that learns to tell strokes apart, profiled.
//
//   weft_inference [--steps N] [--threads N] [--batch N] [--rows N]
//                  [--out PREFIX]
//
// Prints what the profiler found; with --out also writes PREFIX.json (for
// ui.perfetto.dev) and PREFIX.stacks (for flame graphs).

#include <cblas.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "network.h"
#include "strokes.h"
#include "thread_pool.h"
#include "weft/profile/profiler.h"
#include "weft/profile/record_function.h"
#include "weft/weft.h"

namespace {

using inference::Batch;
using inference::Network;
using inference::Tensor;

struct Options {
  int steps = 20;
  int threads = 2;
  int batch = 64;
  int rows = 12;  // of the first table
  std::string out;
};

bool read_number(std::string_view text, int least, int most, int* number) {
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *number);
  return error == std::errc() && at == end && *number >= least &&
         *number <= most;
}

bool read_options(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string_view value = argv[i + 1];
    if (name == "--steps" && read_number(value, 1, 10000, &options->steps))
      continue;
    if (name == "--threads" && read_number(value, 1, 64, &options->threads))
      continue;
    if (name == "--batch" && read_number(value, 1, 4096, &options->batch))
      continue;
    if (name == "--rows" && read_number(value, 1, 1000, &options->rows))
      continue;
    if (name != "--out") return false;
    options->out = value;
  }
  return argc % 2 == 1;
}

// One step of gradient descent, a part of the batch a thread; returns the loss.
double train(Network& network, inference::ThreadPool& pool,
             const Options& options, std::mt19937& random) {
  WEFT_RECORD_USER_SCOPE("train");
  const auto parts = static_cast<std::size_t>(options.threads);
  std::vector<Batch> batches;
  std::vector<Network::Parameters> gradients;
  for (std::size_t i = 0; i < parts; ++i) {
    batches.push_back(inference::draw_batch(
        1 + (options.batch - 1) / options.threads, random));
    gradients.push_back(Network::zeros());
  }
  std::vector<double> losses(parts);
  pool.run(options.threads, [&](int i) {
    const auto part = static_cast<std::size_t>(i);
    losses[part] = network.learn(batches[part].images,
                                 batches[part].classes.data(), gradients[part]);
  });
  double loss = 0;
  for (std::size_t i = 0; i < parts; ++i) {
    network.apply(gradients[i], 0.1f / static_cast<float>(parts));
    loss += losses[i] / static_cast<double>(parts);
  }
  return loss;
}

// The share of strokes whose direction is found.
double accuracy(const Network& network, std::mt19937& random) {
  const Batch batch = inference::draw_batch(500, random);
  const Tensor scores = network.infer(batch.images);
  int right = 0;
  for (std::int64_t n = 0; n < scores.size(0); ++n) {
    const float* const row = scores.row(n);
    right += std::max_element(row, row + Network::kClasses) - row ==
             batch.classes[static_cast<std::size_t>(n)];
  }
  return right / static_cast<double>(scores.size(0));
}

// Twice a multiplication and an addition for each that the forward call has: one
// product for the gradient of the weights, one for that of the input.
std::optional<std::uint64_t> conv2d_backward_flops(
    std::span<const weft::OpInput> inputs) {
  if (inputs.size() != 3 || inputs[0].values.size() != 4 ||
      inputs[2].values.size() != 4)
    return std::nullopt;
  std::uint64_t flops = 4;
  for (const std::int64_t size : inputs[0].values)
    flops *= static_cast<std::uint64_t>(size);
  for (std::size_t side = 1; side < 4; ++side)
    flops *= static_cast<std::uint64_t>(inputs[2].values[side]);
  return flops;
}

weft::ProfilerOptions profiler_options() {
  weft::ProfilerOptions options;
  options.with_flops = true;  // and shapes
  options.profile_memory = true;
  options.with_stack = true;
  options.formulas.add("conv2d_backward", conv2d_backward_flops);
  return options;
}

bool report(const weft::Profiler& profiler, const Options& options) {
  const auto by_name = profiler.key_averages();
  const auto by_shape = profiler.key_averages({.group_by_input_shape = true});
  for (const auto* averages : {&by_name, &by_shape}) {
    if (averages->ok()) continue;
    std::fprintf(stderr, "%s\n", averages->error().message.c_str());
    return false;
  }
  weft::TableOptions table;
  table.sort_by = weft::SortKey::kSelfCpuTimeTotal;
  table.row_limit = options.rows;
  std::printf("\nBy name, most own time first\n%s",
              by_name->table(table).c_str());
  table.sort_by = weft::SortKey::kFlops;
  table.row_limit = 4;
  std::printf("\nBy shape, most FLOPs first\n%s",
              by_shape->table(table).c_str());
  if (options.out.empty()) return true;
  bool done = true;
  for (const auto& written :
       {profiler.export_chrome_trace(options.out + ".json"),
        profiler.export_stacks(options.out + ".stacks")}) {
    if (written.ok()) continue;
    std::fprintf(stderr, "%s\n", written.error().message.c_str());
    done = false;
  }
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, &options)) {
    std::fprintf(stderr,
                 "usage: weft_inference [--steps 1..10000] [--threads 1..64] "
                 "[--batch 1..4096] [--rows 1..1000] [--out PREFIX]\n");
    return 2;
  }
  openblas_set_num_threads(1);  // the pool has the threads
  weft::set_thread_name("main");
  std::mt19937 random(1);
  Network network(2);
  inference::ThreadPool pool(options.threads);
  train(network, pool, options, random);  // memory, caches

  weft::Profiler profiler(profiler_options());
  if (const auto started = profiler.start(); !started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().message.c_str());
    return 1;
  }
  double first = 0;
  double last = 0;
  for (int step = 0; step < options.steps; ++step) {
    last = train(network, pool, options, random);
    if (step == 0) first = last;
  }
  const double share = accuracy(network, random);
  if (const auto stopped = profiler.stop(); !stopped.ok()) {
    std::fprintf(stderr, "%s\n", stopped.error().message.c_str());
    return 1;
  }
  std::printf("loss %.3f -> %.3f in %d steps; right: %.0f %%\n", first, last,
              options.steps, 100 * share);
  return report(profiler, options) ? 0 : 1;
}
