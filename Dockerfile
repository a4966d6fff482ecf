# Baton with git, for a project that is mounted at /work: docker build -t baton . && docker run --rm -it -v "$PWD:/work" baton status
FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm install --no-audit --no-fund && npm pack --pack-destination /tmp && mv /tmp/baton-run-*.tgz /tmp/baton-run.tgz

FROM node:24-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/baton-run.tgz /tmp/baton-run.tgz
RUN npm install -g /tmp/baton-run.tgz && rm /tmp/baton-run.tgz
WORKDIR /work
ENTRYPOINT ["baton"]
