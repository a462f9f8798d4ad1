#include "report/page_assets.hpp"

// NAME_begin … NAME_end: the bytes of the file PATH.
#define HONE_ASSET(NAME, PATH)                                                           \
  __asm__(".section .rodata\n.global " #NAME "_begin\n" #NAME "_begin:\n.incbin \"" PATH \
          "\"\n.global " #NAME "_end\n" #NAME "_end:\n.byte 0\n.previous\n");            \
  extern "C" const char NAME##_begin[], NAME##_end[]

HONE_ASSET(hone_page_html, HONE_PAGE_DIR "/page.html");
HONE_ASSET(hone_page_css, HONE_PAGE_DIR "/page.css");
HONE_ASSET(hone_page_js, HONE_PAGE_DIR "/page.js");
HONE_ASSET(hone_chart_js, HONE_CHART_JS);

namespace hone::report {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view page_html() { return between(hone_page_html_begin, hone_page_html_end); }
std::string_view page_css() { return between(hone_page_css_begin, hone_page_css_end); }
std::string_view page_js() { return between(hone_page_js_begin, hone_page_js_end); }
std::string_view chart_js() { return between(hone_chart_js_begin, hone_chart_js_end); }

}  // namespace hone::report
