# Stands in for the official image of Prometheus where no registry can be reached.
ARG BASE=node:24-bookworm-slim
FROM ${BASE}
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends prometheus \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o 65534 -g 65534 /prometheus
VOLUME /prometheus
ENTRYPOINT ["prometheus"]
