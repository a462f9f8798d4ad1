#include "report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "report/run_folder_fixture.hpp"

namespace hone::report {
namespace {

namespace fs = std::filesystem;
using storage::Json;
using testing::HasSubstr;
using testing::Not;

/// The texts and trials of a chunk.
Json inflated(const std::string& base64) {
  std::string bytes(base64.size(), '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(base64.data()),
                                     static_cast<int>(base64.size()));
  std::string text(1 << 22, '\0');
  uLongf size = text.size();
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(text.data()), &size,
                       reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uLong>(length)),
            Z_OK);
  text.resize(size);
  return Json::parse(text);
}

/// Text that would run or break out wherever it were taken for HTML, JavaScript or a template.
constexpr const char* kHostile =
    "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">"
    "<!-- ${document.title='pwned'} {{7*7}} \\u003cscript\\u003e ]]> @CHUNKS@ "
    "javascript:document.title='pwned' <svg/onload=document.title='pwned'> \x1b[31m";

struct PageTest : testing::Test {
  RunFolder folder;
  Results results;

  PageTest() {
    results = showcase(folder);
    // The showcase names a fixed folder; the page reads the real one.
    results.evaluations[0].input.run_dir = folder.input.run_dir;
  }

  std::string page(const std::vector<HistoryPoint>& history = {}) {
    std::ostringstream out;
    write_page(results, history, out);
    return std::move(out).str();
  }

  /// Answers, prompts, evidence, file names and compiler output are all hostile.
  void make_hostile() {
    const fs::path dir = folder.trial("gelu-basic", stats::Arm::with_skill, 2);
    for (const char* file : {"request.json", "response.json", "build.json"}) {
      Json json = storage::read_json(dir / file);
      json["text"] = json["diagnostics"] = kHostile;
      json["body"] = {{"system", kHostile},
                      {"messages", {{{"role", "user"}, {"content", kHostile}}}}};
      json["files"] = {"../../../../etc/passwd", "kernel.cu"};
      storage::write_json(dir / file, json);
    }
    storage::write_atomically(dir / "answer/kernel.cu", kHostile);
    auto& e = results.evaluations[0];
    for (auto& t : e.trials) t.evidence = t.served_model = kHostile;
    e.models[0].info.name = e.models[0].caveat = kHostile;
    e.models[0].gates[0].text = e.models[0].gates[0].verdict.message = kHostile;
    e.input.cases[0].id = e.input.evaluation = results.environment.host = kHostile;
  }
};

TEST_F(PageTest, IsOneFileThatFetchesNothing) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(text, Not(HasSubstr("unsafe-")));
  EXPECT_THAT(text, Not(HasSubstr("src=\"http")));
  EXPECT_THAT(text, Not(HasSubstr("@CHUNKS@")));
  EXPECT_THAT(text, HasSubstr("Chart.js v3"));
}

TEST_F(PageTest, DetailsHoldPromptAnswerAndVerdict) {
  const fs::path dir = folder.trial("gelu-basic", stats::Arm::with_skill, 1);
  Json request = storage::read_json(dir / "request.json");
  request["body"] = {
      {"messages",
       {{{"role", "system"}, {"content", "Be careful."}},
        {{"role", "user"}, {"content", {{{"type", "text"}, {"text", "Write gelu."}}}}}}}};
  storage::write_json(dir / "request.json", request);
  Json build = storage::read_json(dir / "build.json");
  build["files"] = {"kernel.cu"};
  storage::write_json(dir / "build.json", build);
  storage::write_atomically(dir / "answer/kernel.cu", "__global__ void k() {}\n");
  const Json chunk = inflated(page_details(results.evaluations[0], 0, 8));
  const auto& t = chunk["trials"][4];
  const auto text = [&](const Json& index) { return chunk["texts"][index.get<size_t>()]; };
  EXPECT_EQ(t["outcome"], "memory-fault");
  EXPECT_EQ(text(t["system"]), "Be careful.");
  EXPECT_EQ(text(t["user"]), "Write gelu.");
  EXPECT_EQ(text(t["answer"]), "answer");
  EXPECT_EQ(text(t["files"][0][1]), "__global__ void k() {}\n");
  EXPECT_EQ(t["kernels"][0][1], 32);
}

TEST_F(PageTest, HostileTextIsDataOnly) {
  make_hostile();
  const std::string text = page();
  EXPECT_THAT(text, Not(HasSubstr("<script>document.title")));
  EXPECT_THAT(text, Not(HasSubstr("<img src=x")));
  EXPECT_THAT(text, Not(HasSubstr("<svg/onload")));
  EXPECT_THAT(text, Not(HasSubstr("root:")));
  const Json chunk = inflated(page_details(results.evaluations[0], 0, 8));
  EXPECT_THAT(chunk.dump(), HasSubstr("onerror"));       // it is all there,
  EXPECT_THAT(chunk.dump(), Not(HasSubstr("\\u001b")));  // but for what no text should hold
  EXPECT_THAT(chunk.dump(), Not(HasSubstr("/bin/")));    // and nothing from outside the folder
}

TEST_F(PageTest, WorksInARealBrowser) {
  const std::string python = python_with("json");
  if (std::system("chromedriver --version >/dev/null 2>&1") != 0 || python.empty())
    GTEST_SKIP() << "apt-get install chromium chromium-driver";
  std::vector<HistoryPoint> history;
  for (int day = 1; day <= 3; ++day)
    history.push_back({"demo", "local", "2026-01-0" + std::to_string(day) + "T12:00:00Z", "0123",
                       .1 * day, .1 * day - .2, .1 * day + .2});
  const fs::path plain = folder.path() / "page.html", hostile = folder.path() / "hostile.html";
  storage::write_atomically(plain, page(history));
  make_hostile();
  storage::write_atomically(hostile, page());
  const std::string command = python + " " + HONE_REPORT_DIR "/page_browser.py " + plain.string() +
                              " " + hostile.string() + " 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
}

}  // namespace
}  // namespace hone::report
