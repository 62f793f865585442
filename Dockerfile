# syntax=docker/dockerfile:1
FROM swift:6.3-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        libaom-dev libc-ares-dev libcurl4-openssl-dev libdav1d-dev libde265-dev libheif-dev libhiredis-dev libidn2-dev libjemalloc-dev libjpeg62-turbo-dev libjxl-dev \
        libmicrohttpd-dev libpango1.0-dev librsvg2-dev \
        libseccomp-dev libsqlite3-dev libssl-dev libvips-dev libwebp-dev libzimg-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY Package.swift openapi.yaml ./
COPY Sources ./Sources
# Package.swift names targets in these folders; SwiftPM wants them all to exist.
COPY Benchmarks ./Benchmarks
COPY Tests ./Tests
# Chapters of the book are part of the program.
COPY docs ./docs
RUN swift build -c release --product alula --static-swift-stdlib \
    && strip --strip-unneeded .build/release/alula

FROM debian:bookworm-slim
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates fonts-dejavu-core libaom3 libc-ares2 libcurl4 libdav1d6 libde265-0 libheif1 libhiredis0.14 libidn2-0 libjemalloc2 libjpeg62-turbo libjxl0.7 \
        libmicrohttpd12 libpangocairo-1.0-0 librsvg2-2 libseccomp2 libsqlite3-0 \
        libssl3 libvips42 libwebp7 libzimg2 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin alula
COPY --from=build /source/.build/release/alula /usr/local/bin/alula
USER 10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# It finds address and port as the service does: by ALULA_BIND, ALULA_PORT and the file in ALULA_CONFIG. Set them there, not as arguments.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/usr/local/bin/alula", "status", "--ready"]
ENTRYPOINT ["/usr/local/bin/alula"]
CMD ["serve"]
