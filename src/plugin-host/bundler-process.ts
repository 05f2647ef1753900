/** The entry of the process that builds bundles: it and esbuild's, which it starts, are one group that ends together. */
import { writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { serveBuilds } from './bundler-service.ts';
import { performBuild } from './guest-build.ts';

const CHANNEL_FD = 3;

function endAll(): void {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    process.exit(1);
  }
}

try {
  // When the machine runs out of memory, this goes before the service; what it starts inherits it.
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // Only Linux has it.
}
serveBuilds(new Socket({ fd: CHANNEL_FD }), performBuild, endAll);
