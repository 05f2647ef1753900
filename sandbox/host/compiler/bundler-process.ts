/**
 * The program of the bundler's process. It starts esbuild's process. Both form one process group, which ends together.
 */
import type { BuildJob, BundlerMessage } from './build-job.ts';
import { performBuild } from './guest-build.ts';

/** The pid by which `kill` means the caller's own process group. */
const OWN_GROUP = 0;

if (import.meta.main) {
  const say = (message: BundlerMessage) => void process.send?.(message);
  const endAll = () => process.kill(OWN_GROUP, 'SIGKILL');
  process.on('message', ({ build, job }: { build: number; job: BuildJob }) => {
    const onRead = (file: string, state: string) => say({ kind: 'read', build, file, state });
    performBuild(job, onRead).then((result) => say({ kind: 'end', build, result }), endAll);
  });
  process.on('disconnect', endAll);
  say({ kind: 'ready' });
}
