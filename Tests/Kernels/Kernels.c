// Runs every kernel in C on cases that are made from their numbers, and prints a digest of each kernel's results: equal on all processors.
//
//   kernels COUNT
#include <CFastJPEG.h>
#include <CFastPNG.h>
#include <CJPEGWriting.h>
#include <CLightResampling.h>
#include <CPalettes.h>
#include <CPixels.h>
#include <CPlanar.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "BitReader.h"
#include "Checksum.h"
#include "Corner.h"
#include "Filters.h"

static uint64_t seed, digest;

static uint32_t number(void)
{
    uint64_t value = seed += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return (uint32_t) (value >> 32);
}

static int within(int least, int most)
{
    return least + (int) (number() % (uint32_t) (most - least + 1));
}

/// A multiple of 1/1024, which every processor holds exactly.
static double fraction(double least, double most)
{
    return least + floor((most - least) * within(0, 1 << 16) / 65536 * 1024) / 1024;
}

static void add(const void *bytes, size_t count)
{
    const uint8_t *byte = bytes;
    while (count--)
        digest = (digest ^ *byte++) * 0x100000001b3;
}

/// Noise; or flat and steep parts, and a share of extremes.
static void fill(uint8_t *bytes, size_t count)
{
    int kind = within(0, 3), value = within(0, 255);
    size_t place;
    for (place = 0; place < count; place++) {
        if (kind > 1 && within(0, 7) == 0)
            value = kind == 2 ? within(0, 255) : 255 * within(0, 1);
        bytes[place] = (uint8_t) (kind == 0 ? within(0, 255) : (kind == 1 ? value + within(-3, 3) : value));
    }
}

static uint8_t *filled(size_t count)
{
    uint8_t *bytes = malloc(count);
    fill(bytes, count);
    return bytes;
}

static int go_on(void *context)
{
    (void) context;
    return 0;
}

static const uint8_t *row_of_light(void *context, int row)
{
    const CLightResampling *resampling = ((void **) context)[0];
    const uint8_t *samples = ((void **) context)[1];
    return samples + (size_t) row * (size_t) resampling->source_width * (size_t) resampling->bands;
}

static void light(void)
{
    CLightResampling r = {.source_width = within(1, 150), .source_height = within(1, 60), .bands = within(1, 4)};
    r.kernel = within(0, 1) ? CLightLanczos : CLightCatmullRom, r.is_plain = r.bands == 1 && within(0, 1);
    r.target_width = within(1, r.source_width), r.target_height = within(1, r.source_height);
    r.width = fraction(r.target_width, r.source_width), r.left = fraction(0, r.source_width - r.width);
    r.height = fraction(r.target_height, r.source_height), r.top = fraction(0, r.source_height - r.height);
    uint8_t *samples = filled((size_t) (r.source_width * r.source_height * r.bands) + 64);
    uint8_t *row = calloc(4, (size_t) r.target_width);
    CLightResampler *resampler = CLight_make(&r);
    void *room = aligned_alloc(64, (CLight_scratch_size(resampler) + 63) / 64 * 64);
    void *context[2] = {&r, samples};
    int first = within(0, 1) ? 0 : within(0, r.target_width - 1), end = within(first + 1, r.target_width);
    CLightRun run = CLight_start(resampler, (CLightRange) {first, end}, room);
    int y, is_limited = within(0, 1);
    run.scale = (float) fraction(0.5, 2), run.offset = (float) fraction(-20, 20);
    for (y = 0; y < r.target_height; y++) {
        CLight_make_row(&run, (CLightSource) {row_of_light, context, is_limited}, y, row, is_limited);
        add(row, (size_t) ((end - first) * r.bands));
    }
    CLight_free(resampler);
    free(samples), free(row), free(room);
}

static void corner(void)
{
    int16_t values[max_kept], steps[max_kept];
    uint8_t samples[32] = {0};
    int index, most = 1 << within(1, 14), mean = within(-2048, 2047);
    for (index = 0; index < max_kept; index++)
        values[index] = (int16_t) within(-most, most), steps[index] = (int16_t) within(1, 255);
    // These coefficients are always zero.
    values[17] = values[22] = 0;
    write_1(mean, steps[0], samples);
    write_2(mean, values, steps, samples + 4, 8);
    add(samples, sizeof samples);
    write_4(mean, values, steps, samples, 8);
    add(samples, sizeof samples);
}

