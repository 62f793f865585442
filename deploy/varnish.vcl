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
        set req.http.xkey-purged = xkey.purge(req.http.xkey-purge);
        return (synth(200, req.http.xkey-purged + " purged"));
    }
}

sub vcl_deliver { unset resp.http.xkey; }
