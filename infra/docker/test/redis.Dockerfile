# Stands in for the official image of Redis where no registry can be reached.
ARG BASE=node:24-bookworm-slim
FROM ${BASE}
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends redis-server \
 && rm -rf /var/lib/apt/lists/* \
 && install -d -o 999 -g 999 /data
VOLUME /data
