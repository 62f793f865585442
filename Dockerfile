# syntax=docker/dockerfile:1
# The toolchain for Debian 12 runs on Debian 13, too: the files of /usr that no package brought.
FROM swift:6.3-bookworm AS toolchain
RUN mkdir /toolchain && cd /usr \
    && find . ! -type d -printf '%P\n' | sort >/files \
    && sed -E 's|^/(usr/)?||' /var/lib/dpkg/info/*.list | sort -u >/packaged \
    && comm -23 /files /packaged | tar -cT - | tar -xC /toolchain

FROM debian:trixie-slim AS build
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        binutils ca-certificates g++ libcurl4t64 libncurses6 libsqlite3-0 libxml2 tzdata \
        libaom-dev libbrotli-dev libc-ares-dev libcurl4-openssl-dev libdav1d-dev libde265-dev libdeflate-dev libhiredis-dev libidn2-dev libjemalloc-dev libjpeg62-turbo-dev libjxl-dev \
        libmicrohttpd-dev libpango1.0-dev librsvg2-dev \
        libseccomp-dev libsqlite3-dev libssl-dev libvips-dev libwebp-dev mkdocs pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*
COPY --from=toolchain /toolchain /opt/swift/usr
ENV PATH=/opt/swift/usr/bin:$PATH
WORKDIR /source
COPY Package.swift ARCHITECTURE.md CONTRIBUTING.md mkdocs.yml openapi.yaml ./
COPY Sources ./Sources
# Package.swift names targets in these folders; SwiftPM wants them all to exist.
COPY Benchmarks ./Benchmarks
COPY Tests ./Tests
# The documentation is part of the program.
COPY docs ./docs
# The revision of the source code, which comes without its repository.
ARG REVISION=unknown
ENV ALULA_REVISION=${REVISION}
# A later build of the same machine compiles what has changed alone. The program that tells of a crash is the toolchain's own.
RUN --mount=type=cache,target=/source/.build \
    swift build -c release --product alula --static-swift-stdlib \
    && strip --strip-debug -o /usr/local/bin/alula .build/release/alula \
    && swift --version 2>/dev/null | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' >/swift-version \
    && cp "$(find "$(dirname "$(realpath "$(command -v swift)")")/../libexec" -name swift-backtrace-static)" /usr/local/bin/swift-backtrace

FROM debian:trixie-slim AS root
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates fonts-dejavu-core libaom3 libbrotli1 libcares2 libcurl4t64 libdav1d7 libde265-0 libdeflate0 libhiredis1.1.0 libidn2-0 libjemalloc2 libjpeg62-turbo libjxl0.11 \
        libmicrohttpd12t64 libpangocairo-1.0-0 librsvg2-2 libseccomp2 libsqlite3-0 \
        libssl3t64 libvips42t64 libwebp7 opencv-data zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin alula
COPY --from=build /usr/local/bin/alula /usr/local/bin/swift-backtrace /usr/local/bin/
COPY --from=build /swift-version /swift-version
COPY scripts/image-root scripts/loaded-libraries scripts/spdx /usr/local/bin/
RUN image-root /usr/local/bin/alula /root/image "$(cat /swift-version)" \
    && install -D -m 755 /usr/local/bin/swift-backtrace /root/image/usr/libexec/swift/swift-backtrace

# The program, the libraries that it loads, fonts and certificates: no shell, no package manager.
FROM scratch
ARG VERSION=1.0.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Alula" \
    org.opencontainers.image.description="An image thumbnail service: one fetch, one decode, every size" \
    org.opencontainers.image.licenses="Apache-2.0" \
    org.opencontainers.image.version="${VERSION}" \
    org.opencontainers.image.revision="${REVISION}" \
    org.opencontainers.image.base.name="docker.io/library/debian:trixie-slim"
COPY --from=root /root/image /
# A crash of the service is told with the names of the functions, without what memory holds. Worker processes have no environment.
ENV PATH=/usr/local/bin SWIFT_BACKTRACE=enable=yes,swift-backtrace=/usr/libexec/swift/swift-backtrace,color=no,interactive=no,registers=none
USER 10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# It finds address and port as the service does: by ALULA_BIND, ALULA_PORT and the file in ALULA_CONFIG. Set them there, not as arguments.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s CMD ["/usr/local/bin/alula", "status", "--ready"]
ENTRYPOINT ["/usr/local/bin/alula"]
CMD ["serve"]