static ScanData scan_data;

static void bits(void)
{
    size_t count = (size_t) (within(0, 15) ? within(0, 300) : within(piece_size - 40, piece_size + 40)), place;
    uint8_t *bytes = filled(count + 1);
    for (place = 0; place + 1 < count; place++)
        if (bytes[place] == 0xFF && within(0, 63))
            bytes[++place] = 0;
    scan_data.source = bytes, scan_data.source_end = bytes + count;
    BitReader reader = begin_reading(&scan_data);
    uint64_t facts[3] = {(uint64_t) (scan_data.source - bytes), (uint64_t) scan_data.is_last, reader.bits};
    add(facts, sizeof facts);
    add(scan_data.piece, (size_t) (scan_data.end - scan_data.piece));
    free(bytes);
}

static void jpeg(void)
{
    static const uint8_t mean_counts[16] = {[3] = 12}, detail_counts[16] = {[1] = 1, [7] = 191};
    uint8_t mean_symbols[256] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, detail_symbols[256] = {0};
    uint16_t steps[64];
    int index, size = within(0, 1) ? 1 : 2;
    CFastJPEGFrame frame = {.width = within(1, 70), .height = within(1, 70), .level = 2 << within(0, 2)};
    CFastJPEGScan scan = {.last = 63, .restart_interval = within(0, 3) ? 0 : within(1, 9)};
    for (index = 1; index < 192; index++)
        detail_symbols[index] = (uint8_t) (index == 161 ? 0xF0 : (index > 161 ? index & 31 : (index - 1) / 10 << 4) | ((index - 1) % 10 + 1));
    for (; index < 256; index++)
        detail_symbols[index] = 1;
    for (index = 162; index < 192; index++)
        detail_symbols[index] = (uint8_t) (within(0, 3) << 4 | within(1, 4));
    for (index = 0; index < 64; index++)
        steps[index] = (uint16_t) within(1, 255);
    frame.component_count = scan.component_count = within(0, 1) ? 1 : 3;
    for (index = 0; index < frame.component_count; index++) {
        int factor = index == 0 && frame.component_count == 3 ? size : 1, most = frame.component_count == 3 ? size : 1;
        CFastJPEGPlane plane = {.width = (frame.width * factor + most * frame.level - 1) / (most * frame.level),
            .height = (frame.height * factor + most * frame.level - 1) / (most * frame.level)};
        plane.stride = (size_t) plane.width / 4 * 4 + 8;
        plane.samples = calloc(plane.stride, (size_t) plane.height + 1);
        frame.components[index].across = frame.components[index].down = factor;
        frame.components[index].plane = plane;
        scan.components[index].index = index;
        scan.components[index].steps = steps;
        scan.components[index].dc = (CFastJPEGCodes) {mean_counts, mean_symbols};
        scan.components[index].ac = (CFastJPEGCodes) {detail_counts, detail_symbols};
    }
    size_t count = (size_t) within(1, 6000), place;
    uint8_t *bytes = malloc(count + 2);
    for (place = 0; place < count; place++) {
        bytes[place] = (uint8_t) (within(0, 1) ? within(0, 63) : within(0, 255));
        if (bytes[place] == 0xFF)
            bytes[++place] = 0;
    }
    scan.data = bytes, scan.end = bytes + count;
    int outcome = CFastJPEG_decode(&frame, &scan, NULL, 0, (CPixelsWatch) {go_on, NULL});
    add(&outcome, sizeof outcome);
    for (index = 0; index < frame.component_count; index++) {
        CFastJPEGPlane plane = frame.components[index].plane;
        for (int y = 0; y < plane.height; y++)
            add(plane.samples + (size_t) y * plane.stride, (size_t) plane.width);
        free(plane.samples);
    }
    free(bytes);
}

