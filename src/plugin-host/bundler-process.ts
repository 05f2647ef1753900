/** The entry of the process that builds bundles: it and esbuild's, which it starts, are one group that ends together. */
import { Socket } from 'node:net';
import { serveBuilds } from './bundler-service.ts';
import { performBuild } from './guest-build.ts';

const CHANNEL_FD = 3;
/** What `kill` takes for the group of the process that calls it. */
const OWN_GROUP = 0;

function endAll(): void {
  try {
    process.kill(OWN_GROUP, 'SIGKILL');
  } catch {
    process.exit(1);
  }
}

serveBuilds(new Socket({ fd: CHANNEL_FD }), performBuild, endAll);
