// The small tool headers.
#include "halide_benchmark.h"
#include "halide_image_info.h"
#include "halide_malloc_trace.h"
#include "halide_thread_pool.h"
#include "halide_trace_config.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace Halide::Tools;

TEST(Benchmark, FixedNumberOfRuns) {
    int runs = 0;
    const double t = benchmark(3, 7, [&] {
        runs++;
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    });
    EXPECT_EQ(runs, 21);
    EXPECT_GE(t, 200e-6);
    EXPECT_LT(t, 50e-3);
}

TEST(Benchmark, Adaptive) {
    uint64_t runs = 0;
    BenchmarkConfig config;
    config.min_time = 0.02;
    config.max_time = 0.08;
    const BenchmarkResult r = benchmark(
        [&] {
            runs++;
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        },
        config);
    EXPECT_EQ(runs >= r.iterations, true);
    EXPECT_GE(r.samples, 3u);
    EXPECT_GE(r.wall_time, 100e-6);
    EXPECT_EQ((double)r, r.wall_time);
    EXPECT_GE(r.iterations, r.samples);
    // Something that takes no time ends as well.
    config.max_iters_per_sample = 1000;
    EXPECT_LE(benchmark([] {}, config).iterations, 1000u * 100000u);
    const auto start = benchmark_now();
    EXPECT_GE(benchmark_duration_seconds(start, benchmark_now()), 0.0);
}

TEST(ToolsThreadPool, ResultsAndExceptions) {
    ThreadPool<int> pool(3);
    std::vector<std::future<int>> results;
    for (int i = 0; i < 100; i++) {
        results.push_back(pool.async([](int a, int b) { return a * b; }, i, 2));
    }
    for (int i = 0; i < 100; i++) {
        EXPECT_EQ(results[i].get(), 2 * i);
    }
    EXPECT_THROW(pool.async([]() -> int { throw std::runtime_error("no"); }).get(), std::runtime_error);
    EXPECT_GE(ThreadPool<int>::num_processors_online(), 1u);
}

TEST(ToolsThreadPool, DestructorFinishesTheTasks) {
    std::atomic<int> done{0};
    {
        ThreadPool<void> pool(2);
        for (int i = 0; i < 20; i++) {
            pool.async([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                done++;
            });
        }
    }
    EXPECT_EQ(done, 20);
}

TEST(ImageInfo, Texts) {
    Halide::Runtime::Buffer<uint8_t> im(2, 2);
    im.fill([](int x, int y) { return (uint8_t)(x + 10 * y); });
    im.set_min(5, 6);
    testing::internal::CaptureStdout();
    info(im, "im");
    const std::string text = testing::internal::GetCapturedStdout();
    EXPECT_NE(text.find("im: uint8, 2 dimensions, 4 elements, 4 bytes\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  dimension 1: min 6, extent 2, stride 2\n"), std::string::npos) << text;
    testing::internal::CaptureStdout();
    dump(im, "im");
    const std::string elements = testing::internal::GetCapturedStdout();
    EXPECT_NE(elements.find("  (_, 6): 0 1\n  (_, 7): 10 11\n"), std::string::npos) << elements;
}

TEST(MallocTrace, ReportsAndAligns) {
    testing::internal::CaptureStderr();
    void *p = halide_malloc_trace(nullptr, 1000);
    EXPECT_EQ((uintptr_t)p % 128, 0u);
    memset(p, 0, 1024);
    halide_free_trace(nullptr, p);
    halide_free_trace(nullptr, nullptr);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_EQ(text.find("halide_malloc(1000) -> "), 0u) << text;
    EXPECT_NE(text.find("\nhalide_free("), std::string::npos) << text;
    halide_enable_malloc_trace();
    EXPECT_EQ(halide_set_custom_malloc(nullptr), halide_malloc_trace);
    EXPECT_EQ(halide_set_custom_free(nullptr), halide_free_trace);
}

TEST(TraceConfig, TagsRoundTrip) {
    using namespace Halide::Trace;
    FuncConfig f;
    f.zoom = 2.5f;
    f.pos = Point(10, 20);
    f.strides = {{1, 0}, {0, 1}, {100, 0}};
    f.labels.emplace_back("two words", Point(1, 2), 3);
    const std::string tag = f.to_trace_tag();
    EXPECT_TRUE(FuncConfig::match(tag));
    EXPECT_FALSE(GlobalConfig::match(tag));
    const FuncConfig back(tag);
    EXPECT_EQ(back.to_trace_tag(), tag);
    ASSERT_EQ(back.labels.size(), 1u);
    EXPECT_EQ(back.labels[0].text, "two words");
    EXPECT_EQ(back.strides[2], Point(100, 0));

    GlobalConfig g;
    g.timestep = 5;
    EXPECT_EQ(GlobalConfig(g.to_trace_tag()).timestep, 5);
    EXPECT_EQ(GlobalConfig("htv_global_config: broken").timestep, GlobalConfig().timestep);

    const FuncTypeAndDim t("func_type_and_dim: 1 0 32 1 2 0 2 0 1");
    ASSERT_EQ(t.types.size(), 1u);
    EXPECT_EQ(t.types[0], halide_type_of<int32_t>());
    ASSERT_EQ(t.dims.size(), 2u);
    EXPECT_EQ(t.dims[0].extent, 2);
    EXPECT_EQ(t.to_trace_tag(), "func_type_and_dim: 1 0 32 1 2 0 2 0 1");
    std::ostringstream os;
    f.dump(os, "f");
    g.dump(os);
    t.dump(os, "f");
    EXPECT_NE(os.str().find("Func f:"), std::string::npos);
}