static void jpeg_writing(void)
{
    CJPEGRequest request = {.count = within(0, 2) ? 3 : 1, .quality = within(1, 100), .scans = (CJPEGScans) within(0, 2), .watch = {go_on, NULL}};
    int width = within(1, 150), height = within(1, 150), step = within(1, 2);
    void *bytes = NULL;
    size_t count = 0;
    for (int index = 0; index < request.count; index++) {
        int across = index ? (width + step - 1) / step : width, down = index ? (height + step - 1) / step : height;
        request.planes[index] = (CJPEGPlane) {filled((size_t) across * (size_t) down), (size_t) across, across, down};
    }
    int outcome = CJPEG_write(&request, &bytes, &count);
    add(&outcome, sizeof outcome);
    add(bytes, count);
    free(bytes);
    for (int index = 0; index < request.count; index++)
        free((void *) request.planes[index].samples);
}

static void edges(void)
{
    CPlanarPlane planes[2];
    int width = within(1, 90), height = within(1, 12), plane;
    for (plane = 0; plane < 2; plane++)
        planes[plane] = (CPlanarPlane) {filled((size_t) (width * height)), (size_t) width, width, height};
    size_t found = CPlanar_color_edges(&planes[0], &planes[1]);
    add(&found, sizeof found);
    free(planes[0].samples), free(planes[1].samples);
}

static void similarity(void)
{
    CPlanarPlane planes[2];
    int width = within(1, 90), height = within(1, 20), plane;
    for (plane = 0; plane < 2; plane++)
        planes[plane] = (CPlanarPlane) {filled((size_t) (width * height)), (size_t) width, width, height};
    double lack = CPlanar_dissimilarity(&planes[0], &planes[1]);
    add(&lack, sizeof lack);
    free(planes[0].samples), free(planes[1].samples);
}

static void stamp_samples(void)
{
    int bands = within(0, 1) ? 4 : 2;
    size_t count = (size_t) within(1, 200);
    uint8_t *pixels = filled(count * (size_t) bands), *samples = filled(count * 4);
    CPlanar_split(pixels, bands, count, within(0, 1), samples);
    add(samples, count * 4);
    free(pixels), free(samples);
}

static void averages(void)
{
    int bands = within(1, 4), factor = within(0, 3) ? 1 << within(1, 3) : within(2, 64);
    int width = within(0, 3) ? within(1, 60) : within(1, 500), height = within(1, factor), row;
    CPixelsBoxes boxes = {NULL, height, width, bands, factor, bands % 2 == 0 && within(0, 3)};
    size_t size = (size_t) (width * bands), result = (size_t) ((width + factor - 1) / factor * bands);
    uint8_t *pixels = filled(size * (size_t) height), *out = filled(result);
    const uint8_t *rows[64];
    for (row = 0; row < height; row++)
        rows[row] = pixels + size * (size_t) row;
    boxes.rows = rows;
    CPixels_average(&boxes, out);
    add(out, result);
    free(pixels), free(out);
}

/// Rows of any filters, one by one and two at a time: both make the same bytes.
static void filters(void)
{
    static const int steps[] = {1, 2, 3, 4, 6, 8};
    size_t step = (size_t) steps[within(0, 5)], count = step * (size_t) within(1, 70);
    // Pixels are read and written in whole registers.
    uint8_t *rows = realloc(filled(2 * count), 2 * count + 8), *above = realloc(filled(count), count + 8);
    uint8_t *out = realloc(filled(4 * count), 4 * count + 8);
    int kinds[2] = {within(0, 4), within(0, 4)};
    CFastPNG_unfilter(kinds[0], rows, above, out, count, step);
    CFastPNG_unfilter(kinds[1], rows + count, out, out + count, count, step);
    add(out, 2 * count);
    // The second row may take the place of the one above.
    uint8_t *outs[2] = {out + 2 * count, within(0, 1) ? above : out + 3 * count};
    if (CFastPNG_unfilter_two(kinds, (const uint8_t *const[]) {rows, rows + count}, above, outs, count, step)
        && (memcmp(out, outs[0], count) || memcmp(out + count, outs[1], count)))
        abort();
    free(rows), free(above), free(out);
}

static void checksum(void)
{
    size_t count = (size_t) within(0, 600);
    uint8_t *bytes = filled(count + 16);
    uint32_t before = number();
    uint32_t sum = CFastPNG_checksum(before, bytes + within(0, 15), count);
    add(&sum, sizeof sum);
    free(bytes);
}

static CPixelsFrame frame_of(int width, int height, int bands)
{
    size_t stride = (size_t) (width * bands);
    return (CPixelsFrame) {filled(stride * (size_t) height), stride, width, height, bands};
}

