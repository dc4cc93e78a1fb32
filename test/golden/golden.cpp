// Every test/golden/**/*.ir is one case: the passes it names, on the text it gives, must print exactly what it expects.

#include <gtest/gtest.h>

#include <algorithm>
#include <exception>
#include <filesystem>

#include "PassRunner.h"
#include "ir/IRText.h"
#include "support/Error.h"

namespace {

std::vector<std::string> all_cases() {
    std::vector<std::string> paths;
    for (const auto &entry : std::filesystem::recursive_directory_iterator(BROMIDE_SOURCE_DIR "/test/golden")) {
        if (entry.path().extension() == ".ir") {
            paths.push_back(entry.path().string());
        }
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

TEST(Golden, AllCases) {
    int count = 0;
    for (const std::string &path : all_cases()) {
        count++;
        try {
            const bromide::GoldenCase c = bromide::read_golden_case(path);
            const std::string wanted = bromide::rename_generated(
                Halide::Internal::to_text(Halide::Internal::parse_stmt(c.not_fired ? c.input : c.expected)));
            EXPECT_EQ(bromide::run_golden_case(c), wanted) << path;
        } catch (const Halide::Error &e) {
            ADD_FAILURE() << path << ": " << e.what();
        } catch (const std::exception &e) {
            ADD_FAILURE() << path << ": " << e.what();
        }
    }
    EXPECT_GT(count, 0);
}

}  // namespace
