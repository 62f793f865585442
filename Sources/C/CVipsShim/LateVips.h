#ifndef LateVips_h
#define LateVips_h

// libvips is loaded when it is first needed: with the libraries that only it uses, that is a quarter of the
// time of a short command. So its functions are called by pointers, under their names.

#include <vips/vips.h>
#include <vips/vector.h>

/// A function that is missing in either list does not link or compile.
// clang-format off
#define VIPS_FUNCTIONS(FUNCTION) \
    FUNCTION(vips_addalpha) FUNCTION(vips_area_unref) FUNCTION(vips_array_double_new) FUNCTION(vips_bandjoin2) \
    FUNCTION(vips_bandjoin_const) FUNCTION(vips_block_untrusted_set) FUNCTION(vips_cache_set_max) \
    FUNCTION(vips_cache_set_max_files) FUNCTION(vips_cache_set_max_mem) FUNCTION(vips_call) FUNCTION(vips_cast) \
    FUNCTION(vips_cast_uchar) FUNCTION(vips_class_map_all) FUNCTION(vips_colourspace) FUNCTION(vips_composite2) \
    FUNCTION(vips_concurrency_set) FUNCTION(vips_conv) FUNCTION(vips_copy) FUNCTION(vips_embed) \
    FUNCTION(vips_error) FUNCTION(vips_error_buffer_copy) FUNCTION(vips_error_clear) FUNCTION(vips_extract_area) \
    FUNCTION(vips_extract_band) FUNCTION(vips_flatten) FUNCTION(vips_flip) FUNCTION(vips_format_sizeof) \
    FUNCTION(vips_format_sizeof_unsafe) FUNCTION(vips_gifload_buffer) FUNCTION(vips_gifsave_buffer) \
    FUNCTION(vips_icc_transform) FUNCTION(vips_image_copy_memory) FUNCTION(vips_image_generate) \
    FUNCTION(vips_image_get_array_int) FUNCTION(vips_image_get_blob) FUNCTION(vips_image_get_int) \
    FUNCTION(vips_image_get_typeof) FUNCTION(vips_image_hasalpha) FUNCTION(vips_image_new) \
    FUNCTION(vips_image_new_from_buffer) FUNCTION(vips_image_new_from_image) FUNCTION(vips_image_new_from_memory) \
    FUNCTION(vips_image_new_from_memory_copy) FUNCTION(vips_image_new_from_source) FUNCTION(vips_image_new_matrixv) \
    FUNCTION(vips_image_new_memory) FUNCTION(vips_image_pipeline_array) FUNCTION(vips_image_pipelinev) \
    FUNCTION(vips_image_set_array_int) FUNCTION(vips_image_set_blob_copy) FUNCTION(vips_image_set_int) \
    FUNCTION(vips_image_set_kill) FUNCTION(vips_image_set_progress) FUNCTION(vips_image_write_line) \
    FUNCTION(vips_init) FUNCTION(vips_jpegload_buffer) FUNCTION(vips_jxlsave_buffer) FUNCTION(vips_linear) \
    FUNCTION(vips_linear1) FUNCTION(vips_malloc) FUNCTION(vips_maplut) FUNCTION(vips_object_get_type) \
    FUNCTION(vips_object_local_array) FUNCTION(vips_object_local_cb) FUNCTION(vips_operation_block_set) \
    FUNCTION(vips_operation_get_type) FUNCTION(vips_percent) FUNCTION(vips_pngload_buffer) FUNCTION(vips_rank) \
    FUNCTION(vips_rect_includespoint) FUNCTION(vips_rect_includesrect) FUNCTION(vips_rect_intersectrect) \
    FUNCTION(vips_region_copy) FUNCTION(vips_region_new) FUNCTION(vips_region_prepare) \
    FUNCTION(vips_region_prepare_to) FUNCTION(vips_replicate) FUNCTION(vips_resize) FUNCTION(vips_rot) \
    FUNCTION(vips_sharpen) FUNCTION(vips_smartcrop) FUNCTION(vips_source_new_from_memory) FUNCTION(vips_start_one) \
    FUNCTION(vips_stop_one) FUNCTION(vips_thread_shutdown) FUNCTION(vips_tiffload_buffer) \
    FUNCTION(vips_vector_set_enabled) FUNCTION(vips_version) FUNCTION(vips_webpload_buffer) \
    FUNCTION(vips_webpsave_buffer) FUNCTION(vips_zoom)
// clang-format on

#define DECLARE(name) extern __typeof__(name) *late_##name;
VIPS_FUNCTIONS(DECLARE)
#undef DECLARE