/// A frame of `min_bands` to 4 bands. Statements, because the order of arguments is the compiler's.
static CPixelsFrame some_frame(int min_bands)
{
    int width = within(1, 40);
    int height = within(1, 40);
    return frame_of(width, height, within(min_bands, 4));
}

/// Applies a filter to a frame; the result has `width` × `height` pixels of `bands` bands.
static void apply(CPixelsFilter filter, const void *settings, CPixelsFrame in, int width, int height, int bands)
{
    CPixelsFrame out = frame_of(width, height, bands);
    int status = filter(settings, &in, &out, (CPixelsWatch) {go_on, NULL});
    add(&status, sizeof status);
    add(out.pixels, out.stride * (size_t) height);
    free(in.pixels), free(out.pixels);
}

static void apply_here(CPixelsFilter filter, const void *settings, int min_bands)
{
    CPixelsFrame in = some_frame(min_bands);
    apply(filter, settings, in, in.width, in.height, in.bands);
}

static void colors(void)
{
    CPixelsColors colors = {.count = within(0, CPixels_max_matrices), .scale = (float) fraction(0, 2), .offset = (float) fraction(-64, 64)};
    for (int index = 0; index < 256; index++)
        colors.table[index] = (float) fraction(0, 255);
    for (int index = 0; index < 9 * CPixels_max_matrices; index++)
        colors.matrices[index / 9][index % 9] = (float) fraction(-1, 2);
    apply_here(CPixels_color, &colors, 1);
}

/// Numbers of gamuts that exist, and of some that do not.
static CPixelsGamut some_gamut(void)
{
    CPixelsGamut gamut;
    int index, spread = within(0, 3);
    for (index = 0; index < 3 * 257; index++)
        gamut.light[index / 257][index % 257] = (float) (index % 257 * (index % 257) / 65536.0);
    for (index = 0; index < 9; index++) {
        double one = index % 4 == 0 ? 1 : 0;
        gamut.to_target[index] = (float) (one + fraction(-0.25, 0.25) * spread);
        gamut.to_xyz[index] = (float) (one * 0.5 + fraction(0.125, 0.25));
        gamut.from_xyz[index] = (float) (one * 3 - fraction(0.25, 1));
    }
    return gamut;
}

static void gamuts(void)
{
    CPixelsGamut gamut = some_gamut();
    CPixelsFrame frame = some_frame(3);
    CPixelsShare share = {0};
    CPixels_count_outside(&gamut, &frame, &share, (CPixelsWatch) {go_on, NULL});
    add(&share, sizeof share);
    apply(CPixels_change_gamut, &gamut, frame, frame.width, frame.height, frame.bands);
}

static void gain_maps(void)
{
    static CPixelsGains gains;
    CPixelsFrame image = some_frame(1), map = some_frame(1), base, out;
    int step, band;
    map.bands = map.bands < 3 ? 1 : 3;
    for (step = 0; step < 256; step++)
        gains.light[step] = gains.base_light[step] = (float) (step * step / 65536.0);
    for (band = 0; band < 3; band++)
        for (gains.offsets[band] = (float) fraction(0, 1), step = 0; step <= CPixels_gain_steps; step++)
            gains.gains[band][step] = (float) (1 + step * (band + 1) / 512.0);
    gains.whole = (CPixelsArea) {0, 0, image.width, image.height};
    gains.part.width = fraction(1, image.width), gains.part.left = fraction(0, image.width - gains.part.width);
    gains.part.height = fraction(1, image.height), gains.part.top = fraction(0, image.height - gains.part.height);
    int width = within(1, (int) gains.part.width), height = within(1, (int) gains.part.height);
    gains.orientation = within(1, 8);
    out = gains.orientation < 5 ? frame_of(width, height, map.bands) : frame_of(height, width, map.bands);
    base = frame_of(out.width, out.height, within(0, 1) ? 1 : 3);
    int status = CPixels_fit_gains(&gains, &image, &map, within(0, 3) ? &base : NULL, &out, (CPixelsWatch) {go_on, NULL});
    add(&status, sizeof status);
    add(out.pixels, out.stride * (size_t) out.height);
    free(image.pixels), free(map.pixels), free(base.pixels), free(out.pixels);
}

