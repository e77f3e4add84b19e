# An image that holds the binary of `just tarball`, the licences of what is in it, an empty /tmp, and nothing else. How to run it: docs/install.md.
#
# The toolchain is the oldest that Cargo.toml allows; `.ci/run` compares the two.
FROM rust:1.90-bookworm AS build
WORKDIR /chatmill
COPY . .
SHELL ["/bin/bash", "-c"]
RUN .ci/tarball/run \
    && mkdir -p /image/tmp /image/work \
    && chmod 1777 /image/tmp \
    && cp target/tarball/chatmill-*-linux/{chatmill,LICENSE-*,THIRD-PARTY-LICENCES.txt} /image

FROM scratch
COPY --from=build /image/ /
# `command: ["chatmill", …]` of a pod is looked for on the PATH.
ENV PATH=/
WORKDIR /work
ENTRYPOINT ["/chatmill"]
