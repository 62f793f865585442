// The only list of embedded files.
#include "CEmbeddedFiles.h"

#define PUBLIC CEmbeddedFiles_PUBLIC
#define ADMIN CEmbeddedFiles_ADMIN

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
    {"/openapi.yaml", openapi_yaml, sizeof openapi_yaml, PUBLIC | ADMIN},
    {"/", page_html, sizeof page_html, PUBLIC},
    {"/", operators_html, sizeof operators_html, ADMIN},
    {"/page/page.css", page_css, sizeof page_css, PUBLIC},
    {"/page/page.js", page_js, sizeof page_js, PUBLIC},
    {"/page/form.js", form_js, sizeof form_js, PUBLIC},
    {"/page/answer.js", answer_js, sizeof answer_js, PUBLIC},
    {"/page/compare.js", compare_js, sizeof compare_js, PUBLIC},
    {"/page/snippets.js", snippets_js, sizeof snippets_js, PUBLIC},
    {"/page/sizes.js", sizes_js, sizeof sizes_js, PUBLIC},
    {"/page/signing.js", signing_js, sizeof signing_js, PUBLIC},
    {"/page/operators.css", operators_css, sizeof operators_css, ADMIN},
    {"/page/operators.js", operators_js, sizeof operators_js, ADMIN},
    {"/page/charts.js", charts_js, sizeof charts_js, ADMIN},
    {"/page/history.js", history_js, sizeof history_js, ADMIN},
    {"/page/lists.js", lists_js, sizeof lists_js, ADMIN},
    {"/page/session.js", session_js, sizeof session_js, ADMIN},
    {"/page/transfers.js", transfers_js, sizeof transfers_js, ADMIN},
    {"/page/units.js", units_js, sizeof units_js, PUBLIC | ADMIN},
    {"/page/base.css", base_css, sizeof base_css, PUBLIC | ADMIN},
    {"/page/icon.svg", icon_svg, sizeof icon_svg, PUBLIC | ADMIN},
};

CEmbeddedFiles_File CEmbeddedFiles_file(size_t index)
{
    return index < sizeof files / sizeof *files ? files[index] : (CEmbeddedFiles_File) {0};
}
