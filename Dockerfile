# The engine alone: one static program and the model it carries. Any container runtime runs it, and
# `ingot cast --oci` makes a machine of it. tests/end_to_end/oci_test.py builds what the last stage describes.
#
#   docker build -t ingot . && docker save ingot -o ingot.tar && ingot cast --oci ingot.tar -o ingot.img
FROM debian:12-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends \
      g++ cmake ninja-build libhwy-dev nlohmann-json3-dev libcli11-dev libboost1.81-dev libssl-dev zlib1g-dev \
      libzstd-dev
COPY . /ingot
WORKDIR /ingot
RUN cmake --preset release -DINGOT_TESTS=OFF && cmake --build --preset release --target ingot

FROM scratch
COPY --from=build /ingot/build/bin/ingot /bin/ingot
ENV HOME=/
WORKDIR /
ENTRYPOINT ["/bin/ingot"]
CMD ["run"]
