#pragma once

#include <stddef.h>
#include <stdint.h>

/// The few functions of Node-API and libuv that we need, as their documents
/// have them. Both are stable ABIs that every node exports, so its headers,
/// which few hosts have, are not needed to build this.
extern "C" {

struct napi_env__;
struct napi_value__;
struct napi_callback_info__;
using napi_env = napi_env__*;
using napi_value = napi_value__*;
using napi_callback_info = napi_callback_info__*;
using napi_callback = napi_value (*)(napi_env, napi_callback_info);
using napi_status = int; // 0: fine

struct uv_loop_s;

napi_status napi_get_cb_info(napi_env, napi_callback_info, size_t* count,
                             napi_value* values, napi_value* self, void** data);
napi_status napi_get_value_int32(napi_env, napi_value, int32_t*);
napi_status napi_get_boolean(napi_env, bool, napi_value*);
napi_status napi_create_int32(napi_env, int32_t, napi_value*);
napi_status napi_get_buffer_info(napi_env, napi_value, void** data,
                                 size_t* size);
napi_status napi_create_buffer_copy(napi_env, size_t size, const void* data,
                                    void** copy, napi_value*);
napi_status napi_call_function(napi_env, napi_value self, napi_value function,
                               size_t count, const napi_value* arguments,
                               napi_value*);
napi_status napi_create_function(napi_env, const char* name, size_t length,
                                 napi_callback, void* data, napi_value*);
napi_status napi_set_named_property(napi_env, napi_value object,
                                    const char* name, napi_value);
napi_status napi_get_uv_event_loop(napi_env, uv_loop_s**);

int uv_loop_fork(uv_loop_s*);
void uv_update_time(uv_loop_s*);

} // extern "C"
