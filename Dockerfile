# docker build -t isolayer .
# docker run -e API_KEY=… -p 8080:8080 -v isolayer:/data -v ./config:/app/config:ro -v ./plugins:/app/plugins:ro isolayer

# The same Node as in package-lock.json; a test compares them.
FROM node:26.10.0-trixie-slim AS install
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY sandbox/package.json ./sandbox/package.json
# The image brings Node itself, so the one that comes with the packages is left out. npm leaves the compiler in, because
# Solana's codecs name it as an optional peer.
RUN npm ci --omit=dev --workspace=sandbox --include-workspace-root --ignore-scripts && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/typescript

FROM node:26.10.0-trixie-slim
# Reachable from outside the container, and therefore only with an API_KEY.
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data CONFIG_DIR=/app/config PLUGINS_DIR=/app/plugins NODE_COMPILE_CACHE=/app/compiled
WORKDIR /app
COPY --from=install /app/node_modules ./node_modules
COPY package.json ./
COPY sandbox ./sandbox
COPY bin ./bin
COPY src ./src
COPY console ./console
COPY config ./config
COPY plugins ./plugins
RUN test -e config/config.json || cp config/config.example.json config/config.json && node bin/bundle.ts $(id -u node) && mkdir /data && chown node:node /data
USER node
VOLUME ["/data", "/app/config", "/app/plugins"]
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.APP_PORT || 8080}/api/v1/health`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell between: the signals of the container's runtime reach the service itself.
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=16", "--disable-sigusr1", "bin/launch.mjs"]
