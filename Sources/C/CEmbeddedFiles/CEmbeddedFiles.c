// The only list of embedded files.
#include "CEmbeddedFiles.h"

#define CLIENTS CEmbeddedFiles_CLIENTS
#define OPERATORS CEmbeddedFiles_OPERATORS

static const unsigned char openapi_yaml[] = {
#embed "../../../openapi.yaml"
};
static const unsigned char page_html[] = {
#embed "pages/page.html"
};
static const unsigned char operators_html[] = {
#embed "pages/operators.html"
};
static const unsigned char page_css[] = {
#embed "pages/page.css"
};
static const unsigned char page_js[] = {
#embed "pages/page.js"
};
static const unsigned char form_js[] = {
#embed "pages/form.js"
};
static const unsigned char answer_js[] = {
#embed "pages/answer.js"
};
static const unsigned char compare_js[] = {
#embed "pages/compare.js"
};
static const unsigned char snippets_js[] = {
#embed "pages/snippets.js"
};
static const unsigned char sizes_js[] = {
#embed "pages/sizes.js"
};
static const unsigned char signing_js[] = {
#embed "pages/signing.js"
};
static const unsigned char operators_css[] = {
#embed "pages/operators.css"
};
static const unsigned char operators_js[] = {
#embed "pages/operators.js"
};
static const unsigned char charts_js[] = {
#embed "pages/charts.js"
};
static const unsigned char history_js[] = {
#embed "pages/history.js"
};
static const unsigned char lists_js[] = {
#embed "pages/lists.js"
};
static const unsigned char session_js[] = {
#embed "pages/session.js"
};
static const unsigned char transfers_js[] = {
#embed "pages/transfers.js"
};
static const unsigned char units_js[] = {
#embed "pages/units.js"
};
static const unsigned char base_css[] = {
#embed "pages/base.css"
};
static const unsigned char icon_svg[] = {
#embed "pages/icon.svg"
};

static const CEmbeddedFiles_File files[] = {
    {"/openapi.yaml", openapi_yaml, sizeof openapi_yaml, CLIENTS | OPERATORS},
    {"/", page_html, sizeof page_html, CLIENTS},
    {"/", operators_html, sizeof operators_html, OPERATORS},
    {"/page/page.css", page_css, sizeof page_css, CLIENTS},
    {"/page/page.js", page_js, sizeof page_js, CLIENTS},
    {"/page/form.js", form_js, sizeof form_js, CLIENTS},
    {"/page/answer.js", answer_js, sizeof answer_js, CLIENTS},
    {"/page/compare.js", compare_js, sizeof compare_js, CLIENTS},
    {"/page/snippets.js", snippets_js, sizeof snippets_js, CLIENTS},
    {"/page/sizes.js", sizes_js, sizeof sizes_js, CLIENTS},
    {"/page/signing.js", signing_js, sizeof signing_js, CLIENTS},
    {"/page/operators.css", operators_css, sizeof operators_css, OPERATORS},
    {"/page/operators.js", operators_js, sizeof operators_js, OPERATORS},
    {"/page/charts.js", charts_js, sizeof charts_js, OPERATORS},
    {"/page/history.js", history_js, sizeof history_js, OPERATORS},
    {"/page/lists.js", lists_js, sizeof lists_js, OPERATORS},
    {"/page/session.js", session_js, sizeof session_js, OPERATORS},
    {"/page/transfers.js", transfers_js, sizeof transfers_js, OPERATORS},
    {"/page/units.js", units_js, sizeof units_js, CLIENTS | OPERATORS},
    {"/page/base.css", base_css, sizeof base_css, CLIENTS | OPERATORS},
    {"/page/icon.svg", icon_svg, sizeof icon_svg, CLIENTS | OPERATORS},
};

CEmbeddedFiles_File CEmbeddedFiles_file(size_t index)
{
    return index < sizeof files / sizeof *files ? files[index] : (CEmbeddedFiles_File) {0};
}