static void plane_colors(void)
{
    CPixelsGamut gamut = some_gamut();
    CPixelsStages stages = {.count = within(1, CPixels_max_stages)};
    CPixelsPlanes planes = {.width = within(1, 50), .height = within(1, 30), .step = within(1, 2), .is_limited = within(0, 1)};
    int plane, index;
    for (index = 0; index < 12 * stages.count; index++)
        stages.stages[index / 12].factors[index % 12] = (float) (index % 12 < 9 ? fraction(-1, 2) : fraction(-99, 99));
    for (plane = 0; plane < 3; plane++) {
        int step = plane ? planes.step : 1;
        planes.strides[plane > 0] = (size_t) ((planes.width + step - 1) / step);
        planes.samples[plane] = filled(planes.strides[plane > 0] * (size_t) planes.height);
    }
    CPixels_color_planes(within(0, 1) ? &gamut : NULL, &stages, &planes, (CPixelsWatch) {go_on, NULL});
    for (plane = 0; plane < 3; plane++) {
        int step = plane ? planes.step : 1;
        add(planes.samples[plane], planes.strides[plane > 0] * (size_t) ((planes.height + step - 1) / step));
        free(planes.samples[plane]);
    }
}

static void sharp_chroma(void)
{
    int width = within(1, 50), height = within(1, 30), plane;
    CPixelsFrame frame = frame_of(width, height, 3);
    CPixelsPlanes planes = {.strides = {(size_t) width, (size_t) (width + 1) / 2}, .width = width, .height = height, .step = 2, .is_limited = within(0, 1)};
    for (plane = 0; plane < 3; plane++)
        planes.samples[plane] = filled(planes.strides[plane > 0] * (size_t) height);
    if (within(0, 1)) {
        CPixelsPlanes samples = {.strides = {(size_t) width, (size_t) width}, .width = width, .height = height, .step = 1, .is_limited = within(0, 1)};
        for (plane = 0; plane < 3; plane++)
            samples.samples[plane] = filled((size_t) (width * height));
        float *room = malloc(CPixels_sharp_scratch_size(width, height));
        CPixels_subsample_sharply(&samples, &planes, room, (CPixelsWatch) {go_on, NULL});
        free(room);
        for (plane = 0; plane < 3; plane++)
            free(samples.samples[plane]);
    } else
        CPixels_sharpen_chroma(&frame, &planes, (CPixelsWatch) {go_on, NULL});
    for (plane = 0; plane < 3; plane++) {
        add(planes.samples[plane], planes.strides[plane > 0] * (size_t) (plane ? (height + 1) / 2 : height));
        free(planes.samples[plane]);
    }
    free(frame.pixels);
}

static void gaussian(void)
{
    CPixelsGaussian gaussian = {fraction(0.25, within(0, 9) ? 6 : 60), (float) fraction(-1, 2)};
    apply_here(CPixels_gaussian, &gaussian, 1);
}

static void mosaic(void)
{
    CPixelsMosaic mosaic = {within(1, 50)};
    apply_here(CPixels_mosaic, &mosaic, 1);
}

static void outline(void)
{
    CPixelsOutline outline = {.left = fraction(0, 20), .top = fraction(0, 20), .right = fraction(20, 40), .bottom = fraction(20, 40), .across = fraction(0, 10), .down = fraction(0, 10), .count = within(0, 1) ? 0 : within(3, 12)};
    for (int index = 0; index < 2 * outline.count; index++)
        outline.corners[index / 2][index % 2] = fraction(0, 40);
    fill(outline.color, 4);
    apply_here(CPixels_cut, &outline, 1);
}

static void rotation(void)
{
    CPixelsRotation rotation = {.angle = fraction(0, 6.25)};
    CPixelsFrame in = some_frame(1);
    fill(rotation.color, 4);
    int width = within(1, 50);
    int height = within(1, 50);
    apply(CPixels_rotate, &rotation, in, width, height, in.bands + in.bands % 2);
}

static void turn(void)
{
    CPixelsTurn turn = {within(1, 8)};
    CPixelsFrame in = some_frame(1);
    if (turn.orientation > 4)
        apply(CPixels_turn, &turn, in, in.height, in.width, in.bands);
    else
        apply(CPixels_turn, &turn, in, in.width, in.height, in.bands);
}

