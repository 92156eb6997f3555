# The build needs the compiler; the image that runs needs neither it nor the sources.
FROM node:20-slim AS build
WORKDIR /pakhus
COPY package.json package-lock.json ./
COPY server/package.json ./server/
COPY client/package.json ./client/
COPY console/package.json ./console/
RUN npm ci --no-audit --no-fund
COPY server/tsconfig.json server/tsconfig.build.json ./server/
COPY server/src ./server/src
COPY client/src ./client/src
COPY console/index.html console/tsconfig.json console/vite.*.ts ./console/
COPY console/src ./console/src
RUN npm run build --workspace server --workspace @pakhus/console

FROM node:20-slim AS dependencies
WORKDIR /pakhus
COPY package.json package-lock.json ./
COPY server/package.json ./server/
RUN npm ci --omit=dev --workspace server --no-audit --no-fund

FROM node:20-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/var/lib/pakhus
WORKDIR /pakhus
RUN mkdir -p /var/lib/pakhus && chown node:node /var/lib/pakhus && chmod 700 /var/lib/pakhus
COPY --from=dependencies /pakhus/node_modules ./node_modules
COPY --from=build /pakhus/server/dist ./server/dist
COPY --from=build /pakhus/console/dist ./console/dist
COPY package.json LICENSE ./
COPY server/package.json ./server/
COPY server/db ./server/db
COPY docs/guides ./docs/guides
COPY docs/browser-uploads.md docs/events.md ./docs/
USER node
VOLUME /var/lib/pakhus
EXPOSE 3000
# A worker does not listen: give it `healthcheck: { disable: true }`.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/v1/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is process 1, so that SIGTERM reaches it.
CMD ["node", "server/dist/main.js"]
