# The engine alone: one static program and the model it carries. Any container runtime runs it, and
# `ingot cast --oci` makes a machine of it. tests/end_to_end/oci_test.py builds what the last stage describes.
#
#   docker build -t ingot . && docker save ingot -o ingot.tar && ingot cast --oci ingot.tar -o ingot.img
#
# The target `server` answers over HTTP; what stands behind its name follows `serve`. Without a builder and a daemon,
# `ingot cast --format oci` makes such an image (docs/server.md, "As a container").
#
#   docker build --target server -t ingot-server .
#   docker run -p 127.0.0.1:8080:8080 -v "$PWD/model.gguf:/model.gguf:ro" ingot-server /model.gguf
FROM debian:12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends \
      g++ cmake ninja-build libhwy-dev nlohmann-json3-dev libcli11-dev libboost1.81-dev libssl-dev zlib1g-dev \
      libzstd-dev
COPY . /ingot
WORKDIR /ingot
RUN cmake --preset release -DINGOT_TESTS=OFF && cmake --build --preset release --target ingot

FROM scratch AS server
COPY --from=build /ingot/build/bin/ingot /bin/ingot
ENV HOME=/
WORKDIR /
EXPOSE 8080
ENTRYPOINT ["/bin/ingot", "serve", "--host", "0.0.0.0"]

FROM scratch
COPY --from=build /ingot/build/bin/ingot /bin/ingot
ENV HOME=/
WORKDIR /
ENTRYPOINT ["/bin/ingot"]
CMD ["run"]
