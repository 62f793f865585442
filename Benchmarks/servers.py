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

    return name, start, lambda width, path, output=None: "/" + path


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

    def path(width, file, output=None):
        return f"/unsafe/{width}x0/{f'filters:format({output})/' if output else ''}http://127.0.0.1:{origin.port}/{file}"

    return name, start, path


def imgproxy(executable, origin):
    """imgproxy with its defaults, but allowed to fetch from loopback, and without access log."""
    def start(width):
        port = free_port()
        settings = {"IMGPROXY_BIND": f"127.0.0.1:{port}", "IMGPROXY_ALLOW_LOOPBACK_SOURCE_ADDRESSES": "true", "IMGPROXY_LOG_LEVEL": "error"}
        return Server("imgproxy", [executable], port, env=os.environ | settings)

    def path(width, file, output):
        return f"/insecure/rs:fit:{width}:0/q:80/f:{'jpg' if output == 'jpeg' else output}/plain/http://127.0.0.1:{origin.port}/{file}"

    return "imgproxy", start, path


def imagor(executable, origin):
    """imagor with its defaults, but with unsigned URLs."""
    def start(width):
        port = free_port()
        return Server("imagor", [executable, "-server-address", "127.0.0.1", "-port", str(port), "-imagor-unsafe"], port)

    def path(width, file, output):
        return f"/unsafe/{width}x0/filters:quality(80):format({output})/http://127.0.0.1:{origin.port}/{file}"

    return "imagor", start, path


def oximg(executable, origin):
    """oximg with its defaults: quality 80 for JPEG, and its own for other formats, which its URLs cannot change."""
    def start(width):
        port = free_port()
        settings = {"PORT": str(port), "OXIMG_BIND": "127.0.0.1", "OXIMG_SOURCE_BASE_URL": f"http://127.0.0.1:{origin.port}"}
        return Server("oximg", [executable], port, env=os.environ | settings)

    # 8192 is its largest height; some versions refuse 0.
    return "oximg", start, lambda width, file, output: f"/resize/{width}/8192/{file}@{output}"


def peers(programs, folder, origin, venv):
    """The services whose programs are in the folder `programs`, and thumbor."""
    found = []
    for make in (oximg, imgproxy, imagor):
        executable = os.path.join(os.path.abspath(programs), make.__name__)
        if os.access(executable, os.X_OK):
            found.append(make(executable, origin))
    return found + [peer for peer in [thumbor(folder, origin, venv)] if peer[1]]
