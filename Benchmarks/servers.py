"""The servers that Alula is compared with, if they are installed."""
import os
import shutil

from processes import Server, free_port, nginx


def image_filter(folder, origin):
    """nginx's module: its name, how to start it for a width, and the path of a request."""
    name, module = "image_filter", "/usr/lib/nginx/modules/ngx_http_image_filter_module.so"
    if not os.path.exists(module):
        return name, None, None

    def start(width):
        body = (
            f"location / {{ image_filter resize {width} -; image_filter_jpeg_quality 80; image_filter_buffer 64M;"
            f" proxy_pass http://127.0.0.1:{origin.port}; }}"
        )
        server = nginx(folder, free_port(), body)
        server.name = name
        return server

    return name, start, lambda width, path: "/" + path


def thumbor(folder, origin, venv):
    """thumbor with two processes, likewise."""
    name = "thumbor"
    executable = shutil.which(name) or os.path.join(venv, "bin", name)
    if not os.path.exists(executable):
        return name, None, None

    def start(width):
        port = free_port()
        settings = f"{folder}/thumbor.conf"
        with open(settings, "w") as file:
            file.write(
                "ALLOW_UNSAFE_URL = True\nQUALITY = 80\nSTORAGE = 'thumbor.storages.no_storage'\n"
                "RESULT_STORAGE = None\nLOADER = 'thumbor.loaders.http_loader'\nMAX_SOURCE_SIZE = 0\n")
        command = [executable, "-p", str(port), "-i", "127.0.0.1", "-c", settings, "--processes", "2"]
        return Server(name, command, port)

    return name, start, lambda width, path: f"/unsafe/{width}x0/http://127.0.0.1:{origin.port}/{path}"
