#include "PipelineHarness.h"

#include <iostream>

namespace {

using namespace bromide;

void run_by_the_emulator() {
    const std::string simulator = BROMIDE_SOURCE_DIR "/tools/ptosim", list = folder() + "/jobs.json",
                      results = folder() + "/results.json";
    if (system("/usr/bin/python3 -c 'import numpy' >/dev/null 2>&1") != 0) {
        std::cout << "The emitted kernels are not executed: there is no Python with numpy.\n";
        return;
    }
    {
        std::ofstream file(list);
        file << "{\"jobs\": [\n";
        for (size_t i = 0; i < jobs().size(); i++) {
            file << (i ? ",\n" : "") << jobs()[i].text;
        }
        file << "\n]}\n";
    }
    const int status = system((simulator + " batch " + list + " > " + results + " 2>&1").c_str());
    (void)status;   // refusals are in the results
    std::ifstream file(results);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    for (const Job &job : jobs()) {
        const size_t at = text.find("\"id\": \"" + job.id + "\"");
        if (at == std::string::npos) {
            ADD_FAILURE() << "no result of " << job.id << "\n" << text.substr(0, 1000);
            return;
        }
        const size_t end = text.find("\"id\": \"", at + 8);
        const std::string result = text.substr(at, std::min<size_t>(end - at, 700));
        if (result.find("\"ok\": true") == std::string::npos) {
            ADD_FAILURE() << result << "\n" << job.text;
            continue;
        }
        std::ifstream out(job.output, std::ios::binary);
        const std::string bytes((std::istreambuf_iterator<char>(out)), std::istreambuf_iterator<char>());
        ASSERT_EQ(bytes.size(), job.expected.size()) << job.id;
        int wrong = 0;
        const size_t size = (size_t)job.type.bytes();
        for (size_t i = 0; i < bytes.size() / size && wrong < 3; i++) {
            const uint8_t *want = job.expected.data() + i * size, *got = (const uint8_t *)bytes.data() + i * size;
            bool equal = memcmp(want, got, size) == 0;
            if (!equal && job.ulp && job.type == Float(32)) {
                int32_t a, b;
                memcpy(&a, want, 4);
                memcpy(&b, got, 4);
                equal = std::abs((int64_t)a - b) <= job.ulp;
            }
            if (!equal) {
                wrong++;
                ADD_FAILURE() << job.id << ": element " << i << " differs\n" << job.text;
            }
        }
    }
}

/// Runs behind all tests, which have noted their jobs.
class Emulator : public ::testing::Environment {
public:
    void TearDown() override {
        if (!jobs().empty()) {
            run_by_the_emulator();
        }
    }
};

const ::testing::Environment *const emulator = ::testing::AddGlobalTestEnvironment(new Emulator);

}  // namespace
