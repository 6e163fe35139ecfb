# Stands in for the official image of HAProxy where no registry can be reached.
ARG BASE=node:24-bookworm-slim
FROM ${BASE}
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends haproxy \
 && rm -rf /var/lib/apt/lists/*
STOPSIGNAL SIGUSR1
USER 10001:10001