static void formula(void)
{
    CPixelsColorFormula formula = {.kind = within(CPixels_formula_tables, CPixels_formula_lab)};
    fill(formula.tables[0], sizeof formula.tables);
    for (int index = 0; index < 9; index++)
        formula.values[index] = (float) fraction(-1, 2);
    apply_here(CPixels_apply_formula, &formula, 3);
}

static void equalize(void)
{
    apply_here(CPixels_equalize, NULL, 3);
}

static void noise(void)
{
    CPixelsNoise noise = {within(1, 200), number()};
    apply_here(CPixels_add_noise, &noise, 3);
}

static void convolve(void)
{
    CPixelsKernel kernel = {.columns = 2 * within(0, 4) + 1, .rows = 2 * within(0, 4) + 1};
    for (int index = 0; index < kernel.columns * kernel.rows; index++)
        kernel.factors[index] = (float) fraction(-1, 1);
    apply_here(CPixels_convolve, &kernel, 3);
}

static void blend(void)
{
    CPixelsBlend blend = {.mode = within(CPixels_blend_normal, CPixels_blend_mask_out), .width = within(1, 20), .height = within(1, 20), .bands = 2 * within(1, 2), .left = within(-20, 30), .top = within(-20, 30), .across = within(1, 3), .down = within(1, 3), .opacity = (float) fraction(0, 1)};
    uint8_t *stamp = filled((size_t) (blend.width * blend.height * blend.bands));
    blend.pitch_x = blend.width + within(0, 5), blend.pitch_y = blend.height + within(0, 5);
    fill(blend.color, 4);
    blend.stamp = within(0, 3) ? stamp : NULL;
    apply_here(CPixels_blend, &blend, 3);
    free(stamp);
}

static void border(void)
{
    CPixelsFrame frame = some_frame(1);
    CPixelsBorder border = {.tolerance = within(0, 99), .is_distance = within(0, 1), .is_smoothed = within(0, 1)};
    memcpy(border.color, frame.pixels, (size_t) frame.bands);
    fill(border.matte, 3);
    CPixels_find_border(&frame, &border, (CPixelsWatch) {go_on, NULL});
    int found[4] = {border.left, border.top, border.right, border.bottom};
    add(found, sizeof found);
    free(frame.pixels);
}

static void palettes(void)
{
    CPixelsFrame frame = some_frame(1);
    CPalettesPixels pixels = {frame.pixels, frame.width, frame.height, frame.bands};
    CPalettesIndexed out = {0};
    CPixelsWatch watch = {go_on, NULL};
    int status = within(0, 1) ? (int) CPalettes_read(&pixels, &out, watch) : (int) CPalettes_choose(&pixels, fraction(0, 40), &out, watch);
    add(&status, sizeof status);
    if (status == CPalettesDone) {
        add(out.indices, (size_t) (frame.width * frame.height));
        add(out.colors, (size_t) out.count * 4);
    }
    free(out.indices), free(frame.pixels);
}

#define kernel(NAME) \
    { \
#NAME, NAME \
    }

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } kernels[] = {kernel(light), kernel(corner), kernel(bits), kernel(jpeg), kernel(jpeg_writing), kernel(edges), kernel(similarity), kernel(stamp_samples),
        kernel(averages), kernel(filters),
        kernel(checksum), kernel(colors),
        kernel(plane_colors), kernel(sharp_chroma), kernel(gamuts), kernel(gain_maps), kernel(gaussian), kernel(mosaic), kernel(outline), kernel(rotation), kernel(turn), kernel(formula),
        kernel(equalize), kernel(noise), kernel(convolve), kernel(blend), kernel(border), kernel(palettes)};
    int cases = count > 1 ? atoi(arguments[1]) : 10000, number;
    for (size_t index = 0; index < sizeof kernels / sizeof *kernels; index++) {
        uint64_t all = 0;
        for (number = 0; number < cases; number++) {
            seed = (uint64_t) number << 8 | index, digest = 0xcbf29ce484222325;
            kernels[index].run();
            all = (all ^ digest) * 0x100000001b3;
            if (count > 2)
                printf("%s %d %016llx\n", kernels[index].name, number, (unsigned long long) digest);
        }
        printf("%-14s%016llx\n", kernels[index].name, (unsigned long long) all);
    }
}