#define vips_addalpha (*late_vips_addalpha)
#define vips_area_unref (*late_vips_area_unref)
#define vips_array_double_new (*late_vips_array_double_new)
#define vips_bandjoin2 (*late_vips_bandjoin2)
#define vips_bandjoin_const (*late_vips_bandjoin_const)
#define vips_block_untrusted_set (*late_vips_block_untrusted_set)
#define vips_cache_set_max (*late_vips_cache_set_max)
#define vips_cache_set_max_files (*late_vips_cache_set_max_files)
#define vips_cache_set_max_mem (*late_vips_cache_set_max_mem)
#define vips_call (*late_vips_call)
#define vips_cast (*late_vips_cast)
#define vips_cast_uchar (*late_vips_cast_uchar)
#define vips_class_map_all (*late_vips_class_map_all)
#define vips_colourspace (*late_vips_colourspace)
#define vips_composite2 (*late_vips_composite2)
#define vips_concurrency_set (*late_vips_concurrency_set)
#define vips_conv (*late_vips_conv)
#define vips_copy (*late_vips_copy)
#define vips_embed (*late_vips_embed)
#define vips_error (*late_vips_error)
#define vips_error_buffer_copy (*late_vips_error_buffer_copy)
#define vips_error_clear (*late_vips_error_clear)
#define vips_extract_area (*late_vips_extract_area)
#define vips_extract_band (*late_vips_extract_band)
#define vips_flatten (*late_vips_flatten)
#define vips_flip (*late_vips_flip)
#define vips_format_sizeof (*late_vips_format_sizeof)
#define vips_format_sizeof_unsafe (*late_vips_format_sizeof_unsafe)
#define vips_gifload_buffer (*late_vips_gifload_buffer)
#define vips_gifsave_buffer (*late_vips_gifsave_buffer)
#define vips_icc_transform (*late_vips_icc_transform)
#define vips_image_copy_memory (*late_vips_image_copy_memory)
#define vips_image_generate (*late_vips_image_generate)
#define vips_image_get_array_int (*late_vips_image_get_array_int)
#define vips_image_get_blob (*late_vips_image_get_blob)
#define vips_image_get_int (*late_vips_image_get_int)
#define vips_image_get_typeof (*late_vips_image_get_typeof)
#define vips_image_hasalpha (*late_vips_image_hasalpha)
#define vips_image_new (*late_vips_image_new)
#define vips_image_new_from_buffer (*late_vips_image_new_from_buffer)
#define vips_image_new_from_image (*late_vips_image_new_from_image)
#define vips_image_new_from_memory (*late_vips_image_new_from_memory)
#define vips_image_new_from_memory_copy (*late_vips_image_new_from_memory_copy)
#define vips_image_new_from_source (*late_vips_image_new_from_source)
#define vips_image_new_matrixv (*late_vips_image_new_matrixv)
#define vips_image_new_memory (*late_vips_image_new_memory)
#define vips_image_pipeline_array (*late_vips_image_pipeline_array)
#define vips_image_pipelinev (*late_vips_image_pipelinev)
#define vips_image_set_array_int (*late_vips_image_set_array_int)
#define vips_image_set_blob_copy (*late_vips_image_set_blob_copy)
#define vips_image_set_int (*late_vips_image_set_int)
#define vips_image_set_kill (*late_vips_image_set_kill)
#define vips_image_set_progress (*late_vips_image_set_progress)
#define vips_image_write_line (*late_vips_image_write_line)
#define vips_init (*late_vips_init)
#define vips_jpegload_buffer (*late_vips_jpegload_buffer)
#define vips_jxlsave_buffer (*late_vips_jxlsave_buffer)
#define vips_linear (*late_vips_linear)
#define vips_linear1 (*late_vips_linear1)
#define vips_malloc (*late_vips_malloc)
#define vips_maplut (*late_vips_maplut)
#define vips_object_get_type (*late_vips_object_get_type)
#define vips_object_local_array (*late_vips_object_local_array)
#define vips_object_local_cb (*late_vips_object_local_cb)
#define vips_operation_block_set (*late_vips_operation_block_set)
#define vips_operation_get_type (*late_vips_operation_get_type)
#define vips_percent (*late_vips_percent)
#define vips_pngload_buffer (*late_vips_pngload_buffer)
#define vips_rank (*late_vips_rank)
#define vips_rect_includespoint (*late_vips_rect_includespoint)
#define vips_rect_includesrect (*late_vips_rect_includesrect)
#define vips_rect_intersectrect (*late_vips_rect_intersectrect)
#define vips_region_copy (*late_vips_region_copy)
#define vips_region_new (*late_vips_region_new)
#define vips_region_prepare (*late_vips_region_prepare)
#define vips_region_prepare_to (*late_vips_region_prepare_to)
#define vips_replicate (*late_vips_replicate)
#define vips_resize (*late_vips_resize)
#define vips_rot (*late_vips_rot)
#define vips_sharpen (*late_vips_sharpen)
#define vips_smartcrop (*late_vips_smartcrop)
#define vips_source_new_from_memory (*late_vips_source_new_from_memory)
#define vips_start_one (*late_vips_start_one)
#define vips_stop_one (*late_vips_stop_one)
#define vips_thread_shutdown (*late_vips_thread_shutdown)
#define vips_tiffload_buffer (*late_vips_tiffload_buffer)
#define vips_vector_set_enabled (*late_vips_vector_set_enabled)
#define vips_version (*late_vips_version)
#define vips_webpload_buffer (*late_vips_webpload_buffer)
#define vips_webpsave_buffer (*late_vips_webpsave_buffer)
#define vips_zoom (*late_vips_zoom)

#endif
