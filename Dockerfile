# Baton with git, for a project that is mounted at /work. The volume keeps worktrees, keys and sign-ins between runs.
#   docker build -t baton .
#   docker run --rm -it --user "$(id -u):$(id -g)" -v baton-home:/home/baton -v "$PWD:/work" baton status
# Agent programs are yours to add: FROM baton, then RUN npm install -g @anthropic-ai/claude-code.
FROM node:24-slim AS build
WORKDIR /src
COPY . .
RUN npm install --no-audit --no-fund && npm pack --pack-destination /tmp && mv /tmp/baton-run-*.tgz /tmp/baton-run.tgz

FROM node:24-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
COPY --from=build /tmp/baton-run.tgz /tmp/baton-run.tgz
RUN npm install -g /tmp/baton-run.tgz && rm /tmp/baton-run.tgz
# The mounted project belongs to the person who mounts it, and --user may be any number: both need a word to git and a home.
RUN git config --system --add safe.directory /work && mkdir -m 1777 /home/baton
ENV HOME=/home/baton
WORKDIR /work
ENTRYPOINT ["baton"]
