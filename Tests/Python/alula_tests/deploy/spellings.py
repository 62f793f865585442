"""One source, written in the ways that clients write it."""
import base64
import urllib.parse

PREFIXES = {"imgproxy": "/imgproxy", "thumbor": "/thumbor", "wsrv": "/wsrv", "imaginary": "/imaginary"}
# Dialects that lie where their frameworks have them, never at `/`.
ENDPOINTS = {"next": "/_next/image", "vercel": "/_vercel/image", "netlify": "/.netlify/images", "astro": "/_image",
             "cloudflare": "/cdn-cgi/image", "ipx": "/_ipx"}


def quoted(text):
    return urllib.parse.quote(text, safe="")


def plain(url):
    """Targets by name that ask for `url`, in each of which it can be read without decoding base64."""
    bare = url.removeprefix("http://")
    return {
        "native": f"/thumbnail?url={quoted(url)}&w=40",
        "native, not escaped": f"/thumbnail?w=41&url={url}",
        "native, small escapes": f"/thumbnail?w=42&url={quoted(url).replace('%2F', '%2f').replace('%3A', '%3a')}",
        "info": f"/info?url={quoted(url)}",
        "imgproxy": f"/imgproxy/insecure/rs:fit:40:40/plain/{url}",
        "imgproxy, escaped": f"/imgproxy/insecure/rs:fit:41:41/q:70/plain/{quoted(url)}@webp",
        "imgproxy, escaped options": f"/imgproxy/insecure/rs%3Afit%3A42%3A42/plain/{url}@png",
        "imgproxy, no option": f"/imgproxy/insecure/plain/{url}",
        "thumbor": f"/thumbor/unsafe/40x40/{url}",
        "thumbor, escaped": f"/thumbor/unsafe/fit-in/41x41/smart/{quoted(url)}",
        "thumbor, filters": f"/thumbor/unsafe/42x42/filters:quality(70):fill(red):format(webp)/{url}",
        "thumbor, no scheme": f"/thumbor/unsafe/trim/1x1:30x20/-43x0/left/top/{bare}",
        "wsrv": f"/wsrv/?url={quoted(url)}&w=40",
        "wsrv, no scheme": f"/wsrv?w=41&url={quoted(bare)}",
        "imaginary": f"/imaginary/resize?width=40&url={quoted(url)}",
        "next": f"/_next/image?url={quoted(url)}&w=32&q=75",
        "vercel": f"/_vercel/image?url={quoted(url)}&w=640&q=75",
        "netlify": f"/.netlify/images?url={quoted(url)}&w=40",
        "astro": f"/_image?href={quoted(url)}&w=40",
        "cloudflare": f"/cdn-cgi/image/width=40/{url}",
        "cloudflare, escaped": f"/cdn-cgi/image/width=41,format=auto/{quoted(url)}",
        "ipx": f"/_ipx/w_40/{url}",
    }


def in_base64(url):
    """Targets by name that ask for `url` in base64."""
    padded = base64.urlsafe_b64encode(url.encode()).decode()
    text = padded.rstrip("=")
    pieces = "/".join(text[place:place + 11] for place in range(0, len(text), 11))
    return {
        "imgproxy, base64": f"/imgproxy/insecure/rs:fit:44:44/{text}",
        "imgproxy, base64 with padding": f"/imgproxy/insecure/rs:fit:45:45/q:70/{padded}.webp",
        "imgproxy, base64 in pieces": f"/imgproxy/insecure/rs:fit:46:46/{pieces}.png",
        "thumbor, base64": f"/thumbor/unsafe/44x44/b64:{text}",
    }


def other_writings(url):
    """Targets by name whose URL differs from `url`, but names the same source."""
    return {
        "capitals": f"/thumbnail?w=47&url={quoted(url.replace('http:', 'HTTP:'))}",
        "fragment": f"/thumbnail?w=48&url={quoted(url + '#part')}",
        "escaped letters": f"/thumbnail?w=49&url={quoted(url).replace('images', '%69mages')}",
    }
