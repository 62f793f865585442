# Varnish 7 in front of Alula. Answers are known by their tags (cacheTagHeader: "xkey"), and purged by them.
vcl 4.1;

# The package varnish-modules.
import xkey;

backend default { .host = "127.0.0.1"; .port = "8080"; }

# The instances of Alula, which call after purges.
acl purgers { "127.0.0.1"; "10.0.0.0"/8; }

sub vcl_recv {
    if (req.method == "PURGE") {
        if (client.ip !~ purgers) { return (synth(403)); }
        # A purge of everything at Alula.
        if (req.http.xkey-purge == "*") {
            ban("obj.status != 0");
            return (synth(200, "everything purged"));
        }
        set req.http.xkey-purged = xkey.purge(req.http.xkey-purge);
        return (synth(200, req.http.xkey-purged + " purged"));
    }
    # Responses vary on Accept. Of the many texts that browsers send, only these formats matter.
    if (req.method == "GET" || req.method == "HEAD") {
        set req.http.x-formats = "";
        if (req.http.Accept ~ "image/avif(?!\s*;\s*q=0(\.0*)?\s*(,|$))") { set req.http.x-formats = "image/avif,"; }
        if (req.http.Accept ~ "image/webp(?!\s*;\s*q=0(\.0*)?\s*(,|$))") { set req.http.x-formats = req.http.x-formats + "image/webp,"; }
        if (req.http.Accept ~ "image/jxl(?!\s*;\s*q=0(\.0*)?\s*(,|$))") { set req.http.x-formats = req.http.x-formats + "image/jxl,"; }
        set req.http.Accept = req.http.x-formats + "*/*";
        unset req.http.x-formats;
    }
}

sub vcl_deliver { unset resp.http.xkey; }
